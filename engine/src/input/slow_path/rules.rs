//! Signature rules on packets that were refused, or that are odd: they belong to no connection.

use crate::exchange::{Exchange, Watch};
use flowpin_counters::Losses;
use flowpin_detect::{Inbox, PacketEvents};
use std::time::Instant;

/// The rules of the input stage.
#[derive(Debug)]
pub(crate) struct PacketRules {
    /// None where no rule asks for such packets.
    pub(super) events: Option<PacketEvents>,
    inbox: Inbox,
    /// Where rules come from that replace these.
    watch: Watch,
    /// What was lost by rules that were replaced.
    past: Losses,
}

impl PacketRules {
    pub(super) fn new(rules: &Exchange, inbox: Inbox) -> Self {
        Self {
            events: PacketEvents::new(&rules.current(), inbox.clone()),
            inbox,
            watch: rules.watch(),
            past: Losses::default(),
        }
    }

    /// Takes rules that replace those at hand, if there are any.
    pub(super) fn exchange(&mut self) {
        let Some(database) = self.watch.next() else {
            return;
        };
        let since = Instant::now();
        self.past = self.losses();
        self.events = PacketEvents::new(&database, self.inbox.clone());
        self.inbox.exchanged(database.first_number());
        self.watch.took(since.elapsed());
    }

    /// What was lost.
    pub(super) fn losses(&self) -> Losses {
        let mut losses = self.past;
        if let Some(events) = &self.events {
            losses.add(events.losses());
        }
        losses
    }
}
