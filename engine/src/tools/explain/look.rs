//! What each stage knew before a packet, and knows after it.

use super::account::{ConnectionView, InspectChange, StreamsView};
use super::observer::{Observer, Seen};
use flowpin_flow::{Event, FlowObserver as _, Sighting, Table};
use flowpin_packet::{PacketKind, Timestamp};
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
            (is_tcp.then_some(())).and_then(|()| self.streams(handle, streams, &counted?));
        let inspect = self.all.inspect(handle, kind).map(|after| InspectChange {
            before: known.filter(|_| !is_new),
            after,
            searched: 0,
            taken_back: 0,
            messages: 0,
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
        handle: u32,
        before: Option<[StreamView; 2]>,
        counted: &ReassemblyStats,
    ) -> Option<StreamsView> {
        let after = self.all.streams(handle)?;
        let now = self.all.stream_stats()?;
        let counters = now.named().into_iter().zip(counted.named());
        let counters = counters.filter(|((name, _), _)| !IN_GENERAL.contains(name));
        let counters = counters.map(|((name, now), (_, before))| (name, difference(now, before)));
        let anomalies = Anomaly::ALL.iter().copied();
        Some(StreamsView {
            before: before.unwrap_or(after),
            after,
            counters: counters.filter(|&(_, by)| by != 0).collect(),
            anomalies: anomalies
                .filter(|&what| now.anomaly(what) > counted.anomaly(what))
                .collect(),
        })
    }

    /// All that waited was handled: what the stages know now.
    pub(super) fn note(&mut self, table: &Table) {
        if let Some(followed) = &mut self.followed {
            followed.last = table.record_of(followed.handle).or(followed.last);
        }
        let Some(seen) = &mut self.seen else {
            return;
        };
        let Some(after) = table.record_of(seen.handle) else {
            return;
        };
        let before = seen.connection.and_then(|connection| connection.before);
        seen.connection = Some(ConnectionView {
            event: seen.event,
            to_server: seen.to_server,
            before,
            after,
            deadline: table.deadline_of(seen.handle).unwrap_or(Timestamp(0)),
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
        }
    }
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
