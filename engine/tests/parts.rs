//! A run in parts has the records of one run: for any cuts, and any number of parts.

#![allow(clippy::unwrap_used, reason = "a test may stop here")]

use arrow_array::RecordBatch;
use flowpin_config::Input;
use flowpin_engine::parts::{
    self, Deal, Division, Note, OpenConnection, Part, PartNote, Share, Slice, Survey, Whole, carry,
    deal, join, survey,
};
use flowpin_engine::{
    BatchSink, CapturedPacket, Clock, Control, PacketSink, Plan, RunError, Splitter,
};
use flowpin_packet::Timestamp;
use flowpin_testkit::{corpus, pcap};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// How often each row is there, by table.
type Rows = BTreeMap<(usize, String), u64>;

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Rows>>);

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
fn at_once(plan: &Plan) -> Rows {
    let sink = Sink::default();
    let boxed = Box::new(sink.clone());
    flowpin_engine::run_batches(plan, boxed, &Control::default(), &()).unwrap();
    core::mem::take(&mut *sink.0.lock().unwrap())
}

/// The splits of a capture, as bytes that are one; with a look at what comes behind.
fn splits(capture: &[u8], split_len: usize) -> Vec<Vec<u8>> {
    let splitter = Splitter::new(capture).unwrap();
    let mut border = splitter.head().len();
    let mut splits = Vec::new();
    while border < capture.len() {
        let until = (border + split_len).min(capture.len());
        let end = splitter.walk(capture, border, until).unwrap().end;
        let peek = capture.len().min(end + 64);
        splits.push([splitter.head(), &capture[border..peek]].concat());
        border = end;
    }
    splits
}

/// What a driver adds up: what is known about each split, and where the input ends.
fn settled(plan: &Plan, splits: &[Vec<u8>]) -> (Vec<Deal>, Whole) {
    let mut clock = Clock::new(plan.clock_leap_max_ns);
    let mut packets = 0;
    let mut known = Vec::new();
    for split in splits {
        known.push(Deal {
            packets_before: packets,
            clock: clock.words(),
            next: None,
        });
        let looked = |clock| -> Survey {
            let bytes = Some(("split".to_owned(), split.clone()));
            survey(plan, bytes, clock, &Control::default()).unwrap()
        };
        let found = looked(None);
        packets += found.packets;
        if !clock.pass_over(&found.times) {
            let words = looked(Some((clock.words(), None))).clock.unwrap();
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
    splits: &[Vec<u8>],
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
    let (mut notes, hosts) = core::mem::take(&mut *said.lock().unwrap());
    notes.sort_by_key(|(part, note)| (note.upto, *part));
    let mut notes = notes.into_iter();
    let mut next = || -> Result<_, RunError> { Ok(notes.next()) };
    let boxed = Box::new(sink.clone());
    let control = Control::default();
    join(plan, division.all(), whole, &mut next, boxed, &control).unwrap();
    let rows = core::mem::take(&mut *sink.0.lock().unwrap());
    (rows, hosts)
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
fn dealt(
    plan: &Plan,
    splits: &[Vec<u8>],
    known: &[Deal],
    which: (&Division, &Slice),
) -> Vec<Share> {
    let control = Control::default();
    let mut shares: Vec<Share> = Vec::new();
    for (split, known) in splits.iter().zip(known) {
        let bytes = Some(("split".to_owned(), split.clone()));
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
            PartNote::Scans(note) => said.0.push((number, note)),
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
fn by_connection(plan: &Plan, splits: &[Vec<u8>], parts: u16, borders: &[Timestamp]) -> Rows {
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

#[derive(Default)]
struct Frames(Vec<(u64, Vec<u8>)>);

impl PacketSink for Frames {
    fn packet(&mut self, packet: &CapturedPacket<'_>) -> Result<(), RunError> {
        const ETHERNET: u16 = 1;
        let is_whole = packet.bytes.len() == packet.wire_len as usize;
        if packet.link == Some(ETHERNET) && is_whole {
            self.0.push((packet.time.0, packet.bytes.to_vec()));
        }
        Ok(())
    }
}

/// Every packet of the repository's captures in one: fragments, tunnels, scans, FTP, and pauses of
/// days between them.
fn everything() -> Vec<u8> {
    let plan = Plan {
        inputs: corpus::bundled().into_iter().map(Input::File).collect(),
        ..Plan::default()
    };
    let mut frames = Frames::default();
    flowpin_engine::packets(&plan, &mut frames, &Control::default(), &()).unwrap();
    let frames = frames.0.iter();
    pcap::ethernet_file(frames.map(|(time, bytes)| (*time, bytes.as_slice()))).unwrap()
}

/// Everything, and the plan of a run over it; its folder.
fn all_in_a_file() -> (Vec<u8>, Plan, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.pcap");
    let capture = everything();
    std::fs::write(&path, &capture).unwrap();
    let plan = Plan {
        inputs: vec![Input::File(path)],
        ..Plan::default()
    };
    (capture, plan, folder)
}

#[test]
fn parts_together_have_the_records_of_one_run() {
    let (capture, plan, _folder) = all_in_a_file();
    let whole = at_once(&plan);
    let tables = flowpin_engine::tables(&plan);
    let named = |name: &str| {
        tables
            .iter()
            .find(|table| table.name == name)
            .unwrap()
            .number
    };
    for name in ["conn", "http", "ftp", "scan", "tunnel", "weird"] {
        let number = named(name);
        assert!(whole.keys().any(|(table, _)| *table == number), "{name}");
    }
    for (split_len, parts) in [(20_000, 3), (300_000, 5)] {
        let splits = splits(&capture, split_len.min(capture.len()));
        let rows = by_connection(&plan, &splits, parts, &[]);
        assert_same(&plan, &whole, &rows, &format!("{parts} parts"));
    }
}

/// In two slices or many, wherever they begin: amid handshakes, requests, fragments, scans.
#[test]
fn slices_of_time_have_the_records_of_one_run() {
    let (capture, plan, _folder) = all_in_a_file();
    let whole = at_once(&plan);
    let splits = splits(&capture, 100_000);
    let times = seconds(&plan);
    let middle = times.len() / 2;
    // The first border, and the moments from one to the next.
    let mut cuts = vec![(1, usize::MAX), (middle, usize::MAX), (0, times.len() / 5)];
    if corpus::is_long() {
        cuts.extend((0..times.len()).step_by(3).map(|at| (at, usize::MAX)));
        cuts.extend([(1, 9), (3, 40), (0, 1), (middle, 1)]);
    }
    for (first, step) in cuts {
        let borders = times.iter().copied().skip(first).step_by(step);
        let borders: Vec<_> = borders.take(CUTS_MAX).collect();
        let rows = by_connection(&plan, &splits, 2, &borders);
        assert_same(&plan, &whole, &rows, &format!("slices at {borders:?}"));
    }
}

/// Borders of a run in this test.
const CUTS_MAX: usize = 40;

/// Where slices may begin: near every packet.
fn seconds(plan: &Plan) -> Vec<Timestamp> {
    let mut frames = Frames::default();
    flowpin_engine::packets(plan, &mut frames, &Control::default(), &()).unwrap();
    let times = frames
        .0
        .iter()
        .map(|(time, _)| Slice::border(Timestamp(*time)));
    let times: BTreeSet<_> = times.collect();
    times.into_iter().collect()
}

#[track_caller]
fn assert_same(plan: &Plan, whole: &Rows, rows: &Rows, what: &str) {
    let tables = flowpin_engine::tables(plan);
    let name = |table: usize| {
        let found = tables.iter().find(|one| one.number == table);
        found.map(|one| &one.name)
    };
    let more_than = |these: &Rows, those: &Rows| {
        let found = these
            .iter()
            .find(|(row, count)| those.get(*row) != Some(*count));
        found.map(|(row, _)| (name(row.0).cloned(), row.1.clone()))
    };
    let missing = more_than(whole, rows);
    assert!(missing.is_none(), "{what} lack {missing:?}");
    let more = more_than(rows, whole);
    assert!(more.is_none(), "{what} have {more:?}");
}
