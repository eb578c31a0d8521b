//! The lines of mails: which tokens are some, and where a mail begins and ends.

use super::told::Told;
use crate::actions::Actor;
use flowpin_lexer::{Condition, ContentIn, Token};
use flowpin_record::MessageSink;

impl<S: MessageSink> Actor<'_, S> {
    /// What a start condition is to mails.
    fn content_in(&self, condition: Condition) -> Option<ContentIn> {
        let mut known = self.grammar.content.iter();
        known.find(|one| one.condition == condition).copied()
    }

    /// A token was read, in one condition, after which another holds: it is a line of a mail if
    /// either is one of a mail.
    #[cold]
    pub(crate) fn content(&mut self, token: &Token<'_>, before: Condition) {
        let place = self
            .content_in(before)
            .or_else(|| self.content_in(self.condition));
        let Some(place) = place else {
            return;
        };
        if core::mem::take(&mut self.extra.has_overflowed) {
            // Its bytes have passed by already.
            self.set_line_start(true);
            return;
        }
        self.content_line(place, token.text);
        let lost = token.len.saturating_sub(token.text.len() as u64);
        if lost > 0 {
            self.content_gap(lost);
        }
        self.set_line_start(token.is_shortened() || token.text.last() == Some(&b'\n'));
    }

    /// Bytes of a token that is longer than tokens may be.
    #[cold]
    pub(crate) fn content_overflow(&mut self, before: Option<&[u8]>, bytes: &[u8]) {
        let Some(place) = self.content_in(self.condition) else {
            return;
        };
        self.extra.has_overflowed = true;
        if let Some(before) = before {
            self.content_line(place, before);
            self.set_line_start(false);
        }
        self.content_line(place, bytes);
    }

    /// Bytes of the mail, at the beginning of a line or within one.
    fn content_line(&mut self, place: ContentIn, bytes: &[u8]) {
        let is_new = self.extra.content.is_none() && !self.extra.is_unread;
        if is_new && place.begins && !bytes.is_empty() {
            self.extra.content = self.mails.begin(self.shard);
            // Not with its next line either: a mail is read from its first one, or not at all.
            self.extra.is_unread = self.extra.content.is_none();
        }
        let Some(state) = self.extra.content else {
            return;
        };
        let states = &mut self.mails.states;
        let state = states.get_mut(state as usize).and_then(Option::as_mut);
        let is_line_start = state.is_some_and(|state| state.is_line_start);
        let bytes = match (place.stuffed, bytes) {
            // RFC 5321 §4.5.2: a dot that begins a line is deleted.
            (Some(stuffed), [first, rest @ ..]) if is_line_start && *first == stuffed => rest,
            _ => bytes,
        };
        self.with_mail(|mail, told| mail.feed(bytes, told));
    }

    fn set_line_start(&mut self, is_line_start: bool) {
        let states = &mut self.mails.states;
        let state = self
            .extra
            .content
            .and_then(|at| states.get_mut(at as usize));
        if let Some(state) = state.and_then(Option::as_mut) {
            state.is_line_start = is_line_start;
        }
    }

    /// Bytes of a mail are missing.
    #[cold]
    pub(crate) fn content_gap(&mut self, len: u64) {
        self.extra.has_overflowed = false;
        self.with_mail(|mail, told| mail.gap(len, told));
        self.set_line_start(false);
    }

    /// `window` is what ends a mail, `text` the token that it is the end of, read in the condition
    /// `before`.
    pub(crate) fn content_over(&mut self, text: &[u8], window: &[u8], before: Condition) {
        if !self.mails.are_wanted() {
            return;
        }
        let len = text.len().saturating_sub(window.len());
        let last = text.get(..len).unwrap_or_default();
        if let Some(place) = self.content_in(before).filter(|_| !last.is_empty()) {
            self.content_line(place, last);
        }
        self.end_content(!self.extra.is_cut);
    }

    /// Ends the mail of this direction, if there is one; whether its end was seen.
    #[inline]
    pub(crate) fn end_content(&mut self, is_whole: bool) {
        if self.extra.content.is_some() {
            self.mail_over(is_whole);
        }
    }

    /// Ends the mail of the other direction, of which the end was not seen.
    pub(crate) fn end_content_of_peer(&mut self) {
        if self.peer.extra.content.is_none() {
            return;
        }
        core::mem::swap(self.extra, &mut self.peer.extra);
        self.to_server = !self.to_server;
        self.mail_over(false);
        self.to_server = !self.to_server;
        core::mem::swap(self.extra, &mut self.peer.extra);
    }

    #[cold]
    fn mail_over(&mut self, is_whole: bool) {
        self.extra.has_overflowed = false;
        self.with_mail(|mail, told| mail.finish(is_whole, told));
        let Some(handle) = self.extra.content.take() else {
            return;
        };
        let state = self.mails.states.get(handle as usize);
        let count = state.and_then(Option::as_ref);
        let count = count.map_or(0, |state| state.mail.entity_count());
        self.extra.entities = self.extra.entities.saturating_add(count);
        self.mails.end(handle);
    }

    /// Calls `run` with the mail of this direction, and tells what came of it.
    fn with_mail(&mut self, run: impl FnOnce(&mut flowpin_mime::Mail, &mut Told<'_, S>)) {
        let Some(handle) = self.extra.content else {
            return;
        };
        let place = self.mails.states.get_mut(handle as usize);
        let Some(mut state) = place.and_then(Option::take) else {
            return;
        };
        if let Some(quota) = self.mails.quotas.get_mut(usize::from(self.shard)) {
            let mut told = Told {
                options: &self.mails.options,
                sink: self.sink,
                quota,
                losses: &mut self.mails.losses,
                current: &mut state.current,
                nth: &mut state.nth,
                count: &mut state.count,
                over: &mut state.over,
                flaws: &mut state.flaws,
                at: self.at,
                number: &mut self.extra.files,
                side: u64::from(!self.to_server),
            };
            run(&mut state.mail, &mut told);
        }
        let entities = self.extra.entities;
        for (file, nth) in state.over.drain(..) {
            self.tell_file(file, entities.saturating_add(nth));
        }
        for name in state.flaws.take() {
            self.sink.anomaly(name);
        }
        if let Some(place) = self.mails.states.get_mut(handle as usize) {
            *place = Some(state);
        }
    }
}
