//! The record of an alert, and its way from the workers.

use flowpin_aggregate::Observer;
use flowpin_packet::Timestamp;
use flowpin_record::{Alert, Kind, MessageColumn, MessagePlace, MessageSchema, RecordKey, Value};
use flowpin_rule::{Action, Rule};
use std::sync::Arc;

/// A rule that fits something of a connection.
pub static ALERT: MessageSchema = MessageSchema::new(
    "alert",
    "A rule fits a packet, a stream or a message (`-S`).",
    COLUMNS,
)
.sent_as_says(0);

const fn column(
    name: &'static str,
    eve: &'static str,
    kind: Kind,
    doc: &'static str,
) -> MessageColumn {
    MessageColumn::new(name, eve, kind, doc)
}

/// The rule's columns; those of [`SHOWN`] follow.
const COLUMNS: &[MessageColumn] = &[
    column(
        "is_orig",
        "",
        Kind::Bool,
        "Whether the client sent what the rule fits.",
    ),
    column(
        "action",
        "alert.action",
        Kind::Enum,
        "`allowed`: no packet is held up.",
    ),
    column("gid", "alert.gid", Kind::Count, "The rule's generator."),
    column(
        "sid",
        "alert.signature_id",
        Kind::Count,
        "The rule's number.",
    ),
    column("rev", "alert.rev", Kind::Count, "The rule's revision."),
    column(
        "signature",
        "alert.signature",
        Kind::Text,
        "What the rule says.",
    ),
    column(
        "category",
        "alert.category",
        Kind::Text,
        "The text of its class.",
    ),
    column(
        "severity",
        "alert.severity",
        Kind::Count,
        "Its priority: 1 is the highest.",
    ),
    column(
        "direction",
        "direction",
        Kind::Enum,
        "`to_server` or `to_client`.",
    ),
    column(
        "would_drop",
        "flowpin.would_drop",
        Kind::Bool,
        "An inline device would drop the packet (`drop`, `reject`); else left out.",
    ),
    column(
        "metadata",
        "flowpin.metadata",
        Kind::TextList,
        "The rule's metadata: keys and values.",
    ),
    column(
        "pkt_src",
        "pkt_src",
        Kind::Enum,
        "What has shown it: a packet, or the end.",
    ),
    column(
        "http_hostname",
        "http.hostname",
        Kind::Text,
        "HTTP: the host.",
    ),
    column("http_url", "http.url", Kind::Text, "HTTP: the target."),
    column(
        "http_user_agent",
        "http.http_user_agent",
        Kind::Text,
        "HTTP: User-Agent.",
    ),
    column(
        "http_method",
        "http.http_method",
        Kind::Text,
        "HTTP: the method.",
    ),
    column(
        "http_protocol",
        "http.protocol",
        Kind::Text,
        "HTTP: the version.",
    ),
    column(
        "http_refer",
        "http.http_refer",
        Kind::Text,
        "HTTP: Referer.",
    ),
    column("tls_sni", "tls.sni", Kind::Text, "TLS: the server's name."),
    column(
        "tls_subject",
        "tls.subject",
        Kind::Text,
        "TLS: the certificate's subject.",
    ),
    column(
        "tls_issuerdn",
        "tls.issuerdn",
        Kind::Text,
        "TLS: the certificate's issuer.",
    ),
    column(
        "tls_version",
        "tls.version",
        Kind::Text,
        "TLS: the version.",
    ),
    column(
        "dns_rrname",
        "dns.queries[].rrname",
        Kind::TextList,
        "DNS: the names asked for.",
    ),
    column(
        "ftp_command",
        "ftp.command",
        Kind::Text,
        "FTP: the command.",
    ),
    column(
        "ftp_data",
        "ftp.command_data",
        Kind::Text,
        "FTP: the command's argument.",
    ),
];

/// Columns of messages that alerts show: their place here, and their path in events.
pub(crate) const SHOWN: [(usize, &str); 13] = [
    (12, "http.hostname"),
    (13, "http.url"),
    (14, "http.http_user_agent"),
    (15, "http.http_method"),
    (16, "http.protocol"),
    (17, "http.http_refer"),
    (18, "tls.sni"),
    (19, "tls.subject"),
    (20, "tls.issuerdn"),
    (21, "tls.version"),
    (22, "dns.queries[].rrname"),
    (23, "ftp.command"),
    (24, "ftp.command_data"),
];
const DNS: usize = 10;
const RULES_COLUMNS: usize = 12;
const COUNT: usize = COLUMNS.len();
const _: () = assert!(COUNT == RULES_COLUMNS + SHOWN.len());

/// Calls `write` with the values of an alert.
pub(crate) fn values(rule: &Rule, candidate: &Candidate, write: impl FnOnce(&[Value<'_>])) {
    let metadata: Vec<String> = rule
        .metadata
        .iter()
        .map(|(key, one)| format!("{key} {one}"))
        .collect();
    let metadata: Vec<Value<'_>> = metadata.iter().map(|one| Value::Text(one)).collect();
    let names = candidate
        .shown
        .iter()
        .filter(|one| usize::from(one.0) == DNS);
    let names: Vec<Value<'_>> = names.map(|one| Value::Bytes(&one.1)).collect();
    let would_drop = matches!(rule.action, Action::Drop | Action::Reject);
    let side = if candidate.to_server {
        "to_server"
    } else {
        "to_client"
    };
    let mut values = [Value::Unset; COUNT];
    let own = [
        Value::Bool(candidate.to_server),
        Value::Text("allowed"),
        Value::Count(rule.gid.into()),
        Value::Count(rule.sid.into()),
        Value::Count(rule.rev.into()),
        Value::Text(&rule.message),
        Value::Text(&rule.class.text),
        Value::Count(rule.priority.into()),
        Value::Text(side),
        if would_drop {
            Value::Bool(true)
        } else {
            Value::Unset
        },
        if metadata.is_empty() {
            Value::Unset
        } else {
            Value::List(&metadata)
        },
        Value::Text(match candidate.place.packet_number {
            Some(_) => "wire/pcap",
            None => "stream (flow timeout)",
        }),
    ];
    for (place, value) in values.iter_mut().zip(own) {
        *place = value;
    }
    for (nth, text) in candidate.shown.iter() {
        let column = SHOWN.get(usize::from(*nth)).map(|one| one.0);
        let place = column.and_then(|column| values.get_mut(column));
        if let Some(place) = place {
            *place = match usize::from(*nth) {
                DNS => Value::List(&names),
                _ => Value::Bytes(text),
            };
        }
    }
    write(&values);
}

/// A rule that fits something of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) key: RecordKey,
    pub(crate) place: MessagePlace,
    pub(crate) rule: u32,
    pub(crate) to_server: bool,
    pub(crate) shown: Arc<[(u8, Vec<u8>)]>,
}

/// What a worker hands over: rules that fit, in no order.
#[derive(Debug, Default)]
pub struct AlertNews(pub(crate) Vec<Candidate>);

/// The side on the workers.
#[derive(Debug, Default)]
pub struct AlertObserver {
    news: AlertNews,
    bytes: usize,
}

impl Observer for AlertObserver {
    type News = AlertNews;

    fn alert(&mut self, key: RecordKey, place: &MessagePlace, alert: Alert<'_>) {
        let mut place = *place;
        place.transaction = alert.transaction.unwrap_or(0);
        let texts: usize = alert.shown.iter().map(|one| one.1.len()).sum();
        self.bytes += size_of::<Candidate>() + texts;
        self.news.0.push(Candidate {
            key,
            place,
            rule: alert.rule,
            to_server: alert.to_server,
            shown: Arc::clone(alert.shown),
        });
    }

    fn held_bytes(&self) -> usize {
        self.bytes
    }

    fn tick(&mut self, _: Timestamp) -> Option<AlertNews> {
        self.bytes = 0;
        let news = core::mem::take(&mut self.news);
        (!news.0.is_empty()).then_some(news)
    }

    fn finish(self, _: Timestamp) -> Option<AlertNews> {
        (!self.news.0.is_empty()).then_some(self.news)
    }
}

#[cfg(test)]
mod tests {
    use super::{ALERT, SHOWN};

    /// The list of shown columns has their places.
    #[test]
    fn shown_columns_stand_where_they_are_said_to() {
        for (at, path) in SHOWN {
            assert_eq!(ALERT.columns[at].eve, path);
        }
    }
}
