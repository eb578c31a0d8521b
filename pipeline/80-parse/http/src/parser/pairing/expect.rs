//! `Expect: 100-continue` (RFC 9110 §10.1.1): a final response instead of `100 Continue`, after
//! which the body may be omitted.
//!
//! ```text
//!  head with Expect ──► 100 ──┬──► body
//!                    │        └──► final answer ──► close │ body
//!                    └───────────► final answer ──► close │ body │ the next request
//! ```
//!
//! After a final response some clients send the body, because the connection could not continue
//! without it (RFC 9112 §9.3); others, mainly those that were asked to authenticate, omit it and
//! send the next request. So the next bytes decide: a line that is certainly a request line starts
//! the next request, anything else is the body. A body that starts with a request line is read as a
//! request. Servers differ there, so this is reported, unless the response asks for a repetition.
//!
//! Some servers send `100 Continue` and a final response without waiting: then the body follows.

use crate::anomaly::Anomaly;
use crate::parser::turn::Turn;
use crate::state::{Phase, Side, Transaction};
use crate::syntax::{ChunkLine, METHOD_MAX, Version, looks_like_request};
use flowpin_counters::Loss;
use flowpin_record::MessageSink;
use memchr::memchr;

impl<S: MessageSink> Turn<'_, S> {
    /// The value of `Expect`.
    #[cold]
    pub(crate) fn expect(&mut self, value: &[u8]) {
        let mut all = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        if let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction)
            // RFC 9110 §10.1.1: it is ignored in a request of HTTP/1.0.
            && transaction.request_version != Version::V10
            && all.any(|one| one.eq_ignore_ascii_case(b"100-continue"))
        {
            transaction.bits |= Transaction::EXPECTS;
        }
    }

    /// The head of a final response to a request that waits with its body. If no byte of the body
    /// has been sent, the client may omit it.
    #[cold]
    pub(crate) fn answered_at_once(&mut self) {
        if self.theirs.transaction != self.mine.transaction || !is_before_body(self.theirs) {
            return;
        }
        if let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) {
            transaction.bits |= Transaction::ANSWERED_AT_ONCE;
        }
        // After `100 Continue`, the body follows.
        if !self.theirs.has(Side::CONTINUED) {
            self.theirs.phase = Phase::MaybeOmitted;
        }
    }

    /// Whether the request was answered before its body, of which no byte was sent.
    pub(crate) fn is_not_awaited(&self) -> bool {
        let transaction = self.pools.transactions.get(self.mine.transaction);
        let is_answered = |one: &Transaction| one.has(Transaction::ANSWERED_AT_ONCE);
        self.to_server && transaction.is_some_and(is_answered) && is_before_body(self.mine)
    }

    /// A body, or at once the next request: the first line is kept until that is decided.
    #[cold]
    pub(crate) fn maybe_omitted<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let feed = memchr(b'\n', bytes);
        let end = feed.map_or(bytes.len(), |feed| feed.wrapping_add(1));
        let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        let kept = self.mine.line.len();
        let max = self.options.line_bytes_max as usize;
        if line.len().saturating_add(kept as usize) > max {
            self.body_comes();
            return bytes;
        }
        if kept == 0 {
            if feed.is_some() && self.is_next_request(line) {
                self.body_omitted();
                return bytes;
            }
            if feed.is_some() || !looks_like_request(line) {
                self.body_comes();
                return bytes;
            }
            self.mine.began = self.at;
        }
        let shard = self.queue.shard;
        let count = self.pools.texts.append(&mut self.mine.line, shard, line);
        if count < line.len() {
            self.pools.losses.count(Loss::HttpTexts, 1);
            self.body_comes();
            return bytes.get(count..).unwrap_or_default();
        }
        // Longer parts were checked for a method before.
        if feed.is_some() || kept as usize <= METHOD_MAX {
            self.decide(feed.is_some());
        }
        rest
    }

    /// Decides by the kept line.
    fn decide(&mut self, is_whole: bool) {
        let mut line = std::mem::take(&mut self.pools.line);
        line.clear();
        self.pools.texts.gather(&self.mine.line, &mut line);
        let is_request = is_whole && self.is_next_request(&line);
        let is_body = if is_whole {
            !is_request
        } else {
            !looks_like_request(&line)
        };
        self.pools.line = line;
        if is_request {
            let began = self.mine.began;
            self.body_omitted();
            self.begin_message();
            self.mine.began = began;
            self.mine.phase = Phase::FirstLine;
            self.kept_line();
        } else if is_body {
            self.body_comes();
        }
    }

    /// Whether a line starts the next request, and is not the body followed by a request line.
    fn is_next_request(&self, line: &[u8]) -> bool {
        let is_first = |line: &[u8]| looks_like_request(line) && self.is_first_line(line);
        let after = usize::try_from(self.mine.left)
            .ok()
            .filter(|_| !self.mine.framing.chunked)
            .and_then(|left| line.get(left..));
        is_first(line) && !after.is_some_and(is_first)
    }

    /// The body follows, and the kept bytes are its first ones.
    fn body_comes(&mut self) {
        self.mine.phase = if self.mine.framing.chunked {
            Phase::ChunkLine
        } else {
            Phase::Counted
        };
        if self.mine.line.is_empty() {
            return;
        }
        if let Some(transaction) = self.pools.transactions.get(self.mine.transaction) {
            self.mine.began = transaction.request_at;
        }
        let line = self.take_line();
        self.read(&line);
        self.pools.line = line;
    }

    /// The next request follows instead of the body.
    fn body_omitted(&mut self) {
        let status = self
            .pools
            .transactions
            .get(self.mine.transaction)
            .map_or(0, |transaction| transaction.status);
        // RFC 9110 §15.4, §15.5.2, §15.5.8 and §15.5.18: the request is to be repeated.
        if !matches!(status, 300..=399 | 401 | 407 | 417) {
            self.report(Anomaly::BodyOmitted);
        }
        // Its file is cut, which is no error.
        self.mine.set(Side::BODY_CUT);
        self.message_over();
    }

    /// The client has closed, without a byte of the body or inside it.
    pub(crate) fn closed_before_omitted(&mut self) {
        if self.mine.line.is_empty() {
            self.mine.set(Side::BODY_CUT);
        } else {
            self.body_comes();
        }
    }
}

/// Whether a side is before the first byte of a body.
fn is_before_body(side: &Side) -> bool {
    let is_there = match side.phase {
        Phase::Counted => true,
        Phase::ChunkLine => side.chunk == ChunkLine::default(),
        _ => false,
    };
    is_there && side.body_len == 0
}
