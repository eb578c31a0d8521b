//! The cost of handing packets to another core, measured with a thread that only reads them.
//!
//! ```text
//!  input thread, as in 2x1 ──real pieces, descriptors, rings──► a thread that reads each
//!        ▲                                                      descriptor and the bytes that a
//!        └────────────────── pieces return ◄─────────────────── worker would read, twice
//! ```
//!
//! The first read finds the lines in another core's cache, the second one in its own, as a run on
//! one thread does: the difference is the cost of a worker. The input's cost is the time that it
//! takes here beyond a pass on one thread: it overwrites lines that the other core holds. Both
//! depend on the two cores: within one last-level cache a line takes some 13 ns, from another cache
//! 70 to 90, and for a virtual machine's processors that may change from hour to hour.

use super::counters::Moment;
use super::passes::Bench;
use super::per;
use super::rule::Handover;
use crate::RunError;
use crate::input::InputStage;
use crate::report::ProgressSink;
use crate::run::feeder::{FanOut, Pending};
use crate::run::shape::Shape;
use crate::run::{PIECES_OUT, Unpin, division, open, pin};
use crate::worker::Late;
use core::hint::black_box;
use flowpin_config::{Cut, Plan};
use flowpin_cpu::thread_wait_time;
use flowpin_handoff::{HandoffError, HandoffOptions, Parcel, WorkerEnd, handoff};
use flowpin_packet::{FrameBytes, PacketMeta, SHARD_COUNT};
use std::thread::{self, Builder};
use std::time::Instant;

/// The times of the two threads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Relayed {
    packets: u64,
    /// Ticks of the input, without its waiting.
    input: f64,
    /// Ticks of the first reads beyond those of the second.
    reads: f64,
    /// The share of the time in which one of the two waited for other processes.
    waited: f64,
}

impl Relayed {
    /// Whether other processes load these processors so much that two threads wait for each other:
    /// then one thread alone is faster.
    pub(super) fn is_disturbed(&self) -> bool {
        self.waited > WAITED_MAX
    }

    /// The cost beyond what the input takes a packet on its own.
    pub(super) fn beyond(&self, alone: f64) -> Handover {
        Handover {
            input: (per(self.input, self.packets) - alone).max(0.0),
            worker: per(self.reads, self.packets),
        }
    }
}

impl Bench<'_> {
    /// Hands the first `pieces` of the input to another core; the first eight, whose memory is
    /// new, are not counted. None if there is no other core, if nothing is left to count, or if
    /// stopped.
    pub(super) fn relay(
        &self,
        cut: Cut,
        pieces: usize,
        hertz: f64,
    ) -> Result<Option<Relayed>, RunError> {
        let cpus = flowpin_cpu::choose_cpus(2);
        let &[here, there] = &*cpus else {
            return Ok(None);
        };
        let _unpin = Unpin::new();
        pin(Some(here));
        let plan = &Plan {
            cut,
            ..self.plan.clone()
        };
        let secret = plan.dispatch_seed.unwrap_or(1);
        let (options, late) = division(plan, Shape::InputAndWorkers(1), secret);
        let mut input = InputStage::new(plan, options, open(plan, self.control)?);
        let (mut to_workers, mut ends) = handoff(HandoffOptions {
            batches_out: PIECES_OUT,
            ..HandoffOptions::default()
        });
        let Some(end) = ends.pop() else {
            return Ok(None);
        };
        thread::scope(move |scope| {
            let reader = Builder::new()
                .name("reader".to_owned())
                .spawn_scoped(scope, move || {
                    pin(Some(there));
                    let waited = thread_wait_time();
                    let reads = read_all(end, late, hertz);
                    (reads, thread_wait_time().saturating_sub(waited))
                })
                .map_err(RunError::Thread)?;
            let owners = &[0; SHARD_COUNT];
            let (start, waited) = (Instant::now(), thread_wait_time());
            let (mut pending, mut busy, mut before) = (Pending::default(), 0.0, 0);
            for nth in 0..pieces {
                if nth == PIECES_OUT {
                    (busy, before) = (0.0, input.progress().packets);
                }
                let mut parcel = to_workers.take_parcel().map_err(lost)?;
                let start = Moment::now();
                if self.control.is_stopped() || !input.fill(&mut parcel.piece)? {
                    to_workers.put_back(parcel);
                    break;
                }
                let Parcel { piece, batches } = &mut parcel;
                let mut lane = FanOut::new(batches, owners, &mut pending);
                let tick = input.walk(piece, &mut lane);
                lane.flush();
                to_workers.send(parcel, tick).map_err(lost)?;
                let batch = input.tick(tick);
                input.recycle(batch);
                busy += start.elapsed(hertz);
                self.shown.update(&input.progress());
            }
            to_workers.finish().map_err(lost)?;
            let (reads, others) = reader.join().map_err(|_| RunError::WorkerLost(0))?;
            self.shown.next();
            let waited = thread_wait_time().saturating_sub(waited).max(others);
            let waited = waited.as_secs_f64() / start.elapsed().as_secs_f64().max(1e-9);
            let packets = input.progress().packets - before;
            let is_whole = packets > 0 && !self.control.is_stopped();
            Ok(is_whole.then_some(Relayed {
                packets,
                input: busy,
                reads,
                waited,
            }))
        })
    }
}

fn lost(error: HandoffError) -> RunError {
    let HandoffError::WorkerGone { worker } = error;
    RunError::WorkerLost(worker)
}

/// Reads every batch twice, and returns by how much the first reads took longer.
fn read_all(mut end: WorkerEnd, late: Late, hertz: f64) -> f64 {
    let mut extra = 0.0;
    let mut batches = 0;
    while let Some(batch) = end.recv() {
        let start = Moment::now();
        read(batch.bytes(), &batch.metas, late);
        let first = start.elapsed(hertz);
        let start = Moment::now();
        read(batch.bytes(), &batch.metas, late);
        if batches == PIECES_OUT {
            extra = 0.0;
        }
        batches += 1;
        extra += (first - start.elapsed(hertz)).max(0.0);
        end.give_back(batch);
    }
    extra
}

/// Reads what a worker reads of each packet, a byte of each line: descriptor, the first lines of
/// the payload, or all of it where checksums are left to the worker.
fn read(frames: FrameBytes<'_>, metas: &[PacketMeta], late: Late) {
    let mut sum = 0u64;
    for meta in metas {
        sum = sum.wrapping_add(meta.number + u64::from(meta.payload_len));
        let frame = frames.frame(meta);
        let lines = if late.verify {
            frame
        } else if late.fetch && meta.payload_len > 0 {
            let payload = frame.get(usize::from(meta.payload_offset)..);
            let payload = payload.unwrap_or_default();
            payload.get(..FIRST_LINES).unwrap_or(payload)
        } else {
            &[]
        };
        for line in lines.chunks(LINE_LEN) {
            sum += line.first().map_or(0, |&byte| u64::from(byte));
        }
    }
    black_box(sum);
}

/// More than the waits of a thread on an idle machine, less than those of two threads that share a
/// processor with a third.
const WAITED_MAX: f64 = 0.15;

const LINE_LEN: usize = 64;
/// The lines of a payload that identification and the first line of a message take.
const FIRST_LINES: usize = 2 * LINE_LEN;
