//! Splits the bytes of one direction, cut anywhere, into lines.

/// Bytes kept of a line; the rest of a longer line is skipped. Network UPS Tools itself accepts
/// fewer.
pub(crate) const LINE_BYTES_MAX: usize = 512;

/// The incomplete line of one direction.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
    /// Bytes of the line were skipped.
    is_cut: bool,
    /// Bytes are missing: the bytes up to the next line end are the rest of an older line.
    in_gap: bool,
}

impl Lines {
    /// Consumes bytes up to the end of a line; returns their number. If the line is complete, it is
    /// in `line`, and the second value says whether it was truncated.
    pub(crate) fn next(&mut self, bytes: &[u8], line: &mut Vec<u8>) -> (usize, Option<bool>) {
        let end = memchr::memchr(b'\n', bytes);
        let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        if !self.in_gap {
            let room = LINE_BYTES_MAX.saturating_sub(self.begun.len());
            let kept = part.get(..room.min(part.len())).unwrap_or_default();
            self.begun.extend_from_slice(kept);
            self.is_cut |= kept.len() < part.len();
        }
        let Some(end) = end else {
            return (bytes.len(), None);
        };
        let used = end.saturating_add(1);
        if core::mem::take(&mut self.in_gap) {
            return (used, None);
        }
        core::mem::swap(line, &mut self.begun);
        self.begun.clear();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        (used, Some(core::mem::take(&mut self.is_cut)))
    }

    /// Drops the incomplete line, since bytes are missing.
    pub(crate) fn lose(&mut self) {
        self.forget();
        self.in_gap = true;
    }

    pub(crate) fn forget(&mut self) {
        self.begun.clear();
        (self.is_cut, self.in_gap) = (false, false);
    }
}
