//! FTP (RFC 959, 2428, 4217): pairs the commands of control connections with their replies, and
//! announces the connections that carry their data.
//!
//! ```text
//!  bytes ──► lines ──► session ──────────────► records, one per command
//!   any      capped    commands wait           ftp (events), ftp.log (columns)
//!   cut                for their replies
//!                         │ 227, 229, PORT, EPRT; RETR, STOR …
//!                         ▼
//!                    data connections: announced, then recognised where all connections are seen
//! ```
//!
//! One [`Ftp`] per worker; `flowpin-data-channels` recognises the data connections. Guarantees:
//!
//! - The output depends on the bytes of each direction and on the order of the directions' turns,
//!   never on segmentation.
//! - Passwords are in no output, except those of guests, which are mail addresses.
//! - After an accepted AUTH nothing is read, since TLS follows. Clear text sent instead is read.
//! - Only connections between the two hosts of a control connection are taken for its data
//!   connections. A third host named by PORT (the bounce attack, RFC 2577 §3) is ignored.
//! - What waits and what is incomplete is charged to the memory of its shard, and each connection
//!   has its maximum; no bytes cause a panic.
//!
//! Deliberately does not read the content of data connections, and does not follow transfers
//! between two servers (RFC 959 §5.2, figure 3).

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

mod exchange;
mod fuzz;
mod options;
mod parser;
mod record;
mod session;
mod syntax;
#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use fuzz::fuzz_ftp;
pub use parser::Ftp;
pub use record::event::FTP;
pub use record::log::FTP_LOG;
