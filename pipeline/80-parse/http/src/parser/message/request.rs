//! Requests: their first line, and the end of their head.

use crate::anomaly::Anomaly;
use crate::parser::turn::Turn;
use crate::state::{NONE, Phase, Side, Text, Transaction};
use crate::syntax::{
    Method, RequestLine, Version, looks_like_request, might_be_request, request_line,
};
use flowpin_parser::Successor;
use flowpin_record::MessageSink;
use memchr::memchr;

impl<S: MessageSink> Turn<'_, S> {
    /// A request line or status line; reports errors at its end.
    #[inline]
    pub(crate) fn first_line(&mut self, line: &[u8], is_odd: bool, anomaly: Option<Anomaly>) {
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
            self.report(anomaly);
        }
    }

    /// Checks the start of a line that is being kept: it may not be a request.
    pub(crate) fn check_request_begins(&mut self) {
        let stray = self.stray_number();
        let begin = self.pools.texts.whole(&self.mine.line);
        if let Some(begin) = begin.filter(|begin| !might_be_request(begin)) {
            if let Some(number) = stray {
                self.sink.stray(number, begin);
            }
            self.no_request(Phase::LostInLine);
        }
    }

    /// What should begin a request does not. The server may answer it.
    #[cold]
    pub(crate) fn no_request(&mut self, phase: Phase) {
        self.sink.fits(false);
        self.report(Anomaly::NotARequest);
        self.lose(phase);
        self.mine.set(Side::NO_REQUEST);
    }

    /// Whether it is a request.
    fn request_begins(&mut self, line: &[u8], is_cut: bool) -> bool {
        let found =
            request_line(line).filter(|found| found.version != Version::Old || is_old(found));
        let Some(mut found) = found else {
            self.stray(line);
            self.no_request(Phase::Lost);
            return false;
        };
        if is_cut {
            // The version was cut off.
            found.version = Version::Odd;
        }
        if found.version == Version::Other(2, 0) && found.name == b"PRI" {
            self.hand_over(Successor::Http2);
            return false;
        }
        self.sink.fits(true);
        if self.mine.changes_version(found.version) {
            self.report(Anomaly::VersionChanged);
        }
        self.tell_request(&found);
        let handle = self.open();
        self.mine.transaction = handle;
        if let Some(transaction) = self.pools.transactions.get_mut(handle) {
            transaction.bits |= Transaction::HAS_REQUEST;
            transaction.request_at = self.mine.began;
            transaction.method = found.method;
            transaction.request_version = found.version;
            if found.version == Version::Old {
                // Servers of HTTP/0.9 respond at once, whatever follows.
                transaction.bits |= Transaction::REQUEST_DONE;
            }
        }
        self.enqueue(handle);
        if self.mine.has(Side::NO_REQUEST) {
            self.mine.clear(Side::NO_REQUEST);
            self.queue.behind_none = handle;
        }
        if found.method == Method::Other {
            self.keep(Text::Method, found.name);
        }
        self.keep(Text::Uri, found.uri);
        let is_connect = found.method == Method::Connect;
        self.host_of_target(found.uri, is_connect);
        self.mine.phase = if found.version == Version::Old {
            Phase::MaybeFields
        } else {
            Phase::Fields
        };
        true
    }

    /// After a request line without a version: Python's server and Node read fields, nginx and
    /// Apache respond without them.
    #[cold]
    pub(crate) fn maybe_fields<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let feed = memchr(b'\n', bytes);
        let end = feed.map_or(bytes.len(), |feed| feed.wrapping_add(1));
        let (line, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        if self.mine.line.is_empty() {
            self.mine.began = self.at;
        }
        let room = self
            .options
            .line_bytes_max
            .saturating_sub(self.mine.line.len());
        let part = line.get(..room as usize).unwrap_or(line);
        let shard = self.queue.shard;
        let count = self.pools.texts.append(&mut self.mine.line, shard, part);
        if feed.is_none() && count == line.len() {
            return rest;
        }
        let line_kept = self.take_line();
        let is_whole = count == line.len();
        if is_whole && (self.is_first_line(&line_kept) || is_old_line(&line_kept)) {
            self.message_over();
            let began = self.mine.began;
            self.begin_message();
            self.mine.began = began;
            self.mine.phase = Phase::FirstLine;
        } else {
            self.fields_follow(&line_kept);
        }
        self.read(&line_kept);
        self.pools.line = line_kept;
        bytes.get(count..).unwrap_or_default()
    }

    /// Only the version is missing: fields follow.
    fn fields_follow(&mut self, line: &[u8]) {
        if let Some(transaction) = self.pools.transactions.get(self.mine.transaction) {
            self.mine.began = transaction.request_at;
        }
        self.mine.phase = Phase::Fields;
        if !line.trim_ascii().is_empty() {
            self.report(Anomaly::VersionMissing);
        }
    }

    /// The client has closed after such a line, or inside the next.
    pub(crate) fn closed_behind_line(&mut self) {
        if self.mine.line.is_empty() {
            return;
        }
        let line = self.take_line();
        self.fields_follow(&line);
        self.read(&line);
        self.pools.line = line;
        self.report(Anomaly::HeadCut);
    }

    #[inline]
    fn tell_request(&mut self, found: &RequestLine<'_>) {
        match found.version {
            Version::Old if found.method == Method::Get => {}
            Version::Old => self.report(Anomaly::VersionMissing),
            _ if found.odd_version => self.report(Anomaly::VersionOdd),
            _ => {}
        }
        if found.odd_spaces {
            self.report(Anomaly::OddSpaces);
        }
        if found.uri.is_empty() {
            self.report(Anomaly::UriMissing);
        }
        if found.space_in_uri {
            self.report(Anomaly::SpaceInUri);
        }
        if found.odd_method {
            self.report(Anomaly::MethodOdd);
        }
    }

    /// The head is over: RFC 9112 §6.3, the rules for requests.
    pub(crate) fn request_head_over(&mut self) {
        let framing = self.mine.framing;
        let version = self.request_version();
        if let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) {
            transaction.has_head = true;
        }
        if !framing.has_host && version == Some(Version::V11) {
            self.report(Anomaly::HostMissing);
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
    pub(crate) fn request_over(&mut self) {
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

/// Whether a line without a version is certainly meant as a request.
fn is_old(found: &RequestLine<'_>) -> bool {
    let has_path = found.uri.starts_with(b"/");
    let is_plain = found.name.iter().all(u8::is_ascii_uppercase) && !found.space_in_uri;
    found.method != Method::Other || (has_path && (is_plain || Method::is_known(found.name)))
}

/// Whether a line, with its end, is a field.
fn is_old_line(line: &[u8]) -> bool {
    looks_like_request(line)
        && request_line(line.trim_ascii_end())
            .is_some_and(|found| found.version == Version::Old && is_old(&found))
}
