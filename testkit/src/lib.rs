//! Packet builder, capture recorder, trace multiplier, oracles: what tests and benches share.
//!
//! Owns nothing that the product's analysis links to (`flowpin gen` multiplies captures with it).
//! What it writes is made independently of the product's own readers and decoders, so that no test
//! checks code against itself.

pub mod attack;
pub mod build;
pub mod corpus;
pub mod kafka;
pub mod multiply;
pub mod noise;
pub mod oracle;
pub mod pcap;
mod pcapng;
pub mod product;
pub mod python;
pub mod reorder;
pub mod s3;
