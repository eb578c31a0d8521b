//! Zeek's `history` in one word: five bits per letter.

use flowpin_record::History;

/// The letters so far, in order: 24 of five bits, with their number above them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Letters(u128);

impl Letters {
    pub(crate) const NONE: Self = Self(0);

    /// Appends a letter of the alphabet below; ignores it after 24 letters.
    #[inline]
    pub(crate) fn push(&mut self, code: u8) {
        let len = self.len();
        if len < History::LEN_MAX {
            self.0 |= u128::from(code & 31) << (len * 5);
            self.0 += 1 << COUNT_SHIFT;
        }
    }

    /// Appends the letter `upper`, in lower case if the server caused it.
    #[inline]
    pub(crate) fn push_for(&mut self, upper: Letter, by_client: bool) {
        self.push(upper as u8 * 2 + u8::from(!by_client));
    }

    /// Removes a letter, wherever it is.
    #[cold]
    pub(crate) fn take_back(&mut self, upper: Letter, by_client: bool) {
        let code = upper as u8 * 2 + u8::from(!by_client);
        let old = self.0;
        *self = Self::NONE;
        for nth in 0..Self(old).len() {
            let other = (old >> (nth * 5)) as u8 & 31;
            if other != code {
                self.push(other);
            }
        }
    }

    #[inline]
    fn len(self) -> usize {
        (self.0 >> COUNT_SHIFT) as usize
    }

    /// The form used in records.
    pub(crate) fn history(self) -> History {
        let mut history = History::default();
        self.write(&mut history);
        history
    }

    /// As [`Letters::history`], written in place.
    #[inline]
    pub(crate) fn write(self, history: &mut History) {
        let len = self.len().min(History::LEN_MAX);
        history.len = len as u8;
        for (nth, eight) in history.letters.chunks_exact_mut(8).enumerate() {
            let used = len.saturating_sub(nth * 8).min(8);
            let word = match used {
                0 => 0,
                _ => eight_letters((self.0 >> (nth * 40)) as u64) & u64::MAX >> (64 - used * 8),
            };
            eight.copy_from_slice(&word.to_le_bytes());
        }
    }
}

/// The letters of eight codes.
// PERF: pairs from a table of 2 KiB, without a loop whose end is unpredictable.
#[inline]
fn eight_letters(codes: u64) -> u64 {
    let pair = |nth: u64| u64::from(PAIRS[(codes >> (nth * 10)) as usize & 1023]) << (nth * 16);
    pair(0) | pair(1) | pair(2) | pair(3)
}

impl core::fmt::Debug for Letters {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.write_str(self.history().as_str())
    }
}

/// An event of the history. Its place in the alphabet is twice its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Letter {
    /// `^`: direction reversed. Has no lower case.
    Flip,
    /// `S`: SYN.
    Syn,
    /// `H`: SYN-ACK.
    SynAck,
    /// `A`: pure acknowledgement.
    Ack,
    /// `D`: payload.
    Data,
    /// `F`: FIN.
    Fin,
    /// `R`: RST.
    Rst,
    /// `C`: bad checksum; this and the next three are repeated after 10, 100, … of them.
    Checksum,
    /// `G`: bytes acknowledged that were never seen.
    Gap,
    /// `T`: payload sent again.
    Retransmission,
    /// `W`: window of zero.
    ZeroWindow,
    /// `I`: FIN and RST in one segment.
    Inconsistent,
    /// `Q`: SYN with FIN or RST.
    MultiFlag,
}

const ALPHABET: &[u8; 26] = b"^^SsHhAaDdFfRrCcGgTtWwIiQq";
const COUNT_SHIFT: u32 = 120;

/// Two letters by their two codes, the first one's in the low bits.
static PAIRS: [u16; 1024] = {
    let mut pairs = [0; 1024];
    let mut codes = 0;
    while codes < 1024 {
        let (first, second) = (codes & 31, codes >> 5);
        if first < ALPHABET.len() && second < ALPHABET.len() {
            pairs[codes] = u16::from_le_bytes([ALPHABET[first], ALPHABET[second]]);
        }
        codes += 1;
    }
    pairs
};
const _: () = assert!(History::LEN_MAX * 5 <= COUNT_SHIFT as usize && History::LEN_MAX < 32);

/// Whether the `count`-th event of a kind is written again: the first, the 10th, the 100th, ….
#[inline]
pub(crate) fn is_repeated_at(count: u32) -> bool {
    matches!(
        count,
        1 | 10 | 100 | 1_000 | 10_000 | 100_000 | 1_000_000 | 10_000_000 | 100_000_000
    ) || count == 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::{Letter, Letters};

    /// Upper case is the client's, `^` has no side, and letters that do not fit are dropped.
    #[test]
    fn letters_come_back_in_order_and_stop_at_the_limit() {
        let mut letters = Letters::NONE;
        letters.push_for(Letter::Flip, true);
        letters.push_for(Letter::Syn, true);
        letters.push_for(Letter::SynAck, false);
        letters.push_for(Letter::MultiFlag, false);
        assert_eq!(letters.history().as_str(), "^Shq");
        for _ in 0..30 {
            letters.push_for(Letter::Data, true);
        }
        assert_eq!(letters.history().as_str(), "^ShqDDDDDDDDDDDDDDDDDDDD");
    }
}
