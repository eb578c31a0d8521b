//! A command and the replies to it that were read.

use crate::record::HIDDEN;
use crate::syntax::reply::text_of;
use core::net::IpAddr;
use flowpin_memory::Chain;
use flowpin_packet::Timestamp;
use flowpin_parser::KeptBytes;
use flowpin_record::RecordEndpoint;

/// A command that waits for its reply. Its text is its line, with the first word in upper case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    at: Timestamp,
    /// The first letters of the first word.
    word: [u8; 4],
    /// The length of the first word; 0: an unreadable command.
    word_len: u8,
    is_cut: bool,
    /// The argument contained a secret, replaced by [`HIDDEN`].
    pub(crate) is_secret: bool,
    /// Its data connection was announced.
    is_announced: bool,
}

impl Command {
    /// Whether the command is this one, of four letters.
    pub(crate) fn is(self, word: &[u8]) -> bool {
        self.word_len == 4 && self.word == word
    }
}

/// The replies so far to a command, or those that no command waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Replies {
    /// Their lines, each after a byte that says whether it has a code, and ended by a line feed.
    kept: Chain,
    lines: u16,
    text_len: u32,
    pub(crate) is_cut: bool,
    pub(crate) facts: Facts,
}

/// What is known from replies.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// The code of the last complete reply.
    pub(crate) code: Option<[u8; 3]>,
    /// No more replies follow.
    pub(crate) is_answered: bool,
    pub(crate) channel: Option<Channel>,
    /// The data connection was announced.
    pub(crate) is_announced: bool,
    pub(crate) file_size: Option<u64>,
}

/// The endpoints of a data connection, as negotiated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Channel {
    pub(crate) is_passive: bool,
    pub(crate) opener: IpAddr,
    pub(crate) listener: RecordEndpoint,
}

impl Replies {
    /// Adds a line; false if it was not kept completely. `line` is a buffer.
    pub(crate) fn add_line(
        &mut self,
        (text, has_code): (&[u8], bool),
        (bytes_max, lines_max): (u32, u16),
        shard: u8,
        (kept, line): (&mut KeptBytes, &mut Vec<u8>),
    ) -> bool {
        let room = bytes_max.saturating_sub(self.text_len) as usize;
        let shown = text.get(..room).unwrap_or(text);
        line.clear();
        line.push(has_code.into());
        line.extend_from_slice(shown);
        line.push(b'\n');
        let is_kept = self.lines < lines_max && kept.append(shard, &mut self.kept, line);
        if is_kept {
            let len = u32::try_from(shown.len()).unwrap_or(bytes_max);
            self.lines = self.lines.saturating_add(1);
            self.text_len = self.text_len.saturating_add(len);
        }
        let is_whole = is_kept && shown.len() == text.len();
        self.is_cut |= !is_whole;
        is_whole
    }

    /// Gives back the memory; there are no replies then.
    pub(crate) fn release(&mut self, shard: u8, kept: &mut KeptBytes) {
        kept.release(shard, &mut self.kept);
        *self = Self::default();
    }
}

/// The command and the replies that are dealt with: a copy of what is kept, the same for all
/// connections. No buffer grows past the longest line, or the most bytes of replies.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    /// The time of the command, or of the unsolicited reply.
    pub(crate) at: Timestamp,
    /// The command line, with its first word in upper case.
    pub(crate) line: Vec<u8>,
    /// The length of the first word; 0: no command, or an unreadable one.
    word_len: usize,
    pub(crate) is_cut: bool,
    is_secret: bool,
    /// As in [`Replies`].
    replies: Vec<u8>,
    pub(crate) is_reply_cut: bool,
    pub(crate) facts: Facts,
}

impl Exchange {
    /// Sets the client's line, the first `word_len` bytes of which are the command. The secret
    /// that begins at `secret_at` is left out.
    pub(crate) fn set_command(
        &mut self,
        at: Timestamp,
        (line, word_len): (&[u8], usize),
        is_cut: bool,
        secret_at: Option<usize>,
    ) {
        let shown = secret_at.and_then(|at| line.get(..at).filter(|_| line.len() > at));
        self.set_replies(&Replies::default(), None);
        (self.at, self.is_cut, self.is_secret) = (at, is_cut, shown.is_some());
        self.line.clear();
        self.line.extend_from_slice(shown.unwrap_or(line));
        if self.is_secret {
            self.line.extend_from_slice(HIDDEN);
        }
        self.word_len = word_len.min(self.line.len());
        if let Some(word) = self.line.get_mut(..self.word_len) {
            word.make_ascii_uppercase();
        }
    }

    /// Leaves nothing of the line but the command: there is no memory for the rest.
    pub(crate) fn cut_to_word(&mut self) {
        self.line.truncate(self.word_len);
        self.is_cut = true;
    }

    /// The command, to wait.
    pub(crate) fn to_command(&self) -> Command {
        let mut word = [0; 4];
        for (to, letter) in word.iter_mut().zip(self.command()) {
            *to = *letter;
        }
        Command {
            at: self.at,
            word,
            word_len: u8::try_from(self.word_len).unwrap_or(u8::MAX),
            is_cut: self.is_cut,
            is_secret: self.is_secret,
            is_announced: self.facts.is_announced,
        }
    }

    /// Sets a command that waited, whose text is in [`line`](Self::line).
    pub(crate) fn set_waiting(&mut self, command: Command) {
        (self.at, self.word_len) = (command.at, command.word_len.into());
        (self.is_cut, self.is_secret) = (command.is_cut, command.is_secret);
        self.facts.is_announced |= command.is_announced;
    }

    /// Sets that there is no command.
    pub(crate) fn set_unsolicited(&mut self, at: Timestamp) {
        self.line.clear();
        (self.at, self.word_len) = (at, 0);
        (self.is_cut, self.is_secret) = (false, false);
    }

    /// Sets the replies; without memory that holds them, there are none.
    pub(crate) fn set_replies(&mut self, replies: &Replies, kept: Option<&KeptBytes>) {
        self.replies.clear();
        if let Some(kept) = kept {
            kept.read(&replies.kept, &mut self.replies);
        }
        (self.is_reply_cut, self.facts) = (replies.is_cut, replies.facts);
    }

    pub(crate) const fn is_secret(&self) -> bool {
        self.is_secret
    }

    pub(crate) fn command(&self) -> &[u8] {
        self.line.get(..self.word_len).unwrap_or_default()
    }

    /// The text after the command and one blank.
    pub(crate) fn argument(&self) -> &[u8] {
        let start = self.word_len.saturating_add(1);
        self.line.get(start..).unwrap_or_default()
    }

    /// The position of the command's secret in a reply that repeats it: after the command word and
    /// a blank.
    pub(crate) fn secret_in(&self, line: &[u8]) -> Option<usize> {
        let word = Some(self.command()).filter(|word| self.is_secret && !word.is_empty())?;
        let places = line.windows(word.len().checked_add(1)?);
        let mut pairs = places.map(|place| place.split_at(word.len()));
        let at = pairs.position(|(begin, end)| begin.eq_ignore_ascii_case(word) && end == b" ")?;
        at.checked_add(word.len())?.checked_add(1)
    }

    /// The lines of all replies: the code, and the text after it.
    pub(crate) fn replies(&self) -> impl DoubleEndedIterator<Item = (Option<&[u8]>, &[u8])> {
        let all = self.replies.strip_suffix(b"\n");
        let lines = all
            .into_iter()
            .flat_map(|all| all.split(|&byte| byte == b'\n'));
        lines.filter_map(|line| {
            let (&has_code, text) = line.split_first()?;
            let code = if has_code == 1 { text.get(..3) } else { None };
            Some((code, code.map_or(text, |_| text_of(text))))
        })
    }

    /// The text of the last line.
    pub(crate) fn last_reply(&self) -> &[u8] {
        self.replies().next_back().map_or(&[], |(_, text)| text)
    }
}
