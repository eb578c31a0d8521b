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

/// What of a source is a split, and what is known of what comes behind it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// How many packets; none: all. Bytes behind them say when the next packet came, and a short
    /// packet is whole there.
    pub(super) packets: Option<u64>,
    /// The time of the first packet behind the split, if its own bytes do not tell.
    pub(super) next: Option<Timestamp>,
}

/// Calls `visit` with each frame of a split. Returns whether it tells of times without a packet.
pub(super) fn each(
    source: &mut Source,
    clock: &mut Clock,
    limits: Limits,
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
            let number = walk.number();
            if limits.packets.is_some_and(|packets| number > packets) {
                return Ok(is_silent);
            }
            let now = clock.observe_before(frame.time, || walk.peek_time().or(limits.next));
            visit(&Seen {
                piece: bytes,
                frame,
                number,
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
