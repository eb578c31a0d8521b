//! Bytes in, tokens out.

use crate::backing_up::{head_len, longest};
use crate::cursor::{ByTable, Cursor, Straight};
use crate::scanner::Match;
use crate::walk::{quick, walk};
use crate::windows::{Masks, Windows};
use crate::{Saved, Scanner, Sink, Texts, Then, Token};
use flowpin_cpu::{Classifier, WithClassifier, with_classifier};

impl Scanner {
    /// Scans the next bytes of one direction.
    ///
    /// Costs about a cycle per byte where runs are long; at worst each byte is looked at as often
    /// as the token limit says, if the grammar backs up.
    pub fn scan<S: Sink>(
        &self,
        saved: &mut Saved,
        texts: &mut Texts,
        shard: u8,
        bytes: &[u8],
        sink: &mut S,
    ) {
        self.scan_by(ByTable, saved, texts, shard, bytes, sink);
    }

    /// The same where the program knows the straight tokens: those of this scanner's grammar.
    pub fn scan_by<G: Straight, S: Sink>(
        &self,
        straight: G,
        saved: &mut Saved,
        texts: &mut Texts,
        shard: u8,
        bytes: &[u8],
        sink: &mut S,
    ) {
        with_classifier(Work {
            scan: Scan::new(self, saved, texts, shard, sink),
            straight,
            bytes,
        });
    }

    /// The direction has ended: what there is of a token is told, and `<<EOF>>`.
    pub fn finish<S: Sink>(&self, saved: &mut Saved, texts: &mut Texts, shard: u8, sink: &mut S) {
        Scan::new(self, saved, texts, shard, sink).finish();
    }
}

struct Work<'a, G, S> {
    scan: Scan<'a, S>,
    straight: G,
    bytes: &'a [u8],
}

impl<G: Straight, S: Sink> WithClassifier for Work<'_, G, S> {
    type Output = ();

    #[inline(always)]
    fn run<C: Classifier>(mut self, classifier: C) {
        let mut at = 0;
        while self.scan.saved.token_len > 0 && at < self.bytes.len() && !self.scan.saved.is_stopped
        {
            at = self.scan.straddling(classifier, self.bytes);
        }
        self.scan.within(self.straight, classifier, self.bytes, at);
    }
}

/// A segment being scanned.
pub(crate) struct Scan<'a, S> {
    pub(crate) scanner: &'a Scanner,
    pub(crate) saved: &'a mut Saved,
    pub(crate) texts: &'a mut Texts,
    pub(crate) shard: u8,
    pub(crate) sink: &'a mut S,
}

impl<'a, S: Sink> Scan<'a, S> {
    fn new(
        scanner: &'a Scanner,
        saved: &'a mut Saved,
        texts: &'a mut Texts,
        shard: u8,
        sink: &'a mut S,
    ) -> Self {
        Self {
            scanner,
            saved,
            texts,
            shard,
            sink,
        }
    }

    /// Tokens from `at` on; what is left of the last is kept.
    #[inline(always)]
    pub(crate) fn within<G: Straight, C: Classifier>(
        &mut self,
        straight: G,
        classifier: C,
        bytes: &[u8],
        at: usize,
    ) {
        let windows = Windows::new(classifier, bytes, &self.scanner.sets);
        let Some(mut at) = self.ready(bytes, at) else {
            return;
        };
        let mut masks = Masks::NONE;
        windows.begin(&mut masks, at);
        loop {
            let mut cursor = Cursor {
                scanner: self.scanner,
                windows: &windows,
                masks: &mut masks,
                saved: self.saved,
                sink: self.sink,
                rest: bytes.get(at..).unwrap_or_default(),
                then: None,
            };
            let _ = straight.tokens(&mut cursor);
            at = bytes.len().wrapping_sub(cursor.rest.len());
            let then = match cursor.then {
                Some(then) => then,
                None => match self.with_care::<G, C>(&windows, &mut masks, bytes, at) {
                    Some((behind, then)) => {
                        at = behind;
                        then
                    }
                    None => return,
                },
            };
            self.go_on(then);
            match self.ready(bytes, at) {
                Some(next) => at = next,
                None => return,
            }
        }
    }

    /// The token at `at`: where it ends, and the answer to it. None if its end has not come.
    #[inline(never)]
    fn with_care<G: Straight, C: Classifier>(
        &mut self,
        windows: &Windows<'_, C>,
        masks: &mut Masks,
        bytes: &[u8],
        at: usize,
    ) -> Option<(usize, Then)> {
        let start = self
            .scanner
            .start(self.saved.condition, self.saved.at_line_start);
        let found = match G::IS_TABLE {
            true => None,
            false => quick(self.scanner, windows, masks, bytes, at, start),
        };
        match found {
            Some((end, found)) if end.wrapping_sub(at) <= self.scanner.token_len_max => {
                let text = bytes.get(at..end)?;
                Some((end, self.tell(*found, text, text.len() as u64)))
            }
            _ => self.any(windows, masks, bytes, at, start),
        }
    }

    /// The token at `at`, whatever it takes: where it ends, and the answer to it. None if its end
    /// has not come.
    #[inline(never)]
    fn any<C: Classifier>(
        &mut self,
        windows: &Windows<'_, C>,
        masks: &mut Masks,
        bytes: &[u8],
        at: usize,
        start: u16,
    ) -> Option<(usize, Then)> {
        let walked = walk(self.scanner, windows, masks, bytes, at, start);
        let text = bytes.get(at..walked.at).unwrap_or_default();
        if !walked.is_over {
            self.hold(walked.state, text);
            return None;
        }
        let found = walked.end.found;
        if walked.end.is_plain && is_told(text, self.scanner.token_len_max) {
            return Some((walked.at, self.tell(found, text, text.len() as u64)));
        }
        // A byte that no rule matches is a token of its own.
        let text = match text.is_empty() {
            true => bytes.get(at..at.wrapping_add(1)).unwrap_or_default(),
            false => text,
        };
        let (len, then) = self.rarely(found.accept, text, start);
        Some((at.wrapping_add(len), then))
    }

    /// Skips what is to be skipped: where the next token begins. None if nothing is left.
    #[inline(always)]
    fn ready(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        let mut at = at;
        if self.saved.skip > 0 {
            at = self.skip(bytes, at);
        }
        (self.saved.skip == 0 && !self.saved.is_stopped && at < bytes.len()).then_some(at)
    }

    /// Keeps the beginning of a token whose end has not come.
    #[cold]
    #[inline(never)]
    fn hold(&mut self, state: u16, text: &[u8]) {
        self.saved.state = state;
        self.saved.token_len = text.len() as u64;
        self.saved.token_condition = self.saved.condition;
        let len_max = self.scanner.token_len_max;
        self.texts.append(self.saved, self.shard, text, len_max);
        if text.len() > len_max {
            self.overflow(0, text);
        }
    }

    /// A token that is not plainly what the walk went over: its length, and the answer to it.
    #[cold]
    #[inline(never)]
    fn rarely(&mut self, accept: u16, text: &[u8], start: u16) -> (usize, Then) {
        let scanned = text.len() as u64;
        if text.len() > self.scanner.token_len_max {
            let limit = self.scanner.token_len_max;
            let (within, beyond) = text.split_at_checked(limit).unwrap_or((text, &[]));
            self.sink.overflow(Some(within), beyond);
            let then = self.tell_overlong(accept, text, scanned);
            return (text.len(), then);
        }
        let (len, rule) = self.matched(text, start);
        let text = text.get(..len).unwrap_or_default();
        (len, self.tell_rule(rule, text, len as u64))
    }

    /// The token at the beginning of `text`, in which a walk went as far as `text` goes: its
    /// length, at least 1, and its rule.
    pub(crate) fn matched(&self, text: &[u8], start: u16) -> (usize, Option<u16>) {
        let (len, Some(rule)) = longest(self.scanner, text, start) else {
            return (1, None);
        };
        let trail = self.scanner.rule(rule).trail;
        let text = text.get(..len).unwrap_or_default();
        match head_len(self.scanner, text, rule, trail, start) {
            // A token of nothing would come again and again.
            0 => (1, None),
            len => (len, Some(rule)),
        }
    }

    pub(crate) fn tell_rule(&mut self, rule: Option<u16>, text: &[u8], len: u64) -> Then {
        let found = match rule {
            Some(index) => {
                let rule = self.scanner.rule(index);
                Match {
                    accept: index.wrapping_add(1),
                    token: rule.token,
                    begin: rule.begin,
                    begin_state: 0,
                }
            }
            None => Match::default(),
        };
        self.tell(found, text, len)
    }

    fn tell(&mut self, found: Match, text: &[u8], len: u64) -> Then {
        if found.begin != 0 {
            self.saved.condition = found.begin.wrapping_sub(1);
        }
        if self.scanner.uses_line_start && len > 0 {
            self.saved.at_line_start = text.last() == Some(&b'\n');
        }
        self.sink.token(Token {
            rule: found.accept.checked_sub(1),
            token: found.token,
            text,
            len,
        })
    }

    #[inline(always)]
    pub(crate) fn go_on(&mut self, then: Then) {
        match then {
            Then::Go => {}
            Then::Begin(condition) => self.saved.condition = condition,
            Then::Skip(len, condition) => {
                self.saved.skip = len;
                if let Some(condition) = condition {
                    self.saved.condition = condition;
                }
            }
            Then::Stop => self.saved.is_stopped = true,
        }
    }

    /// Skips what is to be skipped of this segment: where it goes on.
    #[inline(never)]
    fn skip(&mut self, bytes: &[u8], at: usize) -> usize {
        let mut at = at;
        while self.saved.skip > 0 && !self.saved.is_stopped {
            let rest = bytes.get(at..).unwrap_or_default();
            let len = usize::try_from(self.saved.skip).unwrap_or(usize::MAX);
            let skipped = rest.get(..len).unwrap_or(rest);
            if skipped.is_empty() {
                break;
            }
            at = at.wrapping_add(skipped.len());
            self.saved.skip_some(skipped.len() as u64);
            self.sink.skipped(skipped);
            if self.saved.skip == 0 {
                // Nobody looked at the last byte; what follows is something new.
                self.saved.at_line_start = true;
                let then = self.sink.skip_ended();
                self.go_on(then);
            }
        }
        at
    }
}

/// Whether a token is told as it is: not nothing, and not too long.
#[inline(always)]
const fn is_told(text: &[u8], len_max: usize) -> bool {
    !text.is_empty() && text.len() <= len_max
}
