//! Requests: their line, and what follows their head.

use crate::anomaly::Anomaly;
use crate::handover::Successor;
use crate::parser::turn::Turn;
use crate::state::{NONE, Phase, Text, Transaction};
use crate::syntax::{Method, RequestLine, Version, might_be_request, request_line};
use flowpin_record::MessageSink;

impl<S: MessageSink> Turn<'_, S> {
    /// A request or status line, and what is wrong with its end.
    #[inline]
    pub(in crate::parser) fn first_line(
        &mut self,
        line: &[u8],
        is_odd: bool,
        anomaly: Option<Anomaly>,
    ) {
        let found = if self.to_server {
            self.request_begins(line, anomaly == Some(Anomaly::LineTooLong))
        } else {
            self.response_begins(line)
        };
        if !found {
            return;
        }
        if is_odd {
            self.tell_bytes(line);
        }
        if let Some(anomaly) = anomaly {
            self.tell(anomaly);
        }
    }

    /// The beginning of a line that is kept: what cannot become a request is not kept.
    pub(in crate::parser) fn check_request_begins(&mut self) {
        let begin = self.pools.texts.whole(&self.mine.line);
        if begin.is_some_and(|begin| !might_be_request(begin)) {
            self.tell(Anomaly::NotARequest);
            self.lose(Phase::LostInLine);
        }
    }

    /// Whether it is a request.
    fn request_begins(&mut self, line: &[u8], is_cut: bool) -> bool {
        let found = request_line(line).filter(|found| {
            // Without a version, only what is sure to be meant as a request.
            found.version != Version::Old
                || (found.name.iter().all(u8::is_ascii_uppercase)
                    && found.uri.starts_with(b"/")
                    && !found.space_in_uri)
        });
        let Some(mut found) = found else {
            self.tell(Anomaly::NotARequest);
            self.lose(Phase::Lost);
            return false;
        };
        if is_cut {
            // The version was cut off.
            found.version = Version::Odd;
        }
        self.pools.stats.requests = self.pools.stats.requests.wrapping_add(1);
        if found.version == Version::Other(2, 0) && found.name == b"PRI" {
            self.hand_over(Successor::Http2);
            return false;
        }
        self.tell_request(&found);
        let handle = self.open();
        self.mine.transaction = handle;
        if let Some(transaction) = self.pools.transactions.get_mut(handle) {
            transaction.bits |= Transaction::HAS_REQUEST;
            transaction.request_at = self.mine.began;
            transaction.method = found.method;
            transaction.request_version = found.version;
        }
        self.enqueue(handle);
        if found.method == Method::Other {
            self.keep(Text::Method, found.name);
        }
        self.keep(Text::Uri, found.uri);
        let is_connect = found.method == Method::Connect;
        if is_connect || found.uri.first() != Some(&b'/') {
            self.host_of_target(found.uri, is_connect);
        }
        if found.version == Version::Old {
            self.message_over();
        } else {
            self.mine.phase = Phase::Fields;
        }
        true
    }

    #[inline]
    fn tell_request(&mut self, found: &RequestLine<'_>) {
        match found.version {
            Version::V10 | Version::V11 => {}
            Version::Old if found.method == Method::Get => {}
            Version::Old => self.tell(Anomaly::VersionMissing),
            Version::Other(..) | Version::Odd => self.tell(Anomaly::VersionOdd),
        }
        if found.odd_spaces {
            self.tell(Anomaly::OddSpaces);
        }
        if found.space_in_uri {
            self.tell(Anomaly::SpaceInUri);
        }
        if found.odd_method {
            self.tell(Anomaly::MethodOdd);
        }
    }

    /// The head is over: RFC 9112 §6.3, the rules for requests.
    pub(in crate::parser) fn request_head_over(&mut self) {
        let framing = self.mine.framing;
        if !framing.has_host && self.request_version() == Some(Version::V11) {
            self.tell(Anomaly::HostMissing);
        }
        if framing.chunked {
            self.body_begins();
            self.mine.phase = Phase::ChunkLine;
        } else if let Some(length) = framing.length.filter(|&length| length > 0) {
            self.body_begins();
            self.mine.left = length;
            self.mine.phase = Phase::Counted;
        } else {
            self.message_over();
        }
    }

    fn request_version(&self) -> Option<Version> {
        let transaction = self.pools.transactions.get(self.mine.transaction)?;
        Some(transaction.request_version)
    }

    /// The request is complete.
    pub(in crate::parser) fn request_over(&mut self) {
        let handle = self.mine.transaction;
        self.mine.transaction = NONE;
        self.mine.phase = Phase::Between;
        let Some(transaction) = self.pools.transactions.get_mut(handle) else {
            return;
        };
        transaction.bits |= Transaction::REQUEST_DONE;
        transaction.request_len = self.mine.body_len;
        let asks = transaction.method == Method::Connect || transaction.has(Transaction::UPGRADE);
        if asks && !transaction.has(Transaction::HAS_RESPONSE) {
            self.queue.asked = true;
        }
        self.settle(handle);
    }
}
