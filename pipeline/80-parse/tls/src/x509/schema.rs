//! The schema of the record `x509`.

use flowpin_record::{Kind, MessageColumn, MessageSchema};

/// A certificate.
pub static X509: MessageSchema = MessageSchema::new(
    "x509",
    "A certificate that was sent in clear (up to TLS 1.2), by its fingerprint, which `ssl` lists. \
     Zeek's logs alone have it, once a day for each place where it stands (`host_cert`, \
     `client_cert`). Of a chain the first 16 certificates are read, as far as they lie in its \
     first 16 KiB, and of a certificate the first 512 other names; `tls_certificates` counts where \
     there are more.",
    COLUMNS,
)
.standing_alone();

const fn column(name: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new(name, "", kind, doc)
}

#[rustfmt::skip]
const COLUMNS: &[MessageColumn] = &[
    column("fingerprint", Kind::Text, "The SHA-256 hash of the certificate."),
    column("certificate.version", Kind::Count, "The version of its form: 3."),
    column("certificate.serial", Kind::Text, "The serial number, in hexadecimal."),
    column("certificate.subject", Kind::Text, "The subject, in the order of RFC 2253."),
    column("certificate.issuer", Kind::Text, "The issuer, in the order of RFC 2253."),
    column("certificate.not_valid_before", Kind::Time,
        "The start of its validity; unset if it is before 1970."),
    column("certificate.not_valid_after", Kind::Time,
        "The end of its validity; unset if it is beyond 2554."),
    column("certificate.key_alg", Kind::Text, "The algorithm of its key, in OpenSSL's words."),
    column("certificate.sig_alg", Kind::Text,
        "The algorithm of its signature, in OpenSSL's words."),
    column("certificate.key_type", Kind::Text, "`rsa`, `dsa`, `ecdsa` or another algorithm."),
    column("certificate.key_length", Kind::Count, "The length of the key, in bits."),
    column("certificate.exponent", Kind::Text, "Of an RSA key the exponent."),
    column("certificate.curve", Kind::Text, "Of a key for ECDSA the curve."),
    column("san.dns", Kind::TextList, "The subject's other names: hosts."),
    column("san.uri", Kind::TextList, "Likewise: URIs."),
    column("san.email", Kind::TextList, "Likewise: mail addresses."),
    column("san.ip", Kind::AddressList, "Likewise: addresses."),
    column("basic_constraints.ca", Kind::Bool, "Whether it may sign others."),
    column("basic_constraints.path_len", Kind::Count,
        "How many certificates that may sign may follow it in a chain."),
    column("host_cert", Kind::Bool, "Whether it is the first of its chain: the host's own."),
    column("client_cert", Kind::Bool, "Whether the client sent it."),
];
