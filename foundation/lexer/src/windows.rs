//! Where runs end: the block at hand, and which of its bytes are in each set.
//!
//! ```text
//!  bytes  │ … │ block │ block │ … │ last 64 bytes │
//!  set 0      └ mask of its bytes that end such runs
//!  set 1      └ mask
//! ```
//!
//! Wherever a run ends, another begins, so a block is looked at once for all sets. The end itself
//! is a shift and a count of zeros.

use flowpin_cpu::{BLOCK_BYTES, BYTE_SETS_MAX, BlockMasks, ByteSets, Classifier, WithClassifier};

/// How many sets of bytes a scanner can run with.
pub const RUN_SETS_MAX: usize = BYTE_SETS_MAX;

/// A segment that is searched.
#[derive(Clone, Copy)]
pub(crate) struct Windows<'b, C> {
    classifier: C,
    segment: Segment<'b>,
}

/// Its bytes, and the sets that end runs.
#[derive(Clone, Copy)]
struct Segment<'b> {
    bytes: &'b [u8],
    sets: &'b ByteSets,
}

impl<'b> Segment<'b> {
    /// The block that begins where so many bytes are left.
    #[inline(always)]
    fn block(&self, left: usize) -> Option<&'b [u8; BLOCK_BYTES]> {
        let at = self.bytes.len().wrapping_sub(left);
        self.bytes.get(at..)?.first_chunk()
    }
}

/// The block of a segment that was looked at last.
#[derive(Clone, Copy)]
pub(crate) struct Masks {
    members: BlockMasks,
    /// How many bytes there are from the block's beginning to the segment's end.
    left: usize,
    /// Where the block begins.
    base: usize,
    /// What [`Farther`] looks for: a set, from where so many bytes are left.
    wanted: (u8, usize),
}

impl Masks {
    /// Before anything was looked at.
    // No segment is so long that its beginning were within such a block.
    pub(crate) const NONE: Self = Self {
        members: [0; BYTE_SETS_MAX],
        left: usize::MAX,
        base: usize::MAX / 2 + 1,
        wanted: (0, 0),
    };

    /// How many bytes there are before the first that is in the set, in the block at hand, so many
    /// bytes behind its beginning.
    #[inline(always)]
    fn count(&self, set: u8, offset: usize) -> Option<usize> {
        let members = self.members.get(usize::from(set) & (RUN_SETS_MAX - 1))?;
        if offset >= BLOCK_BYTES {
            return None;
        }
        match members >> offset {
            0 => None,
            members => Some(members.trailing_zeros() as usize),
        }
    }

    #[inline(always)]
    fn move_to(&mut self, segment: &Segment<'_>, left: usize) {
        self.left = left;
        self.base = segment.bytes.len().wrapping_sub(left);
    }
}

impl<'b, C: Classifier> Windows<'b, C> {
    #[inline(always)]
    pub(crate) const fn new(classifier: C, bytes: &'b [u8], sets: &'b ByteSets) -> Self {
        Self {
            classifier,
            segment: Segment { bytes, sets },
        }
    }

    /// Looks at the block that begins at `at`, or at the last bytes.
    #[inline(always)]
    pub(crate) fn begin(&self, masks: &mut Masks, at: usize) {
        masks.left = self.segment.bytes.len().wrapping_sub(at);
        self.classifier.outlined(Begin {
            segment: &self.segment,
            masks,
        });
    }

    #[inline(always)]
    pub(crate) const fn bytes(&self) -> &'b [u8] {
        self.segment.bytes
    }

    /// The first place at or behind `at` whose byte is in the set of that place; the length if
    /// there is none.
    // PERF: what is found depends on `at` by as few steps as can be, so that the next search soon
    // begins; therefore two of these.
    #[inline(always)]
    pub(crate) fn find(&self, masks: &mut Masks, set: u8, at: usize) -> usize {
        match masks.count(set, at.wrapping_sub(masks.base)) {
            Some(count) => at.wrapping_add(count),
            None => {
                let left = self.segment.bytes.len().wrapping_sub(at);
                at.wrapping_add(self.count_farther(masks, set, left))
            }
        }
    }

    /// How many bytes there are before the first that is in the set of that place, where `left`
    /// bytes are left; all those if there is none.
    #[inline(always)]
    pub(crate) fn count(&self, masks: &mut Masks, set: u8, left: usize) -> usize {
        match masks.count(set, masks.left.wrapping_sub(left)) {
            Some(count) => count,
            None => self.count_farther(masks, set, left),
        }
    }

    #[inline(always)]
    fn count_farther(&self, masks: &mut Masks, set: u8, left: usize) -> usize {
        masks.wanted = (set, left);
        self.classifier.outlined(Farther {
            segment: &self.segment,
            masks,
        })
    }
}

/// The masks of a block, where as many bytes are left as `masks` say.
// PERF: all of these are small enough to be handed over in two registers.
struct Begin<'a> {
    segment: &'a Segment<'a>,
    masks: &'a mut Masks,
}

impl WithClassifier for Begin<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Classifier>(self, classifier: C) {
        let Self { segment, masks } = self;
        let members = &mut masks.members;
        let block = segment.block(masks.left);
        if let Some(block) = block.or_else(|| segment.bytes.last_chunk()) {
            classifier.members_of_all(segment.sets, block, members);
            masks.move_to(segment, masks.left.max(BLOCK_BYTES));
            return;
        }
        classifier.members_of_short(segment.sets, segment.bytes, members);
        masks.move_to(segment, segment.bytes.len());
    }
}

/// [`Windows::count`] of what is wanted, behind the block at hand.
// PERF: which block is next is a guess, so that it can be looked at before it is known where the
// run began.
struct Farther<'a> {
    segment: &'a Segment<'a>,
    masks: &'a mut Masks,
}

impl WithClassifier for Farther<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<C: Classifier>(self, classifier: C) -> usize {
        let Self { segment, masks } = self;
        if masks.left.wrapping_sub(masks.wanted.1) >= BLOCK_BYTES {
            return classifier.outlined(Elsewhere { segment, masks });
        }
        let (set, left) = masks.wanted;
        let next = masks.left.wrapping_sub(BLOCK_BYTES);
        if let Some(block) = segment.block(next) {
            classifier.members_of_all(segment.sets, block, &mut masks.members);
            masks.move_to(segment, next);
            if let Some(count) = masks.count(set, 0) {
                return left.wrapping_sub(next).wrapping_add(count);
            }
        }
        classifier.outlined(EvenFarther { segment, masks })
    }
}

/// The same behind the next block.
struct EvenFarther<'a> {
    segment: &'a Segment<'a>,
    masks: &'a mut Masks,
}

impl WithClassifier for EvenFarther<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<C: Classifier>(self, classifier: C) -> usize {
        let next = self.masks.left.wrapping_sub(BLOCK_BYTES);
        search(classifier, self.segment, self.masks, next)
    }
}

/// The same far from the block at hand.
struct Elsewhere<'a> {
    segment: &'a Segment<'a>,
    masks: &'a mut Masks,
}

impl WithClassifier for Elsewhere<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<C: Classifier>(self, classifier: C) -> usize {
        let (set, left) = self.masks.wanted;
        if left < BLOCK_BYTES {
            let Self { segment, masks } = self;
            masks.left = left;
            Begin { segment, masks }.run(classifier);
            let count = masks.count(set, masks.left.wrapping_sub(left));
            return count.unwrap_or(left);
        }
        search(classifier, self.segment, self.masks, left)
    }
}

/// Looks for what is wanted in block after block, the first where `next` bytes are left. The last
/// bytes are looked at together with bytes before them.
#[inline(always)]
fn search<C: Classifier>(
    classifier: C,
    segment: &Segment<'_>,
    masks: &mut Masks,
    next: usize,
) -> usize {
    let (set, left) = masks.wanted;
    let mut next = next;
    while let Some(block) = segment.block(next) {
        classifier.members_of_all(segment.sets, block, &mut masks.members);
        masks.move_to(segment, next);
        if let Some(count) = masks.count(set, 0) {
            return left.wrapping_sub(next).wrapping_add(count);
        }
        next = next.wrapping_sub(BLOCK_BYTES);
    }
    // Where there was a whole block, one can end where the segment does.
    let Some(block) = segment.bytes.last_chunk().filter(|_| next > 0) else {
        return left;
    };
    classifier.members_of_all(segment.sets, block, &mut masks.members);
    masks.move_to(segment, BLOCK_BYTES);
    match masks.count(set, BLOCK_BYTES.wrapping_sub(next)) {
        Some(count) => left.wrapping_sub(next).wrapping_add(count),
        None => left,
    }
}

#[cfg(test)]
mod tests {
    use super::{Masks, RUN_SETS_MAX, Windows};
    use flowpin_cpu::{ByteSet, ByteSets, OneByOne};

    /// Wherever a search begins, in segments of any length, it ends where the bytes say.
    #[test]
    fn searches_find_the_next_member() {
        let set = ByteSet::new([1 << 10 | 1 << 13, 0, 0, 0]).unwrap();
        let sets = ByteSets::new(&[set]);
        for len in [0, 1, 5, 63, 64, 65, 127, 128, 129, 300, 3000] {
            let bytes: Vec<u8> = (0..len)
                .map(|at| if at * at % 97 == 3 { b'\n' } else { b'x' })
                .collect();
            let expected = |from: usize| {
                let found = bytes.iter().skip(from).position(|&byte| byte == b'\n');
                found.map_or(len, |found| from + found)
            };
            let windows = Windows::new(OneByOne, &bytes, &sets);
            let mut forward = Masks::NONE;
            for from in 0..=len {
                assert_eq!(
                    windows.find(&mut forward, 0, from),
                    expected(from),
                    "{from} of {len}"
                );
                let mut fresh = Masks::NONE;
                assert_eq!(
                    windows.find(&mut fresh, 0, from),
                    expected(from),
                    "{from} of {len}"
                );
            }
            let mut leaps = Masks::NONE;
            for from in (0..=len).step_by(150) {
                assert_eq!(
                    windows.find(&mut leaps, 0, from),
                    expected(from),
                    "{from} of {len}"
                );
            }
            let mut backward = Masks::NONE;
            for from in (0..=len).rev().step_by(7) {
                assert_eq!(windows.find(&mut backward, 0, from), expected(from));
                let left = windows.count(&mut backward, 0, len - from);
                assert_eq!(from + left, expected(from));
            }
            for begin in [0, 1, 63, 64, 70, 200] {
                let mut begun = Masks::NONE;
                windows.begin(&mut begun, begin.min(len));
                for from in (0..=len).step_by(5).chain((0..=len).step_by(41)) {
                    assert_eq!(windows.find(&mut begun, 0, from), expected(from));
                }
            }
        }
        assert!(RUN_SETS_MAX.is_power_of_two());
    }
}
