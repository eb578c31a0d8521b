//! Lines of one direction, out of bytes that are cut anywhere.

/// The longest line that is kept; more of it is passed over. Network UPS Tools itself takes fewer.
pub(crate) const LINE_BYTES_MAX: usize = 512;

/// The line of one direction that has begun.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
    /// Bytes of it were passed over.
    is_cut: bool,
    /// Bytes are missing: what comes before the next line belongs to one that began before.
    in_gap: bool,
}

impl Lines {
    /// Takes bytes up to the end of a line: how many; and if it is whole, whether it was cut to
    /// what is kept. It is then in `line`.
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

    /// Bytes are missing.
    pub(crate) fn lose(&mut self) {
        self.forget();
        self.in_gap = true;
    }

    pub(crate) fn forget(&mut self) {
        self.begun.clear();
        (self.is_cut, self.in_gap) = (false, false);
    }
}
