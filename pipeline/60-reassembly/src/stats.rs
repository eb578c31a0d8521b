//! Where every payload byte went, and what was seen on the way.

use crate::Anomaly;
use flowpin_counters::{Loss, Losses};

macro_rules! stats {
    ($($(#[$meta:meta])* $field:ident,)*) => {
        /// What a [`crate::Reassembler`] counted. Bytes are those of TCP payloads as their
        /// headers claim them.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct ReassemblyStats {
            $($(#[$meta])* pub $field: u64,)*
            /// Anomalies, by their number.
            pub anomalies: [u64; Anomaly::ALL.len()],
        }

        impl ReassemblyStats {
            /// Adds another worker's counts.
            pub fn add(&mut self, other: &Self) {
                $(self.$field = self.$field.saturating_add(other.$field);)*
                for (mine, theirs) in self.anomalies.iter_mut().zip(other.anomalies) {
                    *mine = mine.saturating_add(theirs);
                }
            }
        }
    };
}

stats! {
    /// Bytes delivered by the short way: the next ones of their stream.
    in_order,
    /// Bytes that did not take the short way.
    considered,
    /// Bytes of those that were delivered, at once or later.
    delivered,
    /// Bytes that had been delivered, or told as a gap, before.
    duplicate,
    /// Of those, bytes that were compared with what had been delivered.
    compared,
    /// And those that were no longer there to compare with.
    uncompared,
    /// Bytes that another segment's bytes won against.
    overlapped,
    /// Bytes in segments with a bad checksum.
    bad_checksum,
    /// Bytes that the capture cut off.
    not_captured,
    /// Bytes in segments with an old time stamp.
    old_timestamp,
    /// Bytes outside any window.
    out_of_window,
    /// Bytes behind the end of their stream.
    after_close,
    /// Bytes in RST segments, which are no data (RFC 9293 §3.5.3).
    on_reset,
    /// Bytes on a SYN that the receiver did not acknowledge.
    syn_refused,
    /// Bytes behind a hole when the connection was reset.
    discarded,
    /// Bytes for which a cap left no room.
    no_room,
    /// Bytes behind the depth limit, or of streams that the consumer skips.
    beyond_depth,
    /// Bytes of connections that are not reassembled by configuration.
    ignored,
    /// Bytes read out of band.
    urgent,
    /// Bytes held now, behind a hole.
    held,
    /// Segments that were stored because a hole was before them.
    out_of_order,
    /// Gaps told.
    gaps,
    /// Bytes in them.
    gap_bytes,
    /// Holes told as gaps because their stream held its most.
    stream_cap_reached,
    /// Holes told as gaps because their shard held its most.
    shard_cap_reached,
    /// Segments that only ask whether the other side is there.
    keep_alives,
    /// Segments of at least a byte beyond a closed window.
    window_probes,
    /// Connections whose beginning the capture does not have.
    midstream,
    /// Connections with data of which the capture has one direction only.
    one_sided,
    /// Memory in use for held bytes.
    memory_bytes,
    /// The most that was.
    memory_bytes_max,
    /// Nodes visited in trees of held pieces: the work that holes cost.
    steps,
}

impl ReassemblyStats {
    /// All bytes that came in.
    pub fn received(&self) -> u64 {
        self.in_order.saturating_add(self.considered)
    }

    /// Where they went: equal to [`Self::received`] at any time.
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

    /// What was lost to caps and by configuration, by name.
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

    /// How often an anomaly was seen.
    pub fn anomaly(&self, what: Anomaly) -> u64 {
        self.anomalies.get(what as usize).copied().unwrap_or(0)
    }
}
