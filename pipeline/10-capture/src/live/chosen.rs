//! Chosen packets of a run, written as pcapng: to one file, or to one after the other.

use super::blocks::Blocks;
use super::recorder::{NextFiles, Recorder};
use crate::error::CaptureError;
use crate::format::CAPTURED_LEN_MAX;
use crate::link::link_number;
use flowpin_packet::{Frame, InterfaceId, InterfaceNames, LinkType};
use flowpin_socket::Packet;
use std::fs::File;
use std::path::PathBuf;

/// A recording that packets are given to one by one.
///
/// Unlike a recording of everything it has no statistics: what lies between its packets is missing
/// anyway, so its reader must not be told how late it was.
#[derive(Debug)]
pub struct ChosenPackets {
    recorder: Recorder,
    blocks: Blocks,
    /// The interfaces so far: one for each that packets came by, and each link type.
    interfaces: Vec<(LinkType, InterfaceId)>,
    names: InterfaceNames,
    /// Blocks that wait to be written together.
    waiting: Vec<u8>,
}

impl ChosenPackets {
    /// Writes to a new file, and to others if there is to be more than one. Packets carry numbers
    /// of the interfaces with these names.
    pub fn new(path: PathBuf, file: File, next: Option<NextFiles>, names: InterfaceNames) -> Self {
        let mut blocks = Blocks::default();
        blocks.section();
        Self {
            recorder: Recorder::new(path, file, next),
            blocks,
            interfaces: Vec::new(),
            names,
            waiting: Vec::new(),
        }
    }

    /// Writes a packet.
    pub fn packet(&mut self, frame: &Frame, bytes: &[u8]) {
        let this = (frame.link, frame.interface);
        let known = self.interfaces.iter().position(|known| *known == this);
        let interface = known.unwrap_or_else(|| {
            let number = link_number(frame.link).unwrap_or(LINKTYPE_USER0);
            let name = self.names.get(frame.interface);
            let name = name.map(ToString::to_string).unwrap_or_default();
            self.blocks.interface(&name, number, CAPTURED_LEN_MAX);
            self.interfaces.push(this);
            self.interfaces.len() - 1
        });
        let packet = Packet {
            time: frame.time,
            wire_len: frame.wire_len,
            bytes,
            vlan: None,
        };
        let number = u32::try_from(interface).unwrap_or(u32::MAX);
        self.blocks.packet(&mut [], number, &packet);
        self.blocks.take(&mut self.waiting);
        if self.waiting.len() >= WAITING_MAX {
            self.flush();
        }
    }

    /// Hands over what waits.
    pub fn flush(&mut self) {
        // An empty recording is one, too.
        self.blocks.take(&mut self.waiting);
        self.recorder.write(&self.waiting);
        self.waiting.clear();
    }

    /// Nothing comes any more.
    pub fn end(&mut self) {
        self.flush();
        self.recorder.end();
    }

    /// Why packets could not be written.
    pub fn failure(&mut self) -> Option<CaptureError> {
        self.recorder.failure()
    }
}

/// For frames whose link type is not decoded: LINKTYPE_USER0, whose meaning is the user's.
const LINKTYPE_USER0: u16 = 147;

/// Pieces of about this size cost the file system least.
const WAITING_MAX: usize = 1 << 18;
