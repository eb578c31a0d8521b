//! The frames of a split, with number and stream time.

use crate::{Control, RunError};
use flowpin_capture::Source;
use flowpin_config::{Checksums, Plan};
use flowpin_dispatch::{Clock, DispatchOptions, Dispatcher};
use flowpin_packet::{Frame, InterfaceNames, Piece, Timestamp};

/// A frame of the piece, its number within the split, and stream time.
pub(super) struct Seen<'a> {
    pub(super) piece: &'a [u8],
    pub(super) frame: Frame,
    pub(super) number: u64,
    pub(super) now: Timestamp,
    /// Those of the interfaces that frames carry numbers of.
    pub(super) names: &'a InterfaceNames,
}

/// Calls `visit` with each frame. `next`: the time of the first packet behind the split, if its own
/// bytes do not tell. Returns whether the split tells of times without a packet.
pub(super) fn each(
    source: &mut Source,
    clock: &mut Clock,
    next: Option<Timestamp>,
    control: &Control,
    mut visit: impl FnMut(&Seen<'_>) -> Result<(), RunError>,
) -> Result<bool, RunError> {
    let mut piece = Piece::default();
    let mut is_silent = false;
    let names = source.interfaces().clone();
    while !control.is_stopped() && source.fill(&mut piece)? {
        let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            if let Some(until) = walk.take_silence() {
                clock.pass(until);
                is_silent = true;
            }
            let now = clock.observe_before(frame.time, || walk.peek_time().or(next));
            visit(&Seen {
                piece: bytes,
                frame,
                number: walk.number(),
                now,
                names: &names,
            })?;
        }
        if let Some(until) = walk.take_silence() {
            clock.pass(until);
            is_silent = true;
        }
        drop(walk);
        control.pulse();
    }
    Ok(is_silent)
}

/// What finds the connection of a frame, as a run does.
pub(super) fn dispatcher(plan: &Plan) -> Dispatcher {
    Dispatcher::new(DispatchOptions {
        id_seed: plan.id_seed,
        // No table is kept here.
        secret: 0,
        verify_network: plan.checksums == Checksums::All,
        checksums: false,
        decode: true,
    })
}

/// The bytes of a frame.
pub(super) fn bytes_of<'a>(piece: &'a [u8], frame: &Frame) -> &'a [u8] {
    let start = frame.start as usize;
    let end = start.saturating_add(frame.captured_len as usize);
    piece.get(start..end).unwrap_or_default()
}
