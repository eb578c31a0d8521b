//! What a verdict changes: the first, one on what the connection turned into, one instead of
//! another, none.

use super::identity::{NO_PROTOCOL, NO_RULE};
use super::{Identify, Identity, Phase};
use flowpin_counters::Loss;
use flowpin_identify::{Confidence, GaveUp, ProtocolId, RuleId, Verdict};

impl Identify {
    /// The protocol of a connection's verdict.
    pub(crate) fn protocol(&self, identity: &Identity) -> ProtocolId {
        self.names.protocol_of(identity.rule)
    }

    /// Takes the first verdict, or one on what the connection turned into. False if the protocol
    /// before does not turn into this one.
    pub(crate) fn take(&self, identity: &mut Identity, verdict: Verdict, is_stream: bool) -> bool {
        let is_first = !identity.is_known();
        if is_first {
            self.watch_if_it_may_change(identity, verdict);
            identity.trust.begin();
        } else {
            identity.go_to(Phase::Done);
            let before = self.protocol(identity);
            let is_tunnel = identity.has(Identity::TUNNEL);
            if !is_tunnel && !self.names.becomes(before).contains(&verdict.protocol) {
                return false;
            }
            identity.original = before;
            if is_stream && !is_tunnel {
                // The server has to agree.
                identity.trust.begin();
            }
        }
        identity.set(Identity::TUNNEL, false);
        note(identity, verdict);
        true
    }

    /// A search gave up.
    pub(crate) fn give_up(&mut self, identity: &mut Identity, why: GaveUp) {
        self.count_if_memory(why);
        identity.give_up();
    }

    pub(crate) fn count_if_memory(&mut self, why: GaveUp) {
        if why == GaveUp::Memory {
            self.losses.count(Loss::IdentifyMemory, 1);
        }
    }

    /// Replaces a verdict by another. False, and the verdict is settled, if that happened too
    /// often.
    pub(crate) fn replace(&mut self, identity: &mut Identity, verdict: Verdict) -> bool {
        if !identity.trust.take_back() {
            self.losses.count(Loss::IdentifyChanges, 1);
            self.settle(identity);
            return false;
        }
        self.stats.taken_back += 1;
        if identity.original == NO_PROTOCOL {
            identity.original = self.protocol(identity);
        }
        self.watch_if_it_may_change(identity, verdict);
        note(identity, verdict);
        true
    }

    /// Takes back a verdict that nothing fits: the connection is unknown. False if something does.
    pub(crate) fn drop_verdict(&mut self, identity: &mut Identity) -> bool {
        if !identity.trust.fits_nothing() || !identity.is_known() {
            return false;
        }
        self.stats.taken_back += 1;
        identity.rule = NO_RULE;
        identity.original = NO_PROTOCOL;
        identity.go_to(Phase::Done);
        self.release(identity);
        true
    }

    /// A stream turns into whatever its next bytes say. False if it did that too often.
    pub(crate) fn enter_tunnel(&mut self, identity: &mut Identity) -> bool {
        let is_searched = identity.turn_into_another();
        if is_searched {
            identity.go_to(Phase::Searching);
            identity.set(Identity::TUNNEL, true);
        } else {
            self.losses.count(Loss::IdentifyChanges, 1);
        }
        is_searched
    }

    /// A stream turns into another protocol, which needs no search.
    pub(crate) fn become_known(&self, identity: &mut Identity, rule: Option<RuleId>) {
        identity.go_to(Phase::Done);
        if let Some(rule) = rule
            && self.names.protocol_of(rule) != self.protocol(identity)
        {
            identity.original = self.protocol(identity);
            identity.rule = rule;
        }
    }

    /// The verdict that was there before TLS, if a client began TLS where it may and the server's
    /// first byte is none of TLS's. It is then the original, and what was begun is its successor.
    pub(crate) fn restore_original(
        &self,
        identity: &mut Identity,
        bytes: &[u8],
    ) -> Option<Verdict> {
        let (now, before) = (self.protocol(identity), identity.original);
        let kept = self.searches.kept(identity.search, false);
        let first = kept.first().or(bytes.first());
        let rule = self.names.rule_of(before)?;
        if first.is_some_and(|kind| TLS_RECORDS.contains(kind))
            || !self.names.becomes(before).contains(&now)
        {
            return None;
        }
        identity.original = now;
        Some(Verdict {
            protocol: before,
            rule,
            confidence: Confidence::Sure,
            to_server: false,
        })
    }

    fn watch_if_it_may_change(&self, identity: &mut Identity, verdict: Verdict) {
        let may_change = !self.names.becomes(verdict.protocol).is_empty();
        identity.go_to(if may_change {
            Phase::Watching
        } else {
            Phase::Done
        });
    }
}

fn note(identity: &mut Identity, verdict: Verdict) {
    identity.rule = verdict.rule;
    identity.set(Identity::LIKELY, verdict.confidence == Confidence::Likely);
    identity.set(Identity::BY_SERVER, !verdict.to_server);
}

/// Content types of TLS records (RFC 8446 §5.1, RFC 6520 §3).
const TLS_RECORDS: core::ops::RangeInclusive<u8> = 20..=24;
