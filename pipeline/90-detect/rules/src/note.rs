//! Rules that fit, as bytes, for a decider in another process.
//!
//! What several alerts share (what a packet or a message shows) is told once, with the first one.

use crate::alert::{AlertNews, Candidate};
use crate::connection::Waiting;
use flowpin_aggregate::Travel;
use flowpin_aggregate::travel::{
    put, put_address, put_bytes, put_key, take, take_address, take_bytes, take_key, take_name,
    take_small,
};
use flowpin_packet::{InterfaceId, LinkType, Timestamp};
use flowpin_record::{
    AlertPacket, FlowSoFar, MessagePlace, RecordEndpoint, SetAction, SetUse, ToolNames, Uid,
};
use std::sync::Arc;

impl From<Waiting> for AlertNews {
    fn from(waiting: Waiting) -> Self {
        Self {
            candidates: waiting.candidates,
            since: None,
        }
    }
}

impl Travel for AlertNews {
    fn earliest(&self) -> Option<Timestamp> {
        self.candidates.iter().map(|one| one.key.time).min()
    }

    fn keep_between(&mut self, from: Timestamp, until: Timestamp) {
        let is_kept = |one: &Candidate| from <= one.key.time && one.key.time < until;
        self.candidates.retain(is_kept);
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, self.candidates.len() as u64);
        let mut before = None;
        for one in &self.candidates {
            put_candidate(&mut out, one, before);
            before = Some(one);
        }
        out
    }

    fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let mut candidates = Vec::new();
        for _ in 0..take(&mut rest)? {
            let one = take_candidate(&mut rest, candidates.last())?;
            candidates.push(one);
        }
        rest.is_empty().then_some(Self {
            candidates,
            since: None,
        })
    }
}

fn put_candidate(out: &mut Vec<u8>, one: &Candidate, before: Option<&Candidate>) {
    put_key(out, one.key);
    put_place(out, &one.place);
    put(out, one.rule.into());
    put(out, one.to_server.into());
    put_option(out, one.flow.as_ref(), put_flow);
    let same = before.and_then(|before| before.payload.as_ref());
    let same = same.map(|(bytes, _)| bytes);
    let payload = one.payload.as_ref();
    put_option(out, payload, |out, (bytes, is_stream)| {
        put(out, u64::from(*is_stream));
        put_shared(out, bytes, same, put_bytes);
    });
    let same = before.and_then(|before| before.packet.as_ref());
    put_option(out, one.packet.as_ref(), |out, packet| {
        put_shared(out, packet, same, put_packet);
    });
    let same = before.and_then(|before| before.sets.as_ref());
    put_option(out, one.sets.as_ref(), |out, sets| {
        put_shared(out, sets, same, put_sets);
    });
    let same = before.map(|before| &before.shown);
    put_shared(out, &one.shown, same, put_shown);
}

fn take_candidate(from: &mut &[u8], before: Option<&Candidate>) -> Option<Candidate> {
    Some(Candidate {
        key: take_key(from)?,
        place: take_place(from)?,
        rule: take_small(from)?,
        to_server: take(from)? != 0,
        flow: take_option(from, take_flow)?,
        payload: take_option(from, |from| {
            let is_stream = take(from)? != 0;
            let same = before.and_then(|before| before.payload.as_ref());
            let same = same.map(|(bytes, _)| bytes);
            let bytes = take_shared(from, same, |from| Some(take_bytes(from)?.into()))?;
            Some((bytes, is_stream))
        })?,
        packet: take_option(from, |from| {
            let same = before.and_then(|before| before.packet.as_ref());
            take_shared(from, same, take_packet)
        })?,
        sets: take_option(from, |from| {
            let same = before.and_then(|before| before.sets.as_ref());
            take_shared(from, same, take_sets)
        })?,
        shown: take_shared(from, before.map(|before| &before.shown), take_shown)?,
    })
}

fn put_option<T>(out: &mut Vec<u8>, one: Option<T>, value: impl FnOnce(&mut Vec<u8>, T)) {
    put(out, u64::from(one.is_some()));
    if let Some(one) = one {
        value(out, one);
    }
}

/// None of what was not put so; `Some(None)` where there is nothing.
fn take_option<T>(
    from: &mut &[u8],
    value: impl FnOnce(&mut &[u8]) -> Option<T>,
) -> Option<Option<T>> {
    match take(from)? {
        0 => Some(None),
        _ => value(from).map(Some),
    }
}

/// Puts what is shared; of what the one before had, only that.
fn put_shared<T: ?Sized>(
    out: &mut Vec<u8>,
    one: &Arc<T>,
    before: Option<&Arc<T>>,
    value: impl FnOnce(&mut Vec<u8>, &T),
) {
    let is_same = before.is_some_and(|before| Arc::ptr_eq(one, before));
    put(out, u64::from(is_same));
    if !is_same {
        value(out, one);
    }
}

fn take_shared<T: ?Sized>(
    from: &mut &[u8],
    before: Option<&Arc<T>>,
    value: impl FnOnce(&mut &[u8]) -> Option<Arc<T>>,
) -> Option<Arc<T>> {
    match take(from)? {
        0 => value(from),
        _ => before.map(Arc::clone),
    }
}

fn put_place(out: &mut Vec<u8>, place: &MessagePlace) {
    for word in [place.time.0, place.uid.0, place.protocol.into()] {
        put(out, word);
    }
    for end in [&place.client, &place.server] {
        put_address(out, end.address);
        put(out, end.port.into());
    }
    place.vlans.iter().for_each(|&vlan| put(out, vlan.into()));
    put_bytes(out, place.app.as_bytes());
    put(out, place.transaction.into());
    put_option(out, place.packet_number, put);
    put_option(out, place.shown_client, put_address);
}

fn take_place(from: &mut &[u8]) -> Option<MessagePlace> {
    let (time, uid, protocol) = (take(from)?, take(from)?, take_small(from)?);
    let mut end = || {
        let address = take_address(from)?;
        let port = take_small(from)?;
        Some(RecordEndpoint { address, port })
    };
    let (client, server) = (end()?, end()?);
    let vlans = [take_small(from)?, take_small(from)?];
    let app = take_name(from)?;
    Some(MessagePlace {
        time: Timestamp(time),
        uid: Uid(uid),
        protocol,
        client,
        server,
        vlans,
        // The table of alerts has no column for it, and numbers are of one process.
        interface: InterfaceId::NONE,
        app,
        in_tools: match app {
            "" => ToolNames::NONE,
            app => ToolNames::of(app),
        },
        transaction: take_small(from)?,
        packet_number: take_option(from, take)?,
        shown_client: take_option(from, take_address)?,
    })
}

fn put_flow(out: &mut Vec<u8>, flow: &FlowSoFar) {
    let counts = flow.packets.iter().chain(&flow.bytes);
    counts.for_each(|&count| put(out, count));
    put(out, flow.begin.0);
    put_option(out, flow.icmp, |out, (kind, code)| {
        out.extend_from_slice(&[kind, code]);
    });
}

fn take_flow(from: &mut &[u8]) -> Option<FlowSoFar> {
    Some(FlowSoFar {
        packets: [take(from)?, take(from)?],
        bytes: [take(from)?, take(from)?],
        begin: Timestamp(take(from)?),
        icmp: take_option(from, |from| {
            let [kind, code] = flowpin_aggregate::travel::take_some(from)?;
            Some((kind, code))
        })?,
    })
}

fn put_packet(out: &mut Vec<u8>, packet: &AlertPacket) {
    let number = packet.link.registered().map(|(number, _)| number.into());
    put(out, number.unwrap_or(u64::MAX));
    put_bytes(out, &packet.bytes);
}

fn take_packet(from: &mut &[u8]) -> Option<Arc<AlertPacket>> {
    let link = match take(from)? {
        u64::MAX => LinkType::Unsupported,
        number => LinkType::of_number(u16::try_from(number).ok()?),
    };
    Some(AlertPacket::shared(take_bytes(from)?, link))
}

fn put_sets(out: &mut Vec<u8>, sets: &[SetUse]) {
    put(out, sets.len() as u64);
    for one in sets {
        put(out, one.set.into());
        put(out, one.action as u64);
        put(out, one.values.len() as u64);
        one.values.iter().for_each(|value| put_bytes(out, value));
    }
}

fn take_sets(from: &mut &[u8]) -> Option<Arc<[SetUse]>> {
    let mut sets = Vec::new();
    for _ in 0..take(from)? {
        let (set, action) = (take_small(from)?, take_small::<usize>(from)?);
        let mut values = Vec::new();
        for _ in 0..take(from)? {
            values.push(take_bytes(from)?.to_vec());
        }
        sets.push(SetUse {
            set,
            action: *ACTIONS.get(action)?,
            values,
        });
    }
    Some(sets.into())
}

fn put_shown(out: &mut Vec<u8>, shown: &[(u8, Vec<u8>)]) {
    put(out, shown.len() as u64);
    for (column, text) in shown {
        put(out, u64::from(*column));
        put_bytes(out, text);
    }
}

fn take_shown(from: &mut &[u8]) -> Option<Shown> {
    let mut shown = Vec::new();
    for _ in 0..take(from)? {
        shown.push((take_small(from)?, take_bytes(from)?.to_vec()));
    }
    Some(shown.into())
}

/// Columns and their texts.
type Shown = Arc<[(u8, Vec<u8>)]>;

/// By their numbers.
const ACTIONS: [SetAction; 4] = [
    SetAction::Add,
    SetAction::Remove,
    SetAction::In,
    SetAction::NotIn,
];

#[cfg(test)]
mod tests {
    use super::ACTIONS;
    use crate::alert::{AlertNews, Candidate};
    use flowpin_aggregate::Travel;
    use flowpin_packet::{InterfaceId, LinkType, Timestamp};
    use flowpin_record::{
        AlertPacket, FlowSoFar, MessagePlace, RecordEndpoint, RecordKey, SetUse, ToolNames, Uid,
    };
    use proptest::prelude::*;
    use std::sync::Arc;

    fn candidate(seed: u64, before: Option<&Candidate>) -> Candidate {
        let address = |word: u64| match word % 2 {
            0 => [10, 0, 0, word as u8].into(),
            _ => std::net::IpAddr::V6((u128::from(word) << 64).into()),
        };
        let end = |word| RecordEndpoint {
            address: address(word),
            port: word as u16,
        };
        let app = ["", "dns", "http", "a-pattern"][seed as usize % 4];
        let in_tools = match app {
            "" => ToolNames::NONE,
            app => ToolNames::of(app),
        };
        let bytes = |len: u64| vec![seed as u8; len as usize % 40];
        let is_new = !seed.is_multiple_of(3);
        let before = before.filter(|_| !is_new);
        let action = ACTIONS[seed as usize % 4];
        Candidate {
            key: RecordKey {
                time: Timestamp(seed >> 3),
                number: seed >> 5,
                ordinal: seed as u32,
            },
            place: MessagePlace {
                time: Timestamp(seed),
                uid: Uid(seed),
                protocol: seed as u8,
                client: end(seed >> 1),
                server: end(seed >> 2),
                vlans: [seed as u16, u16::MAX],
                interface: InterfaceId::NONE,
                app,
                in_tools,
                transaction: seed as u32,
                packet_number: (!seed.is_multiple_of(5)).then_some(seed),
                shown_client: seed.is_multiple_of(7).then(|| address(seed)),
            },
            rule: seed as u32,
            to_server: seed & 1 == 0,
            flow: (!seed.is_multiple_of(11)).then(|| FlowSoFar {
                packets: [seed, 2],
                bytes: [3, seed],
                begin: Timestamp(seed),
                icmp: seed.is_multiple_of(2).then_some((seed as u8, 3)),
            }),
            payload: match before {
                Some(before) => before.payload.clone(),
                None => (seed % 4 > 1).then(|| (bytes(seed).into(), seed & 2 == 0)),
            },
            packet: match before {
                Some(before) => before.packet.clone(),
                None => (seed % 5 > 1).then(|| AlertPacket::shared(&bytes(seed), LinkType::Ppp)),
            },
            sets: seed.is_multiple_of(9).then(|| {
                let values = vec![bytes(seed), Vec::new()];
                let one = SetUse {
                    set: seed as u16,
                    action,
                    values,
                };
                Arc::from(vec![one])
            }),
            shown: match before {
                Some(before) => Arc::clone(&before.shown),
                None => vec![(seed as u8, bytes(seed))].into(),
            },
        }
    }

    fn news(seeds: &[u64]) -> AlertNews {
        let mut news = AlertNews::default();
        for &seed in seeds {
            let one = candidate(seed, news.candidates.last());
            news.candidates.push(one);
        }
        news
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// What is written is read, and shares what was shared; what is cut off is not read.
        #[test]
        fn candidates_travel(
            seeds in prop::collection::vec(any::<u64>(), 0..12),
            cut in any::<prop::sample::Index>(),
        ) {
            let one = news(&seeds);
            let bytes = one.to_bytes();
            let read = AlertNews::of_bytes(&bytes).unwrap();
            prop_assert_eq!(format!("{one:?}"), format!("{read:?}"));
            let pairs = |news: &AlertNews| -> Vec<bool> {
                let pairs = news.candidates.windows(2);
                pairs.map(|two| Arc::ptr_eq(&two[0].shown, &two[1].shown)).collect()
            };
            prop_assert_eq!(pairs(&one), pairs(&read));
            prop_assert!(AlertNews::of_bytes(&bytes[..cut.index(bytes.len())]).is_none());
        }

        /// Any bytes are read, or refused.
        #[test]
        fn other_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _read = AlertNews::of_bytes(&bytes);
        }
    }

    /// The table is in the order of the numbers.
    #[test]
    fn numbers_are_places() {
        let mut actions = ACTIONS.iter().enumerate();
        assert!(actions.all(|(nth, &one)| one as usize == nth));
    }

    /// A slice has what happens within it.
    #[test]
    fn what_others_tell_is_left_out() {
        let mut one = news(&[8, 16, 24, 32]);
        assert_eq!(one.earliest(), Some(Timestamp(1)));
        one.keep_between(Timestamp(2), Timestamp(4));
        let times: Vec<_> = one.candidates.iter().map(|one| one.key.time.0).collect();
        assert_eq!(times, [2, 3]);
        assert_eq!(AlertNews::default().earliest(), None);
    }
}
