//! Sections about connections: by transport, state, protocol and port.

use super::page::{Cell, Page};
use super::{Detail, number, service};
use flowpin_engine::{ConnectionSums, RunReport, Traffic};
use flowpin_record::ConnState;

/// Connections by transport protocol.
pub(super) fn transports(page: &mut Page, report: &RunReport) {
    let sums = &report.found.connections;
    let total = sums.total();
    page.title("Connections", &number::count(total));
    let rows: Vec<_> = ConnectionSums::top(&sums.by_protocol, usize::MAX)
        .into_iter()
        .map(|(protocol, traffic)| {
            vec![
                Cell::left(service::transport(protocol)),
                Cell::right(number::count(traffic.connections)),
                Cell::right(number::percent(traffic.connections, total)),
                Cell::right(number::bytes(traffic.bytes)),
                Cell::bar(traffic.bytes, report.frame_bytes),
            ]
        })
        .collect();
    page.rows(&rows);
}

/// Connections by Zeek's state, in words.
pub(super) fn states(page: &mut Page, report: &RunReport) {
    let sums = &report.found.connections;
    let total = sums.total();
    if total == 0 {
        return;
    }
    let mut states: Vec<_> = ConnState::ALL
        .into_iter()
        .zip(sums.by_state)
        .filter(|&(_, count)| count > 0)
        .collect();
    states.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    page.title("Connection states", "in Zeek's terms");
    let rows: Vec<_> = states
        .into_iter()
        .map(|(state, count)| {
            vec![
                Cell::left(state.name()),
                Cell::right(number::count(count)),
                Cell::right(number::percent(count, total)),
                Cell::dim(meaning(state)),
            ]
        })
        .collect();
    page.rows(&rows);
}

/// Connections by application protocol.
pub(super) fn protocols(page: &mut Page, report: &RunReport, detail: Detail) {
    let sums = &report.found.connections;
    if report.identify.searched == 0 {
        return;
    }
    let unknown = &sums.unknown;
    let known: u64 = sums.by_app.values().map(|one| one.connections).sum();
    let spoken = known + unknown.connections;
    page.title("Protocols", "identified by content, not by port");
    let mut rows: Vec<_> = ConnectionSums::top(&sums.by_app, detail.rows(PROTOCOL_ROWS))
        .into_iter()
        .map(|(name, traffic)| protocol_row(Cell::left(name), &traffic, spoken, report))
        .collect();
    let more = sums.by_app.len() - rows.len();
    if unknown.connections > 0 {
        rows.push(protocol_row(
            Cell::dim("not identified"),
            unknown,
            spoken,
            report,
        ));
    }
    page.rows(&rows);
    if more > 0 {
        page.line(Cell::dim(format!(
            "and {} more (-v lists them)",
            number::count(u64::try_from(more).unwrap_or(u64::MAX))
        )));
    }
    if detail == Detail::All {
        let stats = &report.identify;
        page.line(Cell::dim(format!(
            "examined: {} of {}, {:.2} packets a connection",
            number::things(stats.inspected, "packet"),
            number::things(stats.searched, "connection"),
            number::real(stats.inspected) / number::real(stats.searched),
        )));
        page.line(Cell::dim(format!(
            "{} taken back, as later data contradicted",
            number::things(stats.taken_back, "verdict"),
        )));
    }
}

fn protocol_row(name: Cell, traffic: &Traffic, spoken: u64, report: &RunReport) -> Vec<Cell> {
    vec![
        name,
        Cell::right(number::things(traffic.connections, "connection")),
        Cell::right(number::percent(traffic.connections, spoken)),
        Cell::right(number::bytes(traffic.bytes)),
        Cell::bar(traffic.bytes, report.frame_bytes),
    ]
}

/// Messages of application protocols, by the kind of their records.
pub(super) fn messages(page: &mut Page, report: &RunReport) {
    let read = report.messages.iter().filter(|kind| kind.built > 0);
    let rows: Vec<_> = read
        .map(|kind| {
            vec![
                Cell::left(&kind.name),
                Cell::right(number::things(kind.built, "record")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let about = number::things(report.parse.connections, "connection");
    page.title("Messages", &format!("of {about} with a parser"));
    page.rows(&rows);
}

/// Traffic by server port: of all connections in detail, otherwise of unidentified ones.
pub(super) fn ports(page: &mut Page, report: &RunReport, detail: Detail) {
    let sums = &report.found.connections;
    let all = detail == Detail::All || report.identify.searched == 0;
    let (table, about) = if all {
        (
            &sums.by_port,
            "and the services that they suggest, by bytes",
        )
    } else {
        (
            &sums.by_unknown_port,
            "of unidentified connections, by bytes",
        )
    };
    if table.is_empty() {
        return;
    }
    page.title("Server ports", about);
    let shown = detail.rows(if all { PORT_ROWS } else { UNKNOWN_PORT_ROWS });
    let rows: Vec<_> = ConnectionSums::top(table, shown)
        .into_iter()
        .map(|((protocol, port), traffic)| {
            let transport = service::transport(protocol).to_lowercase();
            vec![
                Cell::left(format!("{port}/{transport}")),
                Cell::left(service::name(protocol, port)),
                Cell::right(number::things(traffic.connections, "connection")),
                Cell::right(number::bytes(traffic.bytes)),
                Cell::bar(traffic.bytes, report.frame_bytes),
            ]
        })
        .collect();
    let more = table.len() - rows.len();
    page.rows(&rows);
    if more > 0 {
        page.line(Cell::dim(format!(
            "and {} more (-v lists all ports)",
            number::count(u64::try_from(more).unwrap_or(u64::MAX))
        )));
    }
}

/// The meaning of Zeek's states.
const fn meaning(state: ConnState) -> &'static str {
    match state {
        ConnState::S0 => "attempted, no answer",
        ConnState::S1 => "established, the end is not in the capture",
        ConnState::SF => "established and ended normally, or answered (UDP, ICMP)",
        ConnState::REJ => "attempted, refused",
        ConnState::S2 => "closed by the client only",
        ConnState::S3 => "closed by the server only",
        ConnState::RSTO => "aborted by the client",
        ConnState::RSTR => "aborted by the server",
        ConnState::RSTOS0 => "attempted, aborted by the client before an answer",
        ConnState::RSTRH => "only the server's side: answered, then aborted",
        ConnState::SH => "only the client's side: attempted, then closed",
        ConnState::SHR => "only the server's side: answered, then closed",
        ConnState::OTH => "the beginning is not in the capture",
    }
}

const PROTOCOL_ROWS: usize = 15;
const PORT_ROWS: usize = 10;
const UNKNOWN_PORT_ROWS: usize = 5;
