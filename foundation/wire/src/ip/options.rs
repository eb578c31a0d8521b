//! Options of an IPv4 header (RFC 791 §3.1), as far as their form goes.
//!
//! ```text
//!  │ 0 │ end of the list     │ 1 │ nothing     │ kind │ length │ … length - 2 bytes │
//! ```

use flowpin_packet::Reason;

/// What is wrong with the form of options, and where each of those begins, from the first option.
///
/// [`Reason::OptionCut`]: there is no room for its length. [`Reason::OptionLength`]: it is below 2,
/// reaches beyond the header, or is none that its kind may have. [`Reason::OptionMalformed`]: nor
/// is its pointer. [`Reason::OptionRepeated`]: it may occur only once. What follows an option whose
/// end is not known is not read.
///
/// ```
/// use flowpin_packet::Reason;
/// use flowpin_wire::ip::option_flaws;
/// assert_eq!(option_flaws(&[1, 148, 4, 0, 0, 0]).next(), None);
/// assert_eq!(option_flaws(&[1, 1, 1, 7, 9, 4]).next(), Some((Reason::OptionLength, 3)));
/// ```
pub fn option_flaws(options: &[u8]) -> impl Iterator<Item = (Reason, u16)> {
    let mut rest = options;
    let mut seen = Seen::default();
    // At most 40 bytes, and each round takes at least one.
    core::iter::from_fn(move || {
        loop {
            let at = options.len().saturating_sub(rest.len());
            let offset = u16::try_from(at).unwrap_or(u16::MAX);
            let (kind, len) = match rest {
                [] | [END, ..] => return None,
                [NOTHING, after @ ..] => {
                    rest = after;
                    continue;
                }
                [_] => {
                    rest = &[];
                    return Some((Reason::OptionCut, offset));
                }
                [kind, len, ..] => (*kind, usize::from(*len)),
            };
            let Some((option, after)) = rest.split_at_checked(len).filter(|_| len >= 2) else {
                rest = &[];
                return Some((Reason::OptionLength, offset));
            };
            rest = after;
            let is_first = seen.is_first(kind);
            let repeated = (!is_first).then_some(Reason::OptionRepeated);
            if let Some(reason) = flaw_of(kind, option).or(repeated) {
                return Some((reason, offset));
            }
        }
    })
}

/// What is wrong with an option of this kind; nothing is with unknown ones.
fn flaw_of(kind: u8, option: &[u8]) -> Option<Reason> {
    let len = option.len();
    let pointer = option.get(2).copied().unwrap_or(0);
    let (has_length, has_form) = match kind {
        // RFC 791: whole addresses behind a pointer of at least 4, which may point behind them.
        RECORD_ROUTE | LOOSE_ROUTE | STRICT_ROUTE => (len.checked_rem(4) == Some(3), pointer >= 4),
        // RFC 791: a pointer of at least 5 and flags of 0, 1 or 3; at most 40 bytes.
        TIMESTAMP => {
            let flags = option.get(3).copied().unwrap_or(0) & 15;
            let has_form = pointer >= 5 && matches!(flags, 0 | 1 | 3);
            (len.checked_rem(4) == Some(0), has_form)
        }
        // RFC 791; RFC 2113 §2.1.
        STREAM | ROUTER_ALERT => (len == 4, true),
        // RFC 1108 §2: a level, flags.
        SECURITY => (len >= 3, true),
        _ => (true, true),
    };
    match (has_length, has_form) {
        (false, _) => Some(Reason::OptionLength),
        (true, false) => Some(Reason::OptionMalformed),
        (true, true) => None,
    }
}

/// The kinds that were seen, of those that occur at most once in a datagram (RFC 791).
#[derive(Default)]
struct Seen(u8);

impl Seen {
    fn is_first(&mut self, kind: u8) -> bool {
        let once = [
            SECURITY,
            RECORD_ROUTE,
            LOOSE_ROUTE,
            STRICT_ROUTE,
            TIMESTAMP,
            STREAM,
            ROUTER_ALERT,
        ];
        let Some(place) = once.iter().position(|&known| known == kind) else {
            return true;
        };
        let bit = 1u8 << place;
        let is_first = self.0 & bit == 0;
        self.0 |= bit;
        is_first
    }
}

const END: u8 = 0;
const NOTHING: u8 = 1;
const RECORD_ROUTE: u8 = 7;
const TIMESTAMP: u8 = 68;
const SECURITY: u8 = 130;
const LOOSE_ROUTE: u8 = 131;
const STREAM: u8 = 136;
const STRICT_ROUTE: u8 = 137;
const ROUTER_ALERT: u8 = 148;

#[cfg(test)]
mod tests {
    use super::option_flaws;
    use flowpin_packet::Reason;
    use proptest::prelude::*;

    /// RFC 791 §3.1, RFC 2113 §2.1: what real hosts send has no flaw.
    #[test]
    fn well_formed_options_have_no_flaw() {
        for options in [
            &[][..],
            &[0, 7, 7, 7],
            &[1, 1, 1, 0],
            &[148, 4, 0, 0],
            &[7, 39, 4],
            &[131, 7, 4, 192, 0, 2, 9, 1],
            &[68, 12, 5, 1, 192, 0, 2, 9, 0, 0, 0, 0],
            // An unknown kind may occur as often as it likes.
            &[200, 2, 200, 2],
        ] {
            let mut options = options.to_vec();
            if options.get(..2) == Some(&[7, 39]) {
                options.resize(39, 0);
            }
            assert_eq!(option_flaws(&options).next(), None, "{options:?}");
        }
    }

    /// Each flaw is told with its place.
    #[test]
    fn flaws_are_told_in_place() {
        for (options, reason, offset) in [
            (&[1, 1, 1, 7][..], Reason::OptionCut, 3),
            (&[148, 0, 0, 0], Reason::OptionLength, 0),
            (&[1, 148, 1, 0], Reason::OptionLength, 1),
            (&[148, 5, 0, 0], Reason::OptionLength, 0),
            (&[7, 7, 3, 0, 0, 0, 0, 0], Reason::OptionMalformed, 0),
            (&[7, 8, 4, 0, 0, 0, 0, 0], Reason::OptionLength, 0),
            (&[68, 8, 5, 2, 0, 0, 0, 0], Reason::OptionMalformed, 0),
            (&[148, 6, 0, 0, 0, 0], Reason::OptionLength, 0),
            (&[148, 4, 0, 0, 148, 4, 0, 0], Reason::OptionRepeated, 4),
        ] {
            let flaws: Vec<_> = option_flaws(options).collect();
            assert_eq!(flaws, [(reason, offset)], "{options:?}");
        }
    }

    /// What follows a flaw is read if its place is known.
    #[test]
    fn several_flaws_are_told() {
        let flaws: Vec<_> = option_flaws(&[130, 2, 148, 4, 0, 0, 148, 4, 0, 0, 241, 53]).collect();
        let expected = [
            (Reason::OptionLength, 0),
            (Reason::OptionRepeated, 6),
            (Reason::OptionLength, 10),
        ];
        assert_eq!(flaws, expected);
    }

    proptest! {
        /// Any bytes: places inside the options, or none.
        #[test]
        fn any_options_are_read(options in prop::collection::vec(any::<u8>(), 0..=40)) {
            let mut last = None;
            for (_, offset) in option_flaws(&options) {
                prop_assert!(usize::from(offset) < options.len() && last < Some(offset));
                last = Some(offset);
            }
        }
    }
}
