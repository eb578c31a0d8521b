//! Traffic by client and server.

use crate::tables::{KEYS_MAX, TallyDecider};
use crate::tally::{HostPair, Tally};
use flowpin_aggregate::{Aggregate, Observer, Traffic};
use flowpin_config::Plan;
use flowpin_counters::Loss;
use flowpin_record::{ConnRecord, RecordKey};
use std::io;

/// Traffic by client and server.
#[derive(Debug)]
pub struct HostPairs(Box<Tally<HostPair>>);

impl Aggregate for HostPairs {
    type Observer = Self;
    type Decider = TallyDecider<HostPair>;

    fn is_wanted(_: &Plan) -> bool {
        true
    }

    fn observer(_: &Plan, secret: u64) -> io::Result<Self> {
        Ok(Self(Box::new(Tally::new(KEYS_MAX, secret)?)))
    }

    fn decider(_: &Plan, _: usize) -> TallyDecider<HostPair> {
        TallyDecider::new(Loss::HostPairsSummed)
    }
}

impl Observer for HostPairs {
    type News = Box<Tally<HostPair>>;

    #[inline]
    fn conn(&mut self, _: RecordKey, record: &ConnRecord) {
        if record.interim == 0 {
            let Traffic { packets, bytes, .. } = Traffic::of(record);
            let pair = HostPair {
                client: record.client.address,
                server: record.server.address,
            };
            self.0.count(pair, record.uid.0, packets, bytes);
        }
    }

    fn finish(mut self) -> Option<Self::News> {
        self.0.flush();
        Some(self.0)
    }
}
