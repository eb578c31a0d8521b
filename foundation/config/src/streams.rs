//! How TCP streams are put together.

use crate::{ByteSize, StreamSettings};

/// Reassembly of TCP streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamsPlan {
    /// Whether segments are put in order at all.
    pub enabled: bool,
    /// Memory for bytes behind holes, over all workers; none: an eighth of `--memory`, 256 MiB at
    /// most.
    pub memory_bytes: Option<u64>,
    /// The most of it that one direction of a connection takes.
    pub stream_bytes: u64,
    /// How many bytes of each direction are looked at; 0: all.
    pub depth_bytes: u64,
    /// Memory for delivered bytes, with which what is sent again is compared; 0: it is not.
    pub compared_bytes: u64,
    /// Connections that were open when the capture began.
    pub midstream: bool,
    /// Connections of which the capture has one direction only.
    pub one_sided: bool,
    /// Segments with an old time stamp are dropped, as receivers do (RFC 7323 §5).
    pub paws: bool,
    /// The urgent byte is read apart, as by a receiver without `SO_OOBINLINE`.
    pub urgent_apart: bool,
}

impl Default for StreamsPlan {
    fn default() -> Self {
        Self {
            enabled: true,
            memory_bytes: None,
            stream_bytes: 1 << 20,
            depth_bytes: 0,
            compared_bytes: 0,
            midstream: true,
            one_sided: true,
            paws: true,
            urgent_apart: false,
        }
    }
}

impl From<StreamSettings> for StreamsPlan {
    fn from(settings: StreamSettings) -> Self {
        let defaults = Self::default();
        let bytes = |size: Option<ByteSize>, default| size.map_or(default, |size| size.0);
        Self {
            enabled: settings.enabled.unwrap_or(defaults.enabled),
            memory_bytes: settings.memory.map(|size| size.0),
            stream_bytes: bytes(settings.stream_memory, defaults.stream_bytes),
            depth_bytes: bytes(settings.depth, defaults.depth_bytes),
            compared_bytes: bytes(settings.compared_memory, defaults.compared_bytes),
            midstream: settings.midstream.unwrap_or(defaults.midstream),
            one_sided: settings.one_sided.unwrap_or(defaults.one_sided),
            paws: settings.paws.unwrap_or(defaults.paws),
            urgent_apart: settings.urgent_apart.unwrap_or(defaults.urgent_apart),
        }
    }
}

impl From<&StreamsPlan> for StreamSettings {
    fn from(plan: &StreamsPlan) -> Self {
        Self {
            enabled: Some(plan.enabled),
            memory: plan.memory_bytes.map(ByteSize),
            stream_memory: Some(ByteSize(plan.stream_bytes)),
            depth: Some(ByteSize(plan.depth_bytes)),
            compared_memory: Some(ByteSize(plan.compared_bytes)),
            midstream: Some(plan.midstream),
            one_sided: Some(plan.one_sided),
            paws: Some(plan.paws),
            urgent_apart: Some(plan.urgent_apart),
        }
    }
}

impl StreamsPlan {
    /// What is 0 and must not be.
    pub(crate) fn zero(&self) -> Option<&'static str> {
        if self.memory_bytes == Some(0) || self.stream_bytes == 0 {
            Some("the memory of streams")
        } else {
            None
        }
    }
}
