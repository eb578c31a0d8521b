//! What reassembly did with a segment, in sentences.

use super::words::{side, tcp_field};
use crate::summary::number;
use flowpin_config::Named;
use flowpin_engine::{Anomaly, PacketAccount, StreamView, StreamsView};

/// What became of the segment's bytes and of both streams, a sentence each.
pub(super) fn decisions(account: &PacketAccount, view: &StreamsView) -> Vec<String> {
    let mut all = Vec::new();
    for (to_server, (before, after)) in [true, false]
        .into_iter()
        .zip(view.before.iter().zip(&view.after))
    {
        all.extend(delivered(to_server, before, after, view));
    }
    for &(name, by) in &view.counters {
        all.extend(counter(name, by));
    }
    for &what in &view.anomalies {
        all.push(anomaly(what, account, view));
    }
    if all.is_empty() {
        all.push("nothing to deliver".to_owned());
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
            "gap: {} of {place}, not in the capture; the receiver has acknowledged them",
            number::things(gap, "byte")
        ),
        (bytes, gap) => format!(
            "delivered: {} of {place}, after a gap of {}",
            number::things(bytes, "byte"),
            number::things(gap, "byte")
        ),
    })
}

/// What a counter says that grew.
fn counter(name: &str, by: i64) -> Option<String> {
    let count = by.unsigned_abs();
    let bytes = number::things(count, "byte");
    Some(match name {
        "held" if by > 0 => {
            format!("held: {bytes}, until earlier bytes, or their acknowledgement, are seen")
        }
        "held" => format!("no longer held: {bytes}"),
        "duplicate" => format!("not used: {bytes}, delivered before (a retransmission)"),
        "overlapped" => format!("not used: {bytes}, as others at the same place win"),
        "bad_checksum" => format!("not used: {bytes}, bad checksum"),
        "not_captured" => format!("missing: {bytes} that the capture cut off"),
        "old_timestamp" => format!("not used: {bytes}, their time stamp is old (RFC 7323)"),
        "out_of_window" => format!("not used: {bytes} outside any window"),
        "after_close" => format!("not used: {bytes} after the end of their stream"),
        "on_reset" => format!("not used: {bytes} in a RST"),
        "syn_refused" => format!("not used: {bytes} on a SYN, not acknowledged"),
        "discarded" => format!("not used: {bytes} after a hole when the connection was reset"),
        "no_room" => format!("lost: {bytes}, a cap left no room"),
        "beyond_depth" => format!("not used: {bytes} beyond the depth limit"),
        "ignored" => {
            format!("not used: {bytes}, such streams are not reassembled by configuration")
        }
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
