//! A command and the replies to it that were read.

use crate::budget::Budget;
use crate::record::HIDDEN;
use crate::syntax::reply::text_of;
use core::net::IpAddr;
use flowpin_packet::Timestamp;
use flowpin_record::RecordEndpoint;

/// A command that waits for its reply, or an unsolicited reply.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// The time of the command, or of the unsolicited reply.
    pub(crate) at: Timestamp,
    /// The command line, with its first word in upper case.
    line: Vec<u8>,
    /// The length of the first word; 0: no command, or an unreadable one.
    word_len: usize,
    pub(crate) is_cut: bool,
    /// The argument contained a secret, replaced by [`HIDDEN`].
    pub(crate) is_secret: bool,
    /// The lines of all replies, concatenated.
    replies: Vec<u8>,
    lines: Vec<ReplyLine>,
    pub(crate) is_reply_cut: bool,
    /// The code of the last complete reply.
    pub(crate) code: Option<[u8; 3]>,
    /// No more replies follow.
    pub(crate) is_answered: bool,
    pub(crate) channel: Option<Channel>,
    /// The data connection was announced.
    pub(crate) is_announced: bool,
    pub(crate) file_size: Option<u64>,
}

/// Position and code of a line in the replies.
#[derive(Clone, Copy, Debug)]
struct ReplyLine {
    start: usize,
    end: usize,
    code: Option<[u8; 3]>,
}

/// The endpoints of a data connection, as negotiated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    pub(crate) is_passive: bool,
    pub(crate) opener: IpAddr,
    pub(crate) listener: RecordEndpoint,
}

impl Exchange {
    /// Stores the client's line, the first `word_len` bytes of which are the command. The secret
    /// that begins at `secret_at` is not kept.
    pub(crate) fn set_command(
        &mut self,
        (line, word_len): (&[u8], usize),
        secret_at: Option<usize>,
        shard: u8,
        budget: &mut Budget,
    ) {
        let shown = secret_at.and_then(|at| line.get(..at).filter(|_| line.len() > at));
        self.is_secret = shown.is_some();
        let is_kept = match shown {
            None => budget.append(shard, &mut self.line, line),
            Some(shown) => {
                budget.append(shard, &mut self.line, shown)
                    && budget.append(shard, &mut self.line, HIDDEN)
            }
        };
        if !is_kept {
            self.is_cut = true;
            budget.clear(shard, &mut self.line);
            // The command word alone is more useful than nothing.
            let word = line.get(..word_len).unwrap_or_default();
            budget.append(shard, &mut self.line, word);
        }
        self.word_len = word_len.min(self.line.len());
        if let Some(word) = self.line.get_mut(..self.word_len) {
            word.make_ascii_uppercase();
        }
    }

    pub(crate) fn command(&self) -> &[u8] {
        self.line.get(..self.word_len).unwrap_or_default()
    }

    /// The text after the command and one blank.
    pub(crate) fn argument(&self) -> &[u8] {
        let start = self.word_len.saturating_add(1);
        self.line.get(start..).unwrap_or_default()
    }

    /// Adds a line of a reply; false if it was not kept completely.
    pub(crate) fn add_reply_line(
        &mut self,
        line: &[u8],
        code: Option<[u8; 3]>,
        (bytes_max, lines_max): (usize, usize),
        shard: u8,
        budget: &mut Budget,
    ) -> bool {
        let room = bytes_max.saturating_sub(self.replies.len());
        let shown;
        let line = match self.secret_in(line) {
            Some(at) => {
                shown = [line.get(..at).unwrap_or_default(), HIDDEN].concat();
                shown.as_slice()
            }
            None => line,
        };
        let kept = line.get(..room).unwrap_or(line);
        let start = self.replies.len();
        let fits = self.lines.len() < lines_max && budget.append(shard, &mut self.replies, kept);
        if fits {
            self.lines.push(ReplyLine {
                start,
                end: self.replies.len(),
                code,
            });
        }
        let is_whole = fits && kept.len() == line.len();
        self.is_reply_cut |= !is_whole;
        is_whole
    }

    /// The position of the command's secret in a reply that repeats it: after the command word and
    /// a blank.
    fn secret_in(&self, line: &[u8]) -> Option<usize> {
        let word = Some(self.command()).filter(|word| self.is_secret && !word.is_empty())?;
        let places = line.windows(word.len().checked_add(1)?);
        let mut pairs = places.map(|place| place.split_at(word.len()));
        let at = pairs.position(|(begin, end)| begin.eq_ignore_ascii_case(word) && end == b" ")?;
        at.checked_add(word.len())?.checked_add(1)
    }

    /// The lines of all replies: the code, and the text after it.
    pub(crate) fn replies(&self) -> impl Iterator<Item = (Option<&[u8]>, &[u8])> {
        self.lines.iter().map(|line| {
            let text = self.replies.get(line.start..line.end).unwrap_or_default();
            let code = line.code.and_then(|_| text.get(..3));
            (code, code.map_or(text, |_| text_of(text)))
        })
    }

    /// The text of the last line.
    pub(crate) fn last_reply(&self) -> &[u8] {
        self.replies().last().map_or(&[], |(_, text)| text)
    }

    /// Returns its bytes to the budget and resets it for reuse.
    pub(crate) fn clear(&mut self, shard: u8, budget: &mut Budget) {
        let (mut line, mut replies) = (
            core::mem::take(&mut self.line),
            core::mem::take(&mut self.replies),
        );
        budget.clear(shard, &mut line);
        budget.clear(shard, &mut replies);
        let mut lines = core::mem::take(&mut self.lines);
        lines.clear();
        *self = Self {
            line,
            replies,
            lines,
            ..Self::default()
        };
    }
}
