//! Which of 64 bytes are line feeds, colons or controls: one bit for each byte.

pub(super) use flowpin_cpu::bytes::BLOCK;

use flowpin_cpu::bytes;

/// What is in a block. Bit *n* stands for byte *n*.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Masks {
    /// Line feeds.
    pub(super) feeds: u64,
    /// Colons.
    pub(super) colons: u64,
    /// Bytes below a space, but for tabs and line feeds.
    pub(super) controls: u64,
    /// Spaces and all below.
    pub(super) blanks: u64,
}

/// Looks at a block.
#[inline]
pub(super) fn masks(block: &[u8; BLOCK]) -> Masks {
    let feeds = bytes::equal(block, b'\n');
    Masks {
        feeds,
        colons: bytes::equal(block, b':'),
        controls: bytes::at_most(block, 0x1f) & !bytes::equal(block, b'\t') & !feeds,
        blanks: bytes::at_most(block, b' '),
    }
}

/// Byte by byte; what the quick way is held to.
#[cfg(test)]
fn plain(block: &[u8; BLOCK]) -> Masks {
    block
        .iter()
        .rev()
        .fold(Masks::default(), |found, &byte| Masks {
            feeds: found.feeds << 1 | u64::from(byte == b'\n'),
            colons: found.colons << 1 | u64::from(byte == b':'),
            controls: found.controls << 1
                | u64::from(byte < b' ' && byte != b'\t' && byte != b'\n'),
            blanks: found.blanks << 1 | u64::from(byte <= b' '),
        })
}

#[cfg(test)]
mod tests {
    use super::{masks, plain};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// A bit stands for its byte, however the processor finds it.
        #[test]
        fn masks_are_those_of_single_bytes(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), prop::sample::select(b"\n\r\t: \0\x1f\x7f\x80".to_vec())],
            64,
        )) {
            let block: &[u8; 64] = bytes.first_chunk().unwrap();
            prop_assert_eq!(masks(block), plain(block));
        }
    }
}
