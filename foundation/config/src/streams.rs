//! Reassembly of TCP streams.

use crate::ByteSize;
use crate::options::{Flag, options};

options! {
    /// Reassembly of TCP streams.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    plan StreamsPlan {
        [streams] StreamSettings: "`[streams]`: reassembly of TCP streams." {
            /// Put TCP segments in order.
            enabled: bool => enabled: bool = true,
                flag Flag::value("streams", "on|off", "Put TCP streams in order and report their \
                    anomalies; see also `[streams]` in settings");
            /// Most memory for bytes after gaps; half of each shard's if not set.
            memory: ByteSize => memory_bytes: Option<u64> = None, example "\"128 MiB\"",
                not_zero "the memory of streams";
            /// Most of this memory for one direction of a connection.
            stream_memory: ByteSize => stream_bytes: u64 = 1 << 20,
                not_zero "the memory of streams";
            /// Bytes of each direction to reassemble; 0: all.
            depth: ByteSize => depth_bytes: u64 = 0,
                flag Flag::value("depth", "SIZE", "Only the first SIZE of each direction \
                    [default: all]");
            /// Memory for delivered bytes, to compare retransmissions with; 0: none.
            compared_memory: ByteSize => compared_bytes: u64 = 0;
            /// Also reassemble connections that were open when the capture began.
            midstream: bool => midstream: bool = true;
            /// Also reassemble connections with only one direction in the capture.
            one_sided: bool => one_sided: bool = true;
            /// Drop segments with an old time stamp, as receivers do (RFC 7323).
            paws: bool => paws: bool = true;
            /// Leave the urgent byte out of the stream, as receivers without SO_OOBINLINE do.
            urgent_apart: bool => urgent_apart: bool = false;
        }
    }
}
