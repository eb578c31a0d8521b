//! Anomaly records of the input stage, rate-limited per reason: refused packets, and accepted ones
//! that are unusual.

use crate::worker::limit::{Keys, Limit};
use core::net::IpAddr;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::{InterfaceId, Layer, Malformed, Reason, Timestamp};
use flowpin_record::{AnomalyRecord, RecordSink};

/// Anomaly records of one layer and reason in one second of stream time.
const PER_SECOND_MAX: u32 = 10;

/// Decides which refused packets become records. Works in the in-order step, on stream time, so the
/// choice is the same for every pipeline.
#[derive(Debug)]
pub(crate) struct Anomalies {
    limits: Box<[[Limit; Reason::ALL.len()]; Layer::ALL.len()]>,
    keys: Keys,
}

/// A packet that was refused or is unusual.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Oddity {
    pub(crate) what: Malformed,
    pub(crate) time: Timestamp,
    pub(crate) stream_time: Timestamp,
    pub(crate) number: u64,
    pub(crate) interface: InterfaceId,
    pub(crate) addresses: Option<(IpAddr, IpAddr)>,
}

impl Anomalies {
    pub(crate) fn new() -> Self {
        Self {
            limits: Box::new([[Limit::default(); Reason::ALL.len()]; Layer::ALL.len()]),
            keys: Keys::from(ORDINAL),
        }
    }

    /// Writes a record for `oddity` unless its reason has reached its limit for this second.
    #[cold]
    pub(crate) fn report(
        &mut self,
        oddity: &Oddity,
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        let Some(limit) = self
            .limits
            .get_mut(oddity.what.layer as usize)
            .and_then(|reasons| reasons.get_mut(oddity.what.reason as usize))
        else {
            return;
        };
        let Some(suppressed) = limit.allow(oddity.stream_time, PER_SECOND_MAX) else {
            losses.count(Loss::AnomaliesSuppressed, 1);
            return;
        };
        let key = self.keys.next(oddity.stream_time, oddity.number);
        let record = AnomalyRecord {
            time: oddity.time,
            packet_number: Some(oddity.number),
            interface: oddity.interface,
            what: oddity.what,
            app: None,
            addresses: oddity.addresses,
            connection: None,
            suppressed,
        };
        sink.anomaly(key, &record);
    }
}

/// After every record that the connection table may write for the same packet.
const ORDINAL: u32 = 1 << 24;

#[cfg(test)]
mod tests {
    use super::*;
    use flowpin_packet::bad;
    use flowpin_record::{ConnRecord, RecordKey, TunnelRecord};

    #[derive(Default)]
    struct Collect(Vec<AnomalyRecord>);

    #[derive(Default)]
    struct CollectKeys(Vec<RecordKey>);

    impl RecordSink for CollectKeys {
        fn conn(&mut self, _: RecordKey, _: &ConnRecord) {}
        fn anomaly(&mut self, key: RecordKey, _: &AnomalyRecord) {
            self.0.push(key);
        }
        fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}
    }

    impl RecordSink for Collect {
        fn conn(&mut self, _: RecordKey, _: &ConnRecord) {}
        fn anomaly(&mut self, _: RecordKey, record: &AnomalyRecord) {
            self.0.push(*record);
        }
        fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}
    }

    /// A packet with two oddities causes two records, whose keys must differ: records are ordered
    /// by their keys.
    #[test]
    fn records_of_one_packet_have_keys_of_their_own() {
        let (mut anomalies, mut losses) = (Anomalies::new(), Losses::default());
        let mut sink = CollectKeys::default();
        for (number, reason) in [
            (7, Reason::Duplicate),
            (7, Reason::Tiny),
            (8, Reason::Duplicate),
        ] {
            let oddity = Oddity {
                what: bad(Layer::Fragment, reason, 0),
                time: Timestamp(1),
                stream_time: Timestamp(1),
                number,
                interface: InterfaceId::NONE,
                addresses: None,
            };
            anomalies.report(&oddity, &mut losses, &mut sink);
        }
        let ordinals: Vec<u32> = sink.0.iter().map(|key| key.ordinal).collect();
        assert_eq!(ordinals, [ORDINAL, ORDINAL + 1, ORDINAL]);
    }

    /// A flood of one reason must not flood the output; the next record says how many were
    /// suppressed, and another reason has its own limit.
    #[test]
    fn a_flood_of_one_reason_is_limited_and_counted() {
        let (mut anomalies, mut losses) = (Anomalies::new(), Losses::default());
        let mut sink = Collect::default();
        let mut report = |number: u64, second: u64, layer: Layer| {
            let time = Timestamp::new(second, 0);
            let what = bad(layer, Reason::Truncated, 0);
            let oddity = Oddity {
                what,
                time,
                stream_time: time,
                number,
                interface: InterfaceId::NONE,
                addresses: None,
            };
            anomalies.report(&oddity, &mut losses, &mut sink);
        };
        (0..100).for_each(|number| report(number, 7, Layer::Tcp));
        report(100, 7, Layer::Udp);
        report(101, 8, Layer::Tcp);
        assert_eq!(sink.0.len(), 12);
        assert_eq!(sink.0.last().map(|record| record.suppressed), Some(90));
        assert_eq!(losses.of(Loss::AnomaliesSuppressed), 90);
    }
}
