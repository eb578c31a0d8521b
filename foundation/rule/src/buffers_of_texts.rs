//! Buffers of mails and of calls: columns of the records that grammars make.

use crate::buffer::{Buffer, BufferSource};
use crate::buffer_forms::{CLIENT, EITHER, PLAIN, SERVER, column, of};

pub(crate) const SMTP_HELO: Buffer = column(
    "smtp.helo",
    &[],
    CLIENT,
    ("smtp", "smtp.helo"),
    "The name that the client gives.",
);
pub(crate) const SMTP_MAIL_FROM: Buffer = column(
    "smtp.mail_from",
    &[],
    CLIENT,
    ("smtp", "smtp.mail_from"),
    "The sender in the envelope, in brackets as it was sent.",
);
pub(crate) const SMTP_RCPT_TO: Buffer = column(
    "smtp.rcpt_to",
    &[],
    CLIENT,
    ("smtp", "smtp.rcpt_to"),
    "A recipient in the envelope, in brackets as it was sent.",
);
pub(crate) const EMAIL_FROM: Buffer = column(
    "email.from",
    &[],
    CLIENT,
    ("smtp", "email.from"),
    "The From field of a mail.",
);
pub(crate) const EMAIL_TO: Buffer = column(
    "email.to",
    &[],
    CLIENT,
    ("smtp", "email.to"),
    "The To field of a mail.",
);
pub(crate) const EMAIL_CC: Buffer = column(
    "email.cc",
    &[],
    CLIENT,
    ("smtp", "email.cc"),
    "The Cc field of a mail.",
);
pub(crate) const EMAIL_SUBJECT: Buffer = column(
    "email.subject",
    &[],
    CLIENT,
    ("smtp", "email.subject"),
    "The Subject field of a mail.",
);
pub(crate) const EMAIL_DATE: Buffer = column(
    "email.date",
    &[],
    CLIENT,
    ("smtp", "email.date"),
    "The Date field of a mail.",
);
pub(crate) const EMAIL_MESSAGE_ID: Buffer = column(
    "email.message_id",
    &[],
    CLIENT,
    ("smtp", "email.message_id"),
    "The Message-ID field of a mail.",
);
pub(crate) const EMAIL_X_MAILER: Buffer = column(
    "email.x_mailer",
    &[],
    CLIENT,
    ("smtp", "email.x_mailer"),
    "The program that sent a mail (X-Mailer or User-Agent).",
);
pub(crate) const EMAIL_RECEIVED: Buffer = column(
    "email.received",
    &[],
    CLIENT,
    ("smtp", "email.received"),
    "A Received field of a mail.",
);
pub(crate) const SIP_METHOD: Buffer = column(
    "sip.method",
    &[],
    CLIENT,
    ("sip", "sip.method"),
    "The method.",
);
pub(crate) const SIP_URI: Buffer = column(
    "sip.uri",
    &[],
    CLIENT,
    ("sip", "sip.uri"),
    "The target of a request.",
);
pub(crate) const SIP_REQUEST_LINE: Buffer = column(
    "sip.request_line",
    &[],
    CLIENT,
    ("sip", "sip.request_line"),
    "The first line of a request.",
);
pub(crate) const SIP_STAT_CODE: Buffer = column(
    "sip.stat_code",
    &[],
    SERVER,
    ("sip", "sip.code"),
    "The status of a response.",
);
pub(crate) const SIP_STAT_MSG: Buffer = column(
    "sip.stat_msg",
    &[],
    SERVER,
    ("sip", "sip.reason"),
    "The reason after the status.",
);
pub(crate) const SIP_RESPONSE_LINE: Buffer = column(
    "sip.response_line",
    &[],
    SERVER,
    ("sip", "sip.response_line"),
    "The first line of a response.",
);
pub(crate) const SIP_PROTOCOL: Buffer = column(
    "sip.protocol",
    &[],
    None,
    ("sip", "sip.version"),
    "The version with its name.",
);
pub(crate) const SIP_FROM: Buffer = column(
    "sip.from",
    &[],
    EITHER,
    ("sip", "flowpin.from"),
    "The From field.",
);
pub(crate) const SIP_TO: Buffer = column(
    "sip.to",
    &[],
    EITHER,
    ("sip", "flowpin.to"),
    "The To field.",
);
pub(crate) const SIP_VIA: Buffer = column(
    "sip.via",
    &[],
    EITHER,
    ("sip", "flowpin.via"),
    "A Via field.",
);
pub(crate) const SIP_USER_AGENT: Buffer = column(
    "sip.user_agent",
    &[],
    CLIENT,
    ("sip", "flowpin.user_agent"),
    "The User-Agent field of a request.",
);
pub(crate) const SIP_CONTENT_TYPE: Buffer = column(
    "sip.content_type",
    &[],
    EITHER,
    ("sip", "flowpin.content_type"),
    "The Content-Type field.",
);
pub(crate) const SIP_CONTENT_LENGTH: Buffer = of(
    "sip.content_length",
    PLAIN,
    ("sip", EITHER),
    BufferSource::Columns("sip", &SIP_BODY_LENGTHS),
    "The length of the body, in digits.",
);

/// Of requests, and of responses.
const SIP_BODY_LENGTHS: [&str; 2] = ["flowpin.request_body_len", "flowpin.response_body_len"];

/// Of the hello of either side (RFC 8446 §4.1.2, §4.1.3).
const fn random(name: &'static str, from: usize, to: usize, doc: &'static str) -> Buffer {
    let source = BufferSource::Said("tls.random", from, to);
    of(name, PLAIN, ("tls", EITHER), source, doc)
}

pub(crate) const TLS_RANDOM: Buffer = random("tls.random", 0, 32, "The random value of a hello.");
pub(crate) const TLS_RANDOM_TIME: Buffer = random(
    "tls.random_time",
    0,
    4,
    "Its first four bytes, which were the time.",
);
pub(crate) const TLS_RANDOM_BYTES: Buffer = random("tls.random_bytes", 4, 32, "Its other bytes.");

/// Of a connection of SSH (RFC 4253).
const fn ssh(
    name: &'static str,
    aliases: &'static [&'static str],
    to_server: Option<bool>,
    said: &'static str,
    doc: &'static str,
) -> Buffer {
    let source = BufferSource::Said(said, 0, usize::MAX);
    of(name, (aliases, &[]), ("ssh", to_server), source, doc)
}

pub(crate) const SSH_PROTO: Buffer = ssh(
    "ssh.proto",
    &["ssh_proto"],
    EITHER,
    "ssh.proto",
    "The protocol version of a side, as `2.0`.",
);
pub(crate) const SSH_SOFTWARE: Buffer = ssh(
    "ssh.software",
    &["ssh_software"],
    EITHER,
    "ssh.software",
    "The software of a side, with its version.",
);
pub(crate) const SSH_HASSH: Buffer = ssh(
    "ssh.hassh",
    &[],
    CLIENT,
    "ssh.hassh",
    "The HASSH fingerprint of what the client offers.",
);
pub(crate) const SSH_HASSH_STRING: Buffer = ssh(
    "ssh.hassh.string",
    &[],
    CLIENT,
    "ssh.hassh.string",
    "What that is made of.",
);
pub(crate) const SSH_HASSH_SERVER: Buffer = ssh(
    "ssh.hassh.server",
    &[],
    SERVER,
    "ssh.hassh",
    "The fingerprint of what the server offers.",
);
pub(crate) const SSH_HASSH_SERVER_STRING: Buffer = ssh(
    "ssh.hassh.server.string",
    &[],
    SERVER,
    "ssh.hassh.string",
    "What that is made of.",
);

pub(crate) const TLS_CHAIN: Buffer = of(
    "tls.cert_chain_len",
    PLAIN,
    ("tls", SERVER),
    BufferSource::Said("tls.cert_chain_len", 0, usize::MAX),
    "How many certificates the server sends; it is compared as a number.",
);

pub(crate) const TLS_SERIAL: Buffer = column(
    "tls.cert_serial",
    &["tls_cert_serial"],
    SERVER,
    ("tls", "tls.serial"),
    "The serial number of the server's certificate.",
);
pub(crate) const TLS_FINGERPRINT: Buffer = column(
    "tls.cert_fingerprint",
    &["tls.fingerprint", "tls_cert_fingerprint"],
    SERVER,
    ("tls", "tls.fingerprint"),
    "SHA-1 of the server's certificate.",
);
pub(crate) const TLS_NOT_BEFORE: Buffer = of(
    "tls_cert_notbefore",
    PLAIN,
    ("tls", SERVER),
    BufferSource::Time("tls", "tls.notbefore"),
    "From when on the server's certificate is valid; it is compared as a time: `>2026-11-28`.",
);
pub(crate) const TLS_NOT_AFTER: Buffer = of(
    "tls_cert_notafter",
    PLAIN,
    ("tls", SERVER),
    BufferSource::Time("tls", "tls.notafter"),
    "Up to when it is valid, likewise: `2026<>2027-06-30T12:00`, both included.",
);
pub(crate) const SSL_STATE: Buffer = column(
    "ssl_state",
    &[],
    EITHER,
    ("tls", "ssl_history"),
    "The handshake has this message (`client_hello`, `server_hello`, `client_keyx`, \
     `server_keyx`), one of several (`|`), or none of them (`!`).",
);

pub(crate) const QUIC_UA: Buffer = column(
    "quic.ua",
    &[],
    CLIENT,
    ("quic", "quic.ua"),
    "Google's QUIC: the client's program.",
);

pub(crate) const QUIC_CYU_HASH: Buffer = column(
    "quic.cyu.hash",
    &[],
    CLIENT,
    ("quic", "quic.cyu[].hash"),
    "Google's QUIC: the MD5 of the client's fingerprint (CYU).",
);

pub(crate) const QUIC_CYU_STRING: Buffer = column(
    "quic.cyu.string",
    &[],
    CLIENT,
    ("quic", "quic.cyu[].string"),
    "What it is the MD5 of: the version's digits, and the tags of the hello.",
);
