//! Folded lines: a line that starts with a space continues the one before (RFC 9112 §5.2).

use crate::parser::turn::Turn;
use flowpin_record::MessageSink;
use memchr::memchr;

impl<S: MessageSink> Turn<'_, S> {
    /// A folded line within the current bytes.
    #[cold]
    pub(super) fn folded<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let mut end = 0usize;
        loop {
            let rest = bytes.get(end..).unwrap_or_default();
            let Some(feed) = memchr(b'\n', rest) else {
                return self.hold(bytes);
            };
            end = end.wrapping_add(feed).wrapping_add(1);
            match bytes.get(end) {
                Some(b' ' | b'\t') => {}
                None => return self.hold(bytes),
                Some(_) => break,
            }
        }
        let (whole, rest) = bytes.split_at_checked(end).unwrap_or((bytes, &[]));
        self.hold(whole);
        if !self.mine.line.is_empty() {
            self.kept_line();
        }
        rest
    }
}

/// Whether a line is empty or consists of blanks.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter()
        .all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0))
}

/// Replaces each line end inside a folded line by a space (RFC 9112 §5.2).
pub(super) fn unfold(line: &mut Vec<u8>) {
    let mut kept = 0usize;
    for at in 0..line.len() {
        let Some(&byte) = line.get(at) else { break };
        let byte = match byte {
            b'\n' => b' ',
            b'\r' if line.get(at.wrapping_add(1)) == Some(&b'\n') => continue,
            byte => byte,
        };
        if let Some(place) = line.get_mut(kept) {
            *place = byte;
        }
        kept = kept.wrapping_add(1);
    }
    line.truncate(kept);
}
