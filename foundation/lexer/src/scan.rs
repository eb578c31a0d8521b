//! Bytes in, tokens out.

use crate::backing_up::{head_len, longest};
use crate::saved::NO_TEXT;
use crate::scanner::Match;
use crate::walk::{quick, walk};
use crate::windows::{Masks, NO_MASKS, Windows};
use crate::{Saved, Scanner, Sink, Texts, Then, Token, Trail};
use flowpin_cpu::{Classifier, OneByOne, WithClassifier, with_classifier};

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
        with_classifier(Work {
            scan: Scan::new(self, saved, texts, shard, sink),
            bytes,
        });
    }

    /// The direction has ended: what there is of a token is told, and `<<EOF>>`.
    pub fn finish<S: Sink>(&self, saved: &mut Saved, texts: &mut Texts, shard: u8, sink: &mut S) {
        Scan::new(self, saved, texts, shard, sink).finish();
    }
}

struct Work<'a, S> {
    scan: Scan<'a, S>,
    bytes: &'a [u8],
}

impl<S: Sink> WithClassifier for Work<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<C: Classifier>(mut self, classifier: C) {
        let mut at = 0;
        while self.scan.saved.token_len > 0 && at < self.bytes.len() && !self.scan.saved.is_stopped
        {
            at = self.scan.straddling(classifier, self.bytes);
        }
        self.scan.within(classifier, self.bytes, at);
    }
}

/// A segment being scanned.
struct Scan<'a, S> {
    scanner: &'a Scanner,
    saved: &'a mut Saved,
    texts: &'a mut Texts,
    shard: u8,
    sink: &'a mut S,
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
    fn within<C: Classifier>(&mut self, classifier: C, bytes: &[u8], at: usize) {
        let scanner = self.scanner;
        let windows = Windows::new(classifier, bytes, &scanner.sparse);
        let mut masks = NO_MASKS;
        let Some(mut at) = self.ready(bytes, at) else {
            return;
        };
        let mut start = scanner.start(self.saved.condition, self.saved.at_line_start);
        let mut condition = self.saved.condition;
        loop {
            let then;
            match quick(scanner, windows, &mut masks, bytes, at, start) {
                Some((end, found)) if end.wrapping_sub(at) <= scanner.token_len_max => {
                    let Some(text) = bytes.get(at..end) else {
                        return;
                    };
                    at = end;
                    if found.begin != 0 {
                        condition = found.begin.wrapping_sub(1);
                        start = found.begin_state;
                    }
                    if scanner.uses_line_start {
                        self.saved.at_line_start = text.last() == Some(&b'\n');
                        start = scanner.start(condition, self.saved.at_line_start);
                    }
                    then = self.sink.token(Token {
                        rule: found.accept.checked_sub(1),
                        token: found.token,
                        text,
                        len: text.len() as u64,
                    });
                    if then == Then::Go && at < bytes.len() {
                        continue;
                    }
                    self.saved.condition = condition;
                }
                _ => {
                    self.saved.condition = condition;
                    match self.any(windows, &mut masks, bytes, at, start) {
                        Some((behind, answer)) => (at, then) = (behind, answer),
                        None => return,
                    }
                }
            }
            self.go_on(then);
            match self.ready(bytes, at) {
                Some(next) => at = next,
                None => return,
            }
            condition = self.saved.condition;
            start = scanner.start(condition, self.saved.at_line_start);
        }
    }

    /// The token at `at`, whatever it takes: where it ends, and the answer to it. None if its end
    /// has not come.
    #[inline(never)]
    fn any<C: Classifier>(
        &mut self,
        windows: Windows<'_, C>,
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
    }

    /// A token that is not plainly what the walk went over: its length, and the answer to it.
    #[cold]
    #[inline(never)]
    fn rarely(&mut self, accept: u16, text: &[u8], start: u16) -> (usize, Then) {
        let scanned = text.len() as u64;
        if text.len() > self.scanner.token_len_max {
            let then = self.tell_overlong(accept, text, scanned);
            return (text.len(), then);
        }
        let (len, rule) = self.matched(text, start);
        let text = text.get(..len).unwrap_or_default();
        (len, self.tell_rule(rule, text, len as u64))
    }

    /// The token at the beginning of `text`, in which a walk went as far as `text` goes: its
    /// length, at least 1, and its rule.
    fn matched(&self, text: &[u8], start: u16) -> (usize, Option<u16>) {
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

    /// Goes on with a token that began in an earlier segment. Where the next token begins; if it
    /// begins in an earlier segment, too, 0, and that token is begun.
    #[cold]
    #[inline(never)]
    fn straddling<C: Classifier>(&mut self, classifier: C, bytes: &[u8]) -> usize {
        let windows = Windows::new(classifier, bytes, &self.scanner.sparse);
        let state = self.saved.state;
        let walked = walk(
            self.scanner,
            windows,
            &mut NO_MASKS.clone(),
            bytes,
            0,
            state,
        );
        let len_max = self.scanner.token_len_max;
        let text = bytes.get(..walked.at).unwrap_or_default();
        let len_before = self.saved.token_len;
        self.texts.append(self.saved, self.shard, text, len_max);
        self.saved.state = walked.state;
        self.saved.token_len = len_before.saturating_add(text.len() as u64);
        if !walked.is_over {
            return bytes.len();
        }
        let accept = self.scanner.accept(walked.state);
        let rule = self.scanner.rule(accept.wrapping_sub(1));
        let is_known = self.saved.token_len <= len_max as u64 && !self.saved.has_lost_text;
        if !is_known || accept != 0 && matches!(rule.trail, Trail::None) {
            self.tell_held(accept, is_known);
            return walked.at;
        }
        // What is behind the token in this segment comes next.
        self.split_held(classifier, len_before).unwrap_or(0)
    }

    /// Tells all that is held as one token.
    fn tell_held(&mut self, accept: u16, is_known: bool) {
        let slot = self.saved.text;
        let len = self.saved.token_len;
        let text = self.texts.take(self.saved);
        self.forget_token();
        let then = match is_known {
            true => self.tell_rule(accept.checked_sub(1), &text, len),
            false => self.tell_overlong(accept, &text, len),
        };
        self.go_on(then);
        self.texts.give_back(slot, text);
    }

    /// Tells the longest match in what is held. If it ends within the segment at hand, of which
    /// all but `len_before` held bytes are: where. Otherwise scans the rest of what was held.
    fn split_held<C: Classifier>(&mut self, classifier: C, len_before: u64) -> Option<usize> {
        let slot = self.saved.text;
        let text = self.texts.take(self.saved);
        let before = usize::try_from(len_before).unwrap_or(usize::MAX);
        let start = self
            .scanner
            .start(self.saved.token_condition, self.saved.at_line_start);
        let (len, rule) = self.matched(&text, start);
        self.forget_token();
        let then = self.tell_rule(rule, text.get(..len).unwrap_or_default(), len as u64);
        self.go_on(then);
        let within = len.checked_sub(before);
        if within.is_none() {
            self.within(classifier, text.get(len..before).unwrap_or_default(), 0);
        }
        self.texts.give_back(slot, text);
        within
    }

    fn finish(&mut self) {
        while self.saved.token_len > 0 && !self.saved.is_stopped {
            let len = self.saved.token_len;
            let is_known = len <= self.scanner.token_len_max as u64 && !self.saved.has_lost_text;
            if is_known {
                self.split_held(OneByOne, len);
            } else {
                self.tell_held(self.scanner.accept(self.saved.state), false);
            }
        }
        if self.saved.is_stopped {
            return;
        }
        if let Some(rule) = self.scanner.eof_rule(self.saved.condition) {
            let then = self.tell_rule(Some(rule), &[], 0);
            self.go_on(then);
        }
        self.saved.stop(self.texts);
    }

    fn forget_token(&mut self) {
        self.saved.text = NO_TEXT;
        self.saved.token_len = 0;
        self.saved.has_lost_text = false;
    }

    /// A token of which not all bytes are known: no trailing context can be given back.
    fn tell_overlong(&mut self, accept: u16, text: &[u8], len: u64) -> Then {
        let text = text.get(..self.scanner.token_len_max).unwrap_or(text);
        // So that it is told as shortened, though the cap of a shard may have cost nothing but
        // the knowledge that it did not.
        let text = match text.len() as u64 == len {
            true => text.split_last().map_or(text, |(_, rest)| rest),
            false => text,
        };
        let rule = accept.checked_sub(1);
        let rule = rule.filter(|&rule| self.scanner.rule(rule).trail == Trail::None);
        self.tell_rule(rule, text, len)
    }

    fn tell_rule(&mut self, rule: Option<u16>, text: &[u8], len: u64) -> Then {
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
    fn go_on(&mut self, then: Then) {
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
