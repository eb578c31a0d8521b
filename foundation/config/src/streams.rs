//! How TCP streams are put together.

use crate::ByteSize;
use crate::options::{Flag, options};

options! {
    /// Reassembly of TCP streams.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    plan StreamsPlan {
        [streams] StreamSettings: "`[streams]`: how TCP streams are put together." {
            /// Put TCP segments in order.
            enabled: bool => enabled: bool = true,
                flag Flag::value("streams", "on|off", "Put TCP streams in order, and tell what is \
                    odd about them; how: `[streams]` in settings");
            /// Bytes behind holes, over all workers; an eighth of the memory if not set.
            memory: ByteSize => memory_bytes: Option<u64> = None, example "\"128 MiB\"",
                not_zero "the memory of streams";
            /// The most of it for one direction of a connection.
            stream_memory: ByteSize => stream_bytes: u64 = 1 << 20,
                not_zero "the memory of streams";
            /// How many bytes of each direction are looked at; 0: all.
            depth: ByteSize => depth_bytes: u64 = 0,
                flag Flag::value("depth", "SIZE", "Only so many bytes of each direction \
                    [default: all]");
            /// Delivered bytes kept to compare what is sent again; 0: none.
            compared_memory: ByteSize => compared_bytes: u64 = 0;
            /// Also connections that were open when the capture began.
            midstream: bool => midstream: bool = true;
            /// Also connections of which the capture has one direction only.
            one_sided: bool => one_sided: bool = true;
            /// Drop segments with an old time stamp, as receivers do (RFC 7323).
            paws: bool => paws: bool = true;
            /// Read the urgent byte apart, as receivers without SO_OOBINLINE do.
            urgent_apart: bool => urgent_apart: bool = false;
        }
    }
}
