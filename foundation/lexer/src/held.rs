//! Tokens that began in an earlier segment.

use crate::cursor::ByTable;
use crate::saved::NO_TEXT;
use crate::scan::Scan;
use crate::walk::walk;
use crate::windows::{Masks, Windows};
use crate::{Sink, Then, Trail};
use flowpin_cpu::{Classifier, OneByOne};

impl<S: Sink> Scan<'_, S> {
    /// Goes on with a token that began in an earlier segment. Where the next token begins; if it
    /// begins in an earlier segment, too, 0, and that token is begun.
    #[cold]
    #[inline(never)]
    pub(crate) fn straddling<C: Classifier>(&mut self, classifier: C, bytes: &[u8]) -> usize {
        let windows = Windows::new(classifier, bytes, &self.scanner.sets);
        let state = self.saved.state;
        let walked = walk(
            self.scanner,
            &windows,
            &mut Masks::NONE.clone(),
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
        if self.saved.token_len > len_max as u64 {
            self.overflow(len_before, text);
        }
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

    /// Tells the bytes of a segment that are beyond the limit of the token that they belong to, of
    /// which there were `len_before` bytes before.
    #[cold]
    pub(crate) fn overflow(&mut self, len_before: u64, text: &[u8]) {
        let room = (self.scanner.token_len_max as u64).checked_sub(len_before);
        let held = room.map(|_| self.texts.held(self.saved));
        let room = room.and_then(|room| usize::try_from(room).ok());
        let beyond = text.get(room.unwrap_or(0)..).unwrap_or_default();
        self.sink.overflow(held, beyond);
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
            self.within(
                ByTable,
                classifier,
                text.get(len..before).unwrap_or_default(),
                0,
            );
        }
        self.texts.give_back(slot, text);
        within
    }

    pub(crate) fn finish(&mut self) {
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
    pub(crate) fn tell_overlong(&mut self, accept: u16, text: &[u8], len: u64) -> Then {
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
}
