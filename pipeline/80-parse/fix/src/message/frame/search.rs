//! Searches for the end of a message whose BodyLength is wrong or missing, and for the next
//! message.

use super::trailer::{TRAILER_LEN, checksum_field, malformed_checksum_field, trailer};
use super::{BEGIN, Frame, HeadFields, Window};
use crate::message::fields::SOH;
use memchr::{memchr, memrchr};

/// How far to search: the first window, the end given by BodyLength if there is one, and the limit.
#[derive(Clone, Copy)]
pub(super) struct SearchRange {
    pub(super) first: usize,
    pub(super) total: Option<usize>,
    pub(super) limit: usize,
}

/// BodyLength does not lead to a trailer, or not yet: the message ends at the first trailer, or
/// where another one begins. The search uses growing windows, so that the end is found at a stream
/// position that does not depend on segmentation, and each byte is examined only a few times.
#[cold]
pub(super) fn search_end(bytes: &[u8], head: HeadFields, range: SearchRange, last: bool) -> Frame {
    let SearchRange { total, limit, .. } = range;
    let mut window = range.first;
    loop {
        if window > bytes.len() {
            if !last {
                return Frame::Need(window);
            }
            window = bytes.len();
        }
        let within = bytes.get(..window).unwrap_or(bytes);
        match first_end(within, head.len) {
            Some(End::Trailer { at, len }) => {
                let message = bytes.get(..len).unwrap_or(bytes);
                return Frame::Message(Window {
                    len,
                    body_length: head.body_length,
                    body_length_ok: total == at.checked_add(TRAILER_LEN),
                    checksum_ok: Some(trailer(message).unwrap_or(false)),
                });
            }
            Some(End::Next(len)) => {
                return Frame::Message(Window {
                    len,
                    body_length: head.body_length,
                    body_length_ok: false,
                    checksum_ok: None,
                });
            }
            None if last && window == bytes.len() => return Frame::CutOff(window),
            None if window >= limit => return Frame::Broken(last_begin(within)),
            None => {}
        }
        let more = (window >> 2).saturating_add(16);
        let next = window.saturating_add(more).min(limit);
        window = match total {
            Some(total) if window < total => next.min(total),
            _ => next,
        };
    }
}

/// Returns where the last message may begin, in bytes that begin with one and contain no end of any
/// message.
fn last_begin(bytes: &[u8]) -> usize {
    let mut end = bytes.len();
    while let Some(at) = bytes.get(..end).and_then(|before| memrchr(b'8', before)) {
        let rest = bytes.get(at..).unwrap_or_default();
        if at > 0 && (rest.starts_with(BEGIN) || BEGIN.starts_with(rest)) {
            return at;
        }
        end = at;
    }
    bytes.len()
}

enum End {
    /// A trailer at offset `at`, which ends at offset `len`.
    Trailer { at: usize, len: usize },
    /// Another message begins at this offset.
    Next(usize),
}

/// Finds the first trailer or message start after the head.
fn first_end(bytes: &[u8], head_len: usize) -> Option<End> {
    let mut at = head_len.saturating_sub(1);
    loop {
        at = memchr(SOH, bytes.get(at..)?)?
            .checked_add(at)?
            .checked_add(1)?;
        let rest = bytes.get(at..)?;
        if rest.starts_with(BEGIN) {
            return Some(End::Next(at));
        }
        let len = match rest.first_chunk().and_then(checksum_field) {
            Some(_) => Some(TRAILER_LEN),
            None => malformed_checksum_field(rest),
        };
        if let Some(len) = len {
            let len = at.checked_add(len)?;
            return Some(End::Trailer { at, len });
        }
    }
}

/// Returns the distance to the next message, or to a possible start of one.
#[cold]
pub(super) fn garbage(bytes: &[u8], last: bool) -> Frame {
    if bytes.is_empty() {
        return Frame::Need(1);
    }
    if BEGIN.starts_with(bytes) && !last {
        return Frame::Need(bytes.len().saturating_add(1));
    }
    let mut at = 1;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr(b'8', rest)) {
        at = at.saturating_add(found);
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.starts_with(BEGIN) || (BEGIN.starts_with(rest) && !last) {
            return Frame::Garbage(at);
        }
        at = at.saturating_add(1);
    }
    Frame::Garbage(bytes.len())
}
