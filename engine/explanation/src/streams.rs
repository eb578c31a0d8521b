//! What reassembly did with a segment, in sentences.

use super::words::{side, tcp_field};
use flowpin_config::Named;
use flowpin_engine::{
    Anomaly, HeldFate, HeldOutcome, HeldReason, HeldView, PacketAccount, StreamView, StreamsEnd,
    StreamsView,
};
use flowpin_words::number;

/// What became of the segment's bytes and of both streams, a sentence each.
pub(super) fn decisions(account: &PacketAccount, view: &StreamsView) -> Vec<String> {
    let mut all = Vec::new();
    for (to_server, (before, after)) in [true, false]
        .into_iter()
        .zip(view.before.iter().zip(&view.after))
    {
        all.extend(delivered(to_server, before, after, view));
    }
    all.extend(view.held.as_ref().map(|one| held(one, view, account)));
    for &(name, by) in &view.counters {
        if name != "held" || by < 0 || view.held.is_none() {
            all.extend(counter(name, by));
        }
    }
    for &what in &view.anomalies {
        all.push(anomaly(what, account, view));
    }
    if all.is_empty() {
        all.push("nothing to deliver".to_owned());
    }
    all
}

/// Why bytes wait, and for what.
fn held(one: &HeldView, view: &StreamsView, account: &PacketAccount) -> String {
    let bytes = number::things(one.bytes, "byte");
    let window_end = account.connection.and_then(|connection| {
        let [client, server] = &view.after;
        let stream = if connection.to_server { client } else { server };
        stream.limit
    });
    let window_end = window_end.map_or(0, |limit| limit.0);
    let until = match one.reason {
        HeldReason::Hole => "until earlier bytes, or their acknowledgement, are seen".to_owned(),
        HeldReason::Window => format!(
            "of which {} lie beyond the receiver's window (up to {window_end}), until the receiver \
             acknowledges them",
            number::count(one.beyond_window)
        ),
        HeldReason::Syn => "data on a SYN, until the SYN is acknowledged".to_owned(),
        HeldReason::Closed => {
            "after the close of their stream, until the receiver shows whether it took them"
                .to_owned()
        }
        HeldReason::Doubt => {
            "as their segment acknowledges bytes that were not seen, until the receiver \
             acknowledges them"
                .to_owned()
        }
    };
    let beyond = match (one.reason, one.beyond_window) {
        (HeldReason::Hole, beyond @ 1..) => format!(
            "; {} of them lie beyond the receiver's window (up to {window_end}), and are used only \
             if the receiver acknowledges them",
            number::count(beyond)
        ),
        _ => String::new(),
    };
    format!("held: {bytes}, {until}{beyond}")
}

/// What became of held bytes.
pub(super) fn fate(fate: &HeldFate) -> String {
    let bytes = number::things(fate.bytes, "byte");
    let what = format!(
        "{bytes} of packet {} ({}'s stream)",
        fate.packet,
        side(fate.to_server)
    );
    match &fate.outcome {
        HeldOutcome::Delivered(by) => format!("{what}: delivered when packet {by} came"),
        HeldOutcome::Dropped(by, because) => {
            let because = because.iter().filter_map(|name| dropped(name));
            let because: Vec<&str> = because.collect();
            let because = match because.is_empty() {
                true => "their stream went on without them".to_owned(),
                false => because.join(", "),
            };
            format!("{what}: given up when packet {by} came: {because}")
        }
        HeldOutcome::AtEnd => format!("{what}: held until the connection ended"),
    }
}

/// What was done with bytes held at the end.
pub(super) fn at_end(end: &StreamsEnd) -> Vec<String> {
    let mut all = Vec::new();
    for (to_server, held) in [true, false].into_iter().zip(end.held) {
        if held > 0 {
            let bytes = number::things(held.into(), "byte");
            all.push(format!(
                "{bytes} of the {}'s stream still held",
                side(to_server)
            ));
        }
    }
    if all.is_empty() {
        return all;
    }
    for &(name, by) in &end.counters {
        let count = by.unsigned_abs();
        match name {
            "delivered" => all.push(format!("delivered then: {}", number::things(count, "byte"))),
            "gap_bytes" => {
                all.push(format!(
                    "gaps before them: {}",
                    number::things(count, "byte")
                ));
            }
            "held" => {}
            _ => all.extend(counter(name, by)),
        }
    }
    all
}

/// By how much a counter grew.
pub(super) fn grown(view: &StreamsView, name: &str) -> i64 {
    let mut counters = view.counters.iter();
    let found = counters.find(|(counter, _)| *counter == name);
    found.map_or(0, |&(_, by)| by)
}

/// How far a stream has come.
fn delivered(
    to_server: bool,
    before: &StreamView,
    after: &StreamView,
    view: &StreamsView,
) -> Option<String> {
    let moved = after.offset.checked_sub(before.offset)?;
    if moved == 0 || before.phase == "unseen" && after.offset == 0 {
        return None;
    }
    let gap = u64::try_from(grown(view, "gap_bytes"))
        .unwrap_or(0)
        .min(moved);
    let bytes = moved - gap;
    let place = format!(
        "the {}'s stream, offset {} to {}",
        side(to_server),
        before.offset,
        after.offset
    );
    Some(match (bytes, gap) {
        (bytes, 0) => format!("delivered: {} of {place}", number::things(bytes, "byte")),
        (0, gap) => format!(
            "gap: {} of {place}, not in the capture",
            number::things(gap, "byte")
        ),
        (bytes, gap) => format!(
            "delivered: {} of {place}, after a gap of {}",
            number::things(bytes, "byte"),
            number::things(gap, "byte")
        ),
    })
}

/// Why bytes are not used, by the counter that has them.
fn dropped(name: &str) -> Option<&'static str> {
    Some(match name {
        "duplicate" => "delivered before (a retransmission)",
        "overlapped" => "as others at the same place win",
        "bad_checksum" => "bad checksum",
        "old_timestamp" => "their time stamp is old (RFC 7323)",
        "out_of_window" => "outside any window",
        "after_close" => "after the end of their stream",
        "on_reset" => "in a RST",
        "syn_refused" => "on a SYN, not acknowledged",
        "discarded" => "after a hole when the connection was reset",
        "no_room" => "a cap left no room",
        "beyond_depth" => "beyond the depth limit, or no consumer wants them",
        "ignored" => "such streams are not reassembled by configuration",
        _ => return None,
    })
}

/// What a counter says that grew.
fn counter(name: &str, by: i64) -> Option<String> {
    let count = by.unsigned_abs();
    let bytes = number::things(count, "byte");
    if let Some(why) = dropped(name) {
        return Some(format!("not used: {bytes}, {why}"));
    }
    Some(match name {
        "held" if by > 0 => format!("held: {bytes}"),
        "held" => format!("no longer held: {bytes}"),
        "not_captured" => format!("missing: {bytes} that the capture cut off"),
        "urgent" => format!("read out of band: {bytes}"),
        "stream_cap_reached" => "a hole became a gap: the stream held its most".to_owned(),
        "shard_cap_reached" => "a hole became a gap: the shard held its most".to_owned(),
        "keep_alives" => "a keep-alive".to_owned(),
        "window_probes" => "a window probe".to_owned(),
        "midstream" => "the stream begins before the capture".to_owned(),
        "one_sided" => "the capture has one direction only".to_owned(),
        "compared" => format!("compared with what was delivered: {bytes}"),
        "uncompared" => format!("not compared: {bytes}, what was delivered is not kept"),
        _ => return None,
    })
}

/// What was odd, and by which rule.
fn anomaly(what: Anomaly, account: &PacketAccount, view: &StreamsView) -> String {
    let name = what.name();
    let sender = account.connection.map(|connection| connection.to_server);
    let [client, server] = &view.before;
    let stream = match sender {
        Some(false) => server,
        _ => client,
    };
    let seq = tcp_field(account, "seq").unwrap_or("?");
    let expects = format!(
        "the receiver expects {} and takes up to {} (policy {})",
        stream.next.0,
        stream.edge.0,
        stream.policy.name(),
    );
    match what {
        Anomaly::InvalidReset => {
            format!("{name}: the RST is not believed (RFC 5961): its number is {seq}; {expects}")
        }
        Anomaly::InvalidFin => {
            format!("{name}: the FIN is not believed: its number is {seq}; {expects}")
        }
        Anomaly::OutOfWindow => format!("{name}: its number is {seq}; {expects}"),
        Anomaly::CloseIgnored => {
            format!("{name}: the receiver did not believe what closed the stream, which goes on")
        }
        Anomaly::OverlapDiffers => {
            format!(
                "{name}: it differs from bytes at the same place; {}",
                stream.policy.name()
            )
        }
        _ => name.to_owned(),
    }
}

/// Where a stream stands.
pub(super) fn state(before: &StreamView, after: &StreamView) -> String {
    let mut text = super::words::change(Some(before.phase), &after.phase);
    text.push_str(&format!(", next byte {}", after.next.0));
    if after.is_seen || after.acked.0 != 0 {
        text.push_str(&format!(", acknowledged {}", after.acked.0));
    }
    if after.held_bytes > 0 {
        let held = number::things(after.held_bytes.into(), "byte");
        text.push_str(&format!(", {held} held"));
    }
    text
}
