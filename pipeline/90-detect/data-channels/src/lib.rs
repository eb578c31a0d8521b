//! FTP's data connections: one connection announces them on one worker, another one carries them,
//! mostly on another worker.
//!
//! ```text
//!  worker: announcements, records that may be meant ──► in order of keys ──► recognised
//!  worker's record of it ───────────────────────────────────────────────► ✗ (superseded)
//!                                                        record with its name ──► merger
//! ```
//!
//! Guarantees:
//!
//! - What is recognised depends on the input alone: announcements and records are taken in the
//!   order of their keys, once no worker can deliver any before them.
//! - Only connections between the two hosts of a control connection are taken for its data's. What
//!   PORT says of a third host (the bounce attack, RFC 2577 §3) names nothing.
//! - Announcements together hold no more than their part.
//!
//! A record that is recognised takes the place of the worker's, whose text is in the worker's batch
//! already; all others stay as they are. So traffic that is not FTP costs a copy of few records,
//! and no formatting.
//!
//! Deliberately does not: read what data connections carry, or follow transfers between two servers
//! (RFC 959 §5.2, figure 3).

mod connections;
mod decider;
mod names;
mod news;
mod schema;
#[cfg(test)]
mod tests;

pub use connections::{DataConnection, DataConnections, may_carry_data};
pub use decider::{DataDecider, Renamed};
pub use names::DataNames;
pub use news::{DataNews, DataObserver};
pub use schema::FTP_DATA;

use flowpin_aggregate::Aggregate;
use flowpin_config::Plan;
use std::io;

/// FTP's data connections as an aggregate.
#[derive(Debug)]
pub struct DataChannels;

impl Aggregate for DataChannels {
    type Observer = DataObserver;
    type Decider = DataDecider;

    /// Only where control connections are read.
    fn is_wanted(plan: &Plan) -> bool {
        let protocols = &plan.parse.protocols;
        let is_parsed = plan.identify.enabled && plan.parse.enabled;
        is_parsed && (protocols.is_empty() || protocols.iter().any(|one| one == "ftp"))
    }

    fn observer(_: &Plan, _: u64) -> io::Result<DataObserver> {
        Ok(DataObserver::default())
    }

    fn decider(plan: &Plan, _: usize) -> DataDecider {
        let rules = plan.rules.loaded.as_ref();
        DataDecider::new(rules.is_some_and(|rules| rules.names_protocol(NAME)))
    }
}

/// The protocol's name.
const NAME: &str = "ftp-data";
