//! The codings of a body: Content-Encoding (RFC 9110 §8.4), and transfer codings other than
//! `chunked` (RFC 9112 §7).

/// One coding, as one of the following constants.
pub(crate) type Encoding = u8;

/// Not encoded.
pub(crate) const IDENTITY: Encoding = 0;
pub(crate) const GZIP: Encoding = 1;
pub(crate) const DEFLATE: Encoding = 2;
pub(crate) const BROTLI: Encoding = 3;
pub(crate) const ZSTD: Encoding = 4;
/// An unknown coding.
pub(crate) const UNKNOWN: Encoding = 5;

/// Codings of one body that are undone: as many as curl does.
const LAYERS_MAX: usize = 5;

/// Codings in the order in which they were applied (RFC 9110 §8.4): the last is undone first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layers {
    codings: [Encoding; LAYERS_MAX],
    len: u8,
    has_too_many: bool,
    /// A name stood among other bytes.
    is_odd: bool,
}

impl Layers {
    pub(crate) const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Adds one; `identity` does not count.
    pub(super) fn push(&mut self, coding: Encoding) {
        if coding == IDENTITY {
            return;
        }
        match self.codings.get_mut(usize::from(self.len)) {
            Some(place) => {
                *place = coding;
                self.len = self.len.wrapping_add(1);
            }
            None => self.has_too_many = true,
        }
    }

    /// In order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Encoding> {
        self.codings.iter().copied().take(usize::from(self.len))
    }

    /// The first, and all others.
    pub(super) fn split_first(self) -> (Encoding, Self) {
        let mut others = Self::default();
        self.iter().skip(1).for_each(|coding| others.push(coding));
        (self.iter().next().unwrap_or(IDENTITY), others)
    }

    /// Adds the codings in a value of Content-Encoding.
    pub(crate) fn add_content(&mut self, value: &[u8]) {
        for member in members(value) {
            let coding = encoding(member);
            let hidden = if coding == UNKNOWN {
                hidden(member)
            } else {
                None
            };
            self.is_odd |= hidden.is_some();
            self.push(hidden.unwrap_or(coding));
        }
    }

    /// Adds the codings before `chunked` in a value of Transfer-Encoding (RFC 9112 §6.1).
    #[cold]
    pub(crate) fn add_transfer(&mut self, value: &[u8]) {
        for member in members(value) {
            if member.eq_ignore_ascii_case(b"chunked") {
                return;
            }
            let is_compress = |name: &&[u8]| member.eq_ignore_ascii_case(name);
            self.push(match encoding(member) {
                known @ (GZIP | DEFLATE) => known,
                _ if [b"compress".as_slice(), b"x-compress"]
                    .iter()
                    .any(is_compress) =>
                {
                    UNKNOWN
                }
                // Unknown transfer codings are reported with the field.
                _ => IDENTITY,
            });
        }
    }
}

fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let members = value.split(|&byte| byte == b',');
    members.map(<[u8]>::trim_ascii)
}

/// The only known coding among the words of a member, which other bytes surround: some receivers
/// see it. Whether the body is coded so shows in its first bytes.
#[cold]
fn hidden(member: &[u8]) -> Option<Encoding> {
    let words = member.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-');
    let mut known = words.map(encoding);
    let is_known = |coding: &Encoding| matches!(*coding, GZIP | DEFLATE);
    let first = known.find(is_known)?;
    known
        .all(|other| other == first || !is_known(&other))
        .then_some(first)
}

/// Reads one name.
fn encoding(value: &[u8]) -> Encoding {
    let is = |name: &[u8]| value.eq_ignore_ascii_case(name);
    if value.is_empty() || is(b"identity") || is(b"none") {
        IDENTITY
    } else if is(b"gzip") || is(b"x-gzip") {
        GZIP
    } else if is(b"deflate") || is(b"x-deflate") {
        DEFLATE
    } else if is(b"br") {
        BROTLI
    } else if is(b"zstd") {
        ZSTD
    } else {
        UNKNOWN
    }
}

/// All codings of a body: its content was encoded first, then coded for the transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Encodings {
    pub(crate) transfer: Layers,
    pub(crate) content: Layers,
}

impl Encodings {
    #[cfg(test)]
    pub(super) fn of_content(content: Encoding) -> Self {
        let mut encodings = Self::default();
        encodings.content.push(content);
        encodings
    }

    /// All of them, in order.
    fn all(self) -> Layers {
        let mut all = self.content;
        all.has_too_many |= self.transfer.has_too_many;
        all.is_odd |= self.transfer.is_odd;
        self.transfer.iter().for_each(|coding| all.push(coding));
        all
    }

    pub(crate) fn has_unknown(self) -> bool {
        let all = self.all();
        all.is_odd || all.iter().any(|coding| coding == UNKNOWN)
    }

    /// Whether there are more than the maximum: then none is undone.
    pub(crate) fn has_too_many(self) -> bool {
        self.all().has_too_many
    }

    /// The codings that can be undone, if wanted: those after the last unknown one.
    pub(super) fn undone(self, is_wanted: bool) -> Layers {
        let all = self.all();
        let mut undone = Layers::default();
        if !is_wanted || all.has_too_many {
            return undone;
        }
        for coding in all.iter() {
            if coding == UNKNOWN {
                undone = Layers::default();
            } else {
                undone.push(coding);
            }
        }
        undone
    }
}

#[cfg(test)]
mod tests {
    use super::{BROTLI, DEFLATE, Encodings, GZIP, IDENTITY, Layers, UNKNOWN, ZSTD};

    fn listed(value: &str) -> Vec<u8> {
        let mut layers = Layers::default();
        layers.add_content(value.as_bytes());
        layers.iter().collect()
    }

    /// RFC 9110 §8.4 and §5.6.1: a list in order, names of any case, empty members, `identity`.
    #[test]
    fn lists_of_codings_are_read() {
        for (value, codings) in [
            ("gzip", vec![GZIP]),
            ("X-GZIP", vec![GZIP]),
            ("gzip, deflate", vec![GZIP, DEFLATE]),
            ("identity, gzip", vec![GZIP]),
            (", br ,,zstd,", vec![BROTLI, ZSTD]),
            ("none", vec![]),
            ("", vec![]),
            ("foo, gzip", vec![UNKNOWN, GZIP]),
            ("gzip;q=1", vec![GZIP]),
            ("x gzip", vec![GZIP]),
            ("\0deflate\u{a0}", vec![DEFLATE]),
            ("gzip deflate", vec![UNKNOWN]),
            ("br;q=1", vec![UNKNOWN]),
        ] {
            assert_eq!(listed(value), codings, "{value:?}");
        }
    }

    /// The last coding is undone first, down to an unknown one; of too many, none is undone.
    #[test]
    fn what_is_not_known_hides_what_is_below() {
        let undone = |content: &str, transfer: &str| {
            let mut encodings = Encodings::default();
            encodings.content.add_content(content.as_bytes());
            encodings.transfer.add_transfer(transfer.as_bytes());
            let undone = encodings.undone(true);
            assert_eq!(encodings.undone(false), Layers::default());
            (undone.iter().collect::<Vec<_>>(), encodings.has_too_many())
        };
        assert_eq!(undone("br", "gzip, chunked"), (vec![BROTLI, GZIP], false));
        assert_eq!(undone("foo, br", "gzip"), (vec![BROTLI, GZIP], false));
        assert_eq!(undone("br, foo", ""), (vec![], false));
        assert_eq!(undone("br", "compress, chunked, gzip"), (vec![], false));
        let five = "br, br, br, br, br";
        assert_eq!(undone(five, "chunked"), (vec![BROTLI; 5], false));
        assert_eq!(undone(five, "gzip"), (vec![], true));
        assert_eq!(Layers::default().split_first().0, IDENTITY);
    }
}
