//! Frames: parts of SIP's messages as they are sent (`frame`), whatever records have of them.
//!
//! The bytes of a stream are kept until a message is whole, at most [`KEPT_MAX`] of them: a side
//! that says something else, or more, has no frames any more.

use super::messages::Said;
use super::occasion::{Message, Occasion};
use super::state::Connection;
use super::{Detector, Ends, Found};
use crate::columns::FRAME;
use flowpin_counters::Loss;
use flowpin_rule::{BufferId, BufferSource};
use memchr::memmem;
use std::cell::OnceCell;
use std::ops::Range;

impl Detector {
    /// Keeps the next bytes of a stream, if they may be SIP's.
    pub(super) fn keep_for_frames(&mut self, handle: u32, side: usize, bytes: &[u8]) {
        if !self.database.reads_frames || bytes.is_empty() {
            return;
        }
        let spoken = self.database.apps(["sip", ""]);
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let is_other = connection.has(Connection::KNOWN) && connection.apps & spoken == 0;
        let shard = connection.shard;
        let Some(frames) = connection.frames.get_mut(side) else {
            return;
        };
        if frames.is_off {
            return;
        }
        let has_room = frames.kept.len() + bytes.len() <= KEPT_MAX;
        if is_other || !has_room || !self.windows.append(shard, &mut frames.kept, bytes) {
            if !is_other {
                self.losses.count(Loss::RuleStreamBytes, bytes.len() as u64);
            }
            frames.is_off = true;
            self.windows.release(shard, &mut frames.kept);
        }
    }

    /// Compares rules with the frames that are whole; at the end of the connection, with what there
    /// is of the last one, too.
    pub(super) fn frames(
        &mut self,
        handle: u32,
        ends: &Ends,
        is_end: bool,
        found: &mut Vec<Found>,
    ) {
        if !self.database.reads_frames {
            return;
        }
        let spoken = self.database.apps(["sip", ""]);
        for side in [0, 1] {
            let Some(connection) = self.connections.get_mut(handle) else {
                return;
            };
            let is_it = connection.apps & spoken != 0 && !connection.has(Connection::PASSED);
            let Some(frames) = connection.frames.get_mut(side).filter(|_| is_it) else {
                continue;
            };
            let len = frames.kept.len();
            if len == 0 || len < frames.awaited && !is_end {
                continue;
            }
            let mut all = Vec::new();
            self.windows.read(&frames.kept, &mut all);
            let mut rest = without_blanks(&all);
            let mut state = Some(0);
            while !rest.is_empty() && state == Some(0) {
                let next = Frames::of(rest, is_end);
                if let Some((frames, behind)) =
                    rest.split_at_checked(next.len).filter(|_| next.len > 0)
                {
                    self.compare_frames(handle, ends, (side == 0, &next), frames, found);
                    rest = without_blanks(behind);
                } else {
                    state = next.awaited;
                }
            }
            let Some(connection) = self.connections.get_mut(handle) else {
                return;
            };
            let shard = connection.shard;
            let Some(frames) = connection.frames.get_mut(side) else {
                return;
            };
            self.windows.release(shard, &mut frames.kept);
            frames.awaited = state.unwrap_or(0);
            frames.is_off = state.is_none();
            if state.is_some() && !is_end && !self.windows.append(shard, &mut frames.kept, rest) {
                self.losses.count(Loss::RuleStreamBytes, rest.len() as u64);
                frames.is_off = true;
            }
        }
    }

    /// A datagram is a message.
    pub(super) fn frames_of_datagram(
        &mut self,
        handle: u32,
        ends: &Ends,
        to_server: bool,
        payload: &[u8],
        found: &mut Vec<Found>,
    ) {
        let spoken = self.database.apps(["sip", ""]);
        let connection = self.connections.get(handle);
        let is_it = connection.is_some_and(|connection| {
            connection.apps & spoken != 0 && !connection.has(Connection::PASSED)
        });
        if !self.database.reads_frames || !is_it {
            return;
        }
        let next = Frames::of(payload, true);
        if let Some(message) = payload.get(..next.len).filter(|_| next.len > 0) {
            self.compare_frames(handle, ends, (to_server, &next), message, found);
        }
    }

    fn compare_frames(
        &mut self,
        handle: u32,
        ends: &Ends,
        (to_server, frames): (bool, &Frames),
        bytes: &[u8],
        found: &mut Vec<Found>,
    ) {
        let side = usize::from(!to_server);
        let used = self.database.used.iter().filter_map(|&buffer| {
            let BufferSource::Frame(name) = buffer.info().source else {
                return None;
            };
            let mut parts = frames.parts.iter();
            let part = parts.find(|(one, _)| *one == name)?;
            Some((buffer, part.1.clone()))
        });
        let buffers: Vec<(BufferId, Range<usize>)> = used.collect();
        if buffers.is_empty() {
            return;
        }
        self.scratch.begin();
        let place = Occasion::new(ends, to_server).place();
        self.candidates((&buffers, bytes), ["sip", ""], side, place);
        let rules = &self.database.rules;
        self.scratch.retain(|at| {
            let compiled = rules.get(at as usize);
            compiled.is_some_and(|compiled| compiled.is_about_frames())
        });
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let said = Said::nothing(&self.silence);
        let shown = OnceCell::new();
        let message = Message {
            buffers: &buffers,
            arena: bytes,
            other: None,
            transaction: 0,
            said: &said,
            shown: &shown,
        };
        let occasion = Occasion {
            payload: bytes,
            message: Some(&message),
            ..Occasion::new(ends, to_server)
        };
        let before = found.len();
        let (database, losses) = (&self.database, &mut self.losses);
        self.scratch
            .evaluate(database, connection, &occasion, losses, found);
        for one in found.iter_mut().skip(before) {
            // Frames are of the stream: which message they will be is not known yet.
            one.transaction = None;
            let rule = database.set().rules.get(one.rule as usize);
            let of_frame = rule.into_iter().flat_map(|rule| &rule.inspections);
            let ranges = of_frame.filter_map(|inspection| {
                let BufferSource::Frame(name) = inspection.buffer.info().source else {
                    return None;
                };
                let range = buffers.iter().find(|(id, _)| *id == inspection.buffer)?;
                Some((name, range.1.len()))
            });
            if let Some((name, len)) = ranges.into_iter().next() {
                let direction = if to_server { "toserver" } else { "toclient" };
                let is_whole = u8::from(frames.is_whole).to_string();
                let texts = [
                    name.to_owned(),
                    direction.to_owned(),
                    len.to_string(),
                    is_whole,
                ];
                let texts = (FRAME..).zip(texts.map(String::into_bytes));
                one.shown = one.shown.iter().cloned().chain(texts).collect();
            }
        }
    }
}

/// The frames of a message (RFC 3261 §7), by name.
#[derive(Debug, Default, PartialEq, Eq)]
struct Frames {
    parts: Vec<(&'static str, Range<usize>)>,
    /// Bytes of the message; 0 if it is not whole, and has to be.
    len: usize,
    /// How many bytes have to be there before it may be whole; none if this is no message.
    awaited: Option<usize>,
    is_whole: bool,
}

impl Frames {
    /// Of the first message in these bytes; `is_end`: no more follow.
    fn of(bytes: &[u8], is_end: bool) -> Self {
        let text = without_blanks(bytes);
        let begin = bytes.len() - text.len();
        let within = text.get(..HEAD_MAX).unwrap_or(text);
        let Some(head) = memmem::find(within, b"\r\n\r\n") else {
            let may_follow = text.len() < HEAD_MAX && !is_end;
            return Self {
                awaited: may_follow.then_some(bytes.len() + 1),
                ..Self::default()
            };
        };
        let lines = text.get(..head + 2).unwrap_or_default();
        let line = lines
            .windows(2)
            .position(|two| two == b"\r\n")
            .unwrap_or(head);
        let first = lines.get(..line).unwrap_or_default();
        let is_answer = first.starts_with(b"SIP/2.");
        if !is_answer && !first.windows(7).any(|word| word == b" SIP/2.") {
            return Self::default();
        }
        let body = head + 4;
        let announced = length(lines).unwrap_or(0);
        let total = body.saturating_add(announced);
        let is_whole = text.len() >= total;
        if !is_whole && !is_end {
            return Self {
                awaited: (total <= KEPT_MAX).then_some(begin + total),
                ..Self::default()
            };
        }
        let end = begin + total.min(text.len());
        let names = match is_answer {
            true => ["response.line", "response.headers", "response.body"],
            false => ["request.line", "request.headers", "request.body"],
        };
        let at = |from: usize, to: usize| begin + from..begin + to;
        let [line_name, headers, body_name] = names;
        let mut parts = vec![
            ("pdu", begin..end),
            (line_name, at(0, line + 2)),
            (headers, at(line + 2, head + 2)),
        ];
        if end > begin + body {
            parts.push((body_name, begin + body..end));
        }
        parts.retain(|(_, range)| !range.is_empty());
        Self {
            parts,
            len: end,
            awaited: Some(0),
            is_whole,
        }
    }
}

/// Bytes from the first message on: empty lines before it are no part of it (RFC 3261 §7.5).
// Nor are they kept: each of them would be looked at again with each packet of them.
fn without_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|byte| b"\r\n".contains(byte));
    bytes.get(blanks.count()..).unwrap_or_default()
}

/// Content-Length, by either of its names (RFC 3261 §20.14).
fn length(lines: &[u8]) -> Option<usize> {
    let mut fields = lines.split(|&byte| byte == b'\n').filter_map(|line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (name, value) = line.split_at(colon);
        let name = name.trim_ascii();
        let is_it = name.eq_ignore_ascii_case(b"content-length") || name.eq_ignore_ascii_case(b"l");
        let digits = core::str::from_utf8(value.get(1..)?.trim_ascii()).ok()?;
        digits.parse().ok().filter(|_| is_it)
    });
    fields.next()
}

/// First line and fields.
const HEAD_MAX: usize = 16 << 10;
/// What is kept of a side until its message is whole.
const KEPT_MAX: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::Frames;

    const REQUEST: &[u8] =
        b"\r\nINVITE sip:a SIP/2.0\r\nVia: x\r\nl: 4\r\n\r\nbodySIP/2.0 200 OK\r\n";

    /// A message has its line, its fields and its body, without what is around it.
    #[test]
    fn messages_are_cut_into_frames() {
        let frames = Frames::of(REQUEST, false);
        let shown: Vec<_> = frames
            .parts
            .iter()
            .map(|(name, range)| (*name, &REQUEST[range.clone()]))
            .collect();
        let expected: [(&str, &[u8]); 4] = [
            ("pdu", &REQUEST[2..44]),
            ("request.line", b"INVITE sip:a SIP/2.0\r\n"),
            ("request.headers", b"Via: x\r\nl: 4\r\n"),
            ("request.body", b"body"),
        ];
        assert_eq!(shown, expected);
        assert!(frames.is_whole && frames.len == 44);
    }

    /// What is not whole waits, unless nothing follows; what is no message never has frames.
    #[test]
    fn frames_wait_until_they_are_whole() {
        assert_eq!(super::without_blanks(b"\r\n\r\nA\r"), b"A\r");
        assert_eq!(super::without_blanks(b"\r\n\r"), b"");
        let cut = &REQUEST[..42];
        let waiting = Frames::of(cut, false);
        assert_eq!((waiting.len, waiting.awaited), (0, Some(44)));
        let last = Frames::of(cut, true);
        assert!(last.len == 42 && !last.is_whole);
        assert_eq!(Frames::of(b"GET / HTTP/1.1\r\n\r\n", false).awaited, None);
        assert_eq!(Frames::of(&[b'x'; 20_000], false).awaited, None);
    }
}
