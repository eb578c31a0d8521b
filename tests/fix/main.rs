//! FIX: records against the truth, and against Wireshark.
//!
//! | module | holds `fix` records to |
//! | --- | --- |
//! | `dictionary` | names that the user brings; sides that are silent for too long |
//! | `engines` | what two real engines said that they sent; no secret is written |
//! | `lab` | the truth about generated sessions: every message, in every kind of segment |
//! | `tshark` | Wireshark's dissector |
//!
//! Captures that are not bundled are looked for in the shared corpus.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod dictionary;
mod engines;
mod events;
mod lab;
mod tshark;
