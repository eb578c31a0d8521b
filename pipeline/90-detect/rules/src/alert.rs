//! The record of an alert, and its way from the workers.

use crate::columns::{COLUMNS, COUNT, RULES_COLUMNS};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use core::net::IpAddr;
use flowpin_aggregate::Observer;
use flowpin_packet::{LinkType, Timestamp};
use flowpin_record::{
    Alert, AlertPacket, FlowSoFar, Kind, MessagePlace, MessageSchema, NO_TRANSACTION, RecordKey,
    SetUse, Value,
};
use flowpin_rule::{Action, Rule};
use std::sync::Arc;

/// A rule that fits something of a connection.
pub static ALERT: MessageSchema = MessageSchema::new(
    "alert",
    "A rule fits a packet, a stream or a message (`-S`).",
    COLUMNS,
)
.sent_as_says(0);

/// Calls `write` with the values of an alert; `file`: what the packets are read from, if that is
/// shown; `client`: the one that a proxy names, likewise.
pub(crate) fn values(
    rule: &Rule,
    candidate: &Candidate,
    (file, client): (Option<&str>, Option<IpAddr>),
    write: impl FnOnce(&[Value<'_>]),
) {
    let metadata: Vec<String> = rule
        .metadata
        .iter()
        .map(|(key, one)| format!("{key} {one}"))
        .collect();
    let metadata: Vec<Value<'_>> = metadata.iter().map(|one| Value::Text(one)).collect();
    let lists = lists(candidate);
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
        client.map_or(Value::Unset, Value::Address),
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
    let payload = candidate.payload.as_ref();
    let encoded = payload.map(|payload| STANDARD.encode(&payload.0));
    let printed = payload.map(|payload| printable(&payload.0));
    let excerpt = [
        encoded.as_deref().map_or(Value::Unset, Value::Text),
        printed
            .as_deref()
            .map_or(Value::Unset, |text| Value::Bytes(text.as_bytes())),
        Value::count(payload.map(|payload| payload.1.into())),
    ];
    let packet = PacketTexts::of(candidate.packet.as_deref());
    let flow = flow(candidate).into_iter();
    let others = flow.chain(excerpt).chain(packet.values(file));
    for (place, value) in values.iter_mut().skip(own.len()).zip(others) {
        *place = value;
    }
    for (nth, text) in candidate.shown.iter() {
        let at = RULES_COLUMNS + usize::from(*nth);
        let (Some(column), Some(place)) = (COLUMNS.get(at), values.get_mut(at)) else {
            continue;
        };
        *place = match column.kind {
            Kind::TextList | Kind::CountList => {
                let list = lists.iter().find(|list| list.0 == *nth);
                list.map_or(Value::Unset, |list| Value::List(&list.1))
            }
            Kind::Count => count(text),
            Kind::Bool => Value::Bool(text == b"1"),
            _ => Value::Bytes(text),
        };
    }
    write(&values);
}

/// What alerts show of a packet.
#[derive(Default)]
struct PacketTexts {
    bytes: Option<String>,
    link: Option<(u16, &'static str)>,
    /// Who sends, and who receives.
    ethernet: Option<[String; 2]>,
}

impl PacketTexts {
    fn of(packet: Option<&AlertPacket>) -> Self {
        let Some(packet) = packet else {
            return Self::default();
        };
        // IEEE 802.3 §3.2.3: the receiver first.
        let addresses = packet.bytes.first_chunk::<12>();
        let addresses = addresses.filter(|_| packet.link == LinkType::Ethernet);
        Self {
            bytes: Some(STANDARD.encode(&packet.bytes)),
            // As Suricata spells them.
            link: match packet.link {
                LinkType::Ipv4 => Some((228, "IPv4")),
                LinkType::Ipv6 => Some((229, "IPv6")),
                link => link.registered(),
            },
            ethernet: addresses.map(|both| {
                let (receiver, sender) = both.split_at(6);
                [ethernet(sender), ethernet(receiver)]
            }),
        }
    }

    fn values<'a>(&'a self, file: Option<&'a str>) -> [Value<'a>; 7] {
        let [sender, receiver] = match &self.ethernet {
            Some([sender, receiver]) => [Value::Text(sender), Value::Text(receiver)],
            None => [Value::Unset; 2],
        };
        [
            self.bytes.as_deref().map_or(Value::Unset, Value::Text),
            Value::count(self.link.map(|link| link.0.into())),
            self.link.map_or(Value::Unset, |link| Value::Text(link.1)),
            sender,
            receiver,
            // No packet is held up.
            self.bytes
                .as_ref()
                .map_or(Value::Unset, |_| Value::Text("alert")),
            file.map_or(Value::Unset, Value::Text),
        ]
    }
}

/// An address of Ethernet, as people write it.
fn ethernet(address: &[u8]) -> String {
    let octets = address.iter().map(|octet| format!("{octet:02x}"));
    octets.collect::<Vec<_>>().join(":")
}

/// The values of each list that is shown.
fn lists(candidate: &Candidate) -> Vec<(u8, Vec<Value<'_>>)> {
    let mut lists: Vec<(u8, Vec<Value<'_>>)> = Vec::new();
    for (nth, text) in candidate.shown.iter() {
        let column = COLUMNS.get(RULES_COLUMNS + usize::from(*nth));
        let value = match column.map(|column| column.kind) {
            Some(Kind::TextList) => Value::Bytes(text),
            Some(Kind::CountList) => count(text),
            _ => continue,
        };
        match lists.iter_mut().find(|list| list.0 == *nth) {
            Some(list) => list.1.push(value),
            None => lists.push((*nth, vec![value])),
        }
    }
    lists
}

/// As Suricata prints payloads: what is no printable ASCII or line end as a dot.
fn printable(bytes: &[u8]) -> String {
    let shown = |&byte: &u8| match byte {
        b' '..=b'~' | b'\r' | b'\n' | b'\t' => char::from(byte),
        _ => '.',
    };
    bytes.iter().map(shown).collect()
}

fn count(digits: &[u8]) -> Value<'static> {
    let number = core::str::from_utf8(digits).ok();
    Value::count(number.and_then(|text| text.parse().ok()))
}

/// The connection up to what the rule fits: nothing of a packet that belongs to none.
fn flow(candidate: &Candidate) -> [Value<'static>; 11] {
    let mut values = [Value::Unset; 11];
    if let Some(flow) = candidate.flow {
        let place = &candidate.place;
        let has_ports = matches!(place.protocol, 6 | 17 | 132);
        let port = |port| {
            if has_ports {
                Value::Port(port)
            } else {
                Value::Unset
            }
        };
        values = [
            Value::Count(flow.packets[0]),
            Value::Count(flow.packets[1]),
            Value::Count(flow.bytes[0]),
            Value::Count(flow.bytes[1]),
            Value::Time(flow.begin),
            Value::Address(place.client.address),
            Value::Address(place.server.address),
            port(place.client.port),
            port(place.server.port),
            Value::count(flow.icmp.map(|icmp| icmp.0.into())),
            Value::count(flow.icmp.map(|icmp| icmp.1.into())),
        ];
    }
    values
}

/// A rule that fits something of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) key: RecordKey,
    pub(crate) place: MessagePlace,
    pub(crate) rule: u32,
    pub(crate) to_server: bool,
    pub(crate) flow: Option<FlowSoFar>,
    pub(crate) payload: Option<(Arc<[u8]>, bool)>,
    pub(crate) packet: Option<Arc<AlertPacket>>,
    pub(crate) sets: Option<Arc<[SetUse]>>,
    pub(crate) shown: Arc<[(u8, Vec<u8>)]>,
}

/// What a worker hands over: rules that fit, in no order.
#[derive(Debug, Default)]
pub struct AlertNews {
    pub(crate) candidates: Vec<Candidate>,
    /// Rules with lower numbers fit nothing any more that comes later.
    pub(crate) since: Option<u32>,
}

/// The side on the workers.
#[derive(Debug, Default)]
pub struct AlertObserver {
    news: AlertNews,
    bytes: usize,
}

impl AlertObserver {
    /// The worker has other rules from here on, of which this is the first number.
    pub fn exchanged(&mut self, first_number: u32) {
        self.news.since = Some(first_number);
    }
}

impl Observer for AlertObserver {
    type News = AlertNews;

    fn alert(&mut self, key: RecordKey, place: &MessagePlace, alert: Alert<'_>) {
        let mut place = *place;
        place.transaction = alert.transaction.unwrap_or(NO_TRANSACTION);
        let texts: usize = alert.shown.iter().map(|one| one.1.len()).sum();
        let payload = alert.payload.map_or(0, |payload| payload.0.len());
        // Shared by all alerts that it shows.
        let last = self
            .news
            .candidates
            .last()
            .and_then(|one| one.packet.as_ref());
        let is_same = |packet: &Arc<_>| last.is_some_and(|last| Arc::ptr_eq(last, packet));
        let packet = alert.packet.filter(|packet| !is_same(packet));
        let payload = payload + packet.map_or(0, |packet| packet.bytes.len());
        let uses = alert.sets.into_iter().flat_map(|sets| sets.iter());
        let values: usize = uses.flat_map(|one| &one.values).map(Vec::len).sum();
        self.bytes += size_of::<Candidate>() + texts + payload + values;
        self.news.candidates.push(Candidate {
            key,
            place,
            rule: alert.rule,
            to_server: alert.to_server,
            flow: Some(alert.flow),
            payload: alert.payload.cloned(),
            packet: alert.packet.cloned(),
            sets: alert.sets.cloned(),
            shown: Arc::clone(alert.shown),
        });
    }

    fn held_bytes(&self) -> usize {
        self.bytes
    }

    fn tick(&mut self, _: Timestamp) -> Option<AlertNews> {
        self.bytes = 0;
        let news = core::mem::take(&mut self.news);
        (!news.candidates.is_empty() || news.since.is_some()).then_some(news)
    }

    fn finish(self, _: Timestamp) -> Option<AlertNews> {
        (!self.news.candidates.is_empty()).then_some(self.news)
    }
}
