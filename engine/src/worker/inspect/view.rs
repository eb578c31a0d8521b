//! What the consumers know of a connection: used by explanations only, never by a run.

use super::Inspect;
use crate::worker::identify::{CandidatesView, Phase};
use flowpin_identify::On;
use flowpin_record::App;

/// What identification and parsing know of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectView {
    /// How far identification is: lower case.
    pub phase: &'static str,
    /// The verdict.
    pub app: Option<App>,
    /// Whether the verdict may still be taken back.
    pub is_doubted: bool,
    /// By direction, that to the server first: whether what it said fits the verdict, and whether
    /// its beginning was refused.
    pub fits: [bool; 2],
    /// See [`fits`](Self::fits).
    pub refused: [bool; 2],
    /// By direction: what it may still be.
    pub candidates: [Option<CandidatesView>; 2],
    /// Packets that were searched; 255: or more.
    pub inspected: u8,
    /// The parser that reads it.
    pub parser: Option<&'static str>,
    /// Why there is none, once the protocol is known.
    pub unread: Option<Unread>,
    /// Whether nothing reads its bytes any more.
    pub is_idle: bool,
}

/// Why no parser reads a connection of a known protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Nothing is parsed, by configuration.
    Off,
    /// No parser reads the protocol.
    NoParser,
    /// A parser reads the protocol, but its messages are left out by configuration.
    LeftOut,
    /// A parser reads the protocol. It does not read this connection any more, or had no room for
    /// it.
    Released,
}

impl Inspect {
    /// From now on, bodies that a run would write to files are examined and not written.
    pub(in crate::worker) fn write_no_files(&mut self) {
        if let Some(parse) = &mut self.parse {
            parse.write_no_files();
        }
    }

    /// What is known of a connection over `on`.
    pub(in crate::worker) fn view(&self, handle: u32, on: On) -> Option<InspectView> {
        let state = self.states.get(handle)?;
        let identity = &state.identity;
        let mut app = None;
        self.identify.write(identity, &mut app);
        let phases = [
            (Phase::Done, "done"),
            (Phase::Searching, "searching"),
            (Phase::Watching, "watching"),
            (Phase::Doubting, "doubting"),
        ];
        let phase = phases.iter().find(|(phase, _)| identity.is(*phase));
        let parser = self.parse.as_ref();
        let parser = parser.and_then(|parse| parse.parser(state.binding));
        let unread = app.filter(|_| parser.is_none()).map(|app| {
            let protocol = self.identify.protocol(identity);
            let is_own = self.identify.names.is_built_in(protocol);
            let parse = self.parse.as_ref();
            parse.map_or(Unread::Off, |parse| parse.unread(app.name, is_own))
        });
        Some(InspectView {
            phase: phase.map_or("done", |(_, name)| name),
            app,
            is_doubted: identity.is_doubted(),
            fits: [true, false].map(|side| identity.trust.does_fit(side)),
            refused: [true, false].map(|side| identity.trust.is_side_refused(side)),
            candidates: self.identify.candidates(identity, on),
            inspected: identity.inspected,
            parser,
            unread,
            is_idle: state.is_idle(),
        })
    }
}
