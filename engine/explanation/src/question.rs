//! From a record's line to the question that it stands for, and what has no answer.

use flowpin_engine::{ExplainReport, Question, RunError, Wanted};
use flowpin_words::number;
use serde_json::Value;

/// A text from which no question can be made: why, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoQuestion(&'static str);

/// The packet or connection that a record names: a line of EVE JSON, of a Zeek log (TSV or JSON),
/// or of CSV.
///
/// # Errors
/// A line that names neither.
pub fn question_of_record(line: &str) -> Result<Question, NoQuestion> {
    let line = line.trim();
    if line.is_empty() {
        return Err(NoQuestion("there is no record: give one line of a log"));
    }
    if is_header(line) {
        return Err(NoQuestion("that is a header line of a log, and no record"));
    }
    let (is_record, is_of_many, found) = match serde_json::from_str::<Value>(line) {
        Ok(record @ Value::Object(_)) => {
            let is_record = ["event_type", "ts"]
                .iter()
                .any(|key| record.get(key).is_some());
            let state = record["state"].as_str().unwrap_or_default();
            let is_of_many = record["event_type"]
                .as_str()
                .map_or(STATES.contains(&state), |kind| OF_MANY.contains(&kind));
            (is_record, is_of_many, of_json(&record))
        }
        _ => {
            let cells = cells(line);
            let is_of_many = cells.get(2).is_some_and(|state| STATES.contains(state));
            let begins_with_time = line.starts_with(|first: char| first.is_ascii_digit());
            let is_record = begins_with_time && cells.len() > 2;
            (is_record, is_of_many, of_columns(&cells))
        }
    };
    match found {
        Some(question) if !is_of_many => Ok(question),
        None if !is_record => Err(NoQuestion(
            "that is no record: give a line of EVE JSON, of a Zeek log or of CSV",
        )),
        _ => Err(NoQuestion(
            "the record names neither a packet (pcap_cnt, packet_number) nor a connection (uid, \
             flow_id): records of scans, floods, tunnels and pairs of hosts are of many \
             connections",
        )),
    }
}

/// Whether there was an answer.
///
/// # Errors
/// There was none: why, and what helps.
pub fn explained(question: Question, report: &ExplainReport) -> Result<(), RunError> {
    if report.explained > 0 {
        return Ok(());
    }
    let packets = number::things(report.packets, "packet");
    Err(RunError::NotExplained(match question {
        Question::Packet(number) if report.is_filtered => {
            format!("packet {number} is left out by the filter or by its time, so no stage sees it")
        }
        Question::Packet(number) => {
            format!("there is no packet {number}: the input has {packets}")
        }
        Question::Connection(_) => format!("no such connection; {SAME_RUN}"),
    }))
}

/// Advice if a connection is not found.
pub const SAME_RUN: &str = "use the input, --timeouts, --memory, --id-seed and --community-seed of \
                            the run that wrote the identifier";

/// Whether a line names the columns of a log.
pub fn is_header(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("ts,")
}

fn of_json(record: &Value) -> Option<Question> {
    let number = record["pcap_cnt"].as_u64();
    let number = number.or_else(|| record["packet_number"].as_u64());
    if let Some(number) = number.filter(|&number| number > 0) {
        return Some(Question::Packet(number));
    }
    let uid = record["flowpin"]["uid"].as_str().or(record["uid"].as_str());
    let named = uid.and_then(|uid| uid.parse().ok());
    let flow_id = record["flow_id"].as_u64().map(Wanted::FlowId);
    named.or(flow_id).map(Question::Connection)
}

fn cells(line: &str) -> Vec<&str> {
    let cells = line.split(['\t', ',']);
    cells.map(|cell| cell.trim().trim_matches('"')).collect()
}

/// Columns without their header: the packet by the shape of the last ones, or else the first that
/// has the form of a uid is the connection's.
fn of_columns(cells: &[&str]) -> Option<Question> {
    if let Some(number) = packet_of(cells).filter(|&number| number > 0) {
        return Some(Question::Packet(number));
    }
    let mut named = cells.iter().filter_map(|cell| match cell.parse() {
        Ok(wanted @ Wanted::Uid(_)) => Some(wanted),
        _ => None,
    });
    named.next().map(Question::Connection)
}

/// The packet of a message or an anomaly: `…,community_id,transaction,packet_number` and
/// `…,name,layer,offset,packet_number,suppressed`, which Zeek's logs have behind other columns.
fn packet_of(cells: &[&str]) -> Option<u64> {
    let is_number = |cell: &str| cell.parse::<u64>().is_ok();
    let is_word = |cell: &str| cell.starts_with(|first: char| first.is_ascii_lowercase());
    match cells {
        [.., layer, offset, number, suppressed]
            if matches!(cells.len(), ANOMALY_CSV | ANOMALY_ZEEK)
                && is_word(layer)
                && is_number(offset)
                && is_number(suppressed) =>
        {
            number.parse().ok()
        }
        [.., community_id, transaction, number]
            if community_id.starts_with("1:") && is_number(transaction) =>
        {
            number.parse().ok()
        }
        _ => None,
    }
}

/// Events of no single connection, though they have a uid.
const OF_MANY: &[&str] = &["scan", "flood", "host_pair"];

/// What stands behind the uid in logs of scans and floods.
const STATES: &[&str] = &["begun", "ongoing", "over"];

/// Columns of anomalies.
const ANOMALY_CSV: usize = 11;
const ANOMALY_ZEEK: usize = 15;

#[cfg(test)]
mod tests {
    use super::question_of_record;
    use flowpin_engine::{Question, Wanted};

    /// Each format names what it is of in its own way.
    #[test]
    fn records_of_every_format_are_understood() {
        let uid: Wanted = "C0XWfTK4LReq".parse().unwrap();
        let connection = Question::Connection(uid);
        for (line, expected) in [
            (r#"{"pcap_cnt":7,"flow_id":12}"#, Question::Packet(7)),
            (
                r#"{"flow_id":12}"#,
                Question::Connection(Wanted::FlowId(12)),
            ),
            (
                r#"{"flow_id":12,"flowpin":{"uid":"C0XWfTK4LReq"}}"#,
                connection,
            ),
            (r#"{"ts":1.5,"uid":"C0XWfTK4LReq"}"#, connection),
            (
                r#"{"ts":1.5,"uid":"C0XWfTK4LReq","packet_number":7}"#,
                Question::Packet(7),
            ),
            (
                "2020-01-01T00:00:00Z,C0XWfTK4LReq,10.0.0.1,1,10.0.0.2,2,\"a,b\",1:wCb3OG=,0,7",
                Question::Packet(7),
            ),
            (
                "2020-01-01T00:00:00Z,,10.0.0.1,,10.0.0.2,,checksum,ipv4,0,7,0",
                Question::Packet(7),
            ),
            (
                "2020-01-01T00:00:00Z,C0XWfTK4LReq,10.0.0.1,1,10.0.0.2,2,http_body_cut,http,0,,0",
                connection,
            ),
            (
                "1.5\t-\t-\t-\t-\t-\ttruncated\t-\tF\tflowpin\t-\tethernet\t0\t7\t0",
                Question::Packet(7),
            ),
            ("1.5\tC0XWfTK4LReq\t10.0.0.1\t80", connection),
            ("2020-01-01T00:00:00Z,C0XWfTK4LReq,10.0.0.1\n", connection),
        ] {
            assert_eq!(question_of_record(line).unwrap(), expected, "{line}");
        }
        for line in [
            "",
            "#fields\tts\tuid",
            "{}",
            "[1]",
            r#"{"event_type":"stats"}"#,
            "a\tb",
        ] {
            assert!(question_of_record(line).is_err(), "{line}");
        }
        let refusal = |line: &str| question_of_record(line).unwrap_err().to_string();
        for line in [
            r#"{"event_type":"scan","flowpin":{"uid":"C5d7gLdNojtE"}}"#,
            r#"{"ts":1.5,"uid":"C5d7gLdNojtE","state":"begun","src":"10.0.0.1"}"#,
            "1.5\tC5d7gLdNojtE\tover\t10.0.0.1",
            "2020-01-01T00:00:00Z,C5d7gLdNojtE,ongoing,10.0.0.1",
        ] {
            assert!(refusal(line).contains("of many connections"), "{line}");
        }
        for line in ["garbage", "[1]", "{}", "7", "GET / HTTP/1.1"] {
            assert!(refusal(line).contains("that is no record"), "{line}");
        }
        assert!(refusal("ts,uid,orig_h").contains("header"));
    }
}
