//! What a reassembler needs to know.

use flowpin_config::SegmentOverlap;
use flowpin_packet::{Endpoints, FrameBytes, NetworkMap, PacketMeta, SHARD_COUNT};

/// What becomes of urgent data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgent {
    /// It is read like all other data, as RFC 6093 §4 advises.
    #[default]
    InLine,
    /// The byte before the urgent pointer is read out of band, as BSD sockets do by default.
    OutOfBand,
}

/// Settings of a [`crate::Reassembler`]; the same for all of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReassemblyOptions {
    /// How the receiver at an address resolves overlaps.
    pub policy: NetworkMap<SegmentOverlap>,
    /// Memory for bytes behind holes, over all 256 shards, however many reassemblers hold them.
    pub memory_bytes: u64,
    /// Memory for one stream's bytes behind holes.
    pub stream_bytes_max: u32,
    /// How many bytes of each stream are delivered; 0: all.
    pub depth_bytes: u64,
    /// Memory for delivered bytes, over all 256 shards: what is sent again is compared with them
    /// as long as they are there. Each byte is copied for it. 0: none is kept.
    pub compared_bytes: u64,
    /// Whether connections are reassembled that were open when the capture began.
    pub midstream: bool,
    /// Whether streams are reassembled of which the capture never has the other direction.
    pub one_sided: bool,
    /// Whether old time stamps are refused (RFC 7323 §5, PAWS).
    pub paws: bool,
    /// What becomes of urgent data.
    pub urgent: Urgent,
}

impl Default for ReassemblyOptions {
    fn default() -> Self {
        Self {
            policy: NetworkMap::new(SegmentOverlap::default(), []),
            memory_bytes: 256 << 20,
            stream_bytes_max: 1 << 20,
            depth_bytes: 0,
            compared_bytes: 0,
            midstream: true,
            one_sided: true,
            paws: true,
            urgent: Urgent::InLine,
        }
    }
}

impl ReassemblyOptions {
    /// Each shard's part of the memory.
    pub(crate) fn shard_bytes(&self) -> u64 {
        const { assert!(SHARD_COUNT == 256, "the shift below") };
        self.memory_bytes >> 8
    }

    /// Each shard's part of the memory for delivered bytes.
    pub(crate) fn shard_compared_bytes(&self) -> u64 {
        self.compared_bytes >> 8
    }

    /// The depth, as a number that no stream reaches if there is none.
    pub(crate) fn depth(&self) -> u64 {
        match self.depth_bytes {
            0 => u64::MAX,
            depth => depth,
        }
    }

    /// How the receivers of both streams resolve overlaps, the server first. `to_server` says
    /// where the packet goes.
    pub(crate) fn policies(
        &self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        to_server: bool,
    ) -> [SegmentOverlap; 2] {
        let ipv6 = meta.key.is_ipv6();
        if let Some(policy) = self.policy.of_all(ipv6) {
            return [policy; 2];
        }
        let endpoints = frames.endpoints(meta);
        let policy = |address| self.policy.of(Endpoints::address(address, ipv6));
        let (low, high) = (policy(endpoints.low), policy(endpoints.high));
        if to_server == meta.high_to_low() {
            [low, high]
        } else {
            [high, low]
        }
    }
}
