//! Signature rules: grouped, searched for, evaluated; alerts decided in order.
//!
//! ```text
//!  RuleSet ─► Database (shared) ─► Detector (one a worker) ─► Found ─► alerts
//!                                    ▲ packets, streams, messages        │ in the order of keys
//!                                    Tap ◄─ parsers                      ▼
//!                                         Alerts: counts, bits of hosts ─► records
//! ```
//!
//! Owns how rules are found and evaluated, and what connections and hosts remember for them.
//! Guarantees:
//!
//! - What fits depends on the bytes of each direction and on the order of the connection's packets:
//!   not on batches, and of streams not on how segments cut them.
//! - Packet, stream and message rules of a connection are evaluated in the order of its packets.
//! - What a rule may take is bounded, for any bytes, and what is given up is counted.
//! - What a connection keeps is charged to its shard.
//!
//! Deliberately does not read rules (`compilers/rules`), nor protocols (`80-parse`).

mod alert;
mod columns;
mod connection;
mod count;
mod database;
mod decider;
mod evaluate;
mod forwarded;
mod note;
mod tap;
mod written;

pub use alert::{ALERT, AlertNews, AlertObserver};
pub use connection::{
    CONNECTION_BYTES, Detector, Ends, Found, Inbox, OddFrame, Packet, PacketEvents, Seen,
};
pub use database::{Database, Explained, Odd};
pub use decider::{AlertCounts, AlertDecider, Counted};
pub use tap::Tap;

use flowpin_aggregate::Aggregate;
use flowpin_config::{Input, Plan};
use std::io;

/// Alerts of rules as an aggregate: what limits them by host is known in one place alone.
#[derive(Debug)]
pub struct Alerts;

impl Aggregate for Alerts {
    type Observer = AlertObserver;
    type Decider = AlertDecider;

    fn is_wanted(plan: &Plan) -> bool {
        plan.rules.loaded.is_some()
    }

    fn observer(_: &Plan, _: u64) -> io::Result<AlertObserver> {
        Ok(AlertObserver::default())
    }

    fn decider(plan: &Plan, workers: usize) -> AlertDecider {
        let file = match plan.inputs.as_slice() {
            [Input::File(path)] if plan.rules.packet => Some(path.display().to_string()),
            _ => None,
        };
        let set = plan.rules.loaded.clone().unwrap_or_default();
        AlertDecider::new(set, workers, (file, plan.rules.alerted.clone()))
    }
}
