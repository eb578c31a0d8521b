//! The defragmenter: fragments in, whole datagrams out.

use crate::assemble::Ready;
use crate::check::{self, DATAGRAM_LEN_MAX};
use crate::stats::{DefragStats, add};
use crate::store::Part;
use crate::store::refuses;
use crate::store::{BLOCK_COST, BODY_COST, Key, Lies, NONE, Need, Nook, Store, blocks_of};
use crate::{DefragOptions, Oddities};
use flowpin_config::FragmentOverlap;
use flowpin_counters::Loss;
use flowpin_packet::{FragmentRef, Layer, Malformed, PacketFlags, Reason, Timestamp, bad};

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
/// assert!(matches!(defragmenter.insert(&bytes, &last, 0), Inserted::Held));
/// let Inserted::Complete(ready) = defragmenter.insert(&bytes, &first, 0) else { panic!() };
/// let mut extra = Vec::new();
/// let datagram = defragmenter.assemble(ready, &bytes, &first, &mut extra);
/// assert_eq!((datagram.len, extra.len()), (36, 36));
/// ```
#[derive(Debug)]
pub struct Defragmenter {
    pub(crate) options: DefragOptions,
    pub(crate) store: Store,
    pub(crate) stats: DefragStats,
    pub(crate) odd: Oddities,
}

impl Defragmenter {
    /// A defragmenter that has seen nothing.
    pub fn new(options: DefragOptions) -> Self {
        // An owner's number must fit into 16 bits, 0 excepted.
        let fragments_max = options.fragments_max.clamp(1, u16::MAX.wrapping_sub(1));
        let store = Store::new(options.secret);
        Self {
            options: DefragOptions {
                fragments_max,
                ..options
            },
            store,
            stats: DefragStats::default(),
            odd: Oddities::default(),
        }
    }

    /// Takes a fragment; `bytes` are those that it was found in. Fragments of different `context`
    /// never belong together: 0, or a number for the VLAN or tunnel that they came in.
    pub fn insert(&mut self, bytes: &[u8], fragment: &FragmentRef, context: u32) -> Inserted {
        add(&mut self.stats.received, 1);
        self.odd = Oddities::default();
        self.expire(fragment.stream_time);
        let mut part = Part::new(bytes, fragment);
        let key = Key::new(bytes, fragment, context);
        let policy = self.policy(&key);
        if let Err(refused) = self.check(fragment, &mut part, policy) {
            if refuses(policy) && check::is_empty(fragment, &part) {
                self.discard(&key);
            }
            add(&mut self.stats.refused, 1);
            return Inserted::Refused(refused);
        }
        match self.store.find(&key) {
            Some(number) => self.join(number, &part, policy),
            None => self.start(key, &part, fragment, policy),
        }
    }

    /// What was odd about the fragment that was inserted last and not refused.
    pub const fn oddities(&self) -> Oddities {
        self.odd
    }

    /// Gives up what has waited too long. `insert` does so as well; this is for ticks.
    pub fn expire(&mut self, now: Timestamp) {
        for ipv6 in [false, true] {
            while let Some(number) = self.store.expired(ipv6, now) {
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
        self.store.used()
    }

    /// Memory that is allocated: what is in use, and what waits to be used again. Never more than
    /// the cap.
    pub const fn allocated_bytes(&self) -> u64 {
        self.store.allocated()
    }

    fn policy(&self, key: &Key) -> FragmentOverlap {
        let [high, low] = key.destination;
        if key.ipv6 {
            let address = u128::from(high) << 64 | u128::from(low);
            self.options.overlap.of_ipv6(address)
        } else {
            let address = u32::try_from(low).unwrap_or(0);
            self.options.overlap.of_ipv4(address)
        }
    }

    /// Checks a fragment by itself.
    fn check(
        &mut self,
        fragment: &FragmentRef,
        part: &mut Part<'_>,
        policy: FragmentOverlap,
    ) -> Result<(), Malformed> {
        check::lengths(fragment, part)?;
        if check::align(part, fragment.ipv6, policy)? {
            self.odd = self.odd.with(Oddities::MISALIGNED);
        }
        if check::is_tiny(part) {
            self.odd = self.odd.with(Oddities::TINY);
        }
        if fragment.ipv6 && part.offset == 0 && !check::has_whole_header_chain(part) {
            // RFC 8200 §4.5: such a fragment should be discarded. A receiver that bends the rules
            // for overlaps may bend this one as well.
            if refuses(policy) {
                return Err(bad(Layer::Fragment, Reason::HeaderChainCut, 0));
            }
            self.odd = self.odd.with(Oddities::HEADER_CHAIN_CUT);
        }
        Ok(())
    }

    /// Forgets the datagram that an empty fragment belongs to.
    fn discard(&mut self, key: &Key) {
        let there = self.store.find(key);
        let is_capped = |number: &u32| self.store.get(*number).is_some_and(|slot| slot.is_capped);
        if let Some(number) = there.filter(|number| !is_capped(number)) {
            self.remove(number, Loss::FragmentOverlap);
        }
    }

    /// Starts a datagram with its first fragment to come.
    fn start(
        &mut self,
        key: Key,
        part: &Part<'_>,
        fragment: &FragmentRef,
        policy: FragmentOverlap,
    ) -> Inserted {
        let need = Need {
            slots: 1,
            ..Need::default()
        };
        if self.make_room(need, &key, NONE).is_err() {
            return self.go_alone();
        }
        let timeout_ns = if key.ipv6 {
            self.options.ipv6_timeout_ns
        } else {
            self.options.ipv4_timeout_ns
        };
        if part.flags.has(PacketFlags::TUNNELLED) {
            self.odd = self.odd.with(Oddities::TUNNELLED);
        }
        let deadline = fragment.stream_time.plus_nanos(timeout_ns);
        let number = self.store.insert(key, deadline);
        if let (Some(nook), Some(slot)) = (Nook::holding(part), self.store.get_mut(number)) {
            slot.nook = nook;
            slot.count = 1;
            add(&mut self.stats.held, 1);
            return Inserted::Held;
        }
        self.join(number, part, policy)
    }

    /// Adds a fragment to a datagram that is there.
    fn join(&mut self, number: u32, part: &Part<'_>, policy: FragmentOverlap) -> Inserted {
        let Some(slot) = self.store.get(number) else {
            return self.go_alone();
        };
        if slot.is_capped {
            return self.go_alone();
        }
        if slot.count >= self.options.fragments_max {
            return self.cap(number, Loss::FragmentCount);
        }
        let need = self.need(number, part);
        let cost = need.cost();
        if u64::from(slot.cost).saturating_add(cost) > self.options.datagram_bytes {
            return self.cap(number, Loss::FragmentDatagramMemory);
        }
        let key = slot.key;
        if let Err(loss) = self.make_room(need, &key, number) {
            return self.cap(number, loss);
        }
        self.unfold(number, policy);
        self.add(number, part, policy, need.list_bytes)
    }

    /// What a datagram needs for one more fragment.
    fn need(&self, number: u32, part: &Part<'_>) -> Need {
        let range = part.range();
        if let Some(body) = self.store.body(number) {
            return Need {
                blocks: body.blocks_missing(range),
                list_bytes: body.list_growth_bytes(),
                ..Need::default()
            };
        }
        let nook = self.store.get(number).and_then(|slot| slot.nook.part());
        let nook = nook.map_or(0, |part| blocks_of(part.range()));
        Need {
            bodies: 1,
            blocks: blocks_of(range).saturating_add(nook),
            ..Need::default()
        }
    }

    /// Moves a datagram's only fragment from its nook to where there is room for more.
    fn unfold(&mut self, number: u32, policy: FragmentOverlap) {
        let Some(slot) = self.store.get(number) else {
            return;
        };
        if slot.body != NONE {
            return;
        }
        let nook = slot.nook;
        self.store.give_body(number);
        self.store.charge(number, BODY_COST);
        if let Some(part) = nook.part() {
            self.place(number, &part, Lies::Free, policy);
        }
    }

    /// Adds a fragment for which there is room.
    fn add(
        &mut self,
        number: u32,
        part: &Part<'_>,
        policy: FragmentOverlap,
        list_bytes: usize,
    ) -> Inserted {
        let Some((body, blocks)) = self.store.body_and_blocks(number) else {
            return self.go_alone();
        };
        let lies = body.lies(part, blocks);
        // Where overlaps are refused, what lies inside others is ignored, whatever its bytes.
        let is_ignored = refuses(policy) && lies != Lies::Free && body.has_in_one_run(part.range());
        let refused = body.contradiction(part).or(match lies {
            Lies::Alike if refuses(policy) && !is_ignored => Some(Reason::Overlap),
            Lies::Unlike if refuses(policy) && !is_ignored => Some(Reason::OverlapDiffers),
            _ => None,
        });
        if let Some(reason) = refused {
            if refuses(policy) {
                self.remove(number, Loss::FragmentOverlap);
            }
            return self.overlap(reason);
        }
        self.odd = self.odd.with(match lies {
            Lies::Free => Oddities::default(),
            Lies::Repeated => Oddities::DUPLICATE,
            Lies::Alike => Oddities::OVERLAP,
            Lies::Unlike => Oddities::OVERLAP_DIFFERS,
        });
        if is_ignored {
            body.ignore(part);
        } else {
            if lies != Lies::Repeated {
                self.store.charge(number, list_bytes as u64);
            }
            self.place(number, part, lies, policy);
        }
        if let Some(slot) = self.store.get_mut(number) {
            slot.count = slot.count.saturating_add(1);
        }
        add(&mut self.stats.held, 1);
        if is_ignored {
            return Inserted::Held;
        }
        self.finish(number)
    }

    fn place(&mut self, number: u32, part: &Part<'_>, lies: Lies, policy: FragmentOverlap) {
        let Some((body, blocks)) = self.store.body_and_blocks(number) else {
            return;
        };
        body.count(part);
        if lies == Lies::Repeated {
            // It may be the last one, where the one before it claimed that more follow.
            body.note_extent(part);
        } else {
            let taken = body.place(part, lies, policy, blocks);
            let cost = BLOCK_COST.saturating_mul(taken as u64);
            self.store.charge(number, cost);
        }
    }

    /// Says whether a datagram is complete, once a fragment was added.
    fn finish(&mut self, number: u32) -> Inserted {
        let Some(body) = self.store.body(number).filter(|body| body.is_complete()) else {
            return Inserted::Held;
        };
        // The header may be longer than that of the fragment which set the length.
        let len = body.len.unwrap_or(0);
        let is_too_long = len.saturating_add(u32::from(body.header.len)) > DATAGRAM_LEN_MAX;
        let count = self
            .store
            .get(number)
            .map_or(0, |slot| u64::from(slot.count));
        self.stats.held = self.stats.held.saturating_sub(count);
        self.store.unlink(number);
        if is_too_long {
            self.store.release(number);
            add(&mut self.stats.refused, count);
            return Inserted::Refused(bad(Layer::Fragment, Reason::TooLong, 0));
        }
        add(&mut self.stats.absorbed, count);
        add(&mut self.stats.datagrams, 1);
        Inserted::Complete(Ready::new(number))
    }
}
