//! From the input stage to the workers' batches, piece by piece.

use crate::RunError;
use crate::input::{InputStage, Lane};
use crate::ledger::Account;
use crate::run::Context;
use flowpin_handoff::{Batch, HandoffError, InputEnd, Parcel};
use flowpin_output::RecordBatch;
use flowpin_packet::{PacketMeta, Piece, SHARD_COUNT};

/// Why feeding ended early.
#[derive(Debug)]
pub(super) enum FeedError {
    Run(RunError),
    Handoff(HandoffError),
}

impl From<HandoffError> for FeedError {
    fn from(error: HandoffError) -> Self {
        Self::Handoff(error)
    }
}

impl From<FeedError> for RunError {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Run(error) => error,
            FeedError::Handoff(HandoffError::WorkerGone { worker }) => Self::WorkerLost(worker),
        }
    }
}

/// Whoever holds it reads the next piece and hands it out.
pub(super) struct Feeder<'a> {
    context: &'a Context<'a>,
    pub(super) input: InputStage,
    pub(super) to_workers: InputEnd,
    pending: Pending,
    account: Account,
}

impl<'a> Feeder<'a> {
    pub(super) fn new(context: &'a Context<'a>, input: InputStage, to_workers: InputEnd) -> Self {
        Self {
            context,
            input,
            to_workers,
            pending: Pending::default(),
            account: context.control.account(),
        }
    }

    /// Whether a signal asks to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.context.is_stopped()
    }

    /// Fills a parcel, which was taken from [`Feeder::to_workers`], and sends it. The input stage's
    /// own records up to its end; none at the end of the input.
    pub(super) fn feed(&mut self, mut parcel: Parcel) -> Result<Option<RecordBatch>, FeedError> {
        let filled = self.input.fill(&mut parcel.piece);
        if !filled.map_err(|error| FeedError::Run(error.into()))? {
            self.to_workers.put_back(parcel);
            return Ok(None);
        }
        let Parcel { piece, batches } = &mut parcel;
        let mut lane = FanOut::new(batches, self.context.owners, &mut self.pending);
        #[cfg(flowpin_bench)]
        lane.announce_to(&mut self.to_workers);
        let tick = self.input.walk(piece, &mut lane);
        lane.flush();
        self.to_workers.send(parcel, tick)?;
        self.account.enter(&self.input.losses());
        self.context.progress(&self.input.progress());
        Ok(Some(self.input.tick(tick)))
    }

    pub(super) fn into_parts(self) -> (InputStage, InputEnd) {
        (self.input, self.to_workers)
    }
}

/// Deals packets out to the batches of the workers that own their shards.
pub(crate) struct FanOut<'a> {
    batches: &'a mut [Batch],
    /// Which worker owns each shard.
    owners: &'a [u8; SHARD_COUNT],
    pending: &'a mut Pending,
    #[cfg(flowpin_bench)]
    to_workers: Option<&'a mut InputEnd>,
}

/// Descriptors on their way to a batch.
// PERF: one that is copied right after its fields were written waits for each of them (94 % of
// this thread's work): a few later they have arrived.
#[derive(Default)]
pub(crate) struct Pending {
    metas: [PacketMeta; PENDING],
    len: usize,
}

const PENDING: usize = 16;

impl<'a> FanOut<'a> {
    pub(crate) const fn new(
        batches: &'a mut [Batch],
        owners: &'a [u8; SHARD_COUNT],
        pending: &'a mut Pending,
    ) -> Self {
        Self {
            batches,
            owners,
            pending,
            #[cfg(flowpin_bench)]
            to_workers: None,
        }
    }

    /// Hands over each packet's number as well.
    #[cfg(flowpin_bench)]
    fn announce_to(&mut self, to_workers: &'a mut InputEnd) {
        self.to_workers = Some(to_workers);
    }

    /// Moves the pending descriptors to the batches, in order.
    #[inline]
    pub(crate) fn flush(&mut self) {
        let Pending { metas, len } = &mut *self.pending;
        for meta in metas.iter().take(*len) {
            let owner = usize::from(self.owners[usize::from(meta.shard().0)]);
            self.batches[owner].metas.push(*meta);
            #[cfg(flowpin_bench)]
            if let Some(to_workers) = &mut self.to_workers {
                to_workers.announce(owner, meta.number);
            }
        }
        *len = 0;
    }

    /// Moves the descriptor in the slot to its batch, behind all others: the worker, and its place
    /// there.
    pub(crate) fn commit_at_once(&mut self) -> (usize, usize) {
        let meta = *self.slot();
        self.flush();
        let owner = usize::from(self.owners[usize::from(meta.shard().0)]);
        let metas = &mut self.batches[owner].metas;
        metas.push(meta);
        (owner, metas.len() - 1)
    }
}

impl Lane for FanOut<'_> {
    #[inline]
    fn slot(&mut self) -> &mut PacketMeta {
        let Pending { metas, len } = &mut *self.pending;
        &mut metas[*len % PENDING]
    }

    #[inline]
    fn commit(&mut self, _: &Piece) {
        self.pending.len += 1;
        if self.pending.len == PENDING {
            self.flush();
        }
    }

    fn commit_datagram(&mut self, piece: &Piece, datagram: &[u8]) {
        let shard = usize::from(self.slot().shard().0);
        let extra = &mut self.batches[usize::from(self.owners[shard])].extra;
        let start = u32::try_from(extra.len()).unwrap_or(u32::MAX);
        extra.extend_from_slice(datagram);
        self.slot().frame_start = start;
        self.commit(piece);
    }
}
