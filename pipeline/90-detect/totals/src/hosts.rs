//! Traffic by address and by pair of client and server.
//!
//! ```text
//!  record ─► pairs ──rows of pairs that are not kept──► addresses
//!              └───────all others, once at the end─────────┘
//! ```
//!
//! A connection is counted once, by its pair. What an address has talked is the sum over its pairs:
//! of those that have a row, at the end of the run; of all others, at once. So the addresses are
//! exact up to their own cap, however many pairs there are.

use crate::tally::{HostPair, Ranking, Sums, Tally, keys_max};
use core::net::IpAddr;
use flowpin_aggregate::{Aggregate, Decider, Observer, Traffic};
use flowpin_config::Plan;
use flowpin_counters::{Loss, Losses};
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, RecordKey};
use std::io;

/// Traffic by address and by pair of client and server, as an aggregate.
#[derive(Debug)]
pub struct Hosts;

/// What hosts have talked.
#[derive(Debug)]
pub struct HostSums {
    pairs: Tally<HostPair>,
    addresses: Tally<IpAddr>,
}

/// The hosts with the most bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopHosts {
    /// Addresses, of both ends of each connection.
    pub talkers: Ranking<IpAddr>,
    /// Pairs of client and server.
    pub pairs: Ranking<HostPair>,
}

impl Aggregate for Hosts {
    type Observer = HostSums;
    type Decider = HostDecider;

    fn is_wanted(_: &Plan) -> bool {
        true
    }

    fn observer(plan: &Plan, secret: u64) -> io::Result<HostSums> {
        HostSums::new(keys_max(plan), secret)
    }

    fn decider(_: &Plan, _: usize) -> HostDecider {
        HostDecider::default()
    }
}

impl HostSums {
    /// For at most `keys_max` exact rows of each table and family.
    fn new(keys_max: usize, secret: u64) -> io::Result<Self> {
        Ok(Self {
            pairs: Tally::new(keys_max, secret)?,
            addresses: Tally::new(keys_max, secret)?,
        })
    }

    #[inline]
    fn count(&mut self, pair: HostPair, sums: Sums) {
        let Self { pairs, addresses } = self;
        pairs.count(pair, sums, &mut |pair, sums| both(addresses, pair, sums));
    }

    fn flush(&mut self) {
        let Self { pairs, addresses } = self;
        pairs.flush(&mut |pair, sums| both(addresses, pair, sums));
        addresses.flush(&mut |_, _| {});
    }

    /// Adds another worker's flushed sums.
    fn add(&mut self, other: &Self) {
        let Self { pairs, addresses } = self;
        pairs.add(&other.pairs, &mut |pair, sums| both(addresses, pair, sums));
        addresses.flush(&mut |_, _| {});
        addresses.add(&other.addresses, &mut |_, _| {});
    }

    /// The heaviest rows of flushed sums.
    fn top(mut self) -> TopHosts {
        let Self { pairs, addresses } = &mut self;
        pairs.for_each(&mut |pair, sums| both(addresses, pair, sums));
        addresses.flush(&mut |_, _| {});
        TopHosts {
            talkers: addresses.ranking(ROWS_LISTED),
            pairs: pairs.ranking(ROWS_LISTED),
        }
    }
}

/// Adds a pair's sums to both of its addresses.
fn both(addresses: &mut Tally<IpAddr>, pair: HostPair, sums: Sums) {
    addresses.count(pair.client, sums, &mut |_, _| {});
    if pair.server != pair.client {
        addresses.count(pair.server, sums, &mut |_, _| {});
    }
}

impl Observer for HostSums {
    type News = Box<Self>;

    #[inline]
    fn conn(&mut self, _: RecordKey, record: &ConnRecord) {
        if record.interim > 0 {
            return;
        }
        let pair = HostPair {
            client: record.client.address,
            server: record.server.address,
        };
        let Traffic { packets, bytes, .. } = Traffic::of(record);
        self.count(pair, Sums::one(record.uid.0, packets, bytes));
    }

    fn finish(mut self, _: Timestamp) -> Option<Box<Self>> {
        self.flush();
        Some(Box::new(self))
    }
}

/// Adds up the workers' sums.
#[derive(Debug, Default)]
pub struct HostDecider {
    sums: Option<Box<HostSums>>,
    losses: Losses,
}

impl Decider for HostDecider {
    type News = Box<HostSums>;
    type Findings = TopHosts;
    const EMITS: bool = false;

    fn add(&mut self, _: usize, news: Box<HostSums>) {
        match &mut self.sums {
            Some(sums) => sums.add(&news),
            none => *none = Some(news),
        }
    }

    fn losses(&self) -> Losses {
        self.losses
    }

    fn take_findings(&mut self) -> TopHosts {
        let sums = self.sums.take();
        let top = sums.map_or_else(TopHosts::default, |sums| sums.top());
        let (addresses, pairs) = (&top.talkers.rest, &top.pairs.rest);
        self.losses
            .count(Loss::AddressesSummed, addresses.connections);
        self.losses.count(Loss::HostPairsSummed, pairs.connections);
        top
    }
}

/// Rows that are left for the summary.
const ROWS_LISTED: usize = 100;

#[cfg(test)]
mod tests {
    use super::{HostPair, HostSums, Sums};
    use core::net::{IpAddr, Ipv4Addr};
    use std::collections::HashMap;

    /// Addresses are exact up to their cap where there are far more pairs, and the same for any
    /// division.
    #[test]
    fn addresses_are_exact_though_pairs_are_not() {
        let address = |number: u32| IpAddr::V4(Ipv4Addr::from_bits(number));
        let mut model = HashMap::<IpAddr, u64>::new();
        let mut whole = HostSums::new(256, 1).unwrap();
        let mut parts = [2, 3, 4].map(|secret| HostSums::new(256, secret).unwrap());
        for nth in 0..20_000u32 {
            let [client, server] = [nth % 121, nth.wrapping_mul(2_654_435_761) >> 25].map(address);
            let (random, bytes) = (u64::from(nth) << 40, u64::from(nth));
            *model.entry(client).or_default() += bytes;
            if server != client {
                *model.entry(server).or_default() += bytes;
            }
            let pair = HostPair { client, server };
            whole.count(pair, Sums::one(random, 1, bytes));
            parts[(nth % 7 % 3) as usize].count(pair, Sums::one(random, 1, bytes));
        }
        whole.flush();
        parts.iter_mut().for_each(HostSums::flush);
        let [mut sum, second, third] = parts;
        sum.add(&second);
        sum.add(&third);
        let (whole, sum) = (whole.top(), sum.top());
        assert_eq!((&whole.talkers, &whole.pairs), (&sum.talkers, &sum.pairs));
        assert!(whole.pairs.rest.connections > 0);
        assert_eq!(
            (whole.talkers.keys, whole.talkers.rest.connections),
            (128, 0)
        );
        for row in &whole.talkers.rows {
            assert_eq!(
                (row.traffic.bytes, row.is_estimate),
                (model[&row.key], false)
            );
        }
    }
}
