//! Anomaly records of TCP streams, rate-limited.
//!
//! By shard, reason and second of stream time: a worker sees only its shards, so this is the
//! finest division that is the same for any number of workers.

use crate::worker::limit::{Keys, Limit};
use core::net::IpAddr;
use flowpin_counters::{Loss, Losses};
use flowpin_flow::Sighting;
use flowpin_packet::{Endpoints, Layer, Reason, SHARD_COUNT, bad};
use flowpin_reassembly::Anomaly;
use flowpin_record::{AnomalyRecord, RecordSink};

/// Decides which anomalies become records.
#[derive(Debug)]
pub(super) struct Anomalies {
    limits: Box<[[Limit; Anomaly::ALL.len()]; SHARD_COUNT]>,
    keys: Keys,
    losses: Losses,
}

impl Default for Anomalies {
    fn default() -> Self {
        Self {
            limits: Box::new([[Limit::default(); Anomaly::ALL.len()]; SHARD_COUNT]),
            keys: Keys::from(ORDINAL),
            losses: Losses::default(),
        }
    }
}

impl Anomalies {
    /// Writes a record unless there were enough of this reason.
    #[cold]
    pub(super) fn report<S: RecordSink>(
        &mut self,
        sighting: &Sighting<'_>,
        what: Anomaly,
        sink: &mut S,
    ) {
        let meta = sighting.meta;
        let shard = self.limits.get_mut(usize::from(meta.shard().0));
        let Some(limit) = shard.and_then(|limits| limits.get_mut(what as usize)) else {
            return;
        };
        let Some(suppressed) = limit.allow(meta.stream_time, PER_SECOND_MAX) else {
            self.losses.count(Loss::AnomaliesSuppressed, 1);
            return;
        };
        let key = self.keys.next(meta.stream_time, meta.number);
        let ((client, server), ports) = (sighting.endpoints(), sighting.ports());
        let address = |bytes| -> IpAddr { Endpoints::address(bytes, meta.key.is_ipv6()) };
        let (addresses, ports) = if sighting.to_server {
            ((address(client), address(server)), ports)
        } else {
            ((address(server), address(client)), (ports.1, ports.0))
        };
        let record = AnomalyRecord {
            time: meta.time,
            packet_number: Some(meta.number),
            interface: meta.interface,
            what: bad(Layer::Stream, reason(what), 0),
            app: None,
            addresses: Some(addresses),
            connection: Some((sighting.uid(), ports.0, ports.1)),
            suppressed,
        };
        sink.anomaly(key, &record);
    }

    pub(super) fn losses(&self) -> Losses {
        self.losses
    }
}

/// What an anomaly of streams is in records.
pub(in crate::worker) const fn reason(what: Anomaly) -> Reason {
    match what {
        Anomaly::OverlapDiffers => Reason::OverlapDiffers,
        Anomaly::SynInConnection => Reason::SynInConnection,
        Anomaly::SynAckMismatch => Reason::SynAckMismatch,
        Anomaly::InvalidReset => Reason::InvalidReset,
        Anomaly::DataAfterClose => Reason::DataAfterClose,
        Anomaly::DataOnSyn => Reason::DataOnSyn,
        Anomaly::OutOfWindow => Reason::OutOfWindow,
        Anomaly::OldTimestamp => Reason::OldTimestamp,
        Anomaly::UrgentData => Reason::UrgentData,
        Anomaly::FinChanged => Reason::FinChanged,
        Anomaly::CloseIgnored => Reason::CloseIgnored,
        Anomaly::InvalidFin => Reason::InvalidFin,
        Anomaly::MissingAck => Reason::MissingAck,
        Anomaly::InvalidAck => Reason::InvalidAck,
    }
}

/// Records of one reason in one second, from one shard of 256.
const PER_SECOND_MAX: u32 = 2;

/// After every record that the connection table or the input stage may write for this packet.
const ORDINAL: u32 = 1 << 25;
