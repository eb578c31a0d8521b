//! What TLS, DTLS and QUIC tell in clear when a connection begins: server name, ALPN, versions,
//! cipher suite, certificate's names, JA4.
//!
//! ```text
//!  stream ────► records ► handshake messages ─┐
//!  datagrams ─► DTLS records ────────────────┼─► facts ──► one `tls` or `quic` record
//!           └─► QUIC Initials, decrypted ─────┘
//! ```
//!
//! Owns what a connection has told so far, in pools that are capped in each shard. Guarantees: what
//! is recorded depends on each direction's bytes alone, not on how they were cut; nothing is
//! allocated per packet; no bytes make it panic. Says of its own accord when nothing more can be
//! learnt, so that the bytes behind the handshake need not come by.
//!
//! Deliberately does not: verify certificates or signatures, or decrypt anything but what QUIC's
//! specification lets everybody read. Of fingerprints only JA4 itself (the others of its family
//! carry another licence).

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)
)]

mod certificate;
mod cipher_suites;
mod distinguished;
mod facts;
mod fuzz;
mod handshake;
mod hello;
mod initial;
mod interface;
mod ja4;
mod names;
mod pages;
mod pools;
mod quic;
mod schema;
mod short;
mod stream;

#[doc(hidden)]
pub use fuzz::fuzz_tls;
pub use hello::ClientHello;
pub use ja4::{Carrier, Ja4, ja4};
pub use pools::TlsOptions;
pub use quic::Quic;
pub use schema::{QUIC, TLS};
pub use stream::Tls;

/// Whether more of a connection is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It goes on.
    More,
    /// The record is written, or there will be none: what is still to come need not be shown. Its
    /// handle is free.
    Nothing,
}
