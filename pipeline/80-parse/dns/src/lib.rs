//! DNS, mDNS and LLMNR over UDP and TCP: turns messages into records.
//!
//! ```text
//!  datagram ───────────────┐
//!  bytes ─► length, message┴─► header, questions, records ─► pair ─┬─► event of each message
//!   any cut                    names, contents as text       by id │    (EVE: dns, mdns, llmnr)
//!                                                     and question └─► line of each transaction
//!                                                                       (Zeek's dns.log)
//! ```
//!
//! Each worker has one [`Dns`]. Guarantees:
//!
//! - Reports depend on the messages of each direction and on the order in which they arrive, not on
//!   how TCP segments them.
//! - A name is limited to 255 bytes and few pointers, and the text of a message has a cap: no
//!   message costs more than a fixed multiple of its length, or that cap.
//! - A request without a response is reported when its connection ends, or with the connection's
//!   next message once 30 seconds of capture time have passed.
//! - What waits and what is incomplete is charged to the memory of its shard. Nothing is allocated
//!   after the parser is made except the first long lists, and no input makes it panic.
//!
//! Deliberately does not: keep a cache, follow zone transfers beyond their messages, or decrypt.

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

mod flavour;
mod fuzz;
mod options;
mod parser;
mod pending;
mod rdata;
mod reading;
mod record;
#[cfg(test)]
mod tests;
mod wire;

#[doc(hidden)]
pub use fuzz::fuzz_dns;
pub use parser::Dns;
pub use record::{DNS, DNS_LOG, LLMNR, MDNS};
