//! Heads: lines in order. Each is read once, and copied only if it arrived in parts.
//!
//! A field's line is complete when the next one starts without a space; until then it may be folded
//! (RFC 9112 §5.2).

use super::fold::{is_blank, unfold};
use crate::anomaly::Anomaly;
use crate::parser::turn::Turn;
use crate::scan::{Line, Lines};
use crate::state::{Phase, Side};
use flowpin_counters::Loss;
use flowpin_record::MessageSink;
use memchr::memchr;

impl<S: MessageSink> Turn<'_, S> {
    /// Reads lines until the head is over, and returns the remaining bytes.
    #[inline]
    pub(crate) fn head<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let rest = if self.mine.line.is_empty() {
            self.lines(bytes)
        } else {
            self.resume(bytes)
        };
        let used = bytes.len().wrapping_sub(rest.len());
        let used = u32::try_from(used).unwrap_or(u32::MAX);
        self.mine.head_len = self.mine.head_len.saturating_add(used);
        let is_over = !matches!(
            self.mine.phase,
            Phase::FirstLine | Phase::Fields | Phase::Trailer
        );
        if is_over && self.mine.head_len > self.options.head_bytes_max {
            self.report(Anomaly::HeadTooLong);
        }
        rest
    }

    #[inline]
    fn lines<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut lines = Lines::new(bytes);
        let rest = |lines: &Lines<'_>| bytes.get(lines.start()..).unwrap_or_default();
        if self.mine.phase == Phase::FirstLine {
            let Some(line) = lines.next() else {
                return self.hold(bytes);
            };
            let (text, anomaly) = self.checked(&line, bytes);
            self.first_line(text, line.odd, anomaly);
            if self.mine.phase != Phase::Fields {
                return rest(&lines);
            }
        }
        loop {
            let begin = rest(&lines);
            let Some(line) = lines.next() else {
                return self.hold(begin);
            };
            let text = line.text(bytes);
            if text.is_empty() {
                self.head_over(line.feed.wrapping_sub(line.start) == 0);
                return rest(&lines);
            }
            match bytes.get(lines.start()) {
                Some(b' ' | b'\t') => return self.folded(begin),
                None => return self.hold(begin),
                Some(_) => {}
            }
            let (text, anomaly) = self.checked(&line, bytes);
            if let Some(anomaly) = anomaly {
                self.odd_end(anomaly);
            }
            if bytes.get(line.stop) == Some(&b':') {
                self.field(text, line.stop.wrapping_sub(line.start), line.odd);
            } else {
                self.odd_line(text);
                if self.mine.phase == Phase::MaybeOver {
                    return rest(&lines);
                }
            }
            if anomaly.is_some() {
                self.mine.clear(Side::FIELD_CUT);
            }
        }
    }

    /// The line of a field does not end as it should.
    #[cold]
    fn odd_end(&mut self, anomaly: Anomaly) {
        self.report(anomaly);
        if anomaly == Anomaly::LineTooLong {
            self.mine.set(Side::FIELD_CUT);
        }
    }

    /// The text of a line up to the limit; reports errors at its end.
    #[inline]
    fn checked<'b>(&self, line: &Line, bytes: &'b [u8]) -> (&'b [u8], Option<Anomaly>) {
        let text = line.text(bytes);
        let max = self.options.line_bytes_max as usize;
        if text.len() > max {
            let text = text.get(..max).unwrap_or_default();
            return (text, Some(Anomaly::LineTooLong));
        }
        let is_bare = line.odd && text.len() == line.feed.wrapping_sub(line.start);
        (text, is_bare.then_some(Anomaly::BareLineFeed))
    }

    /// Keeps the last, incomplete line of these bytes.
    #[cold]
    pub(crate) fn hold<'b>(&mut self, bytes: &[u8]) -> &'b [u8] {
        if bytes.is_empty() {
            return &[];
        }
        // With its end.
        let most = self.options.line_bytes_max.saturating_add(2);
        let room = most.saturating_sub(self.mine.line.len());
        let kept = bytes.get(..room as usize).unwrap_or(bytes);
        let shard = self.queue.shard;
        let count = self.pools.texts.append(&mut self.mine.line, shard, kept);
        if count < kept.len() {
            self.pools.losses.count(Loss::HttpTexts, 1);
        }
        if count < bytes.len() {
            self.mine.set(Side::LINE_CUT);
        }
        let ends = bytes.last() == Some(&b'\n');
        if self.mine.line.is_empty() {
            // No memory at all: without the line, the end of the message is unknown.
            self.lose(if ends { Phase::Lost } else { Phase::LostInLine });
        } else if self.mine.phase != Phase::FirstLine {
            if ends {
                self.mine.set(Side::LINE_ENDS);
            }
        } else if self.to_server && !ends {
            self.check_request_begins();
        }
        &[]
    }

    /// Continues a line whose start was kept.
    #[cold]
    fn resume<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut from = 0usize;
        if self.mine.has(Side::LINE_ENDS) {
            if !matches!(bytes.first(), Some(b' ' | b'\t')) {
                self.kept_line();
                return bytes;
            }
            self.mine.clear(Side::LINE_ENDS);
        }
        loop {
            let rest = bytes.get(from..).unwrap_or_default();
            let Some(feed) = memchr(b'\n', rest) else {
                return self.hold(bytes);
            };
            from = from.wrapping_add(feed).wrapping_add(1);
            let part = bytes.get(..from).unwrap_or_default();
            let later = bytes.get(from..).unwrap_or_default();
            let is_field = self.mine.phase != Phase::FirstLine && !self.is_empty_line(part);
            match later.first() {
                Some(b' ' | b'\t') if is_field => {}
                None if is_field => return self.hold(bytes),
                _ => {
                    self.hold(part);
                    if !self.mine.line.is_empty() {
                        self.kept_line();
                    }
                    return later;
                }
            }
        }
    }

    /// Whether the kept bytes and the new ones are an empty line.
    fn is_empty_line(&self, added: &[u8]) -> bool {
        added == b"\n" && self.pools.texts.whole(&self.mine.line) == Some(b"\r")
    }

    /// Takes the kept line out of the pool. The caller returns the buffer to `pools.line`.
    pub(crate) fn take_line(&mut self) -> Vec<u8> {
        let mut line = std::mem::take(&mut self.pools.line);
        line.clear();
        self.pools.texts.gather(&self.mine.line, &mut line);
        self.pools
            .texts
            .release(&mut self.mine.line, self.queue.shard);
        line
    }

    /// Reads the kept line.
    pub(crate) fn kept_line(&mut self) {
        let mut line = self.take_line();
        let is_cut = self.mine.has(Side::LINE_CUT);
        self.mine.clear(Side::LINE_ENDS | Side::LINE_CUT);
        self.whole_line(&mut line, is_cut);
        self.pools.line = line;
    }

    /// A line with its end; it may be folded or cut.
    fn whole_line(&mut self, line: &mut Vec<u8>, is_cut: bool) {
        let max = self.options.line_bytes_max as usize;
        let mut is_bare = false;
        if !is_cut && line.last() == Some(&b'\n') {
            line.pop();
            is_bare = line.pop_if(|last| *last == b'\r').is_none();
        }
        if line.is_empty() && self.mine.phase != Phase::FirstLine {
            return self.head_over(is_bare);
        }
        let anomaly = if line.len() > max || is_cut {
            line.truncate(max);
            Some(Anomaly::LineTooLong)
        } else {
            is_bare.then_some(Anomaly::BareLineFeed)
        };
        if self.mine.phase == Phase::FirstLine {
            return self.first_line(line, true, anomaly);
        }
        if let Some(anomaly) = anomaly {
            self.odd_end(anomaly);
        }
        self.kept_field(line);
        self.mine.clear(Side::FIELD_CUT);
    }

    /// A field's line; it may be folded.
    fn kept_field(&mut self, line: &mut Vec<u8>) {
        if line.contains(&b'\n') {
            self.report(Anomaly::Folded);
            if line.split(|&byte| byte == b'\n').skip(1).any(is_blank) {
                self.report(Anomaly::HeadEndOdd);
            }
            self.hidden_fields(line);
            let last = line.rsplit(|&byte| byte == b'\n').next();
            let ends_blank = last.is_some_and(is_blank);
            unfold(line);
            self.odd_line(line);
            if ends_blank {
                self.maybe_over();
            }
            return;
        }
        self.odd_line(line);
    }
}
