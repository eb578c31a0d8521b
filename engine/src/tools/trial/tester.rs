//! What watches the connection table: shows first bytes to all patterns, and sums up.

use super::attempt::Attempt;
use super::{Found, PatternsReport};
use crate::run::stage_options;
use crate::worker::stages::{AllStages, Stages};
use flowpin_config::Plan;
use flowpin_flow::{Event, FlowObserver, Sighting, Table};
use flowpin_packet::{FrameBytes, PacketFlags, PacketKind, PacketMeta, SHARD_COUNT, TunnelKind};
use flowpin_pattern::Automaton;
use flowpin_reassembly::{Closed, Reassembler, Span, StreamConsumer};
use flowpin_record::{ConnRecord, RecordKey, RecordSink, Uid};
use std::collections::HashMap;
use std::io;

/// Connections that are tried at the same time.
const ATTEMPTS_MAX: usize = 1 << 16;

/// Matches that are told of each pattern.
const FOUND_MAX: usize = 10;

/// All stages of a run, and the patterns beside them.
pub(super) struct Tester<'r> {
    all: AllStages,
    reassembler: Reassembler,
    trial: Trial<'r>,
}

struct Trial<'r> {
    automata: Vec<Automaton>,
    /// By handle.
    attempts: HashMap<u32, Attempt>,
    report: &'r mut PatternsReport,
}

impl<'r> Tester<'r> {
    pub(super) fn new(
        plan: &Plan,
        all: AllStages,
        automata: Vec<Automaton>,
        report: &'r mut PatternsReport,
        connections_max: u32,
    ) -> io::Result<Self> {
        let shards = u32::try_from(SHARD_COUNT).unwrap_or(u32::MAX);
        Ok(Self {
            all,
            reassembler: Reassembler::new(
                &stage_options::reassembly(plan),
                shards,
                connections_max,
            )?,
            trial: Trial {
                automata,
                attempts: HashMap::new(),
                report,
            },
        })
    }
}

impl Trial<'_> {
    /// The attempt on a connection that says something; none if there is no memory for it.
    fn attempt(&mut self, handle: u32) -> Option<(&mut Attempt, &[Automaton])> {
        if !self.attempts.contains_key(&handle) {
            self.report.connections += 1;
            if self.attempts.len() >= ATTEMPTS_MAX {
                self.report.untried += 1;
                return None;
            }
            self.attempts.insert(handle, Attempt::new(&self.automata));
        }
        Some((self.attempts.get_mut(&handle)?, &self.automata))
    }

    fn datagram(&mut self, sighting: &Sighting<'_>) {
        let bytes = sighting.frames.payload(sighting.meta);
        if bytes.is_empty() || sighting.meta.flags.has(PacketFlags::BAD_CHECKSUM) {
            return;
        }
        if let Some((attempt, automata)) = self.attempt(sighting.handle) {
            attempt.datagram(automata, sighting.to_server, bytes);
        }
    }

    fn side_over(&mut self, at: Span) {
        if let Some(attempt) = self.attempts.get_mut(&at.handle) {
            attempt.side_over(&self.automata, at.to_server);
        }
    }

    fn ended(&mut self, handle: u32, record: &ConnRecord) {
        let Some(attempt) = self.attempts.remove(&handle) else {
            return;
        };
        for (pattern, &read) in self.report.patterns.iter_mut().zip(&attempt.read) {
            pattern.attempts += 1;
            pattern.bytes_read += u64::from(read);
        }
        for hit in &attempt.hits {
            let Some(pattern) = self.report.patterns.get_mut(hit.pattern) else {
                continue;
            };
            pattern.matched += 1;
            if let Some(app) = &record.app {
                *pattern.decided.entry(app.name).or_default() += 1;
            }
            if pattern.found.len() < FOUND_MAX {
                pattern.found.push(Found {
                    record: *record,
                    to_server: hit.to_server,
                    bytes: hit.bytes as u64,
                    datagram: hit.datagram,
                    at_end: hit.at_end,
                });
            }
        }
    }
}

impl StreamConsumer for Trial<'_> {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        if let Some((attempt, automata)) = self.attempt(at.handle) {
            attempt.stream(automata, at.to_server, bytes);
        }
    }

    fn gap(&mut self, at: Span, _: u64) {
        self.side_over(at);
    }

    fn closed(&mut self, at: Span, _: Closed) {
        self.side_over(at);
    }
}

impl Stages for Tester<'_> {}

impl FlowObserver for Tester<'_> {
    fn ignores(&mut self, frames: &FrameBytes<'_>, meta: &PacketMeta, place: (u32, bool)) -> bool {
        self.all.ignores(frames, meta, place)
    }

    fn reopened(&mut self) -> Option<bool> {
        self.all.reopened()
    }

    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        self.all.packet(sighting, sink);
        match sighting.meta.kind {
            PacketKind::Tcp => self.reassembler.segment(
                &sighting.frames,
                sighting.meta,
                sighting.handle,
                sighting.to_server,
                sighting.event == Event::New,
                &mut self.trial,
            ),
            PacketKind::Udp | PacketKind::Sctp => self.trial.datagram(sighting),
            _ => {}
        }
    }

    fn settle<S: RecordSink>(&mut self, table: &Table, frames: &FrameBytes<'_>, sink: &mut S) {
        self.all.settle(table, frames, sink);
    }

    fn ended<S: RecordSink>(
        &mut self,
        handle: u32,
        record: &mut ConnRecord,
        key: RecordKey,
        sink: &mut S,
    ) {
        self.all.ended(handle, record, key, sink);
        if record.protocol == TCP {
            self.reassembler.end(handle, &mut self.trial);
        }
        self.trial.ended(handle, record);
    }

    fn vlans(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> [u16; 2] {
        self.all.vlans(frames, meta)
    }

    fn tunnel(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) -> Option<(TunnelKind, Uid)> {
        self.all.tunnel(frames, meta)
    }
}

const TCP: u8 = 6;
