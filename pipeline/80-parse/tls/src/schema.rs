//! The schema of the record `tls` (Zeek's `ssl.log`).

use crate::certificate::Certificate;
use crate::pages::Page;
use crate::short::Short;
use flowpin_record::{Kind, Logs, MessageColumn, MessageSchema};

/// A TLS or DTLS handshake.
pub static TLS: MessageSchema = MessageSchema::in_file(
    "tls",
    "ssl",
    "A TLS or DTLS handshake, from what both sides sent in clear. Written when both have begun \
     to encrypt, or when the connection ends.",
    TLS_COLUMNS,
);

/// The handshake inside a QUIC connection, which Zeek's `ssl.log` has, too; events of
/// it are QUIC's.
pub(crate) static TLS_OF_QUIC: MessageSchema =
    MessageSchema::in_file("tls", "ssl", "A handshake inside QUIC.", TLS_COLUMNS).only_columns();

/// The same where certificates are validated.
pub(crate) static VALIDATED: MessageSchema = MessageSchema::in_file(
    "tls",
    "ssl",
    "A TLS or DTLS handshake, from what both sides sent in clear. Written when both have begun \
     to encrypt, or when the connection ends.",
    VALIDATED_COLUMNS,
);

const TLS_COLUMNS: &[MessageColumn] = match VALIDATED_COLUMNS.split_last() {
    Some((_, others)) => others,
    None => &[],
};

/// Last: whether the certificates are good.
const VALIDATED_COLUMNS: &[MessageColumn] = &[
    MessageColumn::new(
        "version",
        "",
        Kind::Text,
        "The version that the server chose.",
    ),
    MessageColumn::new(
        "",
        "tls.version",
        Kind::Text,
        "The version that the server chose; `UNDETERMINED` if no server answered.",
    ),
    MessageColumn::new(
        "cipher",
        "flowpin.cipher",
        Kind::Text,
        "The cipher suite that the server chose.",
    ),
    MessageColumn::new(
        "curve",
        "flowpin.curve",
        Kind::Text,
        "The group (curve) of the key exchange.",
    ),
    MessageColumn::new(
        "server_name",
        "tls.sni",
        Kind::Text,
        "The server name that the client sent (SNI).",
    ),
    MessageColumn::new(
        "resumed",
        "tls.session_resumed",
        Kind::Bool,
        "Whether the server resumed an earlier session.",
    ),
    MessageColumn::new(
        "last_alert",
        "flowpin.last_alert",
        Kind::Text,
        "The last alert that was sent in clear.",
    ),
    MessageColumn::new(
        "next_protocol",
        "",
        Kind::Text,
        "The protocol that the server selected by ALPN, if it was sent in clear.",
    ),
    MessageColumn::new(
        "",
        "tls.server_alpns",
        Kind::TextList,
        "The protocol that the server selected by ALPN, if it was sent in clear.",
    ),
    MessageColumn::new(
        "established",
        "flowpin.established",
        Kind::Bool,
        "Whether both sides have begun to encrypt.",
    ),
    MessageColumn::new(
        "ssl_history",
        "",
        Kind::Text,
        "The messages of the handshake in their order, by Zeek's letters; client upper case.",
    ),
    MessageColumn::new(
        "cert_chain_fps",
        "",
        Kind::TextList,
        "The SHA-256 hashes of the server's certificates, in their order: `x509` has them.",
    )
    .only_in(Logs::OnlyZeek),
    MessageColumn::new(
        "client_cert_chain_fps",
        "",
        Kind::TextList,
        "The SHA-256 hashes of the client's certificates.",
    )
    .only_in(Logs::OnlyZeek),
    MessageColumn::new(
        "sni_matches_cert",
        "",
        Kind::Bool,
        "Whether the server's certificate is for the server name that the client sent.",
    )
    .only_in(Logs::OnlyZeek),
    MessageColumn::new(
        "ja4",
        "tls.ja4",
        Kind::Text,
        "The JA4 fingerprint of the client's hello.",
    ),
    MessageColumn::new(
        "",
        "tls.ja3.hash",
        Kind::Text,
        "The JA3 fingerprint of the client's hello (on request).",
    ),
    MessageColumn::new(
        "",
        "tls.ja3.string",
        Kind::Text,
        "What it is the MD5 of (on request).",
    ),
    MessageColumn::new(
        "",
        "tls.ja3s.hash",
        Kind::Text,
        "The JA3S fingerprint of the server's hello (on request).",
    ),
    MessageColumn::new(
        "",
        "tls.ja3s.string",
        Kind::Text,
        "What it is the MD5 of (on request).",
    ),
    MessageColumn::new(
        "client_alpns",
        "tls.client_alpns",
        Kind::TextList,
        "The protocols that the client offered by ALPN.",
    ),
    MessageColumn::new(
        "subject",
        "",
        Kind::Text,
        "The subject of the server's certificate, up to TLS 1.2, in the order of RFC 2253.",
    ),
    MessageColumn::new(
        "",
        "tls.subject",
        Kind::Text,
        "The subject of the server's certificate, up to TLS 1.2, in the order of its encoding.",
    ),
    MessageColumn::new(
        "issuer",
        "",
        Kind::Text,
        "The issuer of the certificate, in the order of RFC 2253.",
    ),
    MessageColumn::new(
        "",
        "tls.issuerdn",
        Kind::Text,
        "The issuer of the certificate, in the order of its encoding.",
    ),
    MessageColumn::new(
        "certificate_serial",
        "",
        Kind::Text,
        "The serial number of the certificate, in hexadecimal.",
    ),
    MessageColumn::new(
        "",
        "tls.serial",
        Kind::Text,
        "The serial number of the certificate as encoded, in hexadecimal: a leading zero marks it \
         as positive.",
    ),
    MessageColumn::new(
        "not_valid_before",
        "tls.notbefore=time",
        Kind::Text,
        "The start of the certificate's validity, UTC.",
    ),
    MessageColumn::new(
        "not_valid_after",
        "tls.notafter=time",
        Kind::Text,
        "The end of the certificate's validity, UTC.",
    ),
    MessageColumn::new(
        "subject_alt_names",
        "tls.subjectaltname",
        Kind::TextList,
        "The other names of the certificate's subject: hosts, addresses, mail addresses, URIs; up \
         to 1,024 bytes.",
    ),
    MessageColumn::new(
        "certificate_sha1",
        "tls.fingerprint",
        Kind::Text,
        "The SHA-1 hash of the certificate, in hexadecimal.",
    ),
    MessageColumn::new(
        "validation_status",
        "flowpin.validation_status",
        Kind::Text,
        "Whether the server's certificates, up to TLS 1.2, lead to a root of `--roots`: `ok`, or \
         why not, in OpenSSL's words.",
    ),
];

/// The serial number and the times of a certificate, as records show them.
#[derive(Debug, Default)]
pub(crate) struct CertificateTexts {
    pub(crate) serial: Short<80>,
    /// With the zero that marks it as positive.
    pub(crate) serial_as_encoded: Short<80>,
    pub(crate) sha1: Short<60>,
    pub(crate) not_before: Short<20>,
    pub(crate) not_after: Short<20>,
}

impl CertificateTexts {
    pub(crate) fn of(certificate: &Certificate, page: &Page) -> Self {
        // RFC 5280 §4.1.2.2: a leading zero only marks the number as positive.
        let encoded = certificate.serial.of(page);
        let number = match encoded {
            [0, rest @ ..] if !rest.is_empty() => rest,
            whole => whole,
        };
        Self {
            serial: octets(number, |digit| digit.to_ascii_uppercase()),
            serial_as_encoded: octets(encoded, |digit| digit.to_ascii_uppercase()),
            sha1: octets(certificate.sha1.of(page), |digit| digit),
            not_before: time(certificate.not_before.of(page)),
            not_after: time(certificate.not_after.of(page)),
        }
    }
}

/// Bytes in hexadecimal, with colons between them.
fn octets<const N: usize>(bytes: &[u8], digit: impl Fn(u8) -> u8) -> Short<N> {
    let mut text = Short::default();
    for (index, &byte) in bytes.iter().enumerate() {
        if index > 0 {
            text.push(b":");
        }
        text.push(&hex(byte).map(&digit));
    }
    text
}

/// Converts `170323000000Z` or `20170323000000Z` to `2017-03-23T00:00:00` (RFC 5280 §4.1.2.5).
fn time(encoded: &[u8]) -> Short<20> {
    let mut out = Short::default();
    let digits = encoded.strip_suffix(b"Z").unwrap_or_default();
    if !digits.iter().all(u8::is_ascii_digit) {
        return out;
    }
    let rest = match (digits.len(), digits.first()) {
        (12, Some(b'0'..=b'4')) => {
            out.push(b"20");
            digits
        }
        (12, Some(_)) => {
            out.push(b"19");
            digits
        }
        (14, _) => {
            out.push(digits.get(..2).unwrap_or_default());
            digits.get(2..).unwrap_or_default()
        }
        _ => return out,
    };
    if !is_time(rest) {
        return Short::default();
    }
    for (pair, separator) in rest
        .chunks(2)
        .zip([b"-", b"-", b"T", b":", b":", b""] as [&[u8]; 6])
    {
        out.push(pair);
        out.push(separator);
    }
    out
}

/// Whether month, day, hour, minute and second behind a year of two digits can be: databases refuse
/// a whole event for a thirteenth month. Leap seconds can (RFC 5280 leaves them to X.680).
fn is_time(digits: &[u8]) -> bool {
    let limits = [(0, 99), (1, 12), (1, 31), (0, 23), (0, 59), (0, 60)];
    let mut pairs = digits.as_chunks::<2>().0.iter().zip(limits);
    pairs.all(|(&[tens, ones], (least, most))| {
        let value = tens.wrapping_sub(b'0').wrapping_mul(10);
        let value = value.wrapping_add(ones.wrapping_sub(b'0'));
        (least..=most).contains(&value)
    })
}

/// Returns two hexadecimal digits.
#[inline]
pub(crate) fn hex(byte: u8) -> [u8; 2] {
    HEX.get(usize::from(byte)).copied().unwrap_or_default()
}

/// The hexadecimal digits of all bytes.
#[expect(clippy::indexing_slicing, reason = "computed while compiling")]
static HEX: [[u8; 2]; 256] = {
    let mut table = [[0; 2]; 256];
    let mut byte = 0u8;
    loop {
        table[byte as usize] = [digit(byte >> 4), digit(byte & 15)];
        match byte.checked_add(1) {
            Some(next) => byte = next,
            None => break table,
        }
    }
};

pub(crate) const fn digit(nibble: u8) -> u8 {
    match nibble {
        0..=9 => b'0'.wrapping_add(nibble),
        _ => b'a'.wrapping_sub(10).wrapping_add(nibble),
    }
}

#[cfg(test)]
mod tests {
    use super::time;

    /// RFC 5280 §4.1.2.5; what can be no time is no text of one.
    #[test]
    fn times_are_told_as_iso_8601() {
        for (encoded, expected) in [
            ("170323000000Z", "2017-03-23T00:00:00"),
            ("500101000000Z", "1950-01-01T00:00:00"),
            ("20491231235960Z", "2049-12-31T23:59:60"),
            ("20231301000000Z", ""),
            ("20240101240000Z", ""),
            ("99999999999999Z", ""),
            ("20240100000000Z", ""),
            ("2024010100000Z", ""),
        ] {
            assert_eq!(
                time(encoded.as_bytes()).get(),
                expected.as_bytes(),
                "{encoded}"
            );
        }
    }
}
