//! From a plan to a report: opens everything, runs the pipeline, sums up.

pub(crate) mod busy;
mod cpus;
pub(crate) mod feeder;
pub(crate) mod ground;
pub(crate) mod nowhere;
mod recording;
pub(crate) mod reload;
pub(crate) mod shape;
pub(crate) mod single;
pub(crate) mod stage_options;
mod stats;
pub(crate) mod threads;
mod turns;

pub(crate) use cpus::check_cpus;

use crate::aggregates::Observers;
use crate::input::gate::Gate;
use crate::input::{InputStage, InputSummary};
use crate::output::messages;
use crate::output::{Output, OutputSummary};
use crate::parts::{Notes, Seam, Teller};
use crate::profile;
use crate::recall::Recall;
use crate::report::{Progress, ProgressSink, RunReport, StepReport};
use crate::run::nowhere::Nowhere;
use crate::run::reload::Reloader;
use crate::run::shape::Shape;
use crate::run::stats::{Latest, Seen, StatsFile};
use crate::worker::identify::IdentifyRules;
use crate::worker::parse::registry;
use crate::worker::stages::{self, AllStages, Explain, Planned, Stages};
use crate::worker::{Finished, Late, Worker};
use crate::{Control, RunError};
use cpus::cpus;
use flowpin_capture::{ChosenPackets, LiveOptions, Options, Source};
use flowpin_config::{Checksums, Cut, FullRing, Plan};
use flowpin_disk::Reads;
use flowpin_dispatch::DispatchOptions;
use flowpin_flow::{ShardSet, Table};
use flowpin_output::{BatchSink, Formatter, Writers};
use flowpin_packet::{InterfaceNames, SHARD_COUNT, Shard};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

/// Pieces of input that may be in flight between input and workers.
pub(crate) const PIECES_OUT: usize = 8;

/// The parameters of a pipeline besides its stages.
pub(crate) struct Context<'a> {
    pub(crate) control: &'a Control,
    pub(crate) progress: &'a dyn ProgressSink,
    /// Processors to pin threads to: input, workers, output. Empty: not pinned.
    pub(crate) cpus: Vec<usize>,
    pub(crate) workers: usize,
    /// Which worker owns each shard.
    pub(crate) owners: &'a [u8; SHARD_COUNT],
    pub(crate) pieces_out: usize,
    pub(crate) drop_when_full: bool,
    /// The input ends by itself when the run is to stop, with what has come by then.
    pub(crate) is_live: bool,
}

impl Context<'_> {
    /// Whether a signal asks to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        let is_stopped = self.control.is_stopped();
        is_stopped && (!self.is_live || self.control.has_reader_left())
    }

    /// Shows the progress of the input.
    pub(crate) fn progress(&self, progress: &Progress) {
        self.progress.update(progress);
    }

    /// The processor of one thread.
    pub(crate) fn cpu(&self, thread: usize) -> Option<usize> {
        self.cpus.get(thread).copied()
    }
}

/// Pins this thread. A refusal (a container that may not) costs speed only.
pub(crate) fn pin(cpu: Option<usize>) {
    if let Some(cpu) = cpu {
        let _unpinned = flowpin_cpu::pin_current_thread(cpu);
    }
}

/// Restores the calling thread's processors when dropped: a process may run more than once.
pub(crate) struct Unpin(Vec<usize>);

impl Unpin {
    /// Saves the processors that the calling thread may use.
    pub(crate) fn new() -> Self {
        Self(flowpin_cpu::allowed_cpus())
    }
}

impl Drop for Unpin {
    fn drop(&mut self) {
        // As in `pin`: a refusal costs speed only.
        let _still_pinned = flowpin_cpu::allow_current_thread(&self.0);
    }
}

/// The results of a pipeline.
pub(crate) struct Ended {
    pub(crate) shape: Shape,
    pub(crate) input: InputSummary,
    pub(crate) workers: Vec<Finished>,
    /// What else the threads have done.
    pub(crate) steps: Vec<StepReport>,
    pub(crate) output: OutputSummary,
}

pub(crate) fn run(
    plan: &Plan,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<RunReport, RunError> {
    run_into(plan, None, None, control, progress, Destination::Disk)
}

/// A run whose records are formatted and discarded. It gets its rules compiled, because a profile
/// has many runs.
pub(crate) fn run_nowhere(
    plan: &Plan,
    known: Option<&IdentifyRules>,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<RunReport, RunError> {
    let nowhere = Destination::Nowhere;
    run_into(plan, None, Some(known), control, progress, nowhere)
}

/// A run whose records go to `sink`, and to no log.
pub(crate) fn run_batches(
    plan: &Plan,
    sink: Box<dyn BatchSink>,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<RunReport, RunError> {
    let plan = &messages::in_tables(plan);
    let sink = Destination::Batches(sink);
    run_into(plan, None, None, control, progress, sink)
}

/// What a run is given that is a part of a larger one.
pub(crate) struct Given {
    pub(crate) source: Source,
    pub(crate) gate: Gate,
    pub(crate) notes: Notes,
    /// Of a slice.
    pub(crate) seam: Option<Arc<Seam>>,
}

/// As [`run_batches`], for a part.
pub(crate) fn run_given(
    plan: &Plan,
    given: Given,
    sink: Box<dyn BatchSink>,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<RunReport, RunError> {
    let plan = &messages::in_tables(plan);
    let sink = Destination::Batches(sink);
    run_into(plan, Some(given), None, control, progress, sink)
}

/// Where records go.
enum Destination {
    Disk,
    Nowhere,
    Batches(Box<dyn BatchSink>),
}

/// The input, the files that must not be written, the file of `--stats`, and the recording of
/// chosen packets.
type Opened = (Source, Reads, Option<StatsFile>, Option<ChosenPackets>);

impl Destination {
    fn check_folders(&self, plan: &Plan) -> Result<(), RunError> {
        match self {
            Self::Disk => ground::check_folders(plan),
            Self::Nowhere => Ok(()),
            Self::Batches(_) => ground::check_extract_folder(plan),
        }
    }

    /// Opens the input, and checks that no file is destroyed.
    fn open_input(&self, plan: &Plan, control: &Control) -> Result<Opened, RunError> {
        if !plan.is_live() {
            let source = open(plan, control)?;
            let mut reads = ground::reads(plan, &source);
            self.check(plan, &reads)?;
            let recording = match self {
                Self::Nowhere => None,
                Self::Disk | Self::Batches(_) => recording::begin(plan, &mut reads)?,
            };
            let stats = self.make_stats(plan, &mut reads)?;
            let chosen = recording.map(|recording| recording.chosen(&source));
            return Ok((source, reads, stats, chosen));
        }
        let mut source = open(plan, control)?;
        // Files are made by who will write them.
        if let Some(user) = &plan.live.user {
            flowpin_confine::become_user(user)?;
        }
        let mut reads = ground::reads_beside(plan);
        self.check(plan, &reads)?;
        let mut chosen = None;
        match recording::begin(plan, &mut reads)? {
            Some(recording) if plan.live.record_if.is_some() => {
                chosen = Some(recording.chosen(&source));
            }
            Some(all) => source.record_to(all.path, all.file, all.next),
            None => {}
        }
        let stats = self.make_stats(plan, &mut reads)?;
        Ok((source, reads, stats, chosen))
    }

    fn make_stats(&self, plan: &Plan, reads: &mut Reads) -> Result<Option<StatsFile>, RunError> {
        match self {
            Self::Disk | Self::Batches(_) => StatsFile::make(plan, reads),
            Self::Nowhere => Ok(None),
        }
    }

    /// Checks that no file is destroyed.
    fn check(&self, plan: &Plan, reads: &Reads) -> Result<(), RunError> {
        match self {
            Self::Disk => ground::check(plan, reads),
            Self::Nowhere => Ok(()),
            Self::Batches(_) => ground::check_extracted(plan, reads),
        }
    }

    fn open(self, plan: &Plan, reads: &Reads, control: &Control) -> Result<Writers, RunError> {
        if matches!(self, Self::Nowhere) {
            return Ok(Writers::open_in(&plan.output, Box::new(Nowhere))?);
        }
        ground::clear_extracted(plan, reads)?;
        let schemas = messages::schemas(plan);
        let output = stage_options::output(plan);
        if let Self::Batches(sink) = self {
            return Ok(Writers::into_batches(&output, &schemas, sink));
        }
        let disk = Box::new(ground::disk(plan, reads).with_hooks(control.stream_hooks()));
        Ok(Writers::with_messages(&output, &schemas, disk)?)
    }
}

/// `given`: of a part. `known`: what identification knows; none if this run is to find out.
fn run_into(
    plan: &Plan,
    given: Option<Given>,
    known: Option<Option<&IdentifyRules>>,
    control: &Control,
    progress: &dyn ProgressSink,
    destination: Destination,
) -> Result<RunReport, RunError> {
    let started = Instant::now();
    let cpu_before = flowpin_cpu::process_cpu_time().total();
    let may_take_rules = reload::open_to_rules(plan, control);
    let plan = may_take_rules.as_ref().unwrap_or(plan);
    check_cpus(plan)?;
    let secret = plan.dispatch_seed.unwrap_or_else(random);
    destination.check_folders(plan)?;
    let (given, gated, seam) = given.map_or((None, None, None), |given| {
        let gated = Some((given.gate, given.notes));
        (Some(given.source), gated, given.seam)
    });
    let progress = &Latest::new(progress);
    let made;
    let known = match known {
        Some(known) => known,
        None => {
            made = prepare(plan)?;
            made.as_ref()
        }
    };
    if let Some(known) = known {
        known.report_refused(progress);
    }
    check_apps(plan, known)?;
    // Behind all that looks at settings: wrong ones destroy no file.
    let (mut source, reads, stats, chosen) = match given {
        Some(source) => (source, ground::reads_beside(plan), None, None),
        None => destination.open_input(plan, control)?,
    };
    let unpin = Unpin::new();
    let cores = unpin.0.len().max(1);
    let input_bytes = source.progress().bytes_total;
    let (shape, cut) = Shape::choose(plan, cores, input_bytes, || profile::brief(plan, known));
    let begun = plan;
    let plan = &Plan {
        cut,
        piece_bytes: shape.piece_bytes(plan),
        ..plan.clone()
    };
    source.set_piece_len(plan.piece_bytes);
    let owners = owners(shape.workers());
    let context = Context {
        control,
        progress,
        cpus: cpus(plan, shape, cores),
        workers: shape.workers(),
        owners: &owners,
        pieces_out: shape.pieces_out(),
        drop_when_full: plan.full_ring == FullRing::Drop,
        is_live: plan.is_live(),
    };
    let (options, late) = division(plan, shape, secret);
    let writers = destination.open(plan, &reads, control)?;
    control.pulse();
    let (gate, notes) = gated.unzip();
    let mut output = match notes {
        None => Output::new(shape.workers(), writers, plan, control),
        Some(notes) => output_of_part(writers, plan, (notes, seam.clone()), control),
    };
    let names = source.interfaces().clone();
    output.name_interfaces(&names);
    pin(context.cpu(0));
    if plan.is_live() {
        let names = plan.live.interfaces.iter().map(ToString::to_string);
        let names: Vec<_> = names.collect();
        if plan.live.confine {
            let written = ground::written_folders(plan);
            let read = ground::read_folders(plan);
            let sends = plan.output.stream.is_some();
            if !flowpin_confine::confine(&written, &read, sends)?.files {
                progress.note("this system cannot keep the run from other files (Landlock)");
            }
        }
        if plan.live.shed {
            progress.note("with --shed, records depend on the load: a recording may give others");
        }
        progress.note(&format!("capturing from {}", names.join(", ")));
    }
    progress.started();
    let mut input = InputStage::new(plan, options, source);
    // Another part has what the input stage says.
    let has_records = gate.as_ref().is_none_or(|gate| gate.has_records);
    if let Some(gate) = gate {
        input.be_part(gate);
    }
    let rules = known.and_then(|known| known.detect.as_ref());
    let inbox = output.alerts_inbox();
    if let (Some(rules), Some(inbox), true) = (rules, &inbox, has_records) {
        input.examine(rules, inbox.clone());
    }
    let reloader = plan.is_live().then(|| Reloader {
        control,
        plan: begun,
        rules: rules.cloned().zip(inbox),
        cpus: unpin.0.clone(),
    });
    let recall = (chosen.zip(plan.live.record_if.as_ref()))
        .map(|(to, wanted)| Recall::new(wanted, plan, shape.workers(), to));
    if let Some(recall) = &recall {
        input.recall(recall);
        output.recall(recall.clone());
    }
    let seen = Seen {
        control,
        progress,
        started,
        is_live: plan.is_live(),
    };
    // PERF: connections alone, without stages that observe them, have code of their own.
    let work = || {
        if stages::are_wanted(plan) {
            let mut workers =
                workers::<AllStages>(plan, known, &owners, shape.workers(), late, secret)?;
            if let Some(recall) = &recall {
                let numbered = workers.iter_mut().enumerate();
                numbered.for_each(|(number, worker)| worker.recall(recall, number));
            }
            set_up(&mut workers, seam.as_ref(), &names);
            if plan.live.shed {
                let shedding = control.shedding();
                workers.iter_mut().for_each(|worker| worker.shed(shedding));
            }
            pump(&context, shape, input, workers, output)
        } else {
            let mut workers =
                workers::<Explain>(plan, known, &owners, shape.workers(), late, secret)?;
            set_up(&mut workers, seam.as_ref(), &names);
            pump(&context, shape, input, workers, output)
        }
    };
    let ended = reload::beside(reloader, || beside(stats, &seen, work))?;
    let mut workers = ended.workers.iter();
    if let Some(error) = workers.find_map(|one| one.stages.file_error.as_ref()) {
        return Err(error.clone().into());
    }
    let mut report = RunReport::of(ended);
    report.wall = started.elapsed();
    report.cpu = flowpin_cpu::process_cpu_time()
        .total()
        .saturating_sub(cpu_before);
    report.peak_memory_bytes = flowpin_cpu::peak_resident_bytes();
    report.reloads = control.reload_counts()[0];
    report.stopped_early = context.is_stopped();
    report.stopped_after = plan.packet_count_max.filter(|&most| report.packets >= most);
    Ok(report)
}

/// Tells workers the names of interfaces, and those of a slice who is told what goes on behind it.
fn set_up<O: Stages>(workers: &mut [Worker<O>], seam: Option<&Arc<Seam>>, names: &InterfaceNames) {
    workers
        .iter_mut()
        .for_each(|worker| worker.name_interfaces(names));
    for (worker, seam) in workers.iter_mut().zip(seam) {
        worker.end_at(Arc::clone(seam));
    }
}

/// The output of a part, which has one worker and decides nothing that depends on others.
fn output_of_part(
    writers: Writers,
    plan: &Plan,
    (notes, seam): (Notes, Option<Arc<Seam>>),
    control: &Control,
) -> Output {
    let mut plan = plan.clone();
    plan.scans.enabled = false;
    let mut output = Output::new(1, writers, &plan, control);
    output.be_part(Teller::new(&plan, notes), seam);
    output
}

/// Checks that there can be every protocol that a recording depends on.
fn check_apps(plan: &Plan, known: Option<&IdentifyRules>) -> Result<(), RunError> {
    let names = known.map(|known| known.names.all()).unwrap_or_default();
    let mut apps = plan.live.record_if.iter().flat_map(|wanted| &wanted.apps);
    match apps.find(|app| !names.contains(&app.as_str())) {
        Some(wrong) => Err(RunError::NoSuchProtocol(wrong.clone())),
        None => Ok(()),
    }
}

/// What identification knows; beside it is made what parsers share.
// PERF: each takes milliseconds, which a run over a small capture waits for.
fn prepare(plan: &Plan) -> Result<Option<IdentifyRules>, RunError> {
    if !plan.parse.enabled {
        return IdentifyRules::of(plan);
    }
    thread::scope(|scope| {
        // Without a thread for it, who needs it makes it.
        let _warming = thread::Builder::new().spawn_scoped(scope, registry::warm);
        IdentifyRules::of(plan)
    })
}

/// Runs `work`, and beside it what keeps the file of `--stats`.
fn beside<T>(stats: Option<StatsFile>, seen: &Seen<'_>, work: impl FnOnce() -> T) -> T {
    let Some(stats) = stats else {
        return work();
    };
    thread::scope(|scope| {
        let (end, ended) = channel();
        scope.spawn(move || stats.keep(seen, &ended));
        let done = work();
        drop(end);
        done
    })
}

/// Runs the whole input through the workers.
fn pump<O: Planned>(
    context: &Context<'_>,
    shape: Shape,
    input: InputStage,
    mut workers: Vec<Worker<O>>,
    output: Output,
) -> Result<Ended, RunError> {
    match (shape, workers.pop()) {
        (Shape::Single, Some(worker)) => single::run(context, input, worker, output),
        (shape, last) => {
            workers.extend(last);
            match shape {
                Shape::Turns(_) => turns::run(context, input, workers, output),
                _ => threads::run(context, shape, input, workers, output),
            }
        }
    }
}

/// Opens the input of a plan.
pub(crate) fn open(plan: &Plan, control: &Control) -> Result<Source, RunError> {
    let options = Options::from(plan);
    let attention = control.attention();
    if plan.is_live() {
        return Ok(Source::live(
            &LiveOptions::from(plan),
            &options,
            &attention,
        )?);
    }
    let source = Source::open_attentive(&plan.inputs, &options, &attention)?;
    // `>> a.pcap`: output would be read as a part of the input.
    if Reads::may_hold_stdout() {
        ground::reads(plan, &source).check_stdout()?;
    }
    Ok(source)
}

/// Divides decoding and checksums between the input thread and the workers.
pub(crate) fn division(plan: &Plan, shape: Shape, secret: u64) -> (DispatchOptions, Late) {
    let verify = plan.checksums == Checksums::All;
    // One thread does both: the bytes are in its cache.
    let cut = if shape == Shape::Single {
        Cut::L3
    } else {
        plan.cut
    };
    let options = DispatchOptions {
        id_seed: plan.id_seed,
        secret,
        verify_network: verify,
        checksums: verify && cut == Cut::L3,
        decode: cut != Cut::Capture,
    };
    let late = Late {
        decode: cut == Cut::Capture,
        verify: verify && cut != Cut::L3,
        is_far: shape != Shape::Single,
        fetch: plan.identify.enabled,
    };
    (options, late)
}

/// Deals the shards out: each worker gets every N-th, so that any N divides them evenly.
fn owners(workers: usize) -> [u8; SHARD_COUNT] {
    let mut owners = [0; SHARD_COUNT];
    for (owner, worker) in owners
        .iter_mut()
        .zip((0..=u8::MAX).cycle().take(workers).cycle())
    {
        *owner = worker;
    }
    owners
}

fn workers<O: Planned>(
    plan: &Plan,
    known: Option<&IdentifyRules>,
    owners: &[u8; SHARD_COUNT],
    count: usize,
    late: Late,
    secret: u64,
) -> Result<Vec<Worker<O>>, RunError> {
    (0..count)
        .map(|number| {
            let shards: ShardSet = (0..=u8::MAX)
                .map(Shard)
                .filter(|shard| {
                    owners.get(usize::from(shard.0)).map(|&o| usize::from(o)) == Some(number)
                })
                .collect();
            worker(plan, shards, late, secret, |table| {
                O::new(plan, known, table)
            })
        })
        .collect()
}

/// One worker, with the stages that `stages` makes for its connection table.
pub(crate) fn worker<O: Stages>(
    plan: &Plan,
    shards: ShardSet,
    late: Late,
    secret: u64,
    stages: impl FnOnce(&Table) -> io::Result<O>,
) -> Result<Worker<O>, RunError> {
    let formatter = Formatter::with_messages(&plan.output, &messages::schemas(plan));
    let flow = stage_options::flow(plan);
    let observers = Observers::new(plan, secret).map_err(RunError::Memory)?;
    Worker::new(&flow, shards, formatter, late, observers, stages).map_err(RunError::Memory)
}

/// A secret from the system's entropy.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(0u8)
}
