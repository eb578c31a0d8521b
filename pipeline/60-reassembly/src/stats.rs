//! What became of every payload byte, and other counts.

use crate::Anomaly;
use flowpin_counters::{Loss, Losses};

macro_rules! stats {
    ($($(#[$meta:meta])* $field:ident,)*) => {
        /// The counters of a [`crate::Reassembler`]. Bytes are those of TCP payloads as their
        /// headers claim them.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct ReassemblyStats {
            $($(#[$meta])* pub $field: u64,)*
            /// Anomalies, by their number.
            pub anomalies: [u64; Anomaly::ALL.len()],
        }

        impl ReassemblyStats {
            /// Adds the counts of another worker.
            pub fn add(&mut self, other: &Self) {
                $(self.$field = self.$field.saturating_add(other.$field);)*
                for (mine, theirs) in self.anomalies.iter_mut().zip(other.anomalies) {
                    *mine = mine.saturating_add(theirs);
                }
            }

            /// All counts by name, anomalies left out.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($field), self.$field),)*]
            }
        }
    };
}

stats! {
    /// Bytes delivered on the fast path: the next ones of their stream.
    in_order,
    /// Bytes that did not take the fast path.
    considered,
    /// Of those, bytes that were delivered, at once or later.
    delivered,
    /// Bytes that had been delivered, or reported as a gap, before.
    duplicate,
    /// Of those, bytes that were compared with the delivered ones.
    compared,
    /// And bytes that could not be compared, as the delivered ones were no longer stored.
    uncompared,
    /// Bytes that lost against those of another segment.
    overlapped,
    /// Bytes in segments with a bad checksum.
    bad_checksum,
    /// Bytes that the capture cut off.
    not_captured,
    /// Bytes in segments with an old time stamp.
    old_timestamp,
    /// Bytes outside any window.
    out_of_window,
    /// Bytes after the end of their stream.
    after_close,
    /// Bytes in RST segments, which are not data (RFC 9293 §3.5.3).
    on_reset,
    /// Bytes on a SYN that the receiver did not acknowledge.
    syn_refused,
    /// Bytes after a hole when the connection was reset.
    discarded,
    /// Bytes refused because of a cap.
    no_room,
    /// Bytes beyond the depth limit, or of streams that the consumer skips.
    beyond_depth,
    /// Bytes of connections that are not reassembled, by configuration.
    ignored,
    /// Bytes read out of band.
    urgent,
    /// Bytes held now, after a hole.
    held,
    /// Segments that were stored because of a hole before them.
    out_of_order,
    /// Gaps reported.
    gaps,
    /// Bytes in them.
    gap_bytes,
    /// Holes reported as gaps because their stream reached its cap.
    stream_cap_reached,
    /// Holes reported as gaps because their shard reached its cap.
    shard_cap_reached,
    /// Segments that only test whether the other side is there.
    keep_alives,
    /// Segments of at least one byte beyond a closed window.
    window_probes,
    /// Connections whose beginning the capture lacks.
    midstream,
    /// Connections with data of which the capture has only one direction.
    one_sided,
    /// Memory in use for held bytes.
    memory_bytes,
    /// Its maximum.
    memory_bytes_max,
    /// Nodes visited in trees of held pieces: the work that holes cost.
    steps,
}

impl ReassemblyStats {
    /// All bytes received.
    pub fn received(&self) -> u64 {
        self.in_order.saturating_add(self.considered)
    }

    /// The sum of all destinations: equal to [`Self::received`] at any time.
    pub fn accounted(&self) -> u64 {
        [
            self.in_order,
            self.delivered,
            self.duplicate,
            self.overlapped,
            self.bad_checksum,
            self.not_captured,
            self.old_timestamp,
            self.out_of_window,
            self.after_close,
            self.on_reset,
            self.syn_refused,
            self.discarded,
            self.no_room,
            self.beyond_depth,
            self.ignored,
            self.urgent,
            self.held,
        ]
        .iter()
        .sum()
    }

    /// Losses caused by caps and by configuration, by name.
    pub fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        for (loss, count) in [
            (Loss::ReassemblyMemory, self.shard_cap_reached),
            (Loss::ReassemblyStream, self.stream_cap_reached),
            (Loss::ReassemblyRoom, self.no_room),
            (Loss::ReassemblyDepth, self.beyond_depth),
            (Loss::ReassemblyIgnored, self.ignored),
            (Loss::ReassemblyUncompared, self.uncompared),
        ] {
            losses.count(loss, count);
        }
        losses
    }

    /// The count of an anomaly.
    pub fn anomaly(&self, what: Anomaly) -> u64 {
        self.anomalies.get(what as usize).copied().unwrap_or(0)
    }
}
