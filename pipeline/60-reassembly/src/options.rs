//! The settings of a reassembler.

use flowpin_config::SegmentOverlap;
use flowpin_packet::{Endpoints, FrameBytes, NetworkMap, PacketMeta, SHARD_COUNT};

/// How urgent data is handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Urgent {
    /// Read like all other data, as RFC 6093 §4 advises.
    #[default]
    InLine,
    /// The byte before the urgent pointer is read out of band, as BSD sockets do by default.
    OutOfBand,
}

/// Settings of a [`crate::Reassembler`], the same for the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReassemblyOptions {
    /// How the receiver at an address resolves overlaps.
    pub policy: NetworkMap<SegmentOverlap>,
    /// Memory for bytes after holes, for all 256 shards, however many reassemblers own them.
    pub memory_bytes: u64,
    /// Memory for one stream's bytes after holes.
    pub stream_bytes_max: u32,
    /// How many bytes of each stream are delivered; 0: all.
    pub depth_bytes: u64,
    /// Memory for delivered bytes, for all 256 shards: retransmissions are compared with them while
    /// they are stored. Each byte is copied for that. 0: none is stored.
    pub compared_bytes: u64,
    /// Whether to reassemble connections that were open when the capture began.
    pub midstream: bool,
    /// Whether to reassemble streams of which the capture never has the other direction.
    pub one_sided: bool,
    /// Whether to refuse old time stamps (RFC 7323 §5, PAWS).
    pub paws: bool,
    /// How urgent data is handled.
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

    /// The depth, as a number that no stream reaches if there is no limit.
    pub(crate) fn depth(&self) -> u64 {
        match self.depth_bytes {
            0 => u64::MAX,
            depth => depth,
        }
    }

    /// How the receivers of both streams resolve overlaps, the server first. `to_server`: the
    /// direction of the packet.
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
