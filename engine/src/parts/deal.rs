//! The second pass over a split: each packet goes to the part that has its connection.

use super::frames::{Limits, Seen, bytes_of, dispatcher, each};
use super::{Begun, Bytes, Division, Slice, source};
use crate::input::gate::{HostPair, is_between};
use crate::input::tunnels::SWEEP_NS;
use crate::input::{gate, is_noteworthy};
use crate::{Control, RunError};
use flowpin_capture::add_to_share;
use flowpin_config::Plan;
use flowpin_dispatch::{Clock, Dispatched, Dispatcher};
use flowpin_packet::{FrameBytes, PacketMeta};
use std::collections::BTreeSet;

/// What was found out about a split.
#[derive(Clone, Copy, Debug)]
pub struct Deal {
    /// Packets before it.
    pub packets_before: u64,
    /// What it begins with.
    pub begun: Begun,
}

/// Packets for one part, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The part.
    pub part: u16,
    /// The number of its first packet: shares of a part are in the order of these.
    pub number: u64,
    /// The packets.
    pub bytes: Vec<u8>,
}

/// Deals those packets of a split out that lie in the slice: `give` gets the shares.
///
/// # Errors
/// As [`crate::run`], and those of `give`.
pub fn deal(
    plan: &Plan,
    bytes: Bytes,
    split: &Deal,
    (division, slice): (&Division, &Slice),
    control: &Control,
    give: &mut dyn FnMut(Share) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let mut source = source(plan, bytes, control)?;
    let Begun {
        clock,
        next,
        packets,
    } = split.begun;
    let mut clock = Clock::of_words(plan.clock_leap_max_ns, clock);
    let mut dealer = Dealer::new(plan, division, give);
    let limits = Limits { packets, next };
    each(&mut source, &mut clock, limits, control, |seen| {
        if !slice.has(seen.now) {
            return Ok(());
        }
        let number = split.packets_before + seen.number;
        dealer.deal(&Seen { number, ..*seen })
    })?;
    dealer.finish()
}

struct Dealer<'a> {
    dispatcher: Dispatcher,
    slot: PacketMeta,
    parts: usize,
    hosts: BTreeSet<HostPair>,
    of_input: usize,
    of_hosts: usize,
    /// The interval of sweeps that the last packet was in.
    interval: Option<u64>,
    /// By part: number of the first packet, and the packets.
    shares: Vec<(u64, Vec<u8>)>,
    give: &'a mut dyn FnMut(Share) -> Result<(), RunError>,
}

impl<'a> Dealer<'a> {
    fn new(
        plan: &Plan,
        division: &Division,
        give: &'a mut dyn FnMut(Share) -> Result<(), RunError>,
    ) -> Self {
        let hosts = division.hosts.iter();
        Self {
            dispatcher: dispatcher(plan),
            slot: PacketMeta::default(),
            parts: usize::from(division.count()),
            hosts: hosts
                .map(|&(one, other)| gate::in_order(one, other))
                .collect(),
            of_input: usize::from(division.of_input()),
            of_hosts: usize::from(division.of_hosts()),
            interval: None,
            shares: vec![(0, Vec::new()); usize::from(division.all())],
            give,
        }
    }

    fn deal(&mut self, seen: &Seen<'_>) -> Result<(), RunError> {
        let &Seen {
            piece,
            frame,
            number,
            now,
            ..
        } = seen;
        let interval = now.0 / SWEEP_NS;
        // The input's part looks for idle tunnels before the first packet of each interval.
        let mut is_odd = self.interval.replace(interval) != Some(interval);
        let (dispatcher, slot) = (&mut self.dispatcher, &mut self.slot);
        let is_plain = dispatcher.dispatch_fast::<true>(piece, &frame, number, now, slot);
        let what = if is_plain {
            Dispatched::Packet
        } else {
            dispatcher.dispatch_slow(piece, frame, number, now, slot)
        };
        match what {
            Dispatched::Packet => {
                is_odd |= !is_plain && is_noteworthy(piece, &self.slot);
                self.add(self.part_of_slot(piece), seen)?;
            }
            Dispatched::Fragment(_) => {
                is_odd = true;
                (0..self.parts).try_for_each(|part| self.add(part, seen))?;
                if !self.hosts.is_empty() {
                    self.add(self.of_hosts, seen)?;
                }
            }
            Dispatched::Malformed(_) => is_odd = true,
            Dispatched::NonIp | Dispatched::Headless | Dispatched::UnsupportedLink => {}
        }
        if is_odd {
            self.add(self.of_input, seen)?;
        }
        Ok(())
    }

    /// The part that has the packet in the slot.
    fn part_of_slot(&self, piece: &[u8]) -> usize {
        let frames = FrameBytes { piece, extra: &[] };
        if is_between(&self.hosts, &self.slot, frames.frame(&self.slot)) {
            return self.of_hosts;
        }
        usize::from(self.slot.shard().0) % self.parts
    }

    fn add(&mut self, part: usize, seen: &Seen<'_>) -> Result<(), RunError> {
        let Some((first, bytes)) = self.shares.get_mut(part) else {
            return Ok(());
        };
        if bytes.is_empty() {
            *first = seen.number;
        }
        let frame = bytes_of(seen.piece, &seen.frame);
        let at = (seen.number, seen.now);
        add_to_share(bytes, at, &seen.frame, frame, seen.names);
        if bytes.len() < SHARE_LEN {
            return Ok(());
        }
        self.hand_over(part)
    }

    fn hand_over(&mut self, part: usize) -> Result<(), RunError> {
        let share = self.shares.get_mut(part);
        let Some((number, bytes)) = share.filter(|(_, bytes)| !bytes.is_empty()) else {
            return Ok(());
        };
        (self.give)(Share {
            part: u16::try_from(part).unwrap_or(u16::MAX),
            number: *number,
            bytes: core::mem::take(bytes),
        })
    }

    fn finish(&mut self) -> Result<(), RunError> {
        (0..self.shares.len()).try_for_each(|part| self.hand_over(part))
    }
}

/// A share has about so many bytes at most.
const SHARE_LEN: usize = 128 << 10;
