//! The records of certificates, as Zeek's `x509.log` has them since version 4.1: by fingerprint.
//!
//! Each certificate of a chain has one, when the message that carries it is complete. They are
//! written for Zeek's logs alone; without these nothing of a chain but its first certificate is
//! read, and nothing of a client's.

mod chain;
mod host;
mod key;
mod oid;
mod read;
mod report;
mod schema;
#[cfg(test)]
mod tests;
mod texts;
mod trust;

pub(crate) use chain::{Prints, Told};
pub use schema::X509;
pub(crate) use trust::Trust;
