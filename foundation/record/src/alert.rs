//! Alerts of rules, on their way to where they are decided.

use flowpin_packet::{LinkType, Timestamp};
use std::sync::Arc;

/// A connection up to what a rule fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowSoFar {
    /// Packets of the client, and of the server, with the one that shows it.
    pub packets: [u64; 2],
    /// Bytes of their frames.
    pub bytes: [u64; 2],
    /// The time of its first packet.
    pub begin: Timestamp,
    /// Type and code of the ICMP packet that the rule fits.
    pub icmp: Option<(u8, u8)>,
}

/// A rule fits. Whether that becomes a record may depend on other connections: it is decided in the
/// order of keys, in the output stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert<'a> {
    /// The rule's number in the rule set of the run.
    pub rule: u32,
    /// Whether what it fits was sent to the server.
    pub to_server: bool,
    /// The transaction that it fits, if it fits one.
    pub transaction: Option<u32>,
    /// The connection so far.
    pub flow: FlowSoFar,
    /// The first bytes of what it fits, if alerts have them; whether they are of a stream.
    pub payload: Option<&'a (Arc<[u8]>, bool)>,
    /// The packet that shows it, if alerts have it.
    pub packet: Option<&'a Arc<AlertPacket>>,
    /// Values of the message that it fits: a column of alerts, and its text.
    pub shown: &'a Arc<[(u8, Vec<u8>)]>,
    /// What it asks of sets that rules write, and changes there.
    pub sets: Option<&'a Arc<[SetUse]>>,
}

/// A packet that shows an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertPacket {
    /// Its frame, as it was captured; of fragments, the datagram behind the first ones' headers.
    pub bytes: Box<[u8]>,
    /// What the frame starts with.
    pub link: LinkType,
}

impl AlertPacket {
    /// For all alerts that it shows.
    pub fn shared(frame: &[u8], link: LinkType) -> Arc<Self> {
        let bytes = frame.into();
        Arc::new(Self { bytes, link })
    }
}

/// What a rule that fits asks of a set that rules write, or changes there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetUse {
    /// The set's number.
    pub set: u16,
    /// What is asked or done.
    pub action: SetAction,
    /// The values that fit; of those that are looked up, one has to be as asked.
    pub values: Vec<Vec<u8>>,
}

/// What is asked of a set, or done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetAction {
    /// A value is added.
    Add,
    /// A value is taken out.
    Remove,
    /// It is in it.
    In,
    /// It is not.
    NotIn,
}
