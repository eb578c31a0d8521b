//! Streams: the bytes of conversations, in order, for a sink that writes or shows them.
//!
//! ```text
//!  input stage ► connection table ► reassembly ► StreamSink
//!  (as in a run)                                 a folder of files, a terminal
//! ```
//!
//! One thread, so that both directions of a conversation, and all conversations, are reported in
//! the order of their packets. Everything before the sink is as in a run: the same filter,
//! checksums, fragments, tunnels, connections and identifiers.

mod files;
mod observer;

use crate::report::{InputReport, ProgressSink};
use crate::run::{ground, open};
use crate::tools;
use crate::tools::wanted::Wanted;
use crate::{Control, RunError};
use core::net::SocketAddr;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_disk::Reads;
use flowpin_packet::Timestamp;
use flowpin_record::Uid;
use observer::StreamObserver;

/// A conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its identifier, as in records.
    pub uid: Uid,
    /// IP protocol number: 6 TCP, 17 UDP.
    pub protocol: u8,
    /// The side that began it.
    pub client: SocketAddr,
    /// The other side.
    pub server: SocketAddr,
}

impl Conversation {
    /// Sender and receiver of a stream.
    pub const fn ends(&self, to_server: bool) -> (SocketAddr, SocketAddr) {
        if to_server {
            (self.client, self.server)
        } else {
            (self.server, self.client)
        }
    }
}

/// A place in a stream, and the time of its packet.
#[derive(Clone, Copy, Debug)]
pub struct StreamPlace<'a> {
    /// The conversation.
    pub conversation: &'a Conversation,
    /// Its number: unique among open conversations, reused after its end.
    pub handle: u32,
    /// Whether the stream goes from the client to the server.
    pub to_server: bool,
    /// Bytes of the stream before this place, gaps included.
    pub offset: u64,
    /// Capture time of the conversation's last packet.
    pub time: Timestamp,
    /// That packet's number, from 1.
    pub packet_number: u64,
}

/// The destination of the bytes.
pub trait StreamSink {
    /// The input is open; nothing has been reported yet.
    ///
    /// # Errors
    /// The run ends with it.
    fn begin(&mut self, reads: &Reads) -> Result<(), RunError> {
        let _ = reads;
        Ok(())
    }

    /// The next bytes of a stream; for UDP a datagram, which may be empty.
    ///
    /// # Errors
    /// The run ends with it.
    fn data(&mut self, at: &StreamPlace<'_>, bytes: &[u8]) -> Result<(), RunError>;

    /// Bytes of a stream that the capture does not have; `len` is never 0.
    ///
    /// # Errors
    /// The run ends with it.
    fn gap(&mut self, at: &StreamPlace<'_>, len: u64) -> Result<(), RunError>;

    /// A stream has ended.
    ///
    /// # Errors
    /// The run ends with it.
    fn closed(&mut self, at: &StreamPlace<'_>, how: StreamEnd) -> Result<(), RunError>;
}

pub use flowpin_reassembly::Closed as StreamEnd;

/// The counters of a run over streams.
#[derive(Clone, Debug, Default)]
pub struct StreamsReport {
    /// Packets read.
    pub packets: u64,
    /// Conversations with bytes.
    pub with_bytes: u64,
    /// Requested conversations that were found; 0 if all were requested.
    pub found: u64,
    /// Those of them that are neither TCP nor UDP and have no streams.
    pub found_others: u64,
    /// Bytes reported.
    pub bytes: u64,
    /// Gaps reported.
    pub gaps: u64,
    /// Bytes in them.
    pub gap_bytes: u64,
    /// Caps reached, by name, but for those of the sink.
    pub losses: Losses,
    /// The input files, in the order they were given.
    pub inputs: Vec<InputReport>,
}

impl StreamsReport {
    /// Whether some input was cut off or damaged.
    pub fn is_damaged(&self) -> bool {
        self.inputs.iter().any(|input| input.damage.is_some())
    }
}

pub(crate) fn streams<K: StreamSink>(
    plan: &Plan,
    wanted: Wanted,
    sink: &mut K,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<StreamsReport, RunError> {
    let plan = tools::silent(plan);
    let source = open(&plan, control)?;
    sink.begin(&ground::reads(&plan, &source))?;
    control.pulse();
    let (mut worker, summary) = tools::run(
        &plan,
        source,
        (control, progress),
        |table| StreamObserver::new(&plan, wanted, sink, table.capacity()),
        |worker, _, _| worker.stages().check(),
    )?;
    let mut report = worker.stages().take_report();
    let (_, finished) = worker.finish();
    report.losses.add(&finished.stages.losses);
    report.losses.add(&finished.counters.losses);
    report.losses.add(&summary.losses);
    report.packets = summary.packets;
    report.inputs = summary.inputs;
    Ok(report)
}
