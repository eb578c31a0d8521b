//! Adjacent labels: their bounds and their text.

use super::{BadName, NAME_MAX};

/// A sequence of adjacent labels.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// End of the labels: the byte of the root, or the first byte of a pointer.
    pub(super) end: usize,
    /// Target of the pointer.
    pub(super) to: Option<usize>,
}

/// Reads labels from `from` up to `limit`; `before` is the length of the name so far. Calls
/// `on_label` with the position of the first labels.
#[inline]
pub(super) fn run(
    message: &[u8],
    from: usize,
    limit: usize,
    before: usize,
    mut on_label: impl FnMut(usize),
) -> Result<Run, BadName> {
    let bytes = message.get(..limit).unwrap_or(message);
    // PERF: one limit covers the length of the name and the end of its field.
    let longest = from.saturating_add(NAME_MAX.saturating_sub(before));
    let most = longest.min(bytes.len());
    let mut count = 0usize;
    let mut at = from;
    loop {
        let len = *bytes.get(at).ok_or(BadName::Truncated)?;
        match len {
            0 => return Ok(Run { end: at, to: None }),
            1..0x40 => {}
            0xc0.. => {
                let low = *bytes.get(at.saturating_add(1)).ok_or(BadName::Truncated)?;
                let to = usize::from(u16::from_be_bytes([len & 0x3f, low]));
                return Ok(Run {
                    end: at,
                    to: Some(to),
                });
            }
            _ => return Err(BadName::LabelType),
        }
        let next = at.saturating_add(usize::from(len)).saturating_add(1);
        if next > most {
            return Err(if next > bytes.len() {
                BadName::Truncated
            } else {
                BadName::TooLong
            });
        }
        if count < LABELS {
            on_label(at);
            count = count.saturating_add(1);
        } else if let Some(four) = skip_four_short_labels(bytes, at)
            && four <= longest
        {
            at = four;
            continue;
        }
        at = next;
    }
}

/// Returns the position after four labels of one letter each, if there are such labels: names made
/// of an IPv6 address have 32 of them (RFC 3596 §2.5).
#[inline]
fn skip_four_short_labels(bytes: &[u8], at: usize) -> Option<usize> {
    let eight = bytes.get(at..)?.first_chunk()?;
    let lens = u64::from_le_bytes(*eight) & 0x00ff_00ff_00ff_00ff;
    (lens == 0x0001_0001_0001_0001).then_some(at.saturating_add(8))
}

/// Appends the text of adjacent labels; returns whether none needed an escape.
// PERF: copies all labels at once with their lengths, then replaces the lengths with dots.
pub(super) fn put_run(
    out: &mut Vec<u8>,
    begin: usize,
    message: &[u8],
    from: usize,
    end: usize,
) -> bool {
    let Some(bytes) = message.get(from.saturating_add(1)..end) else {
        // The root only.
        return true;
    };
    if out.len() > begin {
        out.push(b'.');
    }
    let needs_escape = |&byte: &u8| u8::from(byte == b'.') | u8::from(byte == b'\\');
    if bytes
        .iter()
        .fold(0, |found, byte| found | needs_escape(byte))
        != 0
    {
        put_escaped(out, message, from, end);
        return false;
    }
    let start = out.len();
    out.extend_from_slice(bytes);
    let text = out.get_mut(start..).unwrap_or_default();
    let mut at = usize::from(message.get(from).copied().unwrap_or(0));
    while let Some(len) = text.get_mut(at) {
        at = at.saturating_add(usize::from(*len)).saturating_add(1);
        *len = b'.';
    }
    true
}

/// Like [`put_run`], label by label; also used if a length has the value of a dot or backslash.
#[cold]
fn put_escaped(out: &mut Vec<u8>, message: &[u8], from: usize, end: usize) {
    let begin = out.len();
    let mut at = from;
    while at < end {
        let len = usize::from(message.get(at).copied().unwrap_or(0));
        let next = at.saturating_add(len).saturating_add(1);
        let label = message.get(at.saturating_add(1)..next).unwrap_or_default();
        if out.len() > begin {
            out.push(b'.');
        }
        for &byte in label {
            if matches!(byte, b'.' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
        at = next;
    }
}

/// Labels after these are not known to pointers.
const LABELS: usize = 8;
