//! Searches over datagrams: each is examined alone, together with the beginning of earlier ones.

use super::progress::Progress;
use super::{Memory, Search, Whose, side_of};
use crate::identifier::Compiled;
use crate::verdict::{Confidence, GaveUp, Step, Verdict};
use crate::{DATAGRAMS_MAX, Datagram, Look};
use flowpin_pattern::Fed;

impl Memory {
    pub(super) fn datagram(
        &mut self,
        compiled: &Compiled,
        search: &mut Search,
        whose: Whose<'_>,
        bytes: &[u8],
        wire_len: usize,
    ) -> Step {
        let own = side_of(whose.to_server);
        let handle = search.handle();
        let known = handle.and_then(|handle| self.slab.get_mut(handle));
        let mut likely = known.as_ref().map_or(0, |known| known.likely.rule);
        let head = |which| known.as_ref().map_or(&[][..], |known| known.head(which));
        let look = Look {
            bytes,
            len: wire_len.max(bytes.len()),
            reply: head(own ^ 1),
            earlier: head(own),
            ports: whose.ports,
            to_server: whose.to_server,
            on: whose.on,
            ended: true,
        };
        if let Some(verdict) = datagram_verdict(compiled, whose, &look, &mut likely) {
            return Step::Verdict(verdict);
        }
        let step = if let Some(known) = known {
            known.note_datagram(own, bytes, likely)
        } else {
            let mut fresh = Progress::new(whose);
            match fresh.note_datagram(own, bytes, likely) {
                Step::Undecided => self.begin(search, &fresh),
                step => step,
            }
        };
        if step == Step::Undecided && self.options.keeps_datagrams {
            let datagram = Datagram {
                to_server: whose.to_server,
                bytes,
                wire_len,
            };
            self.keep_datagram(*search, whose, datagram);
        }
        step
    }

    /// Keeps an undecided datagram for replay to the parser of a later verdict.
    fn keep_datagram(&mut self, search: Search, whose: Whose<'_>, datagram: Datagram<'_>) {
        let Some(handle) = search.handle() else {
            return;
        };
        self.make_room(whose, Some(handle));
        let Some(progress) = self.slab.get_mut(handle) else {
            return;
        };
        let Progress {
            sides: [client, server],
            earlier,
            shard,
            ..
        } = progress;
        let logs = [&mut client.kept, &mut server.kept];
        earlier.keep(&mut self.blocks, *shard, logs, datagram);
    }
}

impl Progress {
    /// Records an undecided datagram.
    fn note_datagram(&mut self, own: u8, bytes: &[u8], likely: u16) -> Step {
        self.datagrams = self.datagrams.saturating_add(1);
        self.likely.rule = likely;
        if self.datagrams >= DATAGRAMS_MAX {
            return Step::GaveUp(GaveUp::NothingFits);
        }
        self.remember(own, bytes);
        Step::Undecided
    }
}

fn datagram_verdict(
    compiled: &Compiled,
    whose: Whose<'_>,
    look: &Look<'_>,
    likely_before: &mut u16,
) -> Option<Verdict> {
    let mut state = compiled.automaton.start();
    let pattern = match compiled.automaton.feed(&mut state, look.bytes) {
        Fed::Match(pattern, _) => Some(pattern),
        Fed::Dead => None,
        Fed::More => compiled.automaton.at_end(state),
    };
    let matched = pattern.and_then(|pattern| compiled.allowed_rule(pattern, whose));
    let (rule, confidence) = if let Some(rule) = matched {
        (rule, Confidence::Sure)
    } else {
        let mut alive = compiled.allowed_checks(whose);
        let asked = compiled.candidates.ask(&mut alive, look, true, false);
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
