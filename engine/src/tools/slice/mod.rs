//! From records back to their packets.
//!
//! Two passes over the input, after a run if rules select connections: the first tracks
//! connections and notes the numbers of the packets that belong to the wanted ones (with a
//! datagram, those of all its fragments); the second writes the frames with these numbers. So the
//! frames come out as they were captured.

mod written;

use crate::aggregates::Observers;
use crate::input::{InputStage, Lane};
use crate::report::{InputReport, ProgressSink};
use crate::run::shape::Shape;
use crate::run::single::SingleLane;
use crate::run::stage_options;
use crate::run::{division, ground, open, random, run};
use crate::tools::fragments::Fragments;
use crate::tools::packets::so_far;
use crate::tools::silent;
use crate::tools::wanted::Wanted;
use crate::worker::stages::{Explain, Stages};
use crate::worker::{Late, Worker};
use crate::{Control, RunError};
use flowpin_capture::Source;
use flowpin_config::{OutputPlan, Plan};
use flowpin_disk::Output;
use flowpin_flow::{Event, FlowObserver, ShardSet, Sighting};
use flowpin_output::Formatter;
use flowpin_packet::{FragmentRef, FrameBytes, PacketMeta, Piece, TunnelKind};
use flowpin_record::{RecordSink, Uid};
use flowpin_rule::Alerted;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use written::Written;

/// What a slice found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SliceReport {
    /// Packets written.
    pub packets: u64,
    /// How many of the names given no connection has.
    pub lacking: usize,
    /// How many connections that rules alert of were not found again: memory was too short for all.
    pub lost: usize,
    /// The captures, with what is wrong with them.
    pub inputs: Vec<InputReport>,
}

pub(crate) fn slice(
    plan: &Plan,
    wanted: &[Wanted],
    out: &Path,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<SliceReport, RunError> {
    let source = open(plan, control)?;
    let reads = ground::reads(plan, &source);
    Output::check(out, ground::existing(plan), &reads)?;
    let written = Written::new(out, ground::existing(plan), reads);
    let alerted = match &plan.rules.alerted {
        Some(ledger) => {
            may_read_again(&source)?;
            run(&watching(plan), control, progress)?;
            ledger.noted()
        }
        None => Alerted::default(),
    };
    if wanted.is_empty() && plan.rules.alerted.is_none() {
        let (packets, inputs) = write(source, None, written, control, progress)?;
        return Ok(SliceReport {
            packets,
            inputs,
            ..SliceReport::default()
        });
    }
    let found = find(plan, source, (wanted, alerted), control, progress)?;
    let lacking = found.lacking.iter().filter(|lacks| **lacks).count();
    if found.numbers.is_empty() {
        return Ok(SliceReport {
            packets: 0,
            lacking,
            lost: found.lost,
            inputs: found.inputs,
        });
    }
    let source = open(plan, control)?;
    let (packets, inputs) = write(source, Some(&found.numbers), written, control, progress)?;
    Ok(SliceReport {
        packets,
        lacking,
        lost: found.lost,
        inputs,
    })
}

/// Refuses a pipe: the next pass would find it empty.
fn may_read_again(source: &Source) -> Result<(), RunError> {
    match source.progress().bytes_total {
        Some(_) => Ok(()),
        None => Err(RunError::SliceFromPipe),
    }
}

/// The plan of a run that finds out what rules alert of, and writes nothing.
fn watching(plan: &Plan) -> Plan {
    let mut plan = silent(plan);
    plan.output = OutputPlan {
        formats: plan.output.formats,
        ..OutputPlan::default()
    };
    plan.live.record = None;
    plan.live.record_if = None;
    plan.live.metrics = None;
    plan.files.extract = None;
    plan
}

/// The first pass.
fn find(
    plan: &Plan,
    source: Source,
    (wanted, alerted): (&[Wanted], Alerted),
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<Found, RunError> {
    let plan = silent(plan);
    may_read_again(&source)?;
    let secret = random();
    let (options, _) = division(&plan, Shape::Single, secret);
    let seeker = Seeker {
        explain: Explain {
            id_seed: plan.id_seed,
        },
        community_seed: plan.output.community_seed,
        wanted: wanted.to_vec(),
        alerted: alerted.connections,
        handles: HashSet::new(),
        found: Found {
            numbers: alerted.packets.into_iter().collect(),
            lacking: vec![true; wanted.len()],
            ..Found::default()
        },
    };
    let formatter = Formatter::new(&plan.output);
    let flow = stage_options::flow(&plan);
    let worker = Worker::new(
        &flow,
        ShardSet::ALL,
        formatter,
        Late::default(),
        Observers::default(),
        |_| Ok(seeker),
    )
    .map_err(RunError::Memory)?;
    let mut lane = Gather {
        inner: SingleLane::new(worker),
        fragments: Fragments::default(),
        parts: HashMap::new(),
    };
    let mut input = InputStage::new(&plan, options, source);
    let mut piece = Piece::default();
    while !control.is_stopped() && input.fill(&mut piece)? {
        let tick = input.walk(&piece, &mut lane);
        lane.inner.finish_piece(&piece);
        let delivery = lane.inner.worker.tick(tick);
        lane.inner.worker.recycle(delivery.records);
        input.tick(tick);
        progress.update(&input.progress());
    }
    let Gather {
        mut inner, parts, ..
    } = lane;
    let seeker = inner.worker.stages();
    let lost = seeker.alerted.len();
    let mut found = core::mem::take(&mut seeker.found);
    found.lost = lost;
    let mut numbers = core::mem::take(&mut found.numbers);
    // A datagram's packet stands for its fragments, each of which may stand for others.
    while let Some(number) = numbers.pop() {
        let mine = parts.get(&number).map(Vec::as_slice).unwrap_or_default();
        numbers.extend(mine.iter().filter(|&&part| part != number));
        found.numbers.push(number);
    }
    found.numbers.sort_unstable();
    found.numbers.dedup();
    found.inputs = input.finish().1.inputs;
    Ok(found)
}

/// What the first pass found.
#[derive(Debug, Default)]
struct Found {
    numbers: Vec<u64>,
    /// Which of the names no connection has, so far.
    lacking: Vec<bool>,
    lost: usize,
    inputs: Vec<InputReport>,
}

/// Notes the packets of the wanted connections.
struct Seeker {
    explain: Explain,
    community_seed: u16,
    wanted: Vec<Wanted>,
    /// Connections that rules have alerted of.
    alerted: BTreeSet<Uid>,
    /// Of the wanted connections that are open.
    handles: HashSet<u32>,
    found: Found,
}

impl FlowObserver for Seeker {
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, _: &mut S) {
        // A handle may have been another connection's.
        if sighting.event == Event::New {
            self.handles.remove(&sighting.handle);
            if !self.alerted.is_empty() && self.alerted.remove(&sighting.uid()) {
                self.handles.insert(sighting.handle);
            }
            for (wanted, lacks) in self.wanted.iter().zip(&mut self.found.lacking) {
                if wanted.names(sighting, self.community_seed) {
                    self.handles.insert(sighting.handle);
                    *lacks = false;
                }
            }
        }
        if self.handles.contains(&sighting.handle) {
            self.found.numbers.push(sighting.meta.number);
        }
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.explain.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.explain.tunnel(frames, meta)
    }
}

impl Stages for Seeker {}

/// A lane that remembers which fragments made a datagram.
struct Gather {
    inner: SingleLane<Seeker>,
    fragments: Fragments,
    /// From the number of a datagram's last fragment to the numbers of all.
    parts: HashMap<u64, Vec<u64>>,
}

impl Lane for Gather {
    fn slot(&mut self) -> &mut PacketMeta {
        self.inner.slot()
    }

    fn commit(&mut self, piece: &Piece) {
        self.inner.commit(piece);
    }

    fn commit_datagram(&mut self, piece: &Piece, datagram: &[u8]) {
        let whole = self.fragments.complete();
        self.note(whole);
        self.inner.commit_datagram(piece, datagram);
    }

    fn fragment(&mut self, fragment: &FragmentRef, bytes: &[u8]) {
        let whole = self.fragments.add(fragment, bytes);
        self.note(whole);
    }
}

impl Gather {
    /// Notes the fragments of a datagram that is whole.
    fn note(&mut self, whole: Option<Vec<u64>>) {
        if let Some(numbers) = whole
            && let Some(&last) = numbers.last()
        {
            self.parts.entry(last).or_default().extend(numbers);
        }
    }
}

/// The second pass: writes the frames with these numbers, or all.
fn write(
    mut source: Source,
    numbers: Option<&[u64]>,
    mut written: Written,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<(u64, Vec<InputReport>), RunError> {
    let mut wanted = numbers.map(|numbers| numbers.iter().copied().peekable());
    let mut piece = Piece::default();
    written.name_interfaces(source.interfaces());
    while !control.is_stopped() && source.fill(&mut piece)? {
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            let number = walk.number();
            if let Some(wanted) = &mut wanted
                && wanted.next_if_eq(&number).is_none()
            {
                continue;
            }
            let start = frame.start as usize;
            let bytes = piece.bytes.get(start..start + frame.captured_len as usize);
            written.write(&frame, bytes.unwrap_or_default())?;
        }
        drop(walk);
        progress.update(&so_far(&source));
    }
    let files = source.report().files;
    let inputs = files.iter().map(InputReport::of).collect();
    Ok((written.finish()?, inputs))
}
