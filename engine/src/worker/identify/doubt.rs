//! What is kept of streams whose verdict is doubted, and searches of it for another protocol.

use super::{Identify, Identity, Phase, again};
use flowpin_identify::{ProtocolId, STREAM_BYTES_MAX, Step, Verdict, Whose};

impl Identify {
    /// After a verdict: whether what was kept for it is still of use, because it is doubted.
    pub(crate) fn begin_doubt(
        &mut self,
        identity: &mut Identity,
        is_stream: bool,
        is_bound: bool,
    ) -> bool {
        if !identity.is_doubted() {
            return false;
        }
        if !self.names.is_built_in(self.protocol(identity)) && !is_bound {
            // The own rules have given up before the user's patterns were asked.
            identity.trust.settle();
            return false;
        }
        let by_client = identity.is_decided_by(true);
        let was_over = self.searches.is_side_over(identity.search, !by_client);
        self.searches.close_side(identity.search, by_client);
        if is_bound {
            return is_stream;
        }
        identity.trust.fit(by_client);
        if is_stream && (was_over || identity.is_over(!by_client)) {
            identity.trust.settle();
            return false;
        }
        if identity.is_done() {
            identity.go_to(Phase::Doubting);
        }
        is_stream
    }

    /// Nothing shakes the verdict any more.
    pub(crate) fn settle(&mut self, identity: &mut Identity) {
        identity.trust.settle();
        self.end_doubt(identity);
    }

    /// One side's bytes fit the verdict.
    pub(crate) fn fit(&mut self, identity: &mut Identity, to_server: bool) {
        identity.trust.fit(to_server);
        self.end_doubt(identity);
    }

    /// Frees what a doubt needed, if it is over.
    pub(crate) fn end_doubt(&mut self, identity: &mut Identity) {
        if !identity.trust.is_settled() {
            return;
        }
        if !identity.is(Phase::Searching) {
            self.release(identity);
        }
        if identity.is(Phase::Doubting) {
            identity.go_to(Phase::Done);
        }
    }

    /// Whether bytes of one direction are kept.
    pub(crate) fn keeps(&self, identity: &Identity, to_server: bool) -> bool {
        !self.searches.kept(identity.search, to_server).is_empty()
    }

    /// Keeps the bytes in [`held`](Self::held) for one direction, unless some are kept already.
    pub(crate) fn keep_held(&mut self, identity: &mut Identity, whose: Whose<'_>) {
        if !self.held.is_empty() && !self.keeps(identity, whose.to_server) {
            self.searches.keep(&mut identity.search, whose, &self.held);
        }
    }

    /// Keeps those of the bytes of a stream's beginning that are not kept yet.
    pub(crate) fn keep_new(&mut self, identity: &mut Identity, whose: Whose<'_>, bytes: &[u8]) {
        let new = match self.searches.kept_until(identity.search, whose.to_server) {
            None => Some(bytes),
            Some(end) => {
                let known = end.checked_sub(whose.offset);
                let known = known.and_then(|known| usize::try_from(known).ok());
                known.and_then(|known| bytes.get(known..))
            }
        };
        let kept = self.searches.kept(identity.search, whose.to_server).len();
        if let Some(new) = new.filter(|new| !new.is_empty())
            && kept < STREAM_BYTES_MAX
        {
            // Without memory for them a parser gets only later bytes.
            self.searches.keep(&mut identity.search, whose, new);
        }
    }

    /// Searches what is kept of one direction for a protocol other than that of the verdict.
    pub(crate) fn search_kept(&mut self, identity: &Identity, whose: Whose<'_>) -> Step {
        let but = Some(self.protocol(identity));
        self.searches.look_again(identity.search, again(whose, but))
    }

    /// Whether nothing that one direction carries can change its search.
    pub(crate) fn is_search_over(&self, identity: &Identity, step: Step, to_server: bool) -> bool {
        match step {
            Step::Undecided => self.searches.is_side_over(identity.search, to_server),
            Step::GaveUp(_) => true,
            Step::Verdict(_) => false,
        }
    }

    /// Whether the server has begun a protocol after lines that are not part of it, where that is
    /// allowed (RFC 4253 §4.2).
    pub(crate) fn follows_lines(
        &self,
        identity: &Identity,
        protocol: ProtocolId,
        whose: Whose<'_>,
    ) -> bool {
        let is_it = |one| one == protocol;
        let whose = again(whose, None);
        self.names.may_begin_after_lines(protocol)
            && self
                .searches
                .begins_at(identity.search, whose, is_it)
                .is_some()
    }

    /// From which offset on the client's kept bytes are replayed to the parser of what the server
    /// speaks: those before had another meaning.
    pub(crate) fn first_offset(
        &self,
        identity: &Identity,
        verdict: Verdict,
        whose: Whose<'_>,
    ) -> u64 {
        let Some(end) = self.searches.kept_until(identity.search, true) else {
            return 0;
        };
        let kept = self.searches.kept(identity.search, true);
        let start = end.saturating_sub(kept.len() as u64);
        let whose = again(
            Whose {
                offset: start,
                ..whose
            },
            None,
        );
        let is_it = |one| self.names.are_one(one, verdict.protocol);
        match self.searches.begins_at(identity.search, whose, is_it) {
            Some(place) => start.saturating_add(place as u64),
            // Parsers find the beginning of a line by themselves.
            None if kept.ends_with(b"\n") => start,
            None => end,
        }
    }

    /// Notes whose turn it is. A watched stream is searched again where TLS may begin.
    pub(crate) fn watch_stream(
        &mut self,
        identity: &mut Identity,
        (to_server, offset): (bool, u64),
        bytes: &[u8],
    ) {
        let begins_turn = identity.take_turn(to_server);
        if !identity.is(Phase::Watching) {
            return;
        }
        if begins_turn && to_server && bytes.first() == Some(&TLS_HANDSHAKE) {
            identity.trust.settle();
            self.release(identity);
            identity.go_to(Phase::Searching);
        } else if offset > WATCHED_BYTES {
            identity.go_to(Phase::Done);
        }
    }
}

/// Content type of a TLS record with a handshake message (RFC 8446 §5.1).
const TLS_HANDSHAKE: u8 = 22;

/// Bytes of each side that are watched for a change to TLS.
const WATCHED_BYTES: u64 = 64 << 10;
