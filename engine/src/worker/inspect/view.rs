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
    /// Whether nothing reads its bytes any more.
    pub is_idle: bool,
}

impl Inspect {
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
        Some(InspectView {
            phase: phase.map_or("done", |(_, name)| name),
            app,
            is_doubted: identity.is_doubted(),
            fits: [true, false].map(|side| identity.trust.does_fit(side)),
            refused: [true, false].map(|side| identity.trust.is_side_refused(side)),
            candidates: self.identify.candidates(identity, on),
            inspected: identity.inspected,
            parser: self
                .parse
                .as_ref()
                .and_then(|parse| parse.parser(state.binding)),
            is_idle: state.is_idle(),
        })
    }
}
