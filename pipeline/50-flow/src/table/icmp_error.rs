//! ICMP errors: they count on the connection that they quote.
//!
//! An error adds no packets or bytes and does not extend the connection's lifetime: a third party
//! sent it about the connection. If the quoted connection is unknown, the errors about it form a
//! one-way connection of their own, from the reporter to the receiver, with type and code in place
//! of ports.

use super::{Arrival, Cause, Table};
use crate::entry::Handle;
use crate::observe::{Event, FlowObserver};
use crate::record::{ICMP, ICMP_ERROR_PROTOCOL, ICMPV6};
use crate::tcp::Rare;
use flowpin_packet::{Endpoints, FlowKey, PacketMeta};
use flowpin_record::{EndReason, RecordSink};

impl Table {
    #[cold]
    #[inline(never)]
    pub(super) fn icmp_error<S: RecordSink, O: FlowObserver>(
        &mut self,
        quoted: Handle,
        arrival: &Arrival<'_>,
        sink: &mut S,
        observer: &mut O,
    ) {
        let meta = arrival.meta;
        if self.hot.get(quoted).is_some() {
            self.settle(arrival.frames, sink, observer);
            self.write_interim(quoted, meta.stream_time, sink, observer);
            if self.deadline(quoted) > meta.stream_time {
                let mut cause = Cause::of(arrival);
                let rare = Rare {
                    bits: Rare::ICMP_ERROR,
                    ..Rare::default()
                };
                self.note(quoted, arrival.side, &rare, &mut cause, sink, observer);
                if O::OBSERVES {
                    self.report(quoted, arrival, Event::IcmpError, sink, observer);
                }
                return;
            }
            self.expire(quoted, sink, observer);
        }
        // The reporter is the lower endpoint of this connection, whatever its address.
        let key = own_key(meta);
        let handle = self.find_key(meta.hash, key);
        let arrival = Arrival {
            frames: arrival.frames,
            meta,
            side: 0,
        };
        self.count_on(handle, key, &arrival, sink, observer);
    }

    /// Ends a connection whose deadline has passed.
    fn expire<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        sink: &mut S,
        observer: &mut O,
    ) {
        let deadline = self.deadline(handle);
        self.end(
            handle,
            self.timeout_key(handle, deadline),
            EndReason::Timeout,
            sink,
            observer,
        );
        self.remove(handle);
    }

    fn find_key(&self, hash: u32, key: FlowKey) -> Handle {
        self.index
            .candidates(hash)
            .find(|&handle| self.hot.get(handle).is_some_and(|hot| hot.key == key))
            .unwrap_or(crate::entry::NIL)
    }
}

/// The quoted key with a protocol that no packet has, and the type of the error.
fn own_key(meta: &PacketMeta) -> FlowKey {
    let kept = meta.key.low & (FlowKey::IPV6_BIT | 0xffff_ffff_ffff);
    let subkind = u64::from(meta.icmp_type() & 0x7f) << 56;
    FlowKey {
        low: kept | subkind | u64::from(ICMP_ERROR_PROTOCOL) << 48,
        high: meta.key.high,
    }
}

/// The sender of the error (low) and its receiver (high): the addresses of the header before the
/// ICMP header, which is the eight bytes before the quoted packet. If extension headers hide it:
/// the quoted destination and source.
pub(super) fn addresses(arrival: &Arrival<'_>) -> Endpoints {
    let (frames, meta) = (arrival.frames, arrival.meta);
    let frame = frames.frame(meta);
    let before = usize::from(meta.l3_offset)
        .checked_sub(ICMP_HEADER_LEN)
        .and_then(|icmp| frame.get(..icmp))
        .unwrap_or_default();
    let found = if meta.key.is_ipv6() {
        ipv6_header(before)
    } else {
        ipv4_header(before)
    };
    found.unwrap_or_else(|| {
        let quoted = frames.endpoints(meta);
        if meta.high_to_low() {
            quoted
        } else {
            Endpoints {
                low: quoted.high,
                high: quoted.low,
            }
        }
    })
}

/// RFC 791 §3.1: the header has 20 to 60 bytes and states its length; addresses at 12 and 16.
fn ipv4_header(before: &[u8]) -> Option<Endpoints> {
    (5..=15u8).find_map(|words| {
        let start = before.len().checked_sub(usize::from(words) * 4)?;
        let header = before.get(start..)?;
        (*header.first()? == 0x40 | words && *header.get(9)? == ICMP).then_some(())?;
        Some(Endpoints {
            low: padded(header.get(12..16)?),
            high: padded(header.get(16..20)?),
        })
    })
}

/// RFC 8200 §3: 40 bytes, the next header at 6; addresses at 8 and 24.
fn ipv6_header(before: &[u8]) -> Option<Endpoints> {
    let header = before.get(before.len().checked_sub(40)?..)?;
    (*header.first()? >> 4 == 6 && *header.get(6)? == ICMPV6).then_some(())?;
    Some(Endpoints {
        low: padded(header.get(8..24)?),
        high: padded(header.get(24..40)?),
    })
}

fn padded(address: &[u8]) -> [u8; 16] {
    let mut out = [0; 16];
    for (to, from) in out.iter_mut().zip(address) {
        *to = *from;
    }
    out
}

const ICMP_HEADER_LEN: usize = 8;
