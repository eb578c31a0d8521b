//! Names of fields that say something to us.

macro_rules! fields {
    ($($variant:ident = $name:literal,)*) => {
        /// A field whose value is looked at.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Field { $($variant,)* }

        const NAMES: &[(&[u8], Field)] = &[$(($name, Field::$variant),)*];
    };
}

fields! {
    Host = b"host",
    Expect = b"expect",
    Upgrade = b"upgrade",
    Origin = b"origin",
    Referrer = b"referer",
    UserAgent = b"user-agent",
    Location = b"location",
    ContentLength = b"content-length",
    ContentType = b"content-type",
    ContentRange = b"content-range",
    ContentEncoding = b"content-encoding",
    ContentDisposition = b"content-disposition",
    TransferEncoding = b"transfer-encoding",
    Authorization = b"authorization",
    ForwardedFor = b"x-forwarded-for",
    ForwardedFrom = b"x-forwarded-from",
    XroxyConnection = b"xroxy-connection",
    Forwarded = b"forwarded",
    ClientIp = b"client-ip",
    Via = b"via",
    ProxyConnection = b"proxy-connection",
}

/// No known name is longer.
const NAME_MAX: usize = 31;

/// For each length the first letters of the known names of that length.
#[expect(
    clippy::indexing_slicing,
    reason = "computed while compiling: what does not fit does not compile"
)]
const FIRST_LETTERS: [u32; NAME_MAX + 1] = {
    let mut table = [0u32; NAME_MAX + 1];
    let mut nth = 0;
    while nth < NAMES.len() {
        let name = NAMES[nth].0;
        table[name.len()] |= 1 << (name[0] & 31);
        nth += 1;
    }
    table
};

/// Whether a name may be a known one, by its length and first letter.
// PERF: one load and one test rule out most fields of real messages.
#[inline]
pub(crate) fn might_be_known(name: &[u8]) -> bool {
    let letters = FIRST_LETTERS.get(name.len()).copied().unwrap_or(0);
    let first = name.first().copied().unwrap_or(0);
    letters.wrapping_shr(u32::from(first & 31)) & 1 != 0
}

/// For each length and first letter the first known name that has them.
#[expect(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "computed while compiling: what does not fit does not compile"
)]
const PLACES: [[u8; 32]; NAME_MAX + 1] = {
    let mut table = [[u8::MAX; 32]; NAME_MAX + 1];
    let mut nth = NAMES.len();
    while nth > 0 {
        nth -= 1;
        let name = NAMES[nth].0;
        table[name.len()][(name[0] & 31) as usize] = nth as u8;
    }
    table
};

/// Which known field a name is, in any case.
// PERF: one place to look at for each length and first letter; names that share one stand in turn.
#[inline]
pub(crate) fn field(name: &[u8]) -> Option<Field> {
    let first = usize::from(name.first()? & 31);
    let place = *PLACES.get(name.len())?.get(first)?;
    NAMES
        .get(usize::from(place)..)?
        .iter()
        .take_while(|(known, _)| known.len() == name.len())
        .find(|(known, _)| is_same(known, name))
        .map(|&(_, field)| field)
}

/// Whether a name, of the same length, is this one of lower-case letters.
// PERF: eight letters at a time; the last eight overlap those before.
#[inline]
fn is_same(known: &[u8], name: &[u8]) -> bool {
    let (Some(last), Some(name_last)) = (known.last_chunk::<8>(), name.last_chunk::<8>()) else {
        return known.eq_ignore_ascii_case(name);
    };
    let lower = |eight: &[u8; 8]| in_lower_case(u64::from_le_bytes(*eight));
    known
        .chunks_exact(8)
        .zip(name.chunks_exact(8))
        .all(
            |(known, name)| match (known.first_chunk(), name.first_chunk()) {
                (Some(known), Some(name)) => u64::from_le_bytes(*known) == lower(name),
                _ => false,
            },
        )
        && u64::from_le_bytes(*last) == lower(name_last)
}

/// Eight bytes with `A` to `Z` turned into `a` to `z`.
#[inline]
const fn in_lower_case(eight: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let low = eight & !HIGH;
    // The high bit says: from `A` on; beyond `Z`. No sum of two 7-bit numbers carries.
    let from_a = low.wrapping_add(ONES.wrapping_mul(0x80 - 0x41));
    let beyond_z = low.wrapping_add(ONES.wrapping_mul(0x80 - 0x5b));
    let is_upper = from_a & !beyond_z & !eight & HIGH;
    eight | is_upper >> 2
}

#[cfg(test)]
mod tests {
    use super::{Field, NAMES, field, in_lower_case, might_be_known};

    /// As the standard library has it, for every byte at every place.
    #[test]
    fn letters_are_turned_to_lower_case() {
        for byte in 0..=255u8 {
            for place in 0..8 {
                let mut eight = *b"aZ-@[`{z";
                eight[place] = byte;
                let ours = in_lower_case(u64::from_le_bytes(eight)).to_le_bytes();
                assert_eq!(ours, eight.map(|byte| byte.to_ascii_lowercase()));
            }
        }
    }

    /// RFC 9110 §5.1: names are the same in any case. The quick test never misses one.
    #[test]
    fn known_names_are_found_in_any_case() {
        for &(name, known) in NAMES {
            for name in [name.to_ascii_uppercase(), name.to_vec()] {
                assert!(might_be_known(&name));
                assert_eq!(field(&name), Some(known));
            }
        }
        assert_eq!(field(b"Hosts"), None);
        assert_eq!(field(b""), None);
        assert!(!might_be_known(b"") && !might_be_known(b"accept") && !might_be_known(&[b'x'; 99]));
        assert_eq!(field(b"Host"), Some(Field::Host));
    }
}
