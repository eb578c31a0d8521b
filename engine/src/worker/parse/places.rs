//! The part that the records of a connection share: made for the first record that is read.

use super::registry::{Handle, Kind};
use crate::worker::context::Context;
use flowpin_identify::ProtocolId;
use flowpin_memory::Slab;
use flowpin_record::{MessagePlace, ToolNames};

/// No place yet.
pub(super) const NIL: u32 = u32::MAX;

/// A protocol's parser and names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// The parser that reads it, if any.
    pub(super) kind: Option<Kind>,
    pub(super) names: Names,
}

/// The names of a protocol in records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    pub(super) app: &'static str,
    pub(super) in_tools: &'static ToolNames,
}

/// The place of one connection, among all.
pub(super) struct Places<'a> {
    pub(super) all: &'a mut Slab<MessagePlace>,
    /// [`NIL`] before its first record.
    pub(super) place: &'a mut u32,
    /// Its handle in the connection table.
    pub(super) connection: u32,
    pub(super) protocol: ProtocolId,
    pub(super) handle: Handle,
    pub(super) known: &'a [Option<Known>],
}

impl Places<'_> {
    /// The shared part of its records.
    pub(super) fn get<S>(&mut self, context: &Context<'_, S>) -> Option<&mut MessagePlace> {
        if *self.place == NIL {
            let (peers, names) = (context.peers(self.connection), self.names());
            // As many places as bound connections: there is always one.
            *self.place = self.all.insert(MessagePlace {
                time: context.cause.time,
                uid: peers.uid,
                protocol: peers.protocol,
                client: peers.client,
                server: peers.server,
                vlans: peers.vlans,
                interface: peers.interface,
                app: names.app,
                in_tools: names.in_tools,
                transaction: 0,
                packet_number: None,
                shown_client: None,
            })?;
        }
        self.all.get_mut(*self.place)
    }

    /// The names of the protocol: of the verdict, or of the one that the connection continued as.
    fn names(&self) -> Names {
        if let Some(app) = self.handle.continues_as() {
            let in_tools = ToolNames::of(app);
            return Names { app, in_tools };
        }
        let known = self.known.get(usize::from(self.protocol.0));
        known.copied().flatten().map_or(
            Names {
                app: "",
                in_tools: ToolNames::NONE,
            },
            |known| known.names,
        )
    }
}
