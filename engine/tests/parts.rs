//! A run in parts has the records of one run: for any cuts, and any number of parts.

#![allow(clippy::unwrap_used, reason = "a test may stop here")]

use arrow_array::RecordBatch;
use flowpin_config::Input;
use flowpin_engine::parts::{
    self, Deal, Division, Note, Part, PartNote, Share, Survey, Whole, deal, join, survey,
};
use flowpin_engine::{
    BatchSink, CapturedPacket, Clock, Control, PacketSink, Plan, RunError, Splitter,
};
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

/// The records of all parts, and pairs of hosts whose connections belong together.
fn in_parts(plan: &Plan, splits: &[Vec<u8>], division: &Division) -> (Rows, BTreeSet<Pair>) {
    let (known, whole) = settled(plan, splits);
    let control = Control::default();
    let mut shares: Vec<Share> = Vec::new();
    for (split, known) in splits.iter().zip(&known) {
        let bytes = Some(("split".to_owned(), split.clone()));
        let mut give = |share| {
            shares.push(share);
            Ok(())
        };
        deal(plan, bytes, known, division, &control, &mut give).unwrap();
    }
    shares.sort_by_key(|share| share.number);
    let sink = Sink::default();
    let said: Arc<Mutex<Said>> = Arc::default();
    for number in 0..division.all() {
        let own = shares.iter().filter(|share| share.part == number);
        let own: Vec<_> = own.map(|share| share.bytes.clone()).collect();
        let mut own = own.into_iter();
        let part = Part {
            division,
            number,
            whole,
        };
        let said = Arc::clone(&said);
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
        let report = parts::run_part(plan, part, shares, boxed, notes, &control, &()).unwrap();
        let misdirected = report
            .losses
            .iter()
            .find(|(loss, _)| loss.name() == "packets_misdirected");
        assert_eq!(misdirected.map_or(0, |(_, count)| count), 0);
    }
    let (mut notes, hosts) = core::mem::take(&mut *said.lock().unwrap());
    notes.sort_by_key(|(part, note)| (note.upto, *part));
    let mut notes = notes.into_iter();
    let mut next = || -> Result<_, RunError> { Ok(notes.next()) };
    let boxed = Box::new(sink.clone());
    join(plan, division.all(), whole, &mut next, boxed, &control).unwrap();
    let rows = core::mem::take(&mut *sink.0.lock().unwrap());
    (rows, hosts)
}

type Pair = (IpAddr, IpAddr);
/// What parts have said: notes by part, and pairs of hosts.
type Said = (Vec<(u16, Note)>, BTreeSet<Pair>);

/// All rows as they would be in one run.
fn by_connection(plan: &Plan, splits: &[Vec<u8>], parts: u16) -> Rows {
    let mut division = Division {
        parts,
        hosts: Vec::new(),
    };
    loop {
        let (rows, hosts) = in_parts(plan, splits, &division);
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

#[test]
fn parts_together_have_the_records_of_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.pcap");
    let capture = everything();
    std::fs::write(&path, &capture).unwrap();
    let plan = Plan {
        inputs: vec![Input::File(path)],
        ..Plan::default()
    };
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
        let rows = by_connection(&plan, &splits, parts);
        let name = |table: usize| {
            tables
                .iter()
                .find(|one| one.number == table)
                .map(|one| &one.name)
        };
        let missing = whole
            .iter()
            .find(|(row, count)| rows.get(*row) != Some(*count));
        assert!(
            missing.is_none(),
            "{parts} parts lack {:?}",
            missing.map(|(row, _)| (name(row.0), row))
        );
        let more = rows
            .iter()
            .find(|(row, count)| whole.get(*row) != Some(*count));
        assert!(
            more.is_none(),
            "{parts} parts have {:?}",
            more.map(|(row, _)| (name(row.0), row))
        );
    }
}
