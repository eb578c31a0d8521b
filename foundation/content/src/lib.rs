//! Files that messages carry, for every parser whose protocol carries some.
//!
//! ```text
//!  bytes of a file ─┬─► Hashers ────► Hashes ─┐
//!                   ├─► media_type ───────────┼─► FileRecord: FILES
//!                   └─► FileQuota: how many of them are written
//! ```
//!
//! Owns what a record tells of a file, and the limits on what is written. Guarantees: all of it
//! depends on the bytes, never on how they were cut. Deliberately knows no protocol: how bytes
//! become those of a file, and where they go, is the parsers' and the sink's.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

mod carried;
mod hashes;
mod media_type;
mod quota;
mod schema;

pub use carried::{CarriedFile, NAME_MAX};
pub use hashes::{HashOptions, Hashers, Hashes, hash_value};
pub use media_type::{HEAD_LEN, media_name, media_number, media_type};
pub use quota::{FileQuota, QuotaOptions};
pub use schema::{FILES, FileRecord};
