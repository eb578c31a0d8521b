//! Where a stream stands: used by explanations only, never by a run.

use super::Reassembler;
use crate::connection::{Marks, Phase};
use flowpin_config::SegmentOverlap;
use flowpin_packet::Seq;

/// Where one direction of a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamView {
    /// How far it has come: lower case, words joined by `_`.
    pub phase: &'static str,
    /// Bytes of it that were handed on, gaps included.
    pub offset: u64,
    /// Number of the next byte.
    pub next: Seq,
    /// Its receiver has acknowledged everything before this.
    pub acked: Seq,
    /// One past what its receiver takes.
    pub edge: Seq,
    /// One past what is delivered before the receiver acknowledges more: `edge`, or less while only
    /// the SYN was seen; none if the receiver was not seen, so that its window is not known.
    pub limit: Option<Seq>,
    /// Bytes held, after a hole.
    pub held_bytes: u32,
    /// How its receiver reads segments that overlap.
    pub policy: SegmentOverlap,
    /// Whether its sender was seen at all.
    pub is_seen: bool,
    /// Whether no consumer wants its bytes.
    pub is_skipped: bool,
}

impl Reassembler {
    /// Both directions of a connection, that to the server first; none of a handle that means
    /// nothing here.
    pub fn view(&self, handle: u32) -> Option<[StreamView; 2]> {
        let connection = self.connections.get(handle)?;
        let seen = connection.sides.map(|side| side.marks.has(Marks::SEEN));
        let [client, server] = connection.sides;
        let [client_seen, server_seen] = seen;
        let views = [(client, server_seen), (server, client_seen)];
        Some(views.map(|(side, peer_seen)| StreamView {
            limit: match side.phase {
                Phase::Syn => Some(side.acked),
                _ => peer_seen.then_some(side.edge),
            },
            phase: name(side.phase),
            offset: side.offset,
            next: side.next,
            acked: side.acked,
            edge: side.edge,
            held_bytes: self.held.queue(side.held).bytes,
            policy: side.policy,
            is_seen: side.marks.has(Marks::SEEN),
            is_skipped: side.marks.has(Marks::SKIPPED),
        }))
    }
}

const fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Unseen => "unseen",
        Phase::Guessed => "guessed",
        Phase::Premature => "premature",
        Phase::Syn => "syn",
        Phase::Open => "open",
        Phase::Closing => "closing",
        Phase::Finished => "finished",
        Phase::Reset => "reset",
        Phase::Refused => "refused",
        Phase::Ignored => "ignored",
    }
}
