//! Datagrams: each by itself, with the beginning of those before beside it.

use super::progress::Progress;
use super::{Memory, Search, Whose, side_of};
use crate::identifier::{Compiled, ask};
use crate::verdict::{Confidence, GaveUp, Step, Verdict};
use crate::{DATAGRAMS_MAX, Look};
use flowpin_pattern::Fed;

impl Memory {
    pub(super) fn datagram(
        &mut self,
        compiled: &Compiled,
        search: &mut Search,
        whose: Whose,
        bytes: &[u8],
        wire_len: usize,
    ) -> Step {
        let own = side_of(whose.to_server);
        let handle = search.0.checked_sub(1);
        let stored = handle.and_then(|handle| self.slab.get(handle)).copied();
        let mut progress = stored.unwrap_or_else(|| Progress::new(whose.shard));
        progress.datagrams = progress.datagrams.saturating_add(1);
        let look = Look {
            bytes,
            len: wire_len.max(bytes.len()),
            reply: progress.head(own ^ 1),
            earlier: progress.head(own),
            ports: whose.ports,
            to_server: whose.to_server,
            on: whose.on,
            ended: true,
        };
        let mut likely = progress.likely;
        if let Some(verdict) = datagram_verdict(compiled, &look, &mut likely) {
            return Step::Verdict(verdict);
        }
        progress.likely = likely;
        if progress.datagrams >= DATAGRAMS_MAX {
            return Step::GaveUp(GaveUp::NothingFits);
        }
        progress.remember(own, bytes);
        match handle {
            Some(handle) => self.store(handle, progress),
            None => return self.begin(search, progress),
        }
        Step::Undecided
    }
}

fn datagram_verdict(
    compiled: &Compiled,
    look: &Look<'_>,
    likely_before: &mut u16,
) -> Option<Verdict> {
    let mut state = compiled.automaton.start();
    let pattern = match compiled.automaton.feed(&mut state, look.bytes) {
        Fed::Match(pattern, _) => Some(pattern),
        Fed::Dead => None,
        Fed::More => compiled.automaton.at_end(state),
    };
    let mut alive = u128::MAX;
    let (rule, confidence) = if let Some(pattern) = pattern {
        (compiled.rule_of(pattern), Confidence::Sure)
    } else {
        let asked = ask(
            compiled.candidates(look.bytes),
            &mut alive,
            look,
            true,
            false,
        );
        match (asked.yes, asked.likely) {
            (Some(rule), _) => (rule, Confidence::Sure),
            (None, Some(rule)) if *likely_before == rule.0.saturating_add(1) => {
                (rule, Confidence::Likely)
            }
            (None, Some(rule)) => {
                *likely_before = rule.0.saturating_add(1);
                return None;
            }
            (None, None) => return None,
        }
    };
    Some(Verdict {
        protocol: compiled.protocol_of(rule),
        rule,
        confidence,
        to_server: look.to_server,
    })
}
