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
// PERF: most fields of real messages are told to be nobody's by one load and one test.
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
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|&(_, field)| field)
}

#[cfg(test)]
mod tests {
    use super::{Field, NAMES, field, might_be_known};

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
