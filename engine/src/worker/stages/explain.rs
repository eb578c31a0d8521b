//! What only dispatch knows of a packet: the VLANs and tunnels around it.

use super::{Planned, Stages};
use crate::input::tunnels;
use crate::worker::identify::IdentifyRules;
use flowpin_config::Plan;
use flowpin_flow::{FlowObserver, Table};
use flowpin_packet::{FrameBytes, PacketMeta, TunnelKind};
use flowpin_record::Uid;
use std::io;

/// Answers the connection table's questions about the frame around a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explain {
    pub(crate) id_seed: u64,
}

impl FlowObserver for Explain {
    const OBSERVES: bool = false;

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        flowpin_dispatch::vlans(meta, frames.frame(meta))
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        tunnels::innermost(frames.frame(meta), meta, self.id_seed)
    }
}

impl Stages for Explain {}

impl Planned for Explain {
    fn new(plan: &Plan, _: Option<&IdentifyRules>, _: &Table) -> io::Result<Self> {
        Ok(Self {
            id_seed: plan.id_seed,
        })
    }
}
