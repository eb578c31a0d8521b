//! DNS, mDNS and LLMNR: messages to records, over UDP and TCP.
//!
//! ```text
//!  datagram ───────────────┐
//!  bytes ─► length, message┴─► header, questions, records ─► pair ─┬─► event of each message
//!   any cut                    names, contents as text       by id │    (EVE: dns, mdns, llmnr)
//!                                                     and question └─► line of each transaction
//!                                                                       (Zeek's dns.log)
//! ```
//!
//! One [`Dns`] a worker; one handle a connection. Guarantees:
//!
//! - What is told depends on the messages of each direction and on the order in which they came,
//!   not on how TCP cut them.
//! - Names are followed through few pointers and 255 bytes at most, and all text of one message has
//!   a cap: no message costs more than a fixed multiple of its length, or that cap.
//! - A request without response is told when its connection ends, or after
//!   [`DnsOptions::wait_nanos`] of capture time, when the connection's next message comes.
//! - Nothing is allocated after [`Dns::new`] but the first long lists; no bytes make it panic.
//!
//! Deliberately does not: keep a cache, follow zone transfers beyond their messages, decrypt.

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

mod fuzz;
mod interface;
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
pub use options::DnsOptions;
pub use parser::{Dns, Flavour, Handle};
pub use record::{DNS, DNS_LOG, LLMNR, MDNS};
