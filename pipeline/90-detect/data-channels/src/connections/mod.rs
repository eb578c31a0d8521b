//! Which connections carry data: announced on a control connection, recognised where all are seen.
//!
//! ```text
//!  announced ──► │ pair of hosts │ port, opener, since when │ command, file │
//!                                        ▲
//!  connection record ────────────────────┘   one connection for one announcement
//! ```
//!
//! Everything comes in the order of records' keys, so the result depends on the input alone. An
//! announcement is for one connection, of the same two hosts as the control connection; it is used
//! up by the first one that fits. Connections come here when they are over, which may be long after
//! they began: their beginning has to follow the announcement closely.

mod pending;
#[cfg(test)]
pub(crate) mod tests;

use core::net::IpAddr;
use flowpin_counters::Losses;
use flowpin_packet::Timestamp;
use flowpin_record::{ConnRecord, DataChannel, EndReason, Uid};
use pending::{Pair, Pending, Waited};
use std::collections::HashMap;

/// The data connections of a run.
#[derive(Debug, Default)]
pub struct DataConnections {
    pending: Pending,
    /// Those that go on, and had a record already.
    known: HashMap<Uid, DataConnection>,
}

/// What is known of a data connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataConnection {
    /// The control connection.
    pub control: Uid,
    /// Whether the client announced it, with PORT or EPRT.
    pub by_client: bool,
    /// What it carries: the command in upper case; empty: not known.
    pub command: Box<[u8]>,
    /// The file's name; empty: there is none.
    pub file: Box<[u8]>,
}

impl DataConnections {
    /// A control connection makes a statement about its data connections.
    pub fn stated(&mut self, control: Uid, at: Timestamp, number: u64, said: DataChannel<'_>) {
        match said {
            DataChannel::Announced {
                by_client,
                opener,
                listener,
            } => {
                let pair = Pair::of(opener, listener.address);
                self.pending.add(
                    pair,
                    Waited {
                        opener,
                        port: listener.port,
                        at,
                        number,
                        place: 0,
                        connection: DataConnection {
                            control,
                            by_client,
                            command: Box::default(),
                            file: Box::default(),
                        },
                    },
                );
            }
            DataChannel::Carries { command, file } => self.pending.carries(control, command, file),
        }
    }

    /// Whether a connection carries data; and whether this is its first record.
    pub fn recognise(&mut self, record: &ConnRecord) -> Option<(DataConnection, bool)> {
        let goes_on = record.interim > 0;
        if let Some(known) = self.known.get(&record.uid) {
            let known = known.clone();
            if !goes_on {
                self.known.remove(&record.uid);
            }
            return Some((known, false));
        }
        let found = self.pending.take(record)?;
        if goes_on && self.known.len() < KNOWN_MAX {
            self.known.insert(record.uid, found.clone());
        } else if goes_on {
            self.pending.count_forgotten();
        }
        Some((found, true))
    }

    /// Rules that name the protocol were not compared with a data connection.
    pub fn count_unseen(&mut self) {
        self.pending.count_unseen();
    }

    /// What did not fit, and what rules did not see.
    pub const fn losses(&self) -> &Losses {
        self.pending.losses()
    }

    /// Whether nothing was announced that a connection may come for, or goes on.
    pub fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.known.is_empty()
    }
}

/// Whether a connection may carry data at all: TCP that was opened, and in which bytes went one way
/// only, or whose protocol is not known otherwise.
///
/// One that fell silent is none: a leap of the clock ends a million of these at once, and a copy of
/// each record would be in no budget.
#[inline]
pub fn may_carry_data(record: &ConnRecord) -> bool {
    let (up, down) = (&record.to_server, &record.to_client);
    record.protocol == TCP
        && record.reason != EndReason::Timeout
        && (up.payload_bytes == 0 || down.payload_bytes == 0 || record.app.is_none())
        && is_open(record)
}

/// Whether both sides have agreed to the connection, as far as the capture shows it. Where it has
/// the server's side alone, a SYN-ACK and a FIN show it.
fn is_open(record: &ConnRecord) -> bool {
    use flowpin_record::ConnState::{OTH, RSTO, RSTR, S1, S2, S3, SF, SHR};
    let payload = record.to_server.payload_bytes | record.to_client.payload_bytes;
    let is_agreed = matches!(
        record.conn_state,
        S1 | SF | S2 | S3 | RSTO | RSTR | SHR | OTH
    );
    is_agreed || payload != 0
}

const TCP: u8 = 6;
/// Transfers that go on and had a record; of more only the first record has the name.
const KNOWN_MAX: usize = 1 << 16;

/// An address as a number, so that two have an order.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}
