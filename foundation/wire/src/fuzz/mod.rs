//! One function for each fuzz target: any bytes may go in, and a broken law comes out as a panic.
//!
//! The same functions run on random bytes, on the corpus and on kept finds in `cargo test`.
//! The laws: nothing panics; a payload lies in the bytes that were parsed, exactly behind the
//! header; what was captured is never more than what is claimed; iterators end.
//!
//! The first two bytes of an input say how long the packet was on the wire.

#![expect(
    clippy::arithmetic_side_effects,
    reason = "to panic is how a fuzz target says that it found something"
)]

mod checksum;
mod link;
mod medium;
mod stack;
mod transport;
mod tunnel;

pub use checksum::fuzz_checksum;
pub use link::fuzz_link;
pub use medium::fuzz_medium;
pub use stack::fuzz_stack;
pub use transport::{fuzz_ip, fuzz_transport};
pub use tunnel::fuzz_tunnel;

/// A target: any bytes may go in.
pub type Target = fn(&[u8]);

/// All targets, by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("wire_checksum", fuzz_checksum),
    ("wire_ip", fuzz_ip),
    ("wire_link", fuzz_link),
    ("wire_medium", fuzz_medium),
    ("wire_stack", fuzz_stack),
    ("wire_transport", fuzz_transport),
    ("wire_tunnel", fuzz_tunnel),
];

/// Splits an input into the packet's bytes and its length on the wire: the same, more or less.
fn packet(data: &[u8]) -> Option<(&[u8], usize)> {
    let (&[high, low], bytes) = data.split_first_chunk()?;
    let difference = i16::from_be_bytes([high, low]);
    let wire_len = match difference {
        // The commonest case must be common.
        -128..=127 => bytes.len(),
        _ => bytes.len().saturating_add_signed(isize::from(difference)),
    };
    Some((bytes, wire_len))
}

/// The law of all views: the payload is where the header's length says it is.
fn check_payload(bytes: &[u8], header_len: usize, payload: &[u8]) {
    assert!(
        header_len <= bytes.len(),
        "a header longer than what was captured"
    );
    let behind = bytes.get(header_len..).unwrap_or_default();
    assert!(payload.len() <= behind.len(), "a payload past the end");
    assert!(
        payload.is_empty() || payload.as_ptr() == behind.as_ptr(),
        "a payload that does not follow its header"
    );
}

/// The law of views that claim a length.
fn check_claim(payload: &[u8], payload_len: u32) {
    assert!(
        payload.len() <= payload_len as usize,
        "more captured than claimed"
    );
}
