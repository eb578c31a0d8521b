//! Retransmitted bytes: compared with the delivered ones, if those are stored.

use super::handshake::low_word;
use super::segment::Segment;
use super::{Place, Reassembler, count};
use crate::connection::Connection;
use crate::delivered::StreamId;
use crate::{Anomaly, Span, StreamConsumer};
use flowpin_packet::{FrameBytes, PacketMeta, Seq};

impl Reassembler {
    /// Stores a segment's bytes, which were the next ones.
    #[cold]
    pub(super) fn keep_next(&mut self, frames: &FrameBytes<'_>, meta: &PacketMeta, at: Span) {
        let stream = StreamId {
            handle: at.handle,
            first: Seq(meta.seq.0.wrapping_sub(low_word(at.offset))),
            to_server: at.to_server,
        };
        let bytes = frames.payload(meta);
        self.delivered.keep(meta.shard().0, stream, meta.seq, bytes);
    }

    /// Compares the bytes of a segment that had been delivered before.
    ///
    /// A receiver keeps the first copy, whatever its policy: it has read it. The other copy is
    /// meant for an observer who sees both on the way but does not know which one the receiver saw;
    /// or for the receiver, if the first did not come from its peer.
    pub(super) fn compare_again<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        consumer: &mut C,
    ) {
        let side = connection.side(place.to_server);
        let behind = u32::try_from(side.next.distance_from(segment.start)).unwrap_or(0);
        // RFC 9293 §3.8.4: a keep-alive's byte is garbage.
        if behind == 0 || segment.len == 0 || segment.len == 1 && behind == 1 {
            return;
        }
        let old = segment.len.min(behind) as usize;
        let bytes = segment.bytes.get(..old).unwrap_or(segment.bytes);
        let stream = stream_id(connection, place);
        let (shard, start) = (segment.shard, segment.start);
        let done = self.delivered.compare(shard, stream, start, bytes);
        count(&mut self.stats.compared, done.bytes);
        let all = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        count(&mut self.stats.uncompared, all.saturating_sub(done.bytes));
        if done.differs {
            self.report_anomaly(connection, place, Anomaly::OverlapDiffers, consumer);
        }
    }
}

/// The identity of a stream.
pub(super) fn stream_id(connection: &mut Connection, place: Place) -> StreamId {
    let side = connection.side(place.to_server);
    // A reported FIN has a number, but no position in the stream.
    let passed = low_word(side.offset);
    StreamId {
        handle: place.handle,
        first: Seq(side.resume().0.wrapping_sub(passed)),
        to_server: place.to_server,
    }
}
