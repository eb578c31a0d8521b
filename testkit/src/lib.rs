//! Packet builder, capture recorder, trace multiplier, oracles: what tests and benches share.
//!
//! Owns nothing that the product links to. What it writes is made independently of the product's
//! own readers and decoders, so that no test checks code against itself.

pub mod attack;
pub mod build;
pub mod corpus;
pub mod multiply;
pub mod oracle;
pub mod pcap;
mod pcapng;
pub mod product;
pub mod reorder;
