//! What TLS and QUIC tell in clear when a connection begins: server name, ALPN, versions, JA4.
//!
//! Called once, after the verdict, with the bytes that led to it. Nothing is allocated: what is
//! returned borrows the bytes, or the caller's [`Scratch`].

mod hello;
mod ja4;
mod quic;

pub use hello::{ClientHello, Scratch, ServerHello, client_hello, dtls_client_hello, server_hello};
pub use ja4::{Carrier, Ja4, ja4};
pub use quic::quic_client_hello;
