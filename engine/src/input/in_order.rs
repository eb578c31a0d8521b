//! The third step of the input, piece by piece in order: what involves other packets.

use super::describe::{Odd, What};
use super::reading::Listed;
use super::slow_path::{Arrival, SlowPath};
use super::{Lane, Tunnels};
use flowpin_counters::Losses;
use flowpin_dispatch::Dispatcher;
use flowpin_handoff::{Batch, Parcel};
use flowpin_output::RecordBatch;
use flowpin_packet::{PacketMeta, Piece, SHARD_COUNT, Tick, Timestamp};

/// Reassembles fragments, keeps the sums of tunnels, reports what was refused.
pub(crate) struct InOrder {
    dispatcher: Dispatcher,
    slow_path: SlowPath,
    slot: PacketMeta,
    /// Packets made of fragments, by worker, to be put among those of the piece.
    inserted: Vec<Vec<PacketMeta>>,
    merged: Vec<PacketMeta>,
}

impl InOrder {
    pub(super) fn new(dispatcher: Dispatcher, slow_path: SlowPath) -> Self {
        Self {
            dispatcher,
            slow_path,
            slot: PacketMeta::default(),
            inserted: Vec::new(),
            merged: Vec::new(),
        }
    }

    pub(super) fn into_parts(self) -> (Dispatcher, SlowPath) {
        (self.dispatcher, self.slow_path)
    }

    /// Completes a described parcel: `listed` are its piece's frames, `odd` what was left over.
    pub(crate) fn complete(
        &mut self,
        listed: &[Listed],
        odd: &[Odd],
        owners: &[u8; SHARD_COUNT],
        (parcel, tick): (&mut Parcel, Tick),
    ) {
        let is_sweep_due = |tunnels: &Tunnels| tick.time >= tunnels.next_sweep();
        let has_sweep = !listed.is_empty() && is_sweep_due(&self.slow_path.tunnels);
        if odd.is_empty() && !has_sweep {
            return;
        }
        let Parcel { piece, batches } = parcel;
        self.inserted.resize_with(batches.len(), Vec::new);
        let mut lane = Insert {
            owners,
            batches,
            inserted: &mut self.inserted,
            slot: &mut self.slot,
        };
        let mut odd = odd.iter().peekable();
        for (place, one) in listed.iter().enumerate() {
            let arrival = Arrival::new(&one.frame, one.number, one.stream_time);
            if arrival.stream_time >= self.slow_path.tunnels.next_sweep() {
                let (now, number) = (arrival.stream_time, arrival.number);
                self.slow_path.sweep_tunnels(now, number, &mut lane);
            }
            if let Some(odd) = odd.next_if(|odd| odd.place == place) {
                let dispatcher = &mut self.dispatcher;
                look(
                    &mut self.slow_path,
                    &odd.what,
                    arrival,
                    dispatcher,
                    piece,
                    &mut lane,
                );
            }
        }
        for (batch, inserted) in batches.iter_mut().zip(&mut self.inserted) {
            insert(&mut batch.metas, inserted, &mut self.merged);
        }
    }

    /// Losses so far.
    pub(crate) fn losses(&self) -> Losses {
        self.slow_path.losses()
    }

    /// The stage's own records up to the last packet.
    pub(crate) fn tick(&mut self, tick: Tick) -> RecordBatch {
        self.slow_path.tick(tick)
    }

    /// The last of them; the input has ended at `now`.
    pub(crate) fn last_records(&mut self, now: Timestamp) -> RecordBatch {
        self.slow_path.last_records(now)
    }

    /// Takes back a batch that was written.
    pub(crate) fn recycle(&mut self, batch: RecordBatch) {
        self.slow_path.formatter.recycle(batch);
    }
}

/// Handles one frame that was left over.
fn look(
    slow_path: &mut SlowPath,
    what: &What,
    arrival: Arrival,
    dispatcher: &mut Dispatcher,
    piece: &Piece,
    lane: &mut Insert<'_>,
) {
    match *what {
        What::Packet { worker, index } => {
            let batch = lane.batches.get(worker);
            if let Some(meta) = batch.and_then(|batch| batch.metas.get(index)) {
                let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
                slow_path.note(bytes, meta, arrival);
            }
        }
        What::Other(dispatched, addresses) => {
            slow_path.handle((dispatched, addresses), arrival, dispatcher, piece, lane);
        }
    }
}

/// Collects the packets that fragments make.
struct Insert<'a> {
    owners: &'a [u8; SHARD_COUNT],
    batches: &'a mut [Batch],
    inserted: &'a mut [Vec<PacketMeta>],
    slot: &'a mut PacketMeta,
}

impl Insert<'_> {
    fn owner(&self) -> usize {
        let owner = self.owners.get(usize::from(self.slot.shard().0));
        owner.copied().map_or(0, usize::from)
    }
}

impl Lane for Insert<'_> {
    fn slot(&mut self) -> &mut PacketMeta {
        self.slot
    }

    fn commit(&mut self, _: &Piece) {
        let owner = self.owner();
        if let Some(inserted) = self.inserted.get_mut(owner) {
            inserted.push(*self.slot);
        }
    }

    fn commit_datagram(&mut self, piece: &Piece, datagram: &[u8]) {
        let owner = self.owner();
        if let Some(batch) = self.batches.get_mut(owner) {
            self.slot.frame_start = u32::try_from(batch.extra.len()).unwrap_or(u32::MAX);
            batch.extra.extend_from_slice(datagram);
        }
        self.commit(piece);
    }
}

/// Puts packets among others, both in the order of their numbers.
fn insert(
    metas: &mut Vec<PacketMeta>,
    inserted: &mut Vec<PacketMeta>,
    merged: &mut Vec<PacketMeta>,
) {
    let Some(first) = inserted.first() else {
        return;
    };
    let kept = metas.partition_point(|meta| meta.number < first.number);
    merged.clear();
    let mut rest = metas.drain(kept..).peekable();
    for one in inserted.drain(..) {
        while let Some(meta) = rest.next_if(|meta| meta.number < one.number) {
            merged.push(meta);
        }
        merged.push(one);
    }
    merged.extend(rest);
    metas.append(merged);
}

#[cfg(test)]
mod tests {
    use super::insert;
    use flowpin_packet::PacketMeta;

    /// Whatever is put among what: all of both, in order.
    #[test]
    fn inserting_keeps_the_order() {
        const COUNT: u64 = 10;
        for which in 0u64..1 << COUNT {
            let of = |bit| -> Vec<_> {
                let numbers = (0..COUNT).filter(|number| which >> number & 1 == bit);
                let meta = |number| PacketMeta {
                    number,
                    ..PacketMeta::default()
                };
                numbers.map(meta).collect()
            };
            let (mut metas, mut inserted) = (of(0), of(1));
            insert(&mut metas, &mut inserted, &mut Vec::new());
            assert!(
                metas.iter().map(|meta| meta.number).eq(0..COUNT),
                "{which:b}"
            );
            assert!(inserted.is_empty());
        }
    }
}
