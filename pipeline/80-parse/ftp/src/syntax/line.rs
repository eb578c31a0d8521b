//! Splits bytes into NVT lines (RFC 959 §5.3.1), ended by CRLF or by a bare LF.

use crate::budget::Budget;
use flowpin_counters::Loss;

/// The incomplete line of one direction.
#[derive(Debug, Default)]
pub(crate) struct PartialLine {
    held: Vec<u8>,
    /// The line is longer than its held bytes.
    is_cut: bool,
    /// Bytes are missing before it: it may be the rest of a line.
    is_rest: bool,
}

/// A line without its terminator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) text: &'a [u8],
    /// The line was truncated.
    pub(crate) is_cut: bool,
    /// It may be the rest of a line whose beginning is missing.
    pub(crate) is_rest: bool,
}

impl PartialLine {
    /// Reads the first line of `bytes` and returns the number of bytes used. An incomplete line is
    /// held. `whole` is the buffer for a line that arrived in parts.
    pub(crate) fn next<'a>(
        &mut self,
        bytes: &'a [u8],
        (shard, line_max): (u8, usize),
        budget: &mut Budget,
        whole: &'a mut Vec<u8>,
    ) -> (usize, Option<Line<'a>>) {
        let Some(end) = memchr::memchr(b'\n', bytes) else {
            self.hold(bytes, (shard, line_max), budget);
            return (bytes.len(), None);
        };
        let used = end.saturating_add(1);
        let last = bytes.get(..end).unwrap_or_default();
        let is_rest = core::mem::take(&mut self.is_rest);
        if self.held.is_empty() && !self.is_cut {
            let line = line(last, line_max, budget);
            return (used, Some(Line { is_rest, ..line }));
        }
        self.hold(last, (shard, line_max), budget);
        let line = self.take((shard, line_max), budget, whole);
        (used, Some(Line { is_rest, ..line }))
    }

    /// Takes the held bytes as a line.
    fn take<'a>(
        &mut self,
        (shard, line_max): (u8, usize),
        budget: &mut Budget,
        whole: &'a mut Vec<u8>,
    ) -> Line<'a> {
        whole.clear();
        whole.extend_from_slice(&self.held);
        budget.clear(shard, &mut self.held);
        let is_cut = core::mem::take(&mut self.is_cut);
        let text = if is_cut {
            whole.get(..line_max).unwrap_or(whole)
        } else {
            bare(whole)
        };
        Line {
            text,
            is_cut,
            is_rest: false,
        }
    }

    /// Holds the beginning of a line.
    fn hold(&mut self, bytes: &[u8], (shard, line_max): (u8, usize), budget: &mut Budget) {
        if self.is_cut {
            return;
        }
        // One byte more than the maximum: the `\r` at the end of the longest line does not count.
        let room = line_max.saturating_add(1).saturating_sub(self.held.len());
        let kept = bytes.get(..room).unwrap_or(bytes);
        if !budget.append(shard, &mut self.held, kept) {
            self.is_cut = true;
        }
        if kept.len() < bytes.len() || self.held.len() > line_max && !self.held.ends_with(b"\r") {
            self.is_cut = true;
            budget.losses.count(Loss::FtpText, 1);
        }
    }

    /// Drops the held bytes, since bytes are missing: the next ones may be the rest of a line.
    pub(crate) fn lose(&mut self, shard: u8, budget: &mut Budget) {
        budget.clear(shard, &mut self.held);
        self.is_cut = false;
        self.is_rest = true;
    }

    /// The last line, if it has no terminator.
    pub(crate) fn rest<'a>(
        &mut self,
        limits: (u8, usize),
        budget: &mut Budget,
        whole: &'a mut Vec<u8>,
    ) -> Option<Line<'a>> {
        let is_rest = core::mem::take(&mut self.is_rest);
        if self.held.is_empty() {
            self.is_cut = false;
            return None;
        }
        let line = self.take(limits, budget, whole);
        Some(Line {
            is_cut: true,
            is_rest,
            ..line
        })
    }
}

/// A line that arrived in one piece.
fn line<'a>(text: &'a [u8], line_max: usize, budget: &mut Budget) -> Line<'a> {
    let text = bare(text);
    match text.get(..line_max) {
        Some(kept) if kept.len() < text.len() => {
            budget.losses.count(Loss::FtpText, 1);
            Line {
                text: kept,
                is_cut: true,
                is_rest: false,
            }
        }
        _ => Line {
            text,
            is_cut: false,
            is_rest: false,
        },
    }
}

fn bare(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// A line without leading Telnet commands: ABOR follows IP and DM (RFC 959 §4.1.3).
pub(crate) fn without_telnet(mut text: &[u8]) -> &[u8] {
    while let [IAC, rest @ ..] = text {
        text = match rest {
            // WILL, WON'T, DO, DON'T and the option (RFC 854).
            [251..=254, _, rest @ ..] | [240..=250, rest @ ..] => rest,
            // The byte after IAC was sent as urgent data, and is not in the stream.
            rest => rest,
        };
    }
    text.strip_prefix(&[DATA_MARK]).unwrap_or(text)
}

const IAC: u8 = 255;
const DATA_MARK: u8 = 242;

#[cfg(test)]
mod tests {
    use super::{PartialLine, without_telnet};
    use crate::budget::Budget;
    use proptest::prelude::*;

    /// The lines of pieces: their text, and whether they were cut.
    fn lines<'a>(
        pieces: impl IntoIterator<Item = &'a [u8]>,
        line_max: usize,
    ) -> Vec<(Vec<u8>, bool)> {
        let (mut side, mut budget) = (PartialLine::default(), Budget::new(1 << 16));
        let (mut found, mut whole) = (Vec::new(), Vec::new());
        for mut piece in pieces {
            while !piece.is_empty() {
                let (used, line) = side.next(piece, (0, line_max), &mut budget, &mut whole);
                found.extend(line.map(|line| (line.text.to_vec(), line.is_cut)));
                piece = &piece[used..];
            }
        }
        found.extend(
            side.rest((0, line_max), &mut budget, &mut whole)
                .map(|line| (line.text.to_vec(), true)),
        );
        found
    }

    /// A line of the maximum length is complete, one byte more is cut, with either terminator.
    #[test]
    fn the_longest_line_is_complete() {
        for end in ["\r\n", "\n"] {
            let text = format!("12345678{end}123456789{end}x{end}");
            let found = lines([text.as_bytes()], 8);
            assert_eq!(found[0], (b"12345678".to_vec(), false));
            assert_eq!(found[1], (b"12345678".to_vec(), true));
            assert_eq!(found[2], (b"x".to_vec(), false));
        }
    }

    /// RFC 959 §4.1.3, steps 1 to 3; the last byte of urgent data may be missing in the stream.
    #[test]
    fn telnet_commands_before_abor_are_skipped() {
        for before in [
            &b"\xff\xf4\xff\xf2"[..],
            b"\xff\xf4\xff",
            b"\xff\xf4\xf2",
            b"\xf2",
            b"\xff\xfb\x01",
            b"",
        ] {
            assert_eq!(without_telnet(&[before, b"ABOR"].concat()), b"ABOR");
        }
    }

    proptest! {
        /// The lines do not depend on where bytes are cut.
        #[test]
        fn pieces_have_the_lines_of_the_whole(
            bytes in prop::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..60),
            piece in 1_usize..9,
            line_max in 1_usize..12,
        ) {
            let whole = lines([bytes.as_slice()], line_max);
            prop_assert_eq!(lines(bytes.chunks(piece), line_max), whole);
        }
    }
}
