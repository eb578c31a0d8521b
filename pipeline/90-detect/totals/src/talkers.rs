//! Traffic by address, of both ends of each connection.

use crate::tables::{KEYS_MAX, TallyDecider};
use crate::tally::Tally;
use core::net::IpAddr;
use flowpin_aggregate::{Aggregate, Observer, Traffic};
use flowpin_config::Plan;
use flowpin_counters::Loss;
use flowpin_record::{ConnRecord, RecordKey};
use std::io;

/// Traffic by address, of both ends of each connection.
#[derive(Debug)]
pub struct Talkers(Box<Tally<IpAddr>>);

impl Aggregate for Talkers {
    type Observer = Self;
    type Decider = TallyDecider<IpAddr>;

    fn is_wanted(_: &Plan) -> bool {
        true
    }

    fn observer(_: &Plan, secret: u64) -> io::Result<Self> {
        Ok(Self(Box::new(Tally::new(KEYS_MAX, secret)?)))
    }

    fn decider(_: &Plan, _: usize) -> TallyDecider<IpAddr> {
        TallyDecider::new(Loss::AddressesSummed)
    }
}

impl Observer for Talkers {
    type News = Box<Tally<IpAddr>>;

    #[inline]
    fn conn(&mut self, _: RecordKey, record: &ConnRecord) {
        if record.interim == 0 {
            let Traffic { packets, bytes, .. } = Traffic::of(record);
            let (client, server) = (record.client.address, record.server.address);
            self.0.count(client, record.uid.0, packets, bytes);
            if server != client {
                self.0.count(server, record.uid.0, packets, bytes);
            }
        }
    }

    fn finish(mut self) -> Option<Self::News> {
        self.0.flush();
        Some(self.0)
    }
}
