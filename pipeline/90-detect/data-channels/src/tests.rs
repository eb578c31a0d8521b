//! The decider, for any division of control connections and records among workers.

use crate::connections::tests::{connection, end};
use crate::{DataDecider, DataNews, DataObserver};
use flowpin_aggregate::{CountedAs, Decider, Emit, Observer, Traffic};
use flowpin_counters::Loss;
use flowpin_packet::{InterfaceId, Timestamp};
use flowpin_record::{
    AnomalyRecord, ConnRecord, DataChannel, MessagePlace, MessageSchema, RecordKey, RecordSink,
    ToolNames, TunnelRecord, Uid, Value,
};
use proptest::prelude::*;

/// All that is emitted, as text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Emitted(Vec<String>);

impl RecordSink for Emitted {
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        let name = record.app.map(|app| app.name);
        self.0.push(format!("{key:?} {:?} {name:?}", record.uid));
    }

    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}

    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}

    fn message(
        &mut self,
        key: RecordKey,
        place: &MessagePlace,
        schema: &MessageSchema,
        values: &[Value<'_>],
    ) {
        let uid = place.uid;
        self.0
            .push(format!("{key:?} {uid:?} {} {values:?}", schema.name));
    }
}

impl Emit for Emitted {
    fn supersede(&mut self, key: RecordKey) {
        self.0.push(format!("{key:?} superseded"));
    }
}

/// Something that a worker sees at a second.
#[derive(Clone, Debug)]
enum Seen {
    /// A control connection announces a port, and what will come there.
    Announced { control: u64, port: u16 },
    /// A connection to a port has ended.
    Ended { port: u16 },
}

const SECOND: u64 = 1_000_000_000;

fn key(number: u64) -> RecordKey {
    RecordKey {
        time: Timestamp(number * SECOND),
        number,
        ordinal: 0,
    }
}

fn see(observer: &mut DataObserver, number: u64, seen: &Seen) {
    let key = key(number);
    match *seen {
        Seen::Announced { control, port } => {
            let place = MessagePlace {
                time: key.time,
                uid: Uid(control),
                protocol: 6,
                client: end(1, 50_000),
                server: end(2, 21),
                vlans: [0xffff; 2],
                interface: InterfaceId::NONE,
                app: "ftp",
                in_tools: ToolNames::of("ftp"),
                transaction: 0,
                packet_number: None,
                shown_client: None,
            };
            let announced = DataChannel::Announced {
                by_client: false,
                opener: end(1, 0).address,
                listener: end(2, port),
            };
            observer.data_channel(key, &place, announced);
            let file = format!("{control}-{port}");
            let carries = DataChannel::Carries {
                command: b"RETR",
                file: file.as_bytes(),
            };
            let later = RecordKey { ordinal: 1, ..key };
            observer.data_channel(later, &place, carries);
        }
        Seen::Ended { port } => {
            let record = connection(1000 + number, end(1, 9), end(2, port), number);
            observer.conn(key, &record);
        }
    }
}

/// What comes of it for workers that each see what `owner` says, with ticks after some events.
fn emitted(
    all: &[Seen],
    workers: usize,
    owner: impl Fn(usize) -> usize,
    has_tick: impl Fn(usize) -> bool,
) -> (Vec<String>, Vec<(CountedAs, Traffic)>) {
    let mut observers: Vec<_> = (0..workers).map(|_| DataObserver::default()).collect();
    let mut decider = DataDecider::new(true);
    let mut out = Emitted::default();
    let hand_over = |decider: &mut DataDecider, worker, news: Option<DataNews>| {
        if let Some(news) = news {
            decider.add(worker, news);
        }
    };
    for (nth, seen) in all.iter().enumerate() {
        let number = nth as u64 + 1;
        see(&mut observers[owner(nth)], number, seen);
        if has_tick(nth) {
            // The last worker first: news come in any order.
            for (worker, observer) in observers.iter_mut().enumerate().rev() {
                let news = observer.tick(Timestamp(number * SECOND));
                hand_over(&mut decider, worker, news);
            }
            let delivered = RecordKey::last_at(Timestamp(number * SECOND));
            assert_eq!(decider.decide(delivered, &mut out), delivered);
        }
    }
    for (worker, observer) in observers.into_iter().enumerate() {
        hand_over(&mut decider, worker, observer.finish(Timestamp::MAX));
    }
    decider.decide(RecordKey::LAST, &mut out);
    let found = decider.take_findings();
    let renamed = found.iter().map(|(was, _, traffic)| (was, *traffic));
    let renamed: Vec<_> = renamed.collect();
    // Rules saw none of these: each is counted once.
    let unseen = decider.losses().of(Loss::RuleAnnounced);
    let counted = renamed.iter().map(|(_, traffic)| traffic.connections);
    assert_eq!(unseen, counted.sum::<u64>());
    (out.0, renamed)
}

fn seen() -> impl Strategy<Value = Seen> {
    prop_oneof![
        (1_u64..4, 30_000_u16..30_006)
            .prop_map(|(control, port)| Seen::Announced { control, port }),
        (30_000_u16..30_008).prop_map(|port| Seen::Ended { port }),
    ]
}

proptest! {
    /// The same records, replacements and findings, however workers and ticks divide what is seen.
    #[test]
    fn any_division_recognises_the_same(
        all in prop::collection::vec(seen(), 0..60),
        owners in prop::collection::vec(0_usize..3, 60),
        ticks in prop::collection::vec(any::<bool>(), 60),
    ) {
        let whole = emitted(&all, 1, |_| 0, |_| false);
        let parts = emitted(&all, 3, |nth| owners[nth], |nth| ticks[nth]);
        prop_assert_eq!(whole, parts);
    }
}

/// An announced connection is superseded, named, and has an event.
#[test]
fn what_was_announced_on_another_worker_is_named() {
    let all = [
        Seen::Announced {
            control: 1,
            port: 30_000,
        },
        Seen::Ended { port: 30_000 },
        Seen::Ended { port: 30_000 },
    ];
    let (out, renamed) = emitted(&all, 2, |nth| nth.min(1), |_| true);
    assert_eq!(out.len(), 3, "{out:#?}");
    assert!(out[0].contains("ftp_data"));
    assert!(out[1].contains("superseded"));
    assert!(out[2].contains("\"ftp-data\""));
    assert_eq!(renamed.len(), 1);
    assert_eq!(renamed[0].1.connections, 1);
}
