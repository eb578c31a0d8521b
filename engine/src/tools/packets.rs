//! The packets of an input as they were captured, in the order of their numbers.

use crate::report::{InputReport, Progress, ProgressSink};
use crate::run::open;
use crate::{Control, RunError};
use flowpin_capture::{Source, link_number};
use flowpin_config::Plan;
use flowpin_packet::{Piece, Timestamp};

/// A packet as it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket<'a> {
    /// Its number, from 1, as in records.
    pub number: u64,
    /// Its time.
    pub time: Timestamp,
    /// Its bytes, from the link layer on.
    pub bytes: &'a [u8],
    /// Its length on the wire.
    pub wire_len: u32,
    /// The number of its link type in the registry of link types, if it is known.
    pub link: Option<u16>,
}

/// Who gets the packets.
pub trait PacketSink {
    /// The next packet.
    ///
    /// # Errors
    /// The run ends with it.
    fn packet(&mut self, packet: &CapturedPacket<'_>) -> Result<(), RunError>;
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketsReport {
    /// Packets reported.
    pub packets: u64,
    /// The captures, with what is wrong with them.
    pub inputs: Vec<InputReport>,
}

pub(crate) fn packets<K: PacketSink>(
    plan: &Plan,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<PacketsReport, RunError> {
    let mut source = open(plan, control)?;
    let mut packets = 0;
    let mut piece = Piece::default();
    progress.started();
    while !control.is_stopped() && source.fill(&mut piece)? {
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            let start = frame.start as usize;
            let bytes = piece.bytes.get(start..start + frame.captured_len as usize);
            sink.packet(&CapturedPacket {
                number: walk.number(),
                time: frame.time,
                bytes: bytes.unwrap_or_default(),
                wire_len: frame.wire_len,
                link: link_number(frame.link),
            })?;
            packets += 1;
        }
        drop(walk);
        progress.update(&so_far(&source));
        control.pulse();
    }
    let files = source.report().files;
    let inputs = files.iter().map(InputReport::of).collect();
    Ok(PacketsReport { packets, inputs })
}

/// How far a source has been read.
pub(crate) fn so_far(source: &Source) -> Progress {
    let so_far = source.progress();
    Progress {
        bytes_read: so_far.bytes_read,
        bytes_total: so_far.bytes_total,
        dropped: 0,
        packets: source.delivered(),
        files_done: so_far.files_done,
        files_total: so_far.files_total,
    }
}
