//! Deflate without a frame (RFC 1951).

use super::{Invalid, Out};
use flate2::{Decompress, FlushDecompress, Status};

/// The progress of a deflate stream.
pub(super) enum Progress {
    /// It continues in the next bytes.
    Goes,
    /// It ended after this many of the bytes.
    Ended(usize),
    /// The output stopped it.
    Stopped,
}

/// Decodes the next bytes through the buffer `room` to `out`.
pub(super) fn inflate(
    decompress: &mut Decompress,
    input: &[u8],
    room: &mut [u8],
    out: &mut Out<'_>,
) -> Result<Progress, Invalid> {
    let mut rest = input;
    loop {
        let (before_in, before_out) = (decompress.total_in(), decompress.total_out());
        let status = decompress.decompress(rest, room, FlushDecompress::None);
        let used = decompress.total_in().wrapping_sub(before_in);
        let made = decompress.total_out().wrapping_sub(before_out);
        rest = usize::try_from(used)
            .ok()
            .and_then(|used| rest.get(used..))
            .unwrap_or_default();
        let made = usize::try_from(made).unwrap_or(0);
        if made > 0 && out(room.get(..made).unwrap_or_default()).is_break() {
            return Ok(Progress::Stopped);
        }
        // Bytes decoded before an error have been passed on.
        match status.map_err(|_| Invalid)? {
            Status::StreamEnd => return Ok(Progress::Ended(input.len().wrapping_sub(rest.len()))),
            _ if used == 0 && made == 0 => return Ok(Progress::Goes),
            // After a full buffer there may be more output without more input.
            _ if rest.is_empty() && made < room.len() => return Ok(Progress::Goes),
            _ => {}
        }
    }
}
