//! `1x1`: everything on one thread. Descriptors never leave the caches of its core.

use crate::RunError;
use crate::input::{InputStage, Lane};
use crate::output::{Exit, Here, Output, OutputSummary};
use crate::run::shape::Shape;
use crate::run::{Context, Ended};
use crate::worker::stages::Stages;
use crate::worker::{BATCH, Worker};
use flowpin_output::Formatter;
use flowpin_packet::{FrameBytes, PacketMeta, Piece};

/// Runs the whole input through one worker.
pub(crate) fn run<O: Stages>(
    context: &Context<'_>,
    mut input: InputStage,
    mut worker: Worker<O>,
    output: Output,
) -> Result<Ended, RunError> {
    worker.set_exit(Exit::Here(Box::new(Here::new(output))));
    let mut lane = SingleLane::<O>::new(worker);
    let mut piece = Piece::default();
    let accounts = [(); 2].map(|()| context.control.account());
    let [mut of_worker, mut of_input] = accounts;
    while !context.is_stopped() && input.fill(&mut piece)? {
        let tick = input.walk(&piece, &mut lane);
        lane.finish_piece(&piece);
        let own = input.tick(tick);
        if let Some(here) = lane.here() {
            here.push_input(own);
        }
        let delivery = lane.worker.tick(tick);
        lane.worker.send(delivery);
        if let Some(here) = lane.here() {
            here.take_failure()?;
            here.written_of_input()
                .for_each(|batch| input.recycle(batch));
        }
        of_worker.enter(&lane.worker.losses());
        of_input.enter(&input.losses());
        context.progress(&input.progress());
    }
    let (own, summary) = input.finish();
    if let Some(here) = lane.here() {
        here.push_input(own);
    }
    while let Some(delivery) = lane.worker.end_some() {
        lane.worker.send(delivery);
        if let Some(here) = lane.here() {
            here.take_failure()?;
        }
    }
    let exit = core::mem::replace(lane.worker.exit(), Exit::Nowhere);
    let (delivery, finished) = lane.worker.finish();
    let output = match exit {
        Exit::Here(mut here) => {
            here.push_worker(delivery);
            here.write();
            here.take_failure()?;
            here.into_output().close()?
        }
        Exit::Nowhere | Exit::Far(_) => OutputSummary::default(),
    };
    Ok(Ended {
        shape: Shape::Single,
        input: summary,
        workers: vec![finished],
        steps: Vec::new(),
        output,
    })
}

/// The sources of records.
pub(crate) const WORKER: usize = 0;
pub(crate) const INPUT: usize = 1;

/// Collects descriptors into batches for the worker. If `TIMED`, counts the cycles that the worker
/// takes.
pub(crate) struct SingleLane<O, const TIMED: bool = false> {
    pub(crate) worker: Worker<O>,
    pub(crate) cycles: u64,
    batch: Box<[PacketMeta; BATCH]>,
    len: usize,
    /// Reassembled datagrams of this piece.
    extra: Vec<u8>,
    /// Takes a descriptor if the batch is full, which `commit` prevents.
    overflow: PacketMeta,
}

impl<O: Stages, const TIMED: bool> SingleLane<O, TIMED> {
    pub(crate) fn new(worker: Worker<O>) -> Self {
        Self {
            worker,
            cycles: 0,
            batch: Box::new([PacketMeta::default(); BATCH]),
            len: 0,
            extra: Vec::new(),
            overflow: PacketMeta::default(),
        }
    }

    /// The output on this thread, if the worker has one.
    const fn here(&mut self) -> Option<&mut Here> {
        match self.worker.exit() {
            Exit::Here(here) => Some(here),
            Exit::Nowhere | Exit::Far(_) => None,
        }
    }

    /// Processes the rest of a piece, so that its buffer can be reused.
    pub(crate) fn finish_piece(&mut self, piece: &Piece) {
        self.flush(piece);
        self.extra.clear();
    }

    /// Ends all connections, part by part, and writes their records.
    pub(crate) fn end(&mut self, output: &mut Output) -> Result<(), RunError> {
        while let Some(delivery) = self.worker.end_some() {
            output.push(WORKER, delivery);
            output.write(|source, batch| {
                if source == WORKER {
                    self.worker.recycle(batch);
                }
            })?;
        }
        Ok(())
    }

    #[inline]
    fn flush(&mut self, piece: &Piece) {
        let start = if TIMED { flowpin_cpu::tsc() } else { 0 };
        let frames = FrameBytes {
            piece: piece.bytes.get(..piece.len).unwrap_or_default(),
            extra: &self.extra,
        };
        let metas = self.batch.get_mut(..self.len).unwrap_or_default();
        self.worker.process(frames, metas);
        self.len = 0;
        if TIMED {
            self.cycles += flowpin_cpu::tsc() - start;
        }
    }
}

impl<O: Stages, const TIMED: bool> Lane for SingleLane<O, TIMED> {
    #[inline]
    fn slot(&mut self) -> &mut PacketMeta {
        // PERF: the remainder changes nothing, and spares the comparison.
        let slot = self.batch.get_mut(self.len % BATCH);
        slot.unwrap_or(&mut self.overflow)
    }

    #[inline]
    fn commit(&mut self, piece: &Piece) {
        if let Some(meta) = self.batch.get(self.len % BATCH) {
            self.worker.prefetch(meta);
        }
        self.len += 1;
        if self.len == BATCH {
            self.flush(piece);
        }
    }

    fn input_records(&mut self, records: &mut Formatter) {
        if let Some(here) = self.here() {
            here.push_input(records.take_all());
        }
    }

    fn commit_datagram(&mut self, piece: &Piece, datagram: &[u8]) {
        let start = u32::try_from(self.extra.len()).unwrap_or(u32::MAX);
        self.slot().frame_start = start;
        self.extra.extend_from_slice(datagram);
        self.commit(piece);
    }
}
