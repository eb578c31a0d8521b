//! Parses what TLS, DTLS and QUIC send in clear at the start of a connection: server name, ALPN,
//! versions, cipher suite, the names in the certificate, JA4.
//!
//! ```text
//!  stream ────► records ► handshake messages ─┐
//!  datagrams ─► DTLS records ────────────────┼─► facts ──► one `tls` or `quic` record
//!           └─► QUIC Initials, decrypted ─────┘      (in EVE QUIC has one for each hello)
//! ```
//!
//! Owns the facts of each connection, whose memory is charged to the budget of its shard.
//! Guarantees: records depend only on the bytes of each direction, not on their segmentation;
//! nothing is allocated per packet; no input makes the parser panic. It releases a connection that
//! can reveal nothing more, so that the bytes after the handshake need not be delivered.
//!
//! Deliberately does not: verify certificates or signatures, or decrypt anything except the packets
//! that QUIC's specification lets any observer read. Of the family of JA4 it has only JA4 itself
//! (the others have a different licence); JA3 and JA3S only on request.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)
)]

mod anomaly;
mod buffers;
mod certificate;
mod cipher_suites;
mod distinguished;
mod facts;
mod fuzz;
mod handshake;
mod hello;
mod history;
mod initial;
mod ja3;
mod ja4;
mod names;
mod pages;
mod pools;
mod quic;
mod schema;
mod short;
mod stream;
mod x509;

pub use anomaly::Anomaly;
#[doc(hidden)]
pub use fuzz::fuzz_tls;
pub use hello::ClientHello;
pub use ja4::{Carrier, Ja4, ja4};
pub use quic::{QUIC, QUIC_LOG, Quic};
pub use schema::TLS;
pub use stream::Tls;
pub use x509::X509;
