//! `asn1`: whether BER (X.690 §8) has an object of a kind that overflows decoders.
//!
//! What an object that is made of others holds is read as objects that follow it: whether they lie
//! within it does not matter for what is looked for.

use super::Steps;
use flowpin_rule::Asn1Check;

/// Whether one of the objects that begin at a place is as asked for.
pub(super) fn holds(check: &Asn1Check, bytes: &[u8], at: usize, steps: &mut Steps) -> bool {
    let from = if check.relative { at as i64 } else { 0 };
    let begin = from.checked_add(check.offset.into());
    let begin = begin.and_then(|begin| usize::try_from(begin).ok());
    let mut rest = begin.and_then(|begin| bytes.get(begin..)).unwrap_or(&[]);
    for count in 0..OBJECTS_MAX {
        if count % OBJECTS_A_STEP == 0 && !steps.take() {
            return false;
        }
        let Some(object) = Object::read(rest) else {
            return false;
        };
        if object.is_as(check) {
            return true;
        }
        rest = object.next;
    }
    false
}

/// An object whose bytes are all there, or that has no length of its own.
struct Object<'a> {
    /// Its tag, if it is one that the standard defines, and it is not made of others.
    tag: Option<u8>,
    len: usize,
    content: &'a [u8],
    /// What is read next: what it is made of, or what follows it.
    next: &'a [u8],
}

impl<'a> Object<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let (&identifier, mut rest) = bytes.split_first()?;
        if identifier & 0x1f == 0x1f {
            // §8.1.2.4: a tag of several octets; all but the last have the highest bit.
            let end = rest
                .iter()
                .take(TAG_LEN_MAX)
                .position(|byte| byte & 0x80 == 0)?;
            rest = rest.get(end + 1..)?;
        }
        let (&first, mut body) = rest.split_first()?;
        let len = match first {
            // §8.1.3.6: up to the end-of-contents octets, which are read as an object.
            0x80 => 0,
            0..0x80 => usize::from(first),
            _ => {
                let (digits, behind) = body.split_at_checked(usize::from(first & 0x7f))?;
                body = behind;
                let shifted = |len: usize, &digit: &u8| {
                    let len = len.checked_mul(256)?;
                    len.checked_add(digit.into())
                };
                digits.iter().try_fold(0, shifted)?
            }
        };
        let (content, behind) = body.split_at_checked(len)?;
        let is_constructed = identifier & 0x20 != 0;
        let is_plain = identifier & 0xe0 == 0 && identifier & 0x1f != 0x1f;
        Some(Self {
            tag: is_plain.then_some(identifier),
            len,
            content,
            next: if is_constructed { body } else { behind },
        })
    }

    fn is_as(&self, check: &Asn1Check) -> bool {
        let first = self.content.first().copied();
        let is_bit_overflow = check.bitstring_overflow
            && self.tag == Some(BIT_STRING)
            // §8.6.2.2: more unused bits than there are.
            && first.is_some_and(|unused| (self.len - 1).saturating_mul(8) < unused.into());
        let is_double_overflow = check.double_overflow
            && self.tag == Some(REAL)
            // §8.5.8: in decimal digits, more than any buffer for them has.
            && first.is_some_and(|kind| kind & 0xc0 == 0)
            && self.len > REAL_LEN_MAX;
        let is_oversize = check.oversize.is_some_and(|most| self.len > most as usize);
        is_bit_overflow || is_double_overflow || is_oversize
    }
}

// Universal tags (X.680 §8.4).
const BIT_STRING: u8 = 3;
const REAL: u8 = 9;

/// As in Snort.
const REAL_LEN_MAX: usize = 256;
/// As Suricata's `asn1-max-frames`.
const OBJECTS_MAX: usize = 256;
const OBJECTS_A_STEP: usize = 16;
/// Octets of a tag behind its first.
const TAG_LEN_MAX: usize = 5;

#[cfg(test)]
mod tests {
    use super::{Steps, holds};
    use flowpin_rule::Asn1Check;
    use proptest::prelude::*;

    const NOTHING: Asn1Check = Asn1Check {
        offset: 0,
        relative: false,
        bitstring_overflow: false,
        double_overflow: false,
        oversize: None,
    };

    fn found(check: &Asn1Check, bytes: &[u8]) -> bool {
        holds(check, bytes, 0, &mut Steps::new())
    }

    /// Objects are found however deep they lie, with tags and lengths of any form.
    #[test]
    fn objects_overflow_within_others() {
        let bits = Asn1Check {
            bitstring_overflow: true,
            ..NOTHING
        };
        assert!(found(&bits, &[3, 2, 9, 0]) && !found(&bits, &[3, 2, 8, 0]));
        assert!(found(&bits, &[0x30, 4, 3, 2, 9, 0]));
        assert!(found(&bits, &[0x30, 0x80, 2, 1, 5, 3, 2, 9, 0, 0, 0]));
        assert!(found(&bits, &[0x7f, 0x81, 1, 4, 3, 2, 9, 0]));
        assert!(!found(&bits, &[0x83, 2, 9, 0]) && !found(&bits, &[3, 0]));
        // Not all of it is there.
        assert!(!found(&bits, &[3, 3, 9, 0]));
        let late = Asn1Check {
            offset: 2,
            relative: true,
            ..bits
        };
        let bytes = [0xff, 0xff, 0xff, 3, 2, 9, 0];
        assert!(holds(&late, &bytes, 1, &mut Steps::new()));
        assert!(!holds(&late, &bytes, usize::MAX, &mut Steps::new()));
    }

    /// By their length: of any object, or of a number in digits.
    #[test]
    fn objects_are_oversize() {
        let long = |tag: u8, first: u8| {
            let mut bytes = vec![tag, 0x82, 1, 1, first];
            bytes.resize(4 + 257, b'1');
            bytes
        };
        let double = Asn1Check {
            double_overflow: true,
            ..NOTHING
        };
        assert!(found(&double, &long(9, 3)));
        assert!(!found(&double, &long(9, 0x80)) && !found(&double, &long(4, 3)));
        let oversize = Asn1Check {
            oversize: Some(256),
            ..NOTHING
        };
        assert!(found(&oversize, &long(4, 3)) && !found(&oversize, &[4, 1, 1]));
        assert!(!found(
            &oversize,
            &[
                4, 0x89, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
            ]
        ));
    }

    proptest! {
        /// Any bytes are read to an end, and within what an evaluation may take.
        #[test]
        fn any_bytes_are_read(
            bytes in proptest::collection::vec(any::<u8>(), 0..600), at in 0_usize..700,
        ) {
            let all = Asn1Check {
                offset: -3,
                relative: true,
                bitstring_overflow: true,
                double_overflow: true,
                oversize: Some(u32::MAX),
            };
            let mut steps = Steps::new();
            holds(&all, &bytes, at, &mut steps);
            prop_assert!(!steps.is_exceeded);
        }
    }
}
