//! All streams of a worker: the fast path of segments in order, and the slow path of all others.

mod acknowledge;
mod again;
mod caps;
mod close;
#[cfg(test)]
mod compare;
mod data;
mod deliver;
mod fast_path;
mod handshake;
mod premature;
mod refused;
mod segment;
mod store;
mod view;

use crate::connection::{Connection, Marks, NIL, Phase};
use crate::delivered::Delivered;
use crate::held::{Held, Standing};
use crate::{Anomaly, ReassemblyOptions, ReassemblyStats, Span, StreamConsumer};
use flowpin_config::SegmentOverlap;
use flowpin_memory::{Budget, Pool, Slab};
use flowpin_packet::{FrameBytes, PacketFlags, PacketMeta, TcpFlags};
use premature::is_premature;
use segment::Segment;
use std::io;

pub use view::StreamView;

/// The TCP streams of one worker's connections.
///
/// ```
/// use flowpin_packet::{FrameBytes, PacketKind, PacketMeta, Seq, TcpFlags};
/// use flowpin_reassembly::{Reassembler, ReassemblyOptions, Span, StreamConsumer};
///
/// struct Text(Vec<u8>);
/// impl StreamConsumer for Text {
///     fn data(&mut self, _: Span, bytes: &[u8]) {
///         self.0.extend_from_slice(bytes);
///     }
/// }
///
/// let mut text = Text(Vec::new());
/// let mut reassembler = Reassembler::new(&ReassemblyOptions::default(), 256, 1000)?;
/// let frames = FrameBytes { piece: b"world, hello", extra: &[] };
/// // The connection table's handle is 7; `frame_start` says where the payload lies.
/// for (frame_start, seq, flags, len) in [(0, 99, 2, 0), (0, 107, 16, 5), (7, 100, 16, 5)] {
///     let meta = PacketMeta {
///         kind: PacketKind::Tcp,
///         seq: Seq(seq),
///         tcp_flags: TcpFlags(flags),
///         payload_len: len,
///         frame_start,
///         captured_len: len,
///         ..PacketMeta::default()
///     };
///     reassembler.segment(&frames, &meta, 7, true, flags == 2, &mut text);
/// }
/// reassembler.end(7, &mut text);
/// assert_eq!(text.0, b"helloworld"); // two bytes were missing: a gap
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Reassembler {
    connections: Slab<Connection>,
    held: Held,
    delivered: Delivered,
    options: ReassemblyOptions,
    depth: u64,
    /// Up to this offset a stream's next segments take the fast path.
    // PERF: 0 if delivered bytes are stored, so that the fast path need not check for that.
    fast_depth: u64,
    stats: ReassemblyStats,
    /// A connection ends: its bytes are not stored for comparison. When that is noticed must not
    /// decide which others are still stored.
    is_ending: bool,
    /// Only the next segment in order takes the fast path, for comparison.
    #[cfg(test)]
    slow_only: bool,
}

/// Memory for a connection without bytes after holes, by its handle.
pub const CONNECTION_BYTES: u32 = 64;
const _: () = assert!(size_of::<Connection>() == CONNECTION_BYTES as usize);

/// A stream of a connection.
#[derive(Clone, Copy, Debug)]
struct Place {
    handle: u32,
    to_server: bool,
}

impl Place {
    /// The other direction.
    const fn back(self) -> Self {
        Self {
            handle: self.handle,
            to_server: !self.to_server,
        }
    }
}

impl Reassembler {
    /// Reserves room for `shards` shards and for connections with handles below `connections_max`.
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn new(options: &ReassemblyOptions, shards: u32, connections_max: u32) -> io::Result<Self> {
        let budget = Budget::new(options.shard_bytes());
        Self::within(budget, options, shards, connections_max)
    }

    /// As [`Reassembler::new`], with memory that other stages take from as well: of each shard's,
    /// bytes after holes use at most [`ReassemblyOptions::memory_bytes`].
    ///
    /// # Errors
    ///
    /// If the system refuses the address space.
    pub fn within(
        budget: Budget,
        options: &ReassemblyOptions,
        shards: u32,
        connections_max: u32,
    ) -> io::Result<Self> {
        let delivered = Delivered::new(options.shard_compared_bytes())?;
        let depth = options.depth();
        Ok(Self {
            connections: Slab::with_capacity(connections_max)?,
            held: Held::new(budget, shards, options.shard_bytes())?,
            options: options.clone(),
            depth,
            fast_depth: if delivered.is_on() { 0 } else { depth },
            delivered,
            stats: ReassemblyStats::default(),
            is_ending: false,
            #[cfg(test)]
            slow_only: false,
        })
    }

    /// No connection has a handle of `below` or more: gives the memory of those that had back.
    pub fn forget_above(&mut self, below: u32) {
        self.connections.truncate(below);
    }

    /// The pools of everything that streams hold.
    pub fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        self.held.pools(visit);
    }

    /// Prefetches the line that [`Reassembler::segment`] reads first. Any handle is allowed.
    #[inline]
    pub fn prefetch(&self, handle: u32) {
        self.connections.prefetch(handle);
    }

    /// Takes a TCP segment of the connection with the connection table's `handle`.
    ///
    /// `begins`: it is the first segment of the connection, and the previous connection with this
    /// handle is over.
    // PERF: 2-core EPYC, 64 KiB of connections, without the surrounding loop (`reassembly_bench`):
    // in order some 50 instructions and 10 cycles, with time stamps 120 and 19, delivering bytes 15
    // and 2 more; a segment of a short connection 430 and 84; exchanged in pairs 1,240 and 250
    // each, all after a hole of 32 segments 2,400 and 690, including copies.
    #[inline]
    pub fn segment<C: StreamConsumer>(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        handle: u32,
        to_server: bool,
        begins: bool,
        consumer: &mut C,
    ) {
        if !begins && let Some(at) = self.segment_fast(frames, meta, handle, to_server) {
            if C::WANTS && meta.payload_len > 0 {
                consumer.data(at, frames.payload(meta));
            }
            return;
        }
        if begins && self.delivered.is_on() {
            self.delivered.forget(meta.shard().0, handle);
        }
        let place = Place { handle, to_server };
        if !self.take_fast(frames, meta, place, begins, consumer) {
            self.segment_slow(frames, meta, place, begins, consumer);
        }
    }

    /// The fast path: takes a segment as [`Reassembler::segment`] does if it is the expected next
    /// one of a stream where nothing else happens; otherwise returns `None` and changes nothing.
    /// The caller is the consumer of its payload, if any, which belongs at the returned position.
    #[inline]
    pub fn segment_fast(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        handle: u32,
        to_server: bool,
    ) -> Option<Span> {
        let connection = self.connections.get_mut(handle)?;
        let offset = connection.take_in_order(frames, meta, to_server, self.fast_depth)?;
        let len = u64::from(meta.payload_len);
        self.stats.in_order = self.stats.in_order.wrapping_add(len);
        Some(Span {
            handle,
            to_server,
            offset,
        })
    }

    /// The connection is over: delivers held bytes, reports the gaps before them and the ends of
    /// the streams, and frees everything. Does nothing for a handle without a connection.
    pub fn end<C: StreamConsumer>(&mut self, handle: u32, consumer: &mut C) {
        if self.end_fast(handle, consumer) {
            return;
        }
        let mut connection = match self.connections.get(handle) {
            Some(connection) => *connection,
            None => return,
        };
        self.is_ending = true;
        self.end_streams(&mut connection, handle, consumer);
        self.is_ending = false;
        if let Some(place) = self.connections.get_mut(handle) {
            *place = Connection::new([SegmentOverlap::First; 2]);
        }
    }

    /// The consumer wants no more of a stream: from now on its bytes are neither stored nor
    /// delivered; only its end is reported.
    pub fn skip(&mut self, handle: u32, to_server: bool) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let side = connection.side(to_server);
        side.marks.set(Marks::SKIPPED, true);
        let held = core::mem::replace(&mut side.held, NIL);
        // From here on `next` says how far its sender has come.
        let end = self.held.end(held, side.next);
        let passed = end.0.wrapping_sub(side.next.0);
        side.offset = side.offset.wrapping_add(passed.into());
        side.next = end;
        connection.settle();
        let bytes = u64::from(self.held.close(held));
        self.stats.beyond_depth = self.stats.beyond_depth.saturating_add(bytes);
        self.stats.held = self.stats.held.saturating_sub(bytes);
    }

    /// The counts so far.
    pub fn stats(&self) -> ReassemblyStats {
        ReassemblyStats {
            steps: self.held.steps,
            memory_bytes: self.held.memory_bytes,
            memory_bytes_max: self.held.memory_bytes_max,
            ..self.stats
        }
    }

    /// The slow path: every segment that the fast path refused.
    #[cold]
    #[inline(never)]
    fn segment_slow<C: StreamConsumer>(
        &mut self,
        frames: &FrameBytes<'_>,
        meta: &PacketMeta,
        place: Place,
        begins: bool,
        consumer: &mut C,
    ) {
        if begins {
            self.end(place.handle, consumer);
        }
        let mut segment = Segment::read(frames, meta);
        segment.read_options(frames, meta);
        count(&mut self.stats.considered, segment.len);
        self.reach(place.handle);
        // PERF: matched, not `copied`: an intermediate option would be copied again, and that copy
        // would wait for the first (60 cycles).
        let mut connection = match self.connections.get(place.handle) {
            Some(connection) => *connection,
            None => return count(&mut self.stats.no_room, segment.len),
        };
        let packet = (frames, meta);
        self.take(&mut connection, place, &mut segment, packet, consumer);
        self.save(place.handle, &connection);
    }

    /// Makes sure that there is a line for a handle, unless it is beyond the promised number.
    fn reach(&mut self, handle: u32) {
        while self.connections.high_water() <= handle {
            let fresh = Connection::new([SegmentOverlap::First; 2]);
            if self.connections.insert(fresh).is_none() {
                return;
            }
        }
    }

    /// Stores a connection, and decides whether its next segments can take the fast path.
    fn save(&mut self, handle: u32, connection: &Connection) {
        if let Some(place) = self.connections.get_mut(handle) {
            *place = *connection;
            place.settle();
        }
    }

    fn take<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &mut Segment<'_>,
        (frames, meta): (&FrameBytes<'_>, &PacketMeta),
        consumer: &mut C,
    ) {
        if meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return count(&mut self.stats.bad_checksum, segment.len);
        }
        if connection.is_fresh() {
            self.begin(connection, place, segment, (frames, meta));
        }
        if connection.side(place.to_server).phase == Phase::Ignored {
            return count(&mut self.stats.ignored, segment.len);
        }
        if segment.has(TcpFlags::RST) {
            return self.take_reset(connection, place, segment, consumer);
        }
        if segment.has(TcpFlags::SYN) {
            return self.take_syn(connection, place, segment, consumer);
        }
        if !segment.has(TcpFlags::ACK) {
            // RFC 9293 §3.10.7: in every state such a segment is dropped.
            self.report_anomaly(connection, place, Anomaly::MissingAck, consumer);
            return count(&mut self.stats.out_of_window, segment.len);
        }
        if is_premature(connection, place) {
            return self.take_premature(connection, place, segment, consumer);
        }
        if !self.is_fresh_stamp(connection, place, segment, consumer) {
            if !self.keep_refused(connection, place, segment, consumer) {
                count(&mut self.stats.old_timestamp, segment.len);
            }
            return;
        }
        self.meet(connection, place, segment, consumer);
        if !self.is_near(connection, place, segment, consumer) {
            return count(&mut self.stats.out_of_window, segment.len);
        }
        if self.is_too_old(connection, place.back(), segment) {
            self.report_anomaly(connection, place, Anomaly::InvalidAck, consumer);
            self.note_stamp(connection, place, segment);
            if !self.keep_refused(connection, place, segment, consumer) {
                count(&mut self.stats.out_of_window, segment.len);
            }
            return;
        }
        if self.is_doubted(connection, place, segment) {
            segment.standing = Standing::Doubted;
        }
        // RFC 9293 §3.10.7.4: in SYN-RECEIVED it is answered by a RST with the number that it
        // acknowledges.
        let peer = connection.side(!place.to_server);
        let confirms = !segment.is_doubted() || peer.phase != Phase::Syn;
        if confirms && self.is_heard(connection, place, segment) {
            self.take_acknowledgement(connection, place.back(), segment, consumer);
            self.note_stamp(connection, place, segment);
        } else {
            self.report_unheard(connection, place.back(), segment, consumer);
        }
        self.take_data(connection, place, segment, consumer);
    }

    /// The first segment of a connection: sets the policies, and whether the connection is wanted.
    fn begin(
        &mut self,
        connection: &mut Connection,
        place: Place,
        segment: &Segment<'_>,
        (frames, meta): (&FrameBytes<'_>, &PacketMeta),
    ) {
        *connection = Connection::new(self.options.policies(frames, meta, place.to_server));
        let (side, peer) = connection.both(place.to_server);
        if !segment.has(TcpFlags::SYN) {
            count(&mut self.stats.midstream, 1);
            if !self.options.midstream {
                (side.phase, peer.phase) = (Phase::Ignored, Phase::Ignored);
            }
        }
    }

    fn report_anomaly<C: StreamConsumer>(
        &mut self,
        connection: &mut Connection,
        place: Place,
        what: Anomaly,
        consumer: &mut C,
    ) {
        if let Some(seen) = self.stats.anomalies.get_mut(what as usize) {
            *seen = seen.saturating_add(1);
        }
        consumer.anomaly(span(connection, place), what);
    }
}

/// The current position of a stream.
fn span(connection: &mut Connection, place: Place) -> Span {
    Span {
        handle: place.handle,
        to_server: place.to_server,
        offset: connection.side(place.to_server).offset,
    }
}

fn count(counter: &mut u64, more: u32) {
    *counter = counter.saturating_add(u64::from(more));
}
