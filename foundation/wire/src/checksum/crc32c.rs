//! CRC32c (Castagnoli), as SCTP uses it (RFC 9260 appendix A).
//!
//! Eight bytes at a time from eight tables. SCTP is rare enough not to need the processor's own
//! instruction.

/// The CRC32c of `parts` one behind the other.
pub fn crc32c(parts: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for part in parts {
        crc = update(crc, part);
    }
    !crc
}

fn update(mut crc: u32, bytes: &[u8]) -> u32 {
    let (blocks, rest) = bytes.as_chunks::<8>();
    for block in blocks {
        let mixed = u64::from_le_bytes(*block) ^ u64::from(crc);
        crc = TABLES
            .iter()
            .rev()
            .zip(mixed.to_le_bytes())
            .fold(0, |crc, (table, byte)| crc ^ entry(table, byte));
    }
    for &byte in rest {
        let [low, ..] = crc.to_le_bytes();
        crc = (crc >> 8) ^ entry(&TABLES[0], low ^ byte);
    }
    crc
}

/// An index of eight bits always lies in a table of 256.
#[inline]
fn entry(table: &[u32; 256], byte: u8) -> u32 {
    table.get(usize::from(byte)).copied().unwrap_or_default()
}

/// `TABLES[k][b]` is the CRC of byte `b` and `k` zero bytes behind it.
static TABLES: [[u32; 256]; 8] = tables();

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "computed when compiling, where a mistake is a compile error"
)]
const fn tables() -> [[u32; 256]; 8] {
    const POLYNOMIAL_REVERSED: u32 = 0x82f6_3b78;
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 0 {
                crc >> 1
            } else {
                (crc >> 1) ^ POLYNOMIAL_REVERSED
            };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[k - 1][byte];
            tables[k][byte] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::crc32c;
    use proptest::prelude::*;

    /// RFC 3720 appendix B.4's examples, and the check value of every catalogue of CRCs.
    #[test]
    fn published_values_hold() {
        assert_eq!(crc32c(&[b"123456789"]), 0xe306_9283);
        assert_eq!(crc32c(&[&[0; 32]]), 0x8a91_36aa);
        assert_eq!(crc32c(&[&[0xff; 32]]), 0x62a8_ab43);
        assert_eq!(crc32c(&[]), 0);
    }

    fn slow(bytes: &[u8]) -> u32 {
        let mut crc = u32::MAX;
        for &byte in bytes {
            crc ^= u32::from(byte);
            for _ in 0..8 {
                crc = (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
            }
        }
        !crc
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The tables give what the definition gives, however the bytes are cut.
        #[test]
        fn tables_agree_with_the_definition(
            bytes in prop::collection::vec(any::<u8>(), 0..100),
            cut in any::<prop::sample::Index>(),
        ) {
            let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
            prop_assert_eq!(crc32c(&[head, tail]), slow(&bytes));
        }
    }
}
