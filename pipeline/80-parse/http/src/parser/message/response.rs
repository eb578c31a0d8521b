//! Responses: their status line, and the end of their head.

use crate::anomaly::Anomaly;
use crate::parser::turn::Turn;
use crate::state::{NONE, Part, Phase, Side, Text, Transaction};
use crate::syntax::{Method, Version, status_line};
use flowpin_parser::Successor;
use flowpin_record::MessageSink;

impl<S: MessageSink> Turn<'_, S> {
    /// Whether it is a response.
    pub(crate) fn response_begins(&mut self, line: &[u8]) -> bool {
        let Some(found) = status_line(line) else {
            self.sink.fits(false);
            self.report(Anomaly::NotAResponse);
            self.stray(line);
            self.lose(Phase::Lost);
            return false;
        };
        self.sink.fits(true);
        if self.mine.has(Side::MISSED) {
            self.mine.clear(Side::MISSED);
            self.skip_unanswered();
        }
        self.queue.pipelined |= self.queue.len > 1;
        self.mine.clear(Side::BODILESS);
        if self.mine.changes_version(found.version) {
            self.report(Anomaly::VersionChanged);
        }
        if found.odd_version {
            self.report(Anomaly::VersionOdd);
        }
        if found.odd_spaces {
            self.report(Anomaly::OddSpaces);
        }
        if found.odd_status {
            self.report(Anomaly::StatusOdd);
        }
        let handle = match self.answers_no_request(found.status) {
            true => self.open(),
            false => self.next_answered(),
        };
        self.mine.transaction = handle;
        if let Some(transaction) = self.pools.transactions.get_mut(handle) {
            transaction.bits |= Transaction::HAS_RESPONSE;
            transaction.response_at = self.mine.began;
            transaction.response_version = found.version;
            transaction.status = found.status;
        }
        self.keep(Text::Reason, found.reason);
        self.hidden_fields(line);
        self.mine.phase = Phase::Fields;
        true
    }

    /// The bytes do not start like a response: a response without a head (HTTP/0.9), or another
    /// protocol. `read` was compared already.
    pub(crate) fn not_a_response(&mut self, read: &[u8]) {
        if self.is_headless_expected()
            && let Some(transaction) = self.pools.transactions.get_mut(self.queue.first)
        {
            transaction.bits |= Transaction::HAS_RESPONSE;
            transaction.response_at = self.mine.began;
            self.mine.transaction = self.queue.first;
            self.body_begins();
            self.mine.phase = Phase::UntilClose;
            self.body(read);
            return;
        }
        self.sink.fits(false);
        self.report(if self.mine.has(Side::BODILESS) {
            Anomaly::BodyUnexpected
        } else {
            Anomaly::NotAResponse
        });
        self.stray(read);
        self.lose(Phase::LostInLine);
        // No response is missing, so the next one belongs to the next request.
        self.mine.set(Side::ANYWHERE);
    }

    /// Whether the next request to be answered is or may be HTTP/0.9: its response has no head.
    pub(crate) fn is_headless_expected(&self) -> bool {
        let first = self.pools.transactions.get(self.queue.first);
        first.is_some_and(|transaction| {
            matches!(
                transaction.request_version,
                Version::Old | Version::Other(0, _)
            ) && !transaction.has(Transaction::RESPONSE_DONE)
        })
    }

    /// The head is over: RFC 9112 §6.3, the rules for responses.
    pub(crate) fn response_head_over(&mut self) {
        let transaction = self.pools.transactions.get(self.mine.transaction);
        let (status, method, bits) = transaction.map_or((0, Method::Other, 0), |transaction| {
            (transaction.status, transaction.method, transaction.bits)
        });
        let has_request = bits & Transaction::HAS_REQUEST != 0;
        let is_asked = !has_request || bits & Transaction::UPGRADE != 0;
        let framing = self.mine.framing;
        let is_announced = framing.chunked || framing.length.is_some_and(|len| len > 0);
        // The request did not ask for another protocol, and a body is announced: it may follow.
        if status == 101 && (is_asked || !is_announced) {
            return self.switched(is_asked);
        }
        let is_interim = (100..200).contains(&status);
        let is_tunnel = method == Method::Connect && (200..300).contains(&status);
        let has_body = is_announced || framing.unchunked;
        // RFC 9110 §8.6, §15.3.6, RFC 9112 §6.1: for 304 and HEAD, the length is that of the
        // omitted body.
        if has_body && (is_interim || is_tunnel || matches!(status, 204 | 205)) {
            self.report(Anomaly::BodyForbidden);
        }
        if is_tunnel {
            return self.hand_over(Successor::Tunnel);
        }
        if !is_interim && (method == Method::Connect || bits & Transaction::UPGRADE != 0) {
            self.queue.asked = false;
        }
        if !is_interim && bits & Transaction::EXPECTS != 0 {
            self.answered_at_once();
        }
        if is_interim || method == Method::Head || matches!(status, 204 | 304) {
            let is_told = is_announced && (is_interim || status == 204);
            return self.bodiless_over(is_told);
        }
        let next = if framing.chunked {
            Phase::ChunkLine
        } else if framing.disguised && framing.length.is_none() {
            self.mine.left = 0;
            self.mine.matched = 0;
            Phase::MaybeChunked
        } else {
            match framing.length {
                Some(0) => return self.message_over(),
                Some(length) => {
                    self.mine.left = length;
                    Phase::Counted
                }
                None => Phase::UntilClose,
            }
        };
        if has_request {
            self.body_begins();
            self.mine.phase = next;
        } else {
            // The request may have been HEAD: then the next response follows at once.
            self.mine.matched = 0;
            self.mine.phase = Phase::MaybeBody;
        }
    }

    /// A switch of protocols.
    fn switched(&mut self, is_asked: bool) {
        if !is_asked {
            self.report(Anomaly::UpgradeUnasked);
        }
        let successor = self.upgraded_to();
        if let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) {
            // This interim response is the last one.
            transaction.info = transaction.status;
            let reason = transaction.part(Text::Reason);
            if let Some(place) = transaction.parts.get_mut(Text::InfoReason as usize) {
                *place = reason;
            }
        }
        self.hand_over(successor);
    }

    /// The end of the head of a response that must not have a body. If it announces one against the
    /// rules (a length of 304 or HEAD does not), one may follow: Python reads chunks after 204 as a
    /// body, libhtp reads any.
    fn bodiless_over(&mut self, is_announced: bool) {
        self.mine.set(Side::BODILESS);
        if is_announced {
            self.mine.left = self.mine.framing.length.unwrap_or(0);
            self.mine.matched = 0;
            self.mine.phase = Phase::MaybeBody;
        } else {
            self.message_over();
        }
    }

    /// An interim response (RFC 9110 §15.2): the final one follows.
    fn interim_over(&mut self, status: u16) {
        self.mine.phase = Phase::Between;
        let handle = self.mine.transaction;
        self.mine.transaction = NONE;
        let Some(transaction) = self.pools.transactions.get_mut(handle) else {
            return;
        };
        transaction.info = status;
        transaction.status = 0;
        if status == 100 && self.theirs.transaction == handle {
            self.theirs.set(Side::CONTINUED);
        }
        let reason = transaction.part(Text::Reason);
        for (text, part) in [(Text::Reason, Part::default()), (Text::InfoReason, reason)] {
            if let Some(place) = transaction.parts.get_mut(text as usize) {
                *place = part;
            }
        }
        if !transaction.has(Transaction::QUEUED) {
            // Nothing else refers to it.
            self.settle(handle);
        }
    }

    /// The response is complete.
    pub(crate) fn response_over(&mut self) {
        let handle = self.mine.transaction;
        self.mine.transaction = NONE;
        self.mine.phase = Phase::Between;
        let Some(transaction) = self.pools.transactions.get_mut(handle) else {
            return;
        };
        let status = transaction.status;
        if (100..200).contains(&status) {
            self.mine.transaction = handle;
            return self.interim_over(status);
        }
        transaction.bits |= Transaction::RESPONSE_DONE;
        transaction.response_len = self.mine.body_len;
        // It is already set if the body was decoded.
        if transaction.response_wire_len == 0 {
            transaction.response_wire_len = self.mine.body_len;
        }
        let settled = Transaction::REQUEST_DONE | Transaction::ANSWERED_AT_ONCE;
        if transaction.has(Transaction::HAS_REQUEST) && transaction.bits & settled == 0 {
            self.report(Anomaly::EarlyResponse);
        }
        self.settle(handle);
    }
}
