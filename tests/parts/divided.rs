//! A run in parts, each step as it would be on a machine of its own.

use arrow_array::RecordBatch;
use flowpin_engine::parts::{
    self, Begun, Deal, Division, Joint, Note, OpenConnection, Part, PartNote, Share, Slice, Survey,
    Whole, carry, deal, join, survey,
};
use flowpin_engine::{BatchSink, Clock, Control, Plan, RunError, Splitter};
use flowpin_packet::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// How often each row is there, by table.
pub(crate) type Rows = BTreeMap<(usize, String), u64>;

#[derive(Clone, Default)]
pub(crate) struct Sink(Arc<Mutex<Rows>>);

impl BatchSink for Sink {
    fn wants(&self, _: usize) -> bool {
        true
    }

    fn take(&mut self, table: usize, batch: RecordBatch) -> bool {
        let mut rows = self.0.lock().unwrap();
        for nth in 0..batch.num_rows() {
            let row = batch.slice(nth, 1);
            let values = row.columns().iter().map(|column| format!("{column:?}"));
            let text: Vec<_> = values.collect();
            *rows.entry((table, text.concat())).or_default() += 1;
        }
        true
    }
}

/// The whole input at once.
pub(crate) fn at_once(plan: &Plan) -> Rows {
    let sink = Sink::default();
    let boxed = Box::new(sink.clone());
    flowpin_engine::run_batches(plan, boxed, &Control::default(), &()).unwrap();
    core::mem::take(&mut *sink.0.lock().unwrap())
}

/// A split of a capture.
pub(crate) struct Split {
    /// Its bytes, as a capture.
    own: Vec<u8>,
    /// With some that come behind it.
    and_more: Vec<u8>,
}

/// The splits of a capture.
pub(crate) fn splits(capture: &[u8], split_len: usize) -> Vec<Split> {
    let splitter = Splitter::new(capture).unwrap();
    let mut border = splitter.head().len();
    let mut splits = Vec::new();
    while border < capture.len() {
        let until = (border + split_len).min(capture.len());
        let end = splitter.walk(capture, border, until).unwrap().end;
        let peek = capture.len().min(end + 64);
        let bytes = |end: usize| [splitter.head(), &capture[border..end]].concat();
        splits.push(Split {
            own: bytes(end),
            and_more: bytes(peek),
        });
        border = end;
    }
    splits
}

/// What a driver adds up: what is known about each split, and where the input ends.
fn settled(plan: &Plan, splits: &[Split]) -> (Vec<Deal>, Whole) {
    let mut clock = Clock::new(plan.clock_leap_max_ns);
    let mut packets = 0;
    let mut known = Vec::new();
    for split in splits {
        let looked = |bytes: &[u8], begun| -> Survey {
            let bytes = Some(("split".to_owned(), bytes.to_vec()));
            survey(plan, bytes, begun, &Control::default()).unwrap()
        };
        let found = looked(&split.own, None);
        let begun = Begun {
            clock: clock.words(),
            next: None,
            packets: Some(found.packets),
        };
        known.push(Deal {
            packets_before: packets,
            begun,
        });
        packets += found.packets;
        if !clock.pass_over(&found.times) {
            let words = looked(&split.and_more, Some(begun)).clock.unwrap();
            clock = Clock::of_words(plan.clock_leap_max_ns, words);
        }
    }
    let end = clock.now();
    (known, Whole { packets, end })
}

/// The records of all parts, and pairs of hosts whose connections belong together; in slices that
/// begin at `borders`.
fn in_parts(
    plan: &Plan,
    splits: &[Split],
    division: &Division,
    borders: &[Timestamp],
) -> (Rows, BTreeSet<Pair>) {
    let (known, whole) = settled(plan, splits);
    let (sink, said) = (Sink::default(), Arc::<Mutex<Said>>::default());
    let mut left: Vec<Left> = (0..division.all()).map(|_| Left::default()).collect();
    let begins = [Timestamp(0)].iter().chain(borders);
    let ends = borders.iter().copied().map(Some).chain([None]);
    for (&from, until) in begins.zip(ends) {
        let slice = Slice {
            from,
            until,
            open: Vec::new(),
        };
        let shares = dealt(plan, splits, &known, (division, &slice));
        for number in 0..division.all() {
            let left = &mut left[usize::from(number)];
            let own = shares.iter().filter(|share| share.part == number);
            left.shares.extend(own.map(|share| share.bytes.clone()));
            let has_shards = number < division.of_input();
            if !has_shards && until.is_some() {
                // What it has is decided over everything: in the last slice.
                continue;
            }
            let open = core::mem::take(&mut left.open);
            let slice = match has_shards {
                true => Slice {
                    open,
                    ..slice.clone()
                },
                false => Slice::default(),
            };
            let part = Part {
                division,
                number,
                whole,
                slice: &slice,
            };
            left.open = run(plan, part, &left.shares, (&sink, &said));
            left.carry(plan, until);
        }
    }
    let (notes, hosts) = core::mem::take(&mut *said.lock().unwrap());
    decide(plan, (division, whole), notes, &sink).unwrap();
    let rows = core::mem::take(&mut *sink.0.lock().unwrap());
    (rows, hosts)
}

/// Decides what no part can decide.
pub(crate) fn decide(
    plan: &Plan,
    (division, whole): (&Division, Whole),
    mut notes: Vec<(u16, Note)>,
    sink: &Sink,
) -> Result<(), RunError> {
    notes.sort_by_key(|(part, note)| (note.order, *part));
    for joint in Joint::of(plan) {
        let mut notes = notes.iter().filter(|(_, note)| note.joint == joint);
        let mut next = || Ok(notes.next().cloned());
        let boxed = Box::new(sink.clone());
        let which = (joint, division.all());
        join(plan, which, whole, &mut next, boxed, &Control::default())?;
    }
    Ok(())
}

/// What a part of a slice leaves to the next one.
#[derive(Default)]
struct Left {
    shares: Vec<Vec<u8>>,
    open: Vec<OpenConnection>,
}

impl Left {
    fn carry(&mut self, plan: &Plan, until: Option<Timestamp>) {
        let Some(until) = until else {
            return;
        };
        // As it travels.
        let open = OpenConnection::of_bytes(&OpenConnection::to_bytes(&self.open));
        self.open = open.unwrap();
        let mut own = core::mem::take(&mut self.shares).into_iter();
        let shares = Box::new(move || own.next());
        let mut give = |_, share| {
            self.shares.push(share);
            Ok(())
        };
        let border = (until, self.open.as_slice());
        carry(plan, shares, border, &Control::default(), &mut give).unwrap();
    }
}

/// The shares of a slice, in order.
fn dealt(plan: &Plan, splits: &[Split], known: &[Deal], which: (&Division, &Slice)) -> Vec<Share> {
    let control = Control::default();
    let mut shares: Vec<Share> = Vec::new();
    for (split, known) in splits.iter().zip(known) {
        let bytes = Some(("split".to_owned(), split.and_more.clone()));
        let mut give = |share| {
            shares.push(share);
            Ok(())
        };
        deal(plan, bytes, known, which, &control, &mut give).unwrap();
    }
    shares.sort_by_key(|share| share.number);
    shares
}

/// Runs a part; returns what is open in the end.
fn run(
    plan: &Plan,
    part: Part<'_>,
    shares: &[Vec<u8>],
    (sink, said): (&Sink, &Arc<Mutex<Said>>),
) -> Vec<OpenConnection> {
    let own = shares.to_vec();
    let mut own = own.into_iter();
    let number = part.number;
    let control = Control::default();
    let said = Arc::clone(said);
    let notes = Box::new(move |note| {
        let mut said = said.lock().unwrap();
        match note {
            PartNote::Joint(note) => said.0.push((number, note)),
            PartNote::Hosts(one, other) => {
                said.1.insert((one.min(other), one.max(other)));
            }
        }
    });
    let shares = Box::new(move || own.next());
    let boxed = Box::new(sink.clone());
    let done = parts::run_part(plan, part, shares, boxed, notes, &control, &()).unwrap();
    let misdirected = done
        .report
        .losses
        .iter()
        .find(|(loss, _)| loss.name() == "packets_misdirected");
    assert_eq!(misdirected.map_or(0, |(_, count)| count), 0);
    done.open
}

type Pair = (IpAddr, IpAddr);
/// What parts have said: notes by part, and pairs of hosts.
type Said = (Vec<(u16, Note)>, BTreeSet<Pair>);

/// All rows as they would be in one run.
pub(crate) fn by_connection(
    plan: &Plan,
    splits: &[Split],
    parts: u16,
    borders: &[Timestamp],
) -> Rows {
    let mut division = Division {
        parts,
        hosts: Vec::new(),
    };
    loop {
        let (rows, hosts) = in_parts(plan, splits, &division, borders);
        if hosts.iter().all(|pair| division.hosts.contains(pair)) {
            return rows;
        }
        division.hosts.extend(hosts);
    }
}
