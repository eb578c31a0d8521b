//! X-Forwarded-For: the hops before a proxy, as one list.
//!
//! RFC 9110 §5.3: fields of one name are one list, in their order. Each proxy adds to its end, and
//! whoever looks for a client trusts no more than that end: so a list that is too long lacks its
//! beginning. It begins with a comma then, and ends with one if its end is not known: what stands
//! there in full is never a part of an address.

use super::turn::Turn;
use core::ops::Range;
use flowpin_record::MessageSink;

/// Its name in a list of fields of proxies.
pub(crate) const FORWARDED_FOR: &[u8] = b"X-FORWARDED-FOR";
/// Between a field's name and its value in such a list.
pub(crate) const ARROW: &[u8] = b" -> ";

impl<S: MessageSink> Turn<'_, S> {
    /// More hops may have been sent than are kept.
    #[cold]
    pub(crate) fn forwarded_cut(&mut self) {
        let transactions = &mut self.pools.transactions;
        if let Some(transaction) = transactions.get_mut(self.mine.transaction) {
            transaction.forwarded_cut = true;
        }
    }
}

/// Where in `gathered` the hops stand that its fields of proxies name, at most `most` bytes; and
/// whether they were more.
pub(crate) fn forwarded(
    gathered: &mut Vec<u8>,
    proxied: Range<usize>,
    most: usize,
    is_cut: bool,
) -> (Range<usize>, bool) {
    let begin = gathered.len();
    let mut only = None;
    let mut at = proxied.start;
    while at < proxied.end {
        let Some(len) = gathered.get(at..).and_then(|rest| rest.first_chunk::<2>()) else {
            break;
        };
        let item = at.wrapping_add(2);
        at = item.wrapping_add(usize::from(u16::from_le_bytes(*len)));
        let Some(value) = value(gathered, item..at.min(proxied.end)) else {
            continue;
        };
        match only.take() {
            None if gathered.len() == begin => only = Some(value),
            first => {
                if let Some(first) = first {
                    gathered.extend_from_within(first);
                }
                gathered.extend_from_slice(b", ");
                gathered.extend_from_within(value);
            }
        }
    }
    if let Some(only) = only {
        if only.len() <= most && !is_cut {
            return (only, false);
        }
        gathered.extend_from_within(only);
    }
    let list = begin..gathered.len();
    if list.is_empty() || list.len() <= most && !is_cut {
        return (list, false);
    }
    let is_long = list.len() > most;
    (last_hops(gathered, begin, most, is_cut), is_long)
}

/// The value of an item, if that is one of these fields.
fn value(gathered: &[u8], item: Range<usize>) -> Option<Range<usize>> {
    let rest = gathered.get(item.clone())?.strip_prefix(FORWARDED_FOR)?;
    let value = rest.strip_prefix(ARROW)?;
    Some(item.end.wrapping_sub(value.len())..item.end)
}

/// Of a list from `begin` on those at its end that have room, in full.
#[cold]
fn last_hops(gathered: &mut Vec<u8>, begin: usize, most: usize, is_cut: bool) -> Range<usize> {
    if is_cut {
        gathered.push(b',');
    }
    let end = gathered.len();
    let from = end.saturating_sub(most);
    if from <= begin {
        return begin..end;
    }
    let tail = gathered.get(from..).unwrap_or_default();
    match memchr::memchr(b',', tail) {
        Some(comma) => from.wrapping_add(comma)..end,
        None => {
            gathered.push(b',');
            end..end.wrapping_add(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::forwarded;

    fn shown(fields: &[&[u8]], most: usize, is_cut: bool) -> String {
        let mut gathered = b"before".to_vec();
        let begin = gathered.len();
        for field in fields {
            gathered.extend_from_slice(&u16::try_from(field.len()).unwrap().to_le_bytes());
            gathered.extend_from_slice(field);
        }
        let end = gathered.len();
        let (range, _) = forwarded(&mut gathered, begin..end, most, is_cut);
        String::from_utf8(gathered[range].to_vec()).unwrap()
    }

    /// The fields are one list; of one that is too long its end is left, hop by hop.
    #[test]
    fn the_end_of_the_whole_list_is_kept() {
        const ONE: &[u8] = b"X-FORWARDED-FOR -> 1.1.1.1, 2.2.2.2";
        const TWO: &[u8] = b"X-FORWARDED-FOR -> 3.3.3.3";
        const VIA: &[u8] = b"VIA -> x";
        for (fields, most, is_cut, expected) in [
            (&[][..], 99, false, ""),
            (&[VIA], 99, true, ""),
            (&[VIA, ONE], 99, false, "1.1.1.1, 2.2.2.2"),
            (&[ONE, VIA, TWO], 99, false, "1.1.1.1, 2.2.2.2, 3.3.3.3"),
            (&[TWO, TWO, TWO], 99, false, "3.3.3.3, 3.3.3.3, 3.3.3.3"),
            (&[ONE, TWO], 25, false, "1.1.1.1, 2.2.2.2, 3.3.3.3"),
            (&[ONE, TWO], 24, false, ", 2.2.2.2, 3.3.3.3"),
            (&[ONE, TWO], 10, false, ", 3.3.3.3"),
            (&[ONE, TWO], 7, false, ","),
            (&[TWO], 6, false, ","),
            (&[ONE], 99, true, "1.1.1.1, 2.2.2.2,"),
            (&[ONE], 10, true, ", 2.2.2.2,"),
        ] {
            assert_eq!(shown(fields, most, is_cut), expected, "{fields:?} {most}");
        }
    }
}
