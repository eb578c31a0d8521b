//! Reads a name through its pointers.

use super::labels::{put_run, run};
use super::{BadName, HOPS_MAX, Name, Wire};
use crate::wire::cursor::Cursor;
use crate::wire::suffixes::Suffixes;
use crate::wire::text::ByteRange;

/// Reads a name, appends its text to `out` if `TEXT` is set, and moves the cursor past the name.
pub(crate) fn walk<const TEXT: bool>(
    cursor: &mut Cursor<'_>,
    known: &mut Suffixes,
    out: &mut Vec<u8>,
) -> Result<Name, BadName> {
    let begin = out.len();
    let message = cursor.message;
    let first = cursor.at;
    let nth = known.begin();
    // Labels before the first pointer must lie within the field, those after it anywhere in the
    // message.
    let own = run(message, first, cursor.end, 1, |at| {
        known.label(nth, at, at.saturating_sub(first));
    })?;
    let is_plain = !TEXT || put_run(out, begin, message, first, own.end);
    let mut wire_len = own.end.saturating_sub(first).saturating_add(1);
    let mut hops = 0u8;
    let mut next = own.to;
    while let Some(to) = next {
        hops = hops.saturating_add(1);
        if hops > HOPS_MAX {
            return Err(BadName::PointerLoop);
        }
        // A known suffix need not be followed, unless it makes the name too long.
        let rest = known.at(to);
        if let Some((all_len, all_hops)) = rest.and_then(|rest| rest.as_suffix(wire_len, hops)) {
            (wire_len, hops) = (all_len, all_hops);
            if TEXT && let Some(rest) = rest {
                if out.len() > begin {
                    out.push(b'.');
                }
                out.extend_from_within(rest.text.range());
            }
            break;
        }
        let more = run(message, to, message.len(), wire_len, |_| {})?;
        if TEXT {
            put_run(out, begin, message, to, more.end);
        }
        wire_len = wire_len.saturating_add(more.end.saturating_sub(to));
        next = more.to;
    }
    let pointer = if own.to.is_some() { 2 } else { 1 };
    cursor.at = own.end.saturating_add(pointer);
    let wire_len = u8::try_from(wire_len).unwrap_or(u8::MAX);
    let first = u16::try_from(first).unwrap_or(0);
    let name = Name {
        text: ByteRange::new(begin, out.len()),
        wire: Wire::new(first, wire_len, hops),
    };
    // With escapes, the labels have other positions in the text than in the message.
    if is_plain {
        known.done(nth, name);
    }
    Ok(name)
}
