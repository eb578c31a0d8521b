//! What each stage knew before a packet, and knows after it.

use super::account::{ConnectionView, HeldReason, HeldView, InspectChange, StreamsView};
use super::observer::{Observer, Seen};
use flowpin_flow::{Event, FlowObserver as _, Sighting, Table};
use flowpin_packet::{PacketKind, PacketMeta, Seq, TcpFlags};
use flowpin_reassembly::{Anomaly, ReassemblyStats, StreamView};
use flowpin_record::RecordSink;

impl Observer {
    /// Shows a packet to the stages, and notes what each knew before.
    pub(super) fn watch<S: RecordSink>(&mut self, sighting: &Sighting<'_>, sink: &mut S) {
        let (handle, kind) = (sighting.handle, sighting.meta.kind);
        let is_new = sighting.event == Event::New;
        let streams = self.all.streams(handle);
        let counted = self.all.stream_stats();
        let stats = self.all.inspect_stats();
        let known = self.all.inspect(handle, kind);
        let mut scans = self.all.scan_view(sighting);
        self.all.packet(sighting, sink);
        if let (Some(scans), Some(after)) = (&mut scans, self.all.scan_view(sighting)) {
            scans.is_settled = after.is_settled;
        }
        let is_tcp = kind == PacketKind::Tcp;
        let streams =
            (is_tcp.then_some(())).and_then(|()| self.streams(sighting, streams, &counted?));
        let inspect = self.all.inspect(handle, kind).map(|after| InspectChange {
            before: known.filter(|_| !is_new),
            after,
            searched: 0,
            taken_back: 0,
            messages: 0,
            had_parser: false,
        });
        self.seen = Some(Seen {
            handle,
            kind,
            uid: sighting.uid(),
            connection: None,
            streams,
            scans,
            inspect,
            stats,
            event: sighting.event,
            to_server: sighting.to_server,
        });
    }

    /// What became of both streams.
    fn streams(
        &self,
        sighting: &Sighting<'_>,
        before: Option<[StreamView; 2]>,
        counted: &ReassemblyStats,
    ) -> Option<StreamsView> {
        let after = self.all.streams(sighting.handle)?;
        let now = self.all.stream_stats()?;
        let before = before.unwrap_or(after);
        let side = usize::from(!sighting.to_server);
        let own = before.get(side).zip(after.get(side));
        let anomalies = Anomaly::ALL.iter().copied();
        Some(StreamsView {
            before,
            after,
            counters: changes(&now, counted),
            held: own.and_then(|(before, after)| held(sighting.meta, before, after)),
            anomalies: anomalies
                .filter(|&what| now.anomaly(what) > counted.anomaly(what))
                .collect(),
        })
    }

    /// All that waited was handled: what the stages know now.
    pub(super) fn note(&mut self, table: &Table) {
        let Some(seen) = &mut self.seen else {
            return;
        };
        let Some(after) = table.record_of(seen.handle) else {
            return;
        };
        let mut known = self.connections.get_mut(&seen.uid.0);
        if let Some(known) = &mut known {
            known.record = Some(after);
        }
        let before = seen.connection.and_then(|connection| connection.before);
        seen.connection = Some(ConnectionView {
            event: seen.event,
            to_server: seen.to_server,
            before,
            after,
            lifetime: table.lifetime_of(seen.handle),
            is_ignored: self.ignored,
            reopened: seen.connection.and_then(|connection| connection.reopened),
        });
        let (Some(change), Some((identify, parse))) = (&mut seen.inspect, seen.stats) else {
            return;
        };
        if let Some(after) = self.all.inspect(seen.handle, seen.kind) {
            change.after = after;
        }
        if let Some((identify_now, parse_now)) = self.all.inspect_stats() {
            change.searched = identify_now.inspected.saturating_sub(identify.inspected);
            change.taken_back = identify_now.taken_back.saturating_sub(identify.taken_back);
            change.messages = parse_now.messages.saturating_sub(parse.messages);
            change.had_parser = parse_now.connections > parse.connections;
        }
        change.had_parser |= change.after.parser.is_some();
        if let Some(known) = known {
            known.had_parser |= change.had_parser;
            change.had_parser = known.had_parser;
        }
    }
}

/// The counters that changed, by how much.
pub(super) fn changes(now: &ReassemblyStats, before: &ReassemblyStats) -> Vec<(&'static str, i64)> {
    let counters = now.named().into_iter().zip(before.named());
    let counters = counters.filter(|((name, _), _)| !IN_GENERAL.contains(name));
    let counters = counters.map(|((name, now), (_, before))| (name, difference(now, before)));
    counters.filter(|&(_, by)| by != 0).collect()
}

/// The bytes of a segment that wait; `before` and `after`: the stream that it belongs to.
fn held(meta: &PacketMeta, before: &StreamView, after: &StreamView) -> Option<HeldView> {
    let first = meta.seq.plus(u32::from(meta.tcp_flags.has(TcpFlags::SYN)));
    let end = first.plus(meta.payload_len);
    let is_closed = matches!(after.phase, "closing" | "finished" | "reset" | "refused");
    let start = match after.next.is_after(first) && !is_closed {
        true => after.next,
        false => first,
    };
    let has_changed = after.held_bytes > before.held_bytes || after.next != before.next;
    let bytes = from_to(start, end).min(after.held_bytes.into());
    if bytes == 0 || !has_changed {
        return None;
    }
    let beyond = after.limit.filter(|_| after.phase != "syn" && !is_closed);
    let beyond = beyond.map_or(0, |limit| match limit.is_after(start) {
        true => from_to(limit, end),
        false => from_to(start, end),
    });
    let beyond_window = beyond.min(bytes);
    let reason = match after.phase {
        "syn" => HeldReason::Syn,
        _ if is_closed => HeldReason::Closed,
        _ if start.is_after(after.next) => HeldReason::Hole,
        _ if beyond_window > 0 => HeldReason::Window,
        _ => HeldReason::Doubt,
    };
    Some(HeldView {
        reason,
        bytes,
        beyond_window,
        end,
    })
}

/// Bytes from one number to a later one.
fn from_to(start: Seq, end: Seq) -> u64 {
    u64::try_from(end.distance_from(start)).unwrap_or(0)
}

fn difference(now: u64, before: u64) -> i64 {
    let by = |more: u64| i64::try_from(more).unwrap_or(i64::MAX);
    if now >= before {
        by(now - before)
    } else {
        -by(before - now)
    }
}

/// Counters that say nothing of one packet.
const IN_GENERAL: [&str; 2] = ["memory_bytes_max", "steps"];
