//! A command and its replies, as far as they were heard.

use crate::budget::Budget;
use crate::record::HIDDEN;
use crate::syntax::reply::text_of;
use core::net::IpAddr;
use flowpin_packet::Timestamp;
use flowpin_record::RecordEndpoint;

/// A command that waits for its reply, or what the server says unasked.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// When the command was sent; of what was said unasked: when that was.
    pub(crate) at: Timestamp,
    /// As it was sent, with its first word in upper case.
    line: Vec<u8>,
    /// The length of that word; 0: none was sent, or nothing that can be read.
    word_len: usize,
    pub(crate) is_cut: bool,
    /// Its argument has a secret, in whose place [`HIDDEN`] is kept.
    pub(crate) is_secret: bool,
    /// The lines of its replies, one behind the other.
    replies: Vec<u8>,
    lines: Vec<ReplyLine>,
    pub(crate) is_reply_cut: bool,
    /// The code of the last whole reply.
    pub(crate) code: Option<[u8; 3]>,
    /// No more replies follow.
    pub(crate) is_answered: bool,
    pub(crate) channel: Option<Channel>,
    /// Whoever names connections has heard of it.
    pub(crate) is_told: bool,
    pub(crate) file_size: Option<u64>,
}

/// A line among the replies.
#[derive(Clone, Copy, Debug)]
struct ReplyLine {
    start: usize,
    end: usize,
    code: Option<[u8; 3]>,
}

/// Where a data connection is waited for, as the two sides say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    pub(crate) is_passive: bool,
    pub(crate) opener: IpAddr,
    pub(crate) listener: RecordEndpoint,
}

impl Exchange {
    /// A line of the client's: its first word, of so many bytes, is the command. What begins at
    /// `secret_at` is not kept.
    pub(crate) fn ask(
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
            // The word alone is what tells most.
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

    /// What stands behind the command and one blank.
    pub(crate) fn argument(&self) -> &[u8] {
        let start = self.word_len.saturating_add(1);
        self.line.get(start..).unwrap_or_default()
    }

    /// Takes a line of a reply; false if it was not kept whole.
    pub(crate) fn hear(
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

    /// Where a reply repeats the secret of its command: behind the command's word and a blank.
    fn secret_in(&self, line: &[u8]) -> Option<usize> {
        let word = Some(self.command()).filter(|word| self.is_secret && !word.is_empty())?;
        let places = line.windows(word.len().checked_add(1)?);
        let mut behind = places.map(|place| place.split_at(word.len()));
        let at = behind.position(|(begin, end)| begin.eq_ignore_ascii_case(word) && end == b" ")?;
        at.checked_add(word.len())?.checked_add(1)
    }

    /// The lines of all replies: their codes, and the text behind them.
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

    /// Gives back what it holds, so that it can be another one.
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
