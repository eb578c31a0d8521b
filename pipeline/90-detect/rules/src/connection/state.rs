//! What rules remember of a connection.

use super::Packet;
use core::num::NonZeroU64;
use flowpin_memory::{Chain, Chains};
use flowpin_packet::{Seq, Timestamp};
use flowpin_record::FlowSoFar;
use flowpin_rule::{BitAction, IntOp, Spoken, Variant};

/// What rules remember of a connection, by its handle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Connection {
    pub(crate) shard: u8,
    seen: u32,
    bit_count: u8,
    int_count: u8,
    bits: [u16; BITS_MAX],
    ints: [(u16, u32); INTS_MAX],
    /// What it speaks, as bits of the database, and by which verdict.
    pub(crate) apps: u64,
    pub(crate) verdict: u16,
    /// What it spoke first and last, and what the client and the server say that is another
    /// protocol's.
    pub(crate) first_apps: u64,
    pub(crate) last_apps: u64,
    pub(crate) side_apps: [Option<NonZeroU64>; 2],
    /// The client's stream, then the server's.
    pub(crate) sides: [Side; 2],
    /// The time of its first packet, and of the last one, in nanoseconds.
    pub(crate) begin_ns: u64,
    last_ns: u64,
    /// Packets of each side, and bytes of their frames.
    pub(crate) packets: [u64; 2],
    pub(crate) bytes: [u64; 2],
    /// Events of its messages since the last one, as bits of the database.
    pub(crate) odd: u32,
    /// What waits for the end of its frames: the client's, then the server's.
    pub(crate) frames: [OfFrames; 2],
    /// The VLAN that a mirror tells of it in its own header.
    pub(crate) mirrored_vlan: Option<u16>,
    /// Bodies that are kept of it.
    pub(crate) bodies: u16,
}

/// Bytes of a stream that wait for the end of their frames.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OfFrames {
    pub(crate) kept: Chain,
    /// How many there have to be before they are looked at.
    pub(crate) awaited: usize,
    /// The side has no frames that are known.
    pub(crate) is_off: bool,
}

/// What rules remember of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    /// The last bytes of the stream, and before them a few that are past.
    pub(crate) window: Chain,
    /// How many these are.
    pub(crate) past: u16,
    /// Where they begin in the stream.
    pub(crate) start: u64,
    /// How many of them are new.
    pub(crate) fresh: u32,
    /// How many bytes are missing right before them.
    pub(crate) missing: u32,
    /// Where the last segment with bytes ends, and up to where the other side has them.
    sent: Option<Seq>,
    pub(crate) acknowledged: Option<Seq>,
    /// Rules that have alerted, and up to where in the stream they do not again.
    alerted: [(u32, u64); ALERTED_MAX],
    next_alerted: u8,
    /// Where fast patterns begin in the window.
    pub(crate) hits: Hits,
}

/// Where fast patterns of rules begin in a stream's window, so that it is not searched again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hits {
    /// Rules of the database, and places in the window.
    known: [(u32, u32); HITS_MAX],
    count: u8,
}

impl Hits {
    pub(crate) fn known(&self) -> &[(u32, u32)] {
        self.known
            .get(..usize::from(self.count))
            .unwrap_or_default()
    }

    /// Whether there were more than there is room for: the window has to be searched again.
    pub(crate) const fn is_full(&self) -> bool {
        self.count as usize > HITS_MAX
    }

    /// Adds one; of a rule, the last place says all.
    pub(crate) fn add(&mut self, rule: u32, at: usize) {
        if self.is_full() {
            return;
        }
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        let count = usize::from(self.count);
        let mut known = self.known.iter_mut().take(count);
        if let Some(known) = known.find(|one| one.0 == rule) {
            known.1 = known.1.max(at);
            return;
        }
        if let Some(place) = self.known.get_mut(count) {
            *place = (rule, at);
        }
        self.count += 1;
    }

    /// The window begins so many bytes later.
    pub(crate) fn cut(&mut self, len: usize) {
        if self.is_full() {
            return;
        }
        let mut kept = Self::default();
        for &(rule, at) in self.known() {
            if let Some(at) = (at as usize).checked_sub(len) {
                kept.add(rule, at);
            }
        }
        *self = kept;
    }
}

impl Side {
    /// How many bytes of the stream its window has.
    pub(crate) const fn len(&self) -> usize {
        self.window.len().saturating_sub(self.past as usize)
    }

    /// Where the window ends in the stream.
    pub(crate) const fn end(&self) -> u64 {
        self.start + self.len() as u64
    }

    /// Appends the bytes of its window from one place up to another one, or to its end.
    pub(crate) fn read(&self, windows: &Chains, from: usize, to: usize, out: &mut Vec<u8>) {
        let past = usize::from(self.past);
        let to = to.min(self.len());
        windows.read_part(&self.window, past + from..past + to, out);
    }

    /// The first bytes of its window are past.
    pub(crate) fn cut(&mut self, windows: &mut Chains, shard: u8, len: usize) {
        self.hits.cut(len);
        self.start += len as u64;
        self.missing = 0;
        let past = windows.drop_front(shard, &mut self.window, usize::from(self.past) + len);
        // Less than a block.
        self.past = u16::try_from(past).unwrap_or(u16::MAX);
    }

    /// Nothing of the stream is kept, and no rule has alerted: it goes on at `next`.
    pub(crate) fn begin_at(&mut self, next: u64) {
        *self = Self {
            start: next,
            ..Self::default()
        };
    }

    /// A segment of this side.
    pub(crate) fn sends(&mut self, seq: Seq, len: u32) {
        if len > 0 {
            self.sent = Some(seq.plus(len));
        }
    }

    /// Whether its last bytes were not acknowledged.
    pub(crate) fn is_unacknowledged(&self) -> bool {
        let pair = self.sent.zip(self.acknowledged);
        pair.is_some_and(|(sent, acknowledged)| sent.is_after(acknowledged))
    }

    /// Notes that a rule alerts; whether it did not lately: up to this place.
    pub(crate) fn alerts(&mut self, rule: u32, start: u64, until: u64) -> bool {
        let known = self
            .alerted
            .iter_mut()
            .find(|one| one.0 == rule && one.1 > 0);
        if let Some(known) = known {
            let is_new = start >= known.1;
            known.1 = known.1.max(until);
            return is_new;
        }
        // One that says nothing any more, or the oldest.
        let free = self.alerted.iter().position(|one| one.1 <= start);
        let at = free.unwrap_or(usize::from(self.next_alerted) % ALERTED_MAX);
        if let Some(place) = self.alerted.get_mut(at) {
            *place = (rule, until);
        }
        self.next_alerted = self.next_alerted.wrapping_add(1);
        true
    }
}

/// What happened on a connection.
impl Connection {
    /// A packet with a SYN of the client was seen.
    pub(crate) const SYN: u32 = 1;
    /// Its server has answered it.
    pub(crate) const ANSWERED: u32 = 1 << 1;
    /// The handshake is complete; of datagrams: both sides have spoken.
    pub(crate) const ESTABLISHED: u32 = 1 << 2;
    /// The first packet of the client, and of the server, was compared.
    pub(crate) const FIRST: [u32; 2] = [1 << 3, 1 << 4];
    /// A rule has let it pass.
    pub(crate) const PASSED: u32 = 1 << 5;
    /// Its streams are encrypted.
    pub(crate) const ENCRYPTED: u32 = 1 << 6;
    /// The packet around its first one was compared.
    pub(crate) const AROUND: u32 = 1 << 7;
    /// It is known what it speaks.
    pub(crate) const KNOWN: u32 = 1 << 8;
    /// The first packet of the client, and of the server, was compared since.
    pub(crate) const FIRST_KNOWN: [u32; 2] = [1 << 9, 1 << 10];
    /// The client, and the server, has sent application data of TLS.
    pub(crate) const SEALED: [u32; 2] = [1 << 11, 1 << 12];
    /// It speaks something else since the last packet of the client, and of the server.
    pub(crate) const TURNED: [u32; 2] = [1 << 13, 1 << 14];
    /// A rule has alerted of it.
    pub(crate) const ALERTED: u32 = 1 << 15;
    /// Of what one side speaks, something else is known since the last packet of the client, and
    /// of the server.
    pub(crate) const SIDE_TURNED: [u32; 2] = [1 << 16, 1 << 17];

    pub(crate) fn new(shard: u8) -> Self {
        Self {
            shard,
            ..Self::default()
        }
    }

    /// Whether it is established, and nothing is to be compared with its next packet of a side but
    /// what that packet is.
    pub(crate) fn goes_on(&self, side: usize) -> bool {
        let of_side = |both: [u32; 2]| both.get(side).copied().unwrap_or(0);
        let has_turned = [Self::TURNED, Self::SIDE_TURNED].as_flattened().iter();
        let has_turned = has_turned.fold(0, |all, one| all | one);
        self.has(Self::ESTABLISHED)
            && self.has(of_side(Self::FIRST))
            && (!self.has(Self::KNOWN) || self.has(of_side(Self::FIRST_KNOWN)))
            && !self.has(has_turned)
    }

    /// It speaks this, by identification.
    pub(crate) fn speaks(&mut self, apps: u64) {
        self.apps |= apps;
        if !self.has(Self::KNOWN) {
            self.first_apps = apps;
        } else if self.last_apps != apps {
            Self::TURNED.iter().for_each(|&turned| self.note(turned));
        }
        self.last_apps = apps;
        self.note(Self::KNOWN);
    }

    /// A side begins with what a protocol begins with: mostly that of its connection, which says
    /// nothing new.
    pub(crate) fn side_speaks(&mut self, side: usize, apps: u64) {
        let when = [Spoken::ByClient, Spoken::ByServer];
        let spoken = |own: &Self| when.map(|when| own.spoken(when));
        let before = spoken(self);
        if let Some(of_side) = self.side_apps.get_mut(side) {
            *of_side = NonZeroU64::new(apps);
        }
        if spoken(self) != before {
            Self::SIDE_TURNED
                .iter()
                .for_each(|&turned| self.note(turned));
        }
    }

    /// What it speaks, at some time or by one side.
    pub(crate) fn spoken(&self, when: Spoken) -> u64 {
        let of = |side: usize| self.side_apps.get(side).copied().flatten();
        match when {
            Spoken::Ever => self.apps,
            Spoken::First => self.first_apps,
            Spoken::Last => self.last_apps,
            Spoken::ByClient => of(0).map_or(self.apps, NonZeroU64::get),
            Spoken::ByServer => of(1).map_or(self.apps, NonZeroU64::get),
        }
    }

    /// A packet of a side has come.
    pub(crate) fn count(&mut self, side: usize, time_ns: u64, bytes: u32) {
        if self.packets == [0; 2] {
            self.begin_ns = time_ns;
        }
        self.last_ns = time_ns;
        if let Some(packets) = self.packets.get_mut(side) {
            *packets += 1;
        }
        if let Some(sum) = self.bytes.get_mut(side) {
            *sum += u64::from(bytes);
        }
    }

    /// The time of a packet, in seconds since 1970; without one, of the connection's last.
    pub(crate) fn now_s(&self, packet: Option<&Packet<'_>>) -> u64 {
        let time_ns = packet.map_or(self.last_ns, |packet| packet.meta.stream_time.0);
        time_ns / 1_000_000_000
    }

    /// What alerts tell of it.
    pub(crate) fn so_far(&self, packet: Option<&Packet<'_>>) -> FlowSoFar {
        let icmp = packet.and_then(|packet| packet.icmp());
        FlowSoFar {
            packets: self.packets,
            bytes: self.bytes,
            begin: Timestamp(self.begin_ns),
            icmp: icmp.map(|(kind, code)| (kind as u8, code as u8)),
        }
    }

    pub(crate) const fn has(&self, what: u32) -> bool {
        self.seen & what != 0
    }

    pub(crate) const fn note(&mut self, what: u32) {
        self.seen |= what;
    }

    /// Names have other numbers, or none: then what was noted by them is forgotten.
    pub(crate) fn rename(&mut self, number: impl Fn(u16) -> Option<u16>) {
        let (bits, ints) = (self.bits, self.ints);
        let bits = bits.iter().take(self.bit_count.into());
        let ints = ints.iter().take(self.int_count.into());
        (self.bit_count, self.int_count) = (0, 0);
        let kept = self
            .bits
            .iter_mut()
            .zip(bits.filter_map(|&bit| number(bit)));
        for (place, bit) in kept {
            (*place, self.bit_count) = (bit, self.bit_count + 1);
        }
        let ints = ints.filter_map(|&(name, value)| Some((number(name)?, value)));
        for (place, int) in self.ints.iter_mut().zip(ints) {
            (*place, self.int_count) = (int, self.int_count + 1);
        }
    }

    pub(crate) const fn forget(&mut self, what: u32) {
        self.seen &= !what;
    }

    /// Whether a flowbit is set.
    pub(crate) fn is_set(&self, bit: u16) -> bool {
        self.set_bits().contains(&bit)
    }

    fn set_bits(&self) -> &[u16] {
        self.bits
            .get(..usize::from(self.bit_count))
            .unwrap_or_default()
    }

    /// Changes a flowbit; false if there is no room for another one.
    pub(crate) fn change(&mut self, action: BitAction, bit: u16) -> bool {
        let known = self.set_bits().iter().position(|&one| one == bit);
        let sets = match action {
            BitAction::Set => true,
            BitAction::Unset => false,
            BitAction::Toggle => known.is_none(),
            BitAction::IsSet | BitAction::IsNotSet => return true,
        };
        match (known, sets) {
            (None, true) => {
                let Some(place) = self.bits.get_mut(usize::from(self.bit_count)) else {
                    return false;
                };
                *place = bit;
                self.bit_count += 1;
            }
            (Some(at), false) => {
                self.bit_count -= 1;
                self.bits.swap(at, usize::from(self.bit_count));
            }
            _ => {}
        }
        true
    }

    fn int(&self, name: u16) -> Option<u32> {
        let known = self.ints.iter().take(self.int_count.into());
        known.filter(|one| one.0 == name).map(|one| one.1).next()
    }

    fn operand(&self, value: Variant) -> u32 {
        match value {
            Variant::Value(value) => value,
            Variant::Name(name) => self.int(name).unwrap_or(0),
        }
    }

    /// Whether what is asked of a number holds; what changes one always does.
    pub(crate) fn int_holds(&self, name: u16, operation: IntOp, value: Variant) -> bool {
        let found = self.int(name);
        match operation {
            IntOp::IsSet => found.is_some(),
            IntOp::IsNotSet => found.is_none(),
            IntOp::Compare(comparison, negated) => found.is_some_and(|found| {
                let other = self.operand(value).into();
                crate::evaluate::compare(found.into(), comparison, other) != negated
            }),
            IntOp::Set | IntOp::Add | IntOp::Subtract => true,
        }
    }

    /// Changes a number; false if there is no room for another one.
    pub(crate) fn change_int(&mut self, name: u16, operation: IntOp, value: Variant) -> bool {
        let (was, value) = (self.int(name), self.operand(value));
        let result = match operation {
            IntOp::Set => value,
            IntOp::Add => was.unwrap_or(0).saturating_add(value),
            IntOp::Subtract => was.unwrap_or(0).saturating_sub(value),
            IntOp::Compare(..) | IntOp::IsSet | IntOp::IsNotSet => return true,
        };
        let count = usize::from(self.int_count);
        let known = self.ints.iter().take(count).position(|one| one.0 == name);
        let Some(place) = self.ints.get_mut(known.unwrap_or(count)) else {
            return false;
        };
        *place = (name, result);
        self.int_count += u8::from(known.is_none());
        true
    }
}

/// Bits of one connection that are set at a time.
const BITS_MAX: usize = 16;
/// Numbers of one connection.
const INTS_MAX: usize = 4;
/// Rules whose alerts are remembered: the last ones.
const ALERTED_MAX: usize = 16;
/// Places of fast patterns in a window; most have none.
const HITS_MAX: usize = 8;

#[cfg(test)]
mod tests {
    use super::{ALERTED_MAX, BITS_MAX, Connection, Side};
    use flowpin_rule::{BitAction, Comparison, IntOp, Variant};

    /// Bits and numbers change as rules say, and what has no room is told.
    #[test]
    fn connections_remember_a_few_bits_and_numbers() {
        let mut connection = Connection::new(0);
        for bit in 0..BITS_MAX as u16 {
            assert!(connection.change(BitAction::Set, bit));
        }
        assert!(!connection.change(BitAction::Set, 99) && !connection.is_set(99));
        assert!(connection.change(BitAction::Toggle, 3) && !connection.is_set(3));
        assert!(connection.change(BitAction::Set, 99) && connection.is_set(99));
        let two = Variant::Value(2);
        assert!(connection.int_holds(1, IntOp::IsNotSet, two));
        assert!(connection.change_int(1, IntOp::Add, two));
        assert!(connection.change_int(2, IntOp::Set, Variant::Name(1)));
        assert!(connection.int_holds(2, IntOp::Compare(Comparison::Equal, false), two));
    }

    /// A rule alerts again where nothing overlaps what it has alerted of.
    #[test]
    fn overlapping_windows_alert_once() {
        let mut side = Side::default();
        assert!(side.alerts(7, 0, 100));
        assert!(!side.alerts(7, 50, 150));
        assert!(side.alerts(8, 50, 150));
        assert!(side.alerts(7, 150, 200));
    }

    /// Many rules that fit the same bytes alert once each, window by window.
    #[test]
    fn many_rules_alert_once_each() {
        let mut side = Side::default();
        for window in 0..100 {
            for rule in 0..ALERTED_MAX as u32 {
                assert_eq!(
                    side.alerts(rule, window, window + 200),
                    window == 0,
                    "{rule}"
                );
            }
        }
        // Places of what is past are free for others.
        assert!(side.alerts(99, 1000, 1200) && !side.alerts(99, 1001, 1200));
    }
}
