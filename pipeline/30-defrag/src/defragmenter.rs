//! The defragmenter: fragments in, whole datagrams out.

use crate::assemble::Ready;
use crate::block::{BLOCK_COST, Blocks, NONE};
use crate::overlap::OverlapPolicy;
use crate::partial::{GivenUp, Key, end_of};
use crate::stats::{DefragStats, add};
use crate::table::{SLOT_COST, Table};
use flowpin_counters::Loss;
use flowpin_packet::{FragmentRef, Layer, Malformed, Reason, Timestamp, bad};

/// Caps, time-outs and policies.
#[derive(Clone, Copy, Debug)]
pub struct DefragOptions {
    /// Memory for fragments that wait.
    pub memory_bytes: u64,
    /// Datagrams under way at once.
    pub datagrams_max: usize,
    /// Fragments of one datagram.
    pub fragments_max: u16,
    /// How long, in stream time, an IPv4 datagram may take from its first fragment on.
    pub ipv4_timeout_ns: u64,
    /// As above for IPv6 (RFC 8200 §4.5: 60 s).
    pub ipv6_timeout_ns: u64,
    /// What is done where IPv4 fragments overlap.
    pub ipv4_overlap: OverlapPolicy,
    /// What is done where IPv6 fragments overlap.
    pub ipv6_overlap: OverlapPolicy,
    /// Keys the table's hash. No result depends on it.
    pub secret: u64,
}

impl Default for DefragOptions {
    /// 32 MiB; 30 s and 60 s, as Linux has it.
    fn default() -> Self {
        Self {
            memory_bytes: 32 << 20,
            datagrams_max: 1 << 16,
            // Over the smallest common path (256 bytes, radio links) the greatest datagram needs
            // 283; 8,192 would be the number of units.
            fragments_max: 1024,
            ipv4_timeout_ns: 30_000_000_000,
            ipv6_timeout_ns: 60_000_000_000,
            ipv4_overlap: OverlapPolicy::First,
            ipv6_overlap: OverlapPolicy::Refuse,
            secret: 0,
        }
    }
}

/// What became of a fragment.
#[must_use = "a complete datagram must be assembled, a lone fragment dispatched"]
#[derive(Debug)]
pub enum Inserted {
    /// It waits for the others.
    Held,
    /// It was the last one missing: see [`Defragmenter::assemble`].
    Complete(Ready),
    /// It cannot wait, because a cap is reached: it goes on by its addresses.
    Lone,
    /// It is not to be believed.
    Refused(Malformed),
}

/// Reassembles IPv4 and IPv6 datagrams.
///
/// ```
/// use flowpin_defrag::{DefragOptions, Defragmenter, Inserted};
/// use flowpin_packet::FragmentRef;
/// // Two fragments of one datagram, as dispatch describes them; their headers are the same here.
/// let mut bytes = [0; 20 + 8];
/// bytes[0] = 0x45;
/// let first = FragmentRef {
///     payload_start: 20,
///     unfragmentable_len: 20,
///     captured_len: 8,
///     payload_len: 8,
///     more: true,
///     ..FragmentRef::default()
/// };
/// let last = FragmentRef { offset: 8, more: false, ..first };
/// let mut defragmenter = Defragmenter::new(DefragOptions::default());
/// assert!(matches!(defragmenter.insert(&bytes, &last), Inserted::Held));
/// let Inserted::Complete(ready) = defragmenter.insert(&bytes, &first) else { panic!() };
/// let mut extra = Vec::new();
/// let datagram = defragmenter.assemble(ready, &bytes, &first, &mut extra);
/// assert_eq!((datagram.len, extra.len()), (36, 36));
/// ```
#[derive(Debug)]
pub struct Defragmenter {
    pub(crate) options: DefragOptions,
    pub(crate) table: Table,
    pub(crate) blocks: Blocks,
    pub(crate) stats: DefragStats,
    /// What the slots and blocks in use cost.
    memory: u64,
}

impl Defragmenter {
    /// A defragmenter that has seen nothing.
    pub fn new(options: DefragOptions) -> Self {
        // An owner's number must fit into 16 bits, 0 excepted.
        let fragments_max = options.fragments_max.clamp(1, u16::MAX.wrapping_sub(1));
        let datagrams_max = options.datagrams_max.max(1);
        Self {
            options: DefragOptions {
                fragments_max,
                datagrams_max,
                ..options
            },
            table: Table::new(datagrams_max, options.secret),
            blocks: Blocks::default(),
            stats: DefragStats::default(),
            memory: 0,
        }
    }

    /// Takes a fragment; `bytes` are those that it was found in.
    pub fn insert(&mut self, bytes: &[u8], fragment: &FragmentRef) -> Inserted {
        add(&mut self.stats.received, 1);
        self.expire(fragment.stream_time);
        if let Err(refused) = validate(fragment) {
            add(&mut self.stats.refused, 1);
            return Inserted::Refused(refused);
        }
        let key = key_of(bytes, fragment);
        let number = match self.table.find(&key) {
            Some(number) => number,
            None => self.start(key, fragment.stream_time),
        };
        let Some(partial) = self.table.get(number) else {
            return self.go_alone();
        };
        match partial.given_up {
            Some(GivenUp::Capped) => return self.go_alone(),
            Some(GivenUp::Overlapped) => return self.overlap(),
            None => {}
        }
        if partial.count() >= u64::from(self.options.fragments_max) {
            self.give_up(number, GivenUp::Capped, Loss::FragmentCount);
            return self.go_alone();
        }
        let payload = slice(
            bytes,
            fragment.payload_start,
            usize::from(fragment.captured_len),
        );
        let policy = self.policy(fragment.ipv6);
        if partial.conflicts(fragment, payload, policy, &self.blocks) {
            if policy.refuses() {
                self.give_up(number, GivenUp::Overlapped, Loss::FragmentOverlap);
            }
            return self.overlap();
        }
        let cost = BLOCK_COST.saturating_mul(partial.blocks_missing(fragment) as u64);
        if !self.make_room(cost, number) {
            self.give_up(number, GivenUp::Capped, Loss::FragmentMemory);
            return self.go_alone();
        }
        add(&mut self.memory, cost);
        self.add(number, bytes, payload, fragment)
    }

    /// Gives up what has waited too long. `insert` does so as well; this is for ticks.
    pub fn expire(&mut self, now: Timestamp) {
        for ipv6 in [false, true] {
            while let Some(number) = self.table.expired(ipv6, now) {
                self.remove(number, Loss::FragmentTimeout);
            }
        }
    }

    /// What became of the fragments so far.
    pub const fn stats(&self) -> &DefragStats {
        &self.stats
    }

    /// Memory in use by fragments that wait, as it counts against the cap.
    pub const fn memory_bytes(&self) -> u64 {
        self.memory
    }

    /// Adds a fragment for which there is room.
    fn add(
        &mut self,
        number: u32,
        bytes: &[u8],
        payload: &[u8],
        fragment: &FragmentRef,
    ) -> Inserted {
        let policy = self.policy(fragment.ipv6);
        let Some(partial) = self.table.get_mut(number) else {
            return self.go_alone();
        };
        partial.add(fragment, payload, policy, &mut self.blocks);
        let header_len = usize::from(fragment.unfragmentable_len);
        partial.keep_header(fragment, slice(bytes, fragment.header_start, header_len));
        add(&mut self.stats.held, 1);
        if !partial.is_complete() {
            return Inserted::Held;
        }
        // The header may be longer than that of the fragment which set the length.
        let len = partial.len.unwrap_or(0);
        if len.saturating_add(u32::from(partial.header.len)) > DATAGRAM_LEN_MAX {
            let count = partial.count();
            self.remove_counted(number);
            add(&mut self.stats.refused, count);
            return Inserted::Refused(bad(Layer::Fragment, Reason::TooLong, 0));
        }
        let count = partial.count();
        self.stats.held = self.stats.held.saturating_sub(count);
        add(&mut self.stats.absorbed, count);
        add(&mut self.stats.datagrams, 1);
        self.table.unlink(number);
        Inserted::Complete(Ready::new(number))
    }

    /// Starts a datagram; if there are too many, the oldest goes.
    fn start(&mut self, key: Key, now: Timestamp) -> u32 {
        if self.table.len() >= self.options.datagrams_max
            && let Some(oldest) = self.table.oldest_but(NONE)
        {
            self.remove(oldest, Loss::FragmentMemory);
        }
        self.make_room(SLOT_COST, NONE);
        let timeout_ns = if key.ipv6 {
            self.options.ipv6_timeout_ns
        } else {
            self.options.ipv4_timeout_ns
        };
        add(&mut self.memory, SLOT_COST);
        self.table.insert(key, now.plus_nanos(timeout_ns))
    }

    /// Gives up the oldest datagrams but `spared` until `cost` more bytes fit; whether they do.
    fn make_room(&mut self, cost: u64, spared: u32) -> bool {
        while self.memory.saturating_add(cost) > self.options.memory_bytes {
            match self.table.oldest_but(spared) {
                Some(oldest) => self.remove(oldest, Loss::FragmentMemory),
                None => return false,
            }
        }
        true
    }

    /// Forgets a datagram; its fragments are lost.
    fn remove(&mut self, number: u32, loss: Loss) {
        let count = self.remove_counted(number);
        self.stats.losses.count(loss, count);
    }

    /// Forgets a datagram and returns how many fragments it had.
    fn remove_counted(&mut self, number: u32) -> u64 {
        self.table.unlink(number);
        let count = self.table.get(number).map_or(0, |partial| partial.count());
        self.stats.held = self.stats.held.saturating_sub(count);
        self.release(number);
        count
    }

    /// Loses a datagram's fragments but remembers its key until it would have timed out, so that
    /// the rest of it does not start over.
    fn give_up(&mut self, number: u32, why: GivenUp, loss: Loss) {
        self.free_blocks(number);
        let Some(partial) = self.table.get_mut(number) else {
            return;
        };
        let (key, deadline, count) = (partial.key, partial.deadline, partial.count());
        partial.reset(key, deadline);
        partial.given_up = Some(why);
        self.stats.held = self.stats.held.saturating_sub(count);
        self.stats.losses.count(loss, count);
    }

    /// Frees the slot and the blocks of a datagram that is linked nowhere.
    pub(crate) fn release(&mut self, number: u32) {
        self.free_blocks(number);
        self.table.give_back(number);
        self.memory = self.memory.saturating_sub(SLOT_COST);
    }

    fn free_blocks(&mut self, number: u32) {
        let Some(partial) = self.table.get_mut(number) else {
            return;
        };
        for block in &mut partial.blocks {
            if *block != NONE {
                self.blocks.give_back(*block);
                self.memory = self.memory.saturating_sub(BLOCK_COST);
                *block = NONE;
            }
        }
    }

    fn go_alone(&mut self) -> Inserted {
        add(&mut self.stats.lone, 1);
        Inserted::Lone
    }

    fn overlap(&mut self) -> Inserted {
        self.stats.losses.count(Loss::FragmentOverlap, 1);
        Inserted::Refused(bad(Layer::Fragment, Reason::Overlap, 0))
    }

    const fn policy(&self, ipv6: bool) -> OverlapPolicy {
        if ipv6 {
            self.options.ipv6_overlap
        } else {
            self.options.ipv4_overlap
        }
    }
}

/// Checks what a fragment claims by itself.
fn validate(fragment: &FragmentRef) -> Result<(), Malformed> {
    if fragment.payload_len == 0 {
        return Err(bad(Layer::Fragment, Reason::LengthTooSmall, 0));
    }
    // RFC 791 §3.1, RFC 8200 §4.5: all but the last are multiples of 8 long.
    if fragment.more && !fragment.payload_len.is_multiple_of(8) {
        return Err(bad(Layer::Fragment, Reason::IllegalValue, 0));
    }
    // "Ping of death". RFC 8200 §4.5: the payload length must not exceed 65,535.
    let header_len = u32::from(fragment.unfragmentable_len);
    let counted = if fragment.ipv6 {
        header_len.saturating_sub(40)
    } else {
        header_len
    };
    if counted.saturating_add(end_of(fragment)) > DATAGRAM_LEN_MAX {
        return Err(bad(Layer::Fragment, Reason::TooLong, 0));
    }
    Ok(())
}

fn key_of(bytes: &[u8], fragment: &FragmentRef) -> Key {
    let header = bytes
        .get(fragment.header_start as usize..)
        .unwrap_or_default();
    let (source, destination) = if fragment.ipv6 {
        (
            u128::from_be_bytes(at(header, 8)),
            u128::from_be_bytes(at(header, 24)),
        )
    } else {
        let (source, destination) = (at(header, 12), at(header, 16));
        (
            u128::from(u32::from_be_bytes(source)),
            u128::from(u32::from_be_bytes(destination)),
        )
    };
    let protocol = if fragment.ipv6 { 0 } else { fragment.protocol };
    Key {
        source,
        destination,
        id: fragment.id,
        protocol,
        ipv6: fragment.ipv6,
    }
}

fn at<const N: usize>(bytes: &[u8], offset: usize) -> [u8; N] {
    bytes
        .get(offset..)
        .and_then(|rest| rest.first_chunk())
        .copied()
        .unwrap_or([0; N])
}

/// `len` bytes from `start`, or those that are there.
pub(crate) fn slice(bytes: &[u8], start: u32, len: usize) -> &[u8] {
    let rest = bytes.get(start as usize..).unwrap_or_default();
    rest.get(..len).unwrap_or(rest)
}

/// Greatest length of an IPv4 packet, and of an IPv6 packet's payload.
const DATAGRAM_LEN_MAX: u32 = 65_535;
