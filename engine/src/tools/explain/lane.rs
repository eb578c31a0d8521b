//! The way of packets from the input stage to the worker, one at a time, with a look at each that
//! is explained.

use super::account::{Fate, PacketAccount, RecordText};
use super::observer::{Observer, Seen};
use super::packet::{blank, difference, packet_view};
use super::records::Texts;
use crate::RunError;
use crate::input::Lane;
use crate::run::single::SingleLane;
use crate::tools::fragments::Fragments;
use flowpin_config::{Checksums, PipelineShape, Plan};
use flowpin_dispatch::headers;
use flowpin_output::RecordBatch;
use flowpin_packet::{FragmentRef, FrameBytes, PacketFlags, PacketMeta, Piece};
use flowpin_record::{RecordType, Uid};
use std::collections::{BTreeMap, BTreeSet};

/// Who gets the accounts of packets.
pub trait ExplainSink {
    /// The next packet that is explained.
    ///
    /// # Errors
    /// The run ends with it.
    fn packet(&mut self, account: PacketAccount) -> Result<(), RunError>;
}

/// Hands packets to the worker one at a time.
pub(super) struct Watched<'k, K> {
    pub(super) inner: SingleLane<Observer>,
    pub(super) sink: &'k mut K,
    /// A connection is followed: any packet may be one of its.
    pub(super) follows: bool,
    pub(super) verifies: bool,
    pub(super) workers: Option<usize>,
    pub(super) texts: Texts,
    /// Numbers that are explained, whatever their connection. More are added: of what they lead to.
    pub(super) numbers: BTreeSet<u64>,
    /// The frame at hand, if it takes the slow path.
    pub(super) slow: Option<PacketAccount>,
    pub(super) fragment: Option<FragmentRef>,
    pub(super) fragments: Fragments,
    /// The connection of the last number that had one.
    pub(super) uid: Option<Uid>,
    /// Whether a number that was asked for waits for the other fragments of its datagram.
    pub(super) waits: bool,
    pub(super) last_number: u64,
    pub(super) explained: u64,
    pub(super) failed: Option<RunError>,
    /// Records of followed connections, by uid, that were due when a packet of one came.
    pub(super) others: Vec<(u64, RecordText)>,
    /// Records of followed packets that the input stage makes come later: their connections' uids,
    /// by number.
    pub(super) slow_numbers: BTreeMap<u64, u64>,
    /// The number of the packet that began it, by a tunnel's uid.
    tunnels: BTreeMap<u64, u64>,
    id_seed: u64,
    /// Records of the input stage, with the packets that they are about.
    pub(super) input: Vec<(u64, RecordText)>,
}

impl<'k, K: ExplainSink> Watched<'k, K> {
    pub(super) fn new(
        plan: &Plan,
        inner: SingleLane<Observer>,
        (numbers, follows): (BTreeSet<u64>, bool),
        sink: &'k mut K,
    ) -> Self {
        let workers = match plan.pipeline {
            PipelineShape::Auto | PipelineShape::Single => None,
            PipelineShape::Turns(count)
            | PipelineShape::InputAndWorkers(count)
            | PipelineShape::InputWorkersOutput(count) => Some(usize::from(count).max(1)),
        };
        Self {
            inner,
            sink,
            follows,
            verifies: plan.checksums == Checksums::All,
            workers,
            texts: Texts::new(plan),
            numbers,
            slow: None,
            fragment: None,
            fragments: Fragments::default(),
            uid: None,
            waits: false,
            last_number: 0,
            explained: 0,
            failed: None,
            others: Vec::new(),
            slow_numbers: BTreeMap::new(),
            tunnels: BTreeMap::new(),
            id_seed: plan.id_seed,
            input: Vec::new(),
        }
    }

    /// Handles the packet in the slot. `datagram`: its bytes, if it was made of fragments.
    pub(super) fn pass(&mut self, piece: &Piece, datagram: Option<&[u8]>) {
        let meta = *self.inner.slot();
        self.see_tunnels(&meta, piece, datagram);
        self.last_number = self.last_number.max(meta.number);
        let is_asked = self.numbers.contains(&meta.number);
        let looks = is_asked || self.follows;
        let before = looks.then(|| self.inner.worker.losses());
        self.inner.worker.stages().begin_packet(is_asked);
        match datagram {
            Some(datagram) => self.inner.commit_datagram(piece, datagram),
            None => self.inner.commit(piece),
        }
        self.inner.finish_piece(piece);
        let seen = self.inner.worker.stages().end_packet();
        let slow = self.slow.take();
        if !is_asked && seen.is_none() {
            return;
        }
        let frames = FrameBytes {
            piece: piece.bytes.get(..piece.len).unwrap_or_default(),
            extra: &[],
        };
        let frame = datagram.unwrap_or_else(|| frames.frame(&meta));
        let mut account = self.account(&meta, frame, slow);
        self.add_seen(&mut account, seen);
        if let Some(before) = before {
            account.losses = difference(&before, &self.inner.worker.losses());
        }
        self.deliver(account);
    }

    fn see_tunnels(&mut self, meta: &PacketMeta, piece: &Piece, datagram: Option<&[u8]>) {
        let frames = FrameBytes {
            piece: piece.bytes.get(..piece.len).unwrap_or_default(),
            extra: &[],
        };
        let frame = datagram.unwrap_or_else(|| frames.frame(meta));
        flowpin_dispatch::tunnels(meta, frame, |layer| {
            let uid = flowpin_dispatch::tunnel_uid(self.id_seed, &layer).0;
            self.tunnels.entry(uid).or_insert(meta.number);
        });
    }

    /// Keeps records of the input stage, each with the number of the packet that it is about: of a
    /// tunnel, its first.
    pub(super) fn keep_input(&mut self, batch: &RecordBatch) {
        for line in batch.lines() {
            let number = match line.record_type {
                RecordType::Tunnel => self.tunnels.remove(&line.uid),
                _ => Some(line.key.number),
            };
            let text = self.texts.of(&line);
            self.input.extend(number.map(|number| (number, text)));
        }
    }

    /// The account of a packet, as far as the input stage knows.
    fn account(
        &self,
        meta: &PacketMeta,
        frame: &[u8],
        slow: Option<PacketAccount>,
    ) -> PacketAccount {
        let mut account = slow.unwrap_or_else(|| blank(meta.number));
        (account.time, account.stream_time) = (meta.time, meta.stream_time);
        (account.link, account.wire_len) = (meta.link, meta.wire_len);
        account.captured_len = meta.captured_len;
        let own = headers(
            frame,
            flowpin_dispatch::Seen {
                link: meta.link,
                wire_len: meta.wire_len,
                again: meta.flags.has(PacketFlags::REASSEMBLED),
                verify: self.verifies,
            },
        );
        let of_frame = core::mem::replace(&mut account.headers, own);
        let is_whole = meta.flags.has(PacketFlags::REASSEMBLED);
        account.fragment_headers = is_whole.then_some(of_frame);
        account.fates.push(Fate::Packet);
        account.packet = Some(packet_view(meta, frame, (self.verifies, self.workers)));
        account
    }

    fn add_seen(&mut self, account: &mut PacketAccount, seen: Option<Seen>) {
        let Some(seen) = seen else {
            account.fates.push(Fate::Unplaced);
            return;
        };
        if self.numbers.contains(&account.number) {
            self.uid = Some(seen.uid);
        }
        account.connection = seen.connection;
        account.streams = seen.streams;
        account.scans = seen.scans;
        account.inspect = seen.inspect;
        account.ended = core::mem::take(&mut self.inner.worker.stages().ended);
    }

    fn deliver(&mut self, mut account: PacketAccount) {
        let batch = self.inner.worker.take_records();
        let uid = account.connection.map(|view| view.after.uid.0);
        for line in batch.lines() {
            if line.key.number == account.number {
                account.records.push(self.texts.of(&line));
            } else if line.record_type != RecordType::Anomaly
                && self
                    .inner
                    .worker
                    .stages()
                    .connections
                    .contains_key(&line.uid)
            {
                self.others.push((line.uid, self.texts.of(&line)));
            }
        }
        self.inner.worker.recycle(batch);
        let is_asked = self.numbers.is_empty() || self.numbers.contains(&account.number);
        let known = uid.and_then(|uid| self.inner.worker.stages().connections.get_mut(&uid));
        if let Some(known) = known {
            known.packets += 1;
            known.later.observe(&account, is_asked);
        }
        if account.slow_path.is_some()
            && let Some(uid) = uid
        {
            self.slow_numbers.insert(account.number, uid);
        }
        self.explained += 1;
        if self.failed.is_none() && is_asked {
            self.failed = self.sink.packet(account).err();
        }
    }

    /// The frame at hand goes no further.
    pub(super) fn end_frame(&mut self) {
        self.fragment = None;
        if let Some(account) = self.slow.take()
            && self.numbers.contains(&account.number)
        {
            self.deliver(account);
        }
    }

    pub(super) fn fate(&mut self, fate: Fate) {
        if let Some(account) = &mut self.slow {
            account.fates.push(fate);
        }
    }

    /// A datagram is whole.
    pub(super) fn complete(&mut self, numbers: Option<Vec<u64>>) {
        let Some(numbers) = numbers else {
            return;
        };
        if let Some(&last) = numbers.last()
            && numbers.iter().any(|number| self.numbers.contains(number))
        {
            self.numbers.insert(last);
            self.waits = false;
        }
        self.fate(Fate::FragmentCompletes { numbers });
    }
}
