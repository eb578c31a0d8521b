//! Sums over tunnels, kept in the in-order step: the packets of one tunnel go to all workers.

use crate::input::carriers::Carriers;
use crate::worker::limit::Keys;
use core::net::{IpAddr, Ipv4Addr};
use flowpin_config::Plan;
use flowpin_counters::{Loss, Losses};
use flowpin_dispatch::TunnelLayer;
use flowpin_packet::{PacketMeta, Timestamp, TunnelKind};
use flowpin_record::{RecordKey, RecordSink, TunnelRecord, Uid};
use std::collections::BTreeMap;

/// Most tunnels tracked at once; packets of further ones are counted as untracked. Their records
/// may all be due at once, in every format.
const TUNNELS_MAX: usize = 1 << 16;

/// With little memory, one for each so many bytes of it and format.
const MEMORY_PER_TUNNEL: u64 = 1 << 10;

/// A tunnel ends after this time without a packet. (Zeek's `Tunnel::expiration_interval` is one
/// day, for which memory would not suffice in a long capture.)
const IDLE_NS_MAX: u64 = 300_000_000_000;

/// Before the first packet of each interval of this length is looked for idle tunnels: fixed by the
/// clock, not by the last time, so that who has one of the capture's parts finds the same packets.
pub(crate) const SWEEP_NS: u64 = IDLE_NS_MAX / 10;

/// Ordinals of idle tunnels' records: they belong to the packet that showed how late it is, and are
/// handed over before anything else that it causes (whose ordinals begin at 1 << 24).
const IDLE_ORDINAL: u32 = 1 << 23;

/// At the input's end, sums are written after every record that a packet of the same time has
/// caused, as those may have left.
const AFTER_PACKETS: u64 = 1 << 63;

/// The innermost tunnel of a packet.
pub(crate) fn innermost(
    frame: &[u8],
    meta: &PacketMeta,
    id_seed: u64,
) -> Option<(TunnelKind, Uid)> {
    let mut innermost = None;
    flowpin_dispatch::tunnels(meta, frame, |layer| {
        innermost = Some((layer.kind, flowpin_dispatch::tunnel_uid(id_seed, &layer)));
    });
    innermost
}

/// Sums over tunnels. Ordered by identifier, so that a sweep writes in one order.
#[derive(Debug)]
pub(crate) struct Tunnels {
    id_seed: u64,
    /// How many are tracked at once.
    most: usize,
    sums: BTreeMap<Uid, Sum>,
    carriers: Carriers,
    /// When to look for idle tunnels again.
    next_sweep: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct Sum {
    record: TunnelRecord,
    first_number: u64,
    last_seen: Timestamp,
}

/// How many tunnels are tracked with so much memory, if they are written in so many formats.
fn tunnels_max(memory_bytes: u64, formats: usize) -> usize {
    let each = MEMORY_PER_TUNNEL * formats.max(1) as u64;
    let most = usize::try_from(memory_bytes / each);
    most.unwrap_or(TUNNELS_MAX).min(TUNNELS_MAX)
}

impl Tunnels {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            id_seed: plan.id_seed,
            most: tunnels_max(plan.memory_bytes, plan.output.formats.len()),
            sums: BTreeMap::new(),
            carriers: Carriers::new(plan),
            next_sweep: Timestamp(0),
        }
    }

    /// Adds a packet to the sums of each tunnel around it, and of what carries them. A carrier that
    /// had ended before is written.
    pub(crate) fn count(
        &mut self,
        frame: &[u8],
        meta: &PacketMeta,
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        let mut parent = Uid::default();
        let mut around = (None, 0);
        let (id_seed, most) = (self.id_seed, self.most);
        let (sums, carriers) = (&mut self.sums, &mut self.carriers);
        flowpin_dispatch::tunnels(meta, frame, |layer| {
            let uid = flowpin_dispatch::tunnel_uid(id_seed, &layer);
            let vlans = || flowpin_dispatch::vlans(meta, frame);
            carriers.count(meta, &layer, around, vlans, losses, sink);
            around = (Some((layer.kind, uid)), around.1 + 1);
            let inner_offset = u32::from(layer.inner_offset);
            let is_full = sums.len() >= most;
            let (addresses, turned) = in_order(&layer);
            let sum = match sums.entry(uid) {
                std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
                std::collections::btree_map::Entry::Vacant(_) if is_full => {
                    losses.count(Loss::TunnelsUntracked, 1);
                    return;
                }
                std::collections::btree_map::Entry::Vacant(entry) => entry.insert(Sum {
                    record: TunnelRecord {
                        uid,
                        parent,
                        kind: layer.kind,
                        id: layer.id,
                        addresses,
                        first: meta.time,
                        last: meta.time,
                        packets: [0; 2],
                        bytes: [0; 2],
                    },
                    first_number: meta.number,
                    last_seen: meta.stream_time,
                }),
            };
            sum.last_seen = meta.stream_time;
            sum.record.last = sum.record.last.max(meta.time);
            let [from_low, from_high] = &mut sum.record.packets;
            *(if turned { from_high } else { from_low }) += 1;
            let [from_low, from_high] = &mut sum.record.bytes;
            let bytes = u64::from(meta.wire_len.saturating_sub(inner_offset));
            *(if turned { from_high } else { from_low }) += bytes;
            parent = uid;
        });
    }

    /// The time of the packet before which [`Tunnels::sweep`] is due.
    #[inline]
    pub(crate) const fn next_sweep(&self) -> Timestamp {
        self.next_sweep
    }

    /// Before packet `number`: writes the records of tunnels that have been idle too long at `now`.
    pub(crate) fn sweep(&mut self, now: Timestamp, number: u64, sink: &mut impl RecordSink) {
        self.next_sweep = Timestamp((now.0 / SWEEP_NS + 1).saturating_mul(SWEEP_NS));
        let mut keys = Keys::from(IDLE_ORDINAL);
        self.sums.retain(|_, sum| {
            let keep = now.nanos_since(sum.last_seen) < IDLE_NS_MAX;
            if !keep {
                sink.tunnel(keys.next(now, number), &sum.record);
            }
            keep
        });
        self.carriers.sweep(now, number, &mut keys, sink);
    }

    /// Writes the records of all tunnels that are left.
    pub(crate) fn finish(&mut self, now: Timestamp, sink: &mut impl RecordSink) {
        self.carriers.finish(now, AFTER_PACKETS, sink);
        for sum in std::mem::take(&mut self.sums).into_values() {
            // Several tunnels may begin with one packet: their nesting distinguishes them, then
            // their uids.
            let key = RecordKey {
                time: now,
                number: AFTER_PACKETS | sum.first_number,
                ordinal: u32::from(sum.record.parent != Uid::default()),
            };
            sink.tunnel(key, &sum.record);
        }
    }
}

/// The outer addresses, the lower one first, and whether the packet came from the higher one.
fn in_order(layer: &TunnelLayer) -> ((IpAddr, IpAddr), bool) {
    let nowhere = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    match layer.addresses {
        Some((source, destination)) if source > destination => ((destination, source), true),
        Some(addresses) => (addresses, false),
        None => ((nowhere, nowhere), false),
    }
}

#[cfg(test)]
mod tests {
    use super::{IDLE_NS_MAX, MEMORY_PER_TUNNEL, TUNNELS_MAX, tunnels_max};

    /// With little memory fewer are tracked: all may have a record at once.
    #[test]
    fn the_memory_limits_tunnels() {
        let alone = |bytes| tunnels_max(bytes, 1);
        assert_eq!([1 << 20, 16 << 20].map(alone), [1 << 10, 1 << 14]);
        assert_eq!(tunnels_max(16 << 20, 4), 1 << 12);
        assert_eq!(tunnels_max(1 << 30, 5), TUNNELS_MAX);
        let enough = TUNNELS_MAX as u64 * MEMORY_PER_TUNNEL;
        assert_eq!(alone(enough), TUNNELS_MAX);
    }

    /// The page of the documentation states these limits.
    #[test]
    fn the_page_states_the_limits() {
        let page = include_str!("../../../docs/user/tunnels.md");
        let seconds = IDLE_NS_MAX / 1_000_000_000;
        assert!(page.contains(&format!("record at a time | {TUNNELS_MAX} |")));
        assert!(page.contains(&format!("in seconds | {seconds} |")));
    }
}
