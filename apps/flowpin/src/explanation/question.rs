//! From a record's line to the question that it stands for.

use anyhow::{anyhow, bail};
use flowpin_engine::{Question, Wanted};
use serde_json::Value;

/// The packet or connection that a record names: a line of EVE JSON, of a Zeek log (TSV or JSON),
/// or of CSV.
///
/// # Errors
/// A line that names neither.
pub(crate) fn question_of_record(line: &str) -> anyhow::Result<Question> {
    let line = line.trim();
    if line.is_empty() {
        bail!("there is no record: `--record` takes one line of a log");
    }
    if line.starts_with('#') {
        bail!("that is a header line of a log, and no record");
    }
    let found = match serde_json::from_str::<Value>(line) {
        Ok(record @ Value::Object(_)) => of_json(&record),
        _ => of_columns(line),
    };
    found.ok_or_else(|| {
        anyhow!(
            "the record names neither a packet (pcap_cnt, packet_number) nor a connection (uid, \
             flow_id): records of scans, floods and tunnels are of many connections"
        )
    })
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

/// Columns without their header: the packet by the shape of the last ones, or else the first that
/// has the form of a uid is the connection's.
fn of_columns(line: &str) -> Option<Question> {
    let cells = line.split(['\t', ',']);
    let cells: Vec<_> = cells.map(|cell| cell.trim().trim_matches('"')).collect();
    if let Some(number) = packet_of(&cells).filter(|&number| number > 0) {
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
    }
}
