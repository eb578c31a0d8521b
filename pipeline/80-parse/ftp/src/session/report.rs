//! Reports what waits: a command with its replies, or replies that no command waits for.

use super::replies::ReplyTarget;
use super::{Context, Session};
use crate::exchange::Exchange;
use crate::parser::Shared;
use crate::record::log::{SessionInfo, is_logged};
use crate::record::{event, log};
use flowpin_record::MessageSink;

impl Session {
    /// Copies a command and its replies, or those that no command waits for; false if there are
    /// none.
    pub(super) fn read_exchange(
        &self,
        of: ReplyTarget,
        exchange: &mut Exchange,
        shared: &Shared,
    ) -> bool {
        let kept = Some(&shared.kept);
        match (of, &self.unsolicited) {
            (ReplyTarget::Oldest, _) => {
                let Some(command) = shared.waiting.oldest(&self.waiting, &mut exchange.line) else {
                    return false;
                };
                exchange.set_replies(&self.replies, kept);
                exchange.set_waiting(command);
                let channel = exchange.facts.channel;
                exchange.facts.channel = channel.or_else(|| self.active_channel(exchange));
                true
            }
            (ReplyTarget::Unsolicited, Some((at, replies))) => {
                exchange.set_unsolicited(*at);
                exchange.set_replies(replies, kept);
                true
            }
            (ReplyTarget::Unsolicited, None) | (ReplyTarget::Forgotten, _) => false,
        }
    }

    /// Removes what [`read_exchange`](Self::read_exchange) copies.
    pub(super) fn release_exchange(&mut self, of: ReplyTarget, shared: &mut Shared) {
        let (shard, kept) = (self.shard, &mut shared.kept);
        match of {
            ReplyTarget::Oldest => {
                let waiting = &mut shared.waiting;
                waiting.pop(shard, &mut self.waiting, &mut shared.line);
                self.replies.release(shard, kept);
            }
            ReplyTarget::Unsolicited => {
                if let Some((_, mut replies)) = self.unsolicited.take() {
                    replies.release(shard, kept);
                }
            }
            ReplyTarget::Forgotten => {}
        }
    }

    /// Reports what waits, without the rest of its replies.
    pub(super) fn report_one<S: MessageSink>(
        &mut self,
        of: ReplyTarget,
        context: &mut Context<'_, S>,
    ) {
        let mut exchange = core::mem::take(&mut context.shared.exchange);
        if self.read_exchange(of, &mut exchange, context.shared) {
            self.release_exchange(of, context.shared);
            self.report(&exchange, context);
        }
        context.shared.exchange = exchange;
    }

    /// Reports all that waits.
    pub(super) fn report_all<S: MessageSink>(&mut self, context: &mut Context<'_, S>) {
        self.report_one(ReplyTarget::Unsolicited, context);
        while !self.waiting.is_empty() {
            self.report_one(ReplyTarget::Oldest, context);
        }
    }

    /// Reports a command and its replies.
    pub(super) fn report<S: MessageSink>(&self, exchange: &Exchange, context: &mut Context<'_, S>) {
        let Context {
            shared,
            sink,
            options,
            ..
        } = context;
        if sink.reads(&event::FTP) {
            shared.event.report(exchange, *sink);
        } else {
            // The message is counted all the same.
            sink.message(&event::FTP, exchange.at, &[]);
        }
        let command = exchange.command();
        let is_logged = is_logged(command) || options.all_commands && !command.is_empty();
        if !is_logged || !sink.reads(&log::FTP_LOG) {
            return;
        }
        let [user, password, directory] = &mut shared.texts;
        for (text, kept) in [
            (&mut *user, &self.user),
            (&mut *password, &self.password),
            (&mut *directory, &self.directory),
        ] {
            text.clear();
            shared.kept.read(kept, text);
        }
        let info = SessionInfo {
            ends: self.ends,
            user,
            password,
            is_password_hidden: self.has_secret,
            directory: directory_or_dot(directory),
        };
        shared.log.report(exchange, &info, *sink);
    }
}

/// The current directory of a session; `.` if unknown, as in Zeek.
pub(super) const fn directory_or_dot(directory: &[u8]) -> &[u8] {
    if directory.is_empty() {
        b"."
    } else {
        directory
    }
}
