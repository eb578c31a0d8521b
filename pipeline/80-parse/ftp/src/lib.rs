//! FTP (RFC 959, 2428, 4217): control connections to commands with their replies, and which other
//! connections carry their data.
//!
//! ```text
//!  bytes ──► lines ──► session ──────────────► records: one for each command
//!   any      capped    commands wait           ftp (events), ftp.log (columns)
//!   cut                for their replies
//!                         │ 227, 229, PORT, EPRT; RETR, STOR …
//!                         ▼
//!                    data connections: announced, then recognised where all connections are seen
//! ```
//!
//! One [`Ftp`] a worker, one handle a connection; one [`DataConnections`] a run. Guarantees:
//!
//! - What is told depends on the bytes of each direction, and on the order in which directions
//!   took turns: never on how they were cut into segments.
//! - Passwords are in no output, unless they are those of guests, who give their mail address.
//! - Behind AUTH that the server agrees to nothing is read: it is TLS. Text that comes instead is.
//! - Only connections between the two hosts of a control connection are taken for its data's. What
//!   PORT says of a third host (the bounce attack, RFC 2577 §3) names nothing.
//! - A connection, a shard and the announcements together hold no more than their part; no bytes
//!   make it panic.
//!
//! Deliberately does not: read what data connections carry, or follow transfers between two servers
//! (RFC 959 §5.2, figure 3).

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::indexing_slicing,
        clippy::unwrap_used
    )
)]

mod budget;
mod exchange;
mod fuzz;
mod interface;
mod options;
mod parser;
mod record;
mod session;
mod syntax;
#[cfg(test)]
mod tests;

pub use flowpin_parser::Ends;
#[doc(hidden)]
pub use fuzz::fuzz_ftp;
pub use options::FtpOptions;
pub use parser::{Ftp, Handle};
pub use record::event::FTP;
pub use record::log::FTP_LOG;
