//! Which alerts become records: decided in the order of keys.

use crate::alert::{ALERT, AlertNews, Candidate, values};
use crate::connection::{Inbox, Waiting};
use crate::count::{Hosts, Of};
use crate::forwarded::named_client;
use crate::written::WrittenSets;
use core::net::IpAddr;
use flowpin_aggregate::{Decider, Emit};
use flowpin_counters::{Loss, Losses};
use flowpin_record::{RecordKey, Uid};
use flowpin_rule::{AlertLedger, BitAction, Condition, ForwardedAs, Rule, RuleSet, SuppressedSide};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The side in the output stage.
#[derive(Debug)]
pub struct AlertDecider {
    /// The rules; while others replace them, those before, too: earlier ones first, at least one.
    generations: Vec<Generation>,
    /// By worker: the number of the first rule that may still fit something.
    since: Vec<u32>,
    /// The capture that all packets are of, if alerts have it.
    file: Option<String>,
    /// Where it is noted what some rules alert of, if somebody asks.
    ledger: Option<Arc<AlertLedger>>,
    /// Waits until no worker can deliver anything before it.
    waiting: BTreeMap<RecordKey, Candidate>,
    /// Alerts of packets that belong to no connection, and rules that replace others.
    inbox: Inbox,
    /// Of rules that were replaced: their alerts, and what did not fit.
    past: Past,
}

/// Rules, and what hosts remember for them.
#[derive(Debug)]
struct Generation {
    /// The number of their first.
    first: u32,
    set: Arc<RuleSet>,
    hosts: Hosts,
    sets: WrittenSets,
    /// Alerts, by place in the set.
    counts: BTreeMap<u32, u64>,
}

/// What is left of rules that were replaced.
#[derive(Debug, Default)]
struct Past {
    /// By generator and number of the rule.
    counted: BTreeMap<(u32, u32), Counted>,
    losses: Losses,
}

impl AlertDecider {
    pub(crate) fn new(
        set: Arc<RuleSet>,
        workers: usize,
        (file, ledger): (Option<String>, Option<Arc<AlertLedger>>),
    ) -> Self {
        Self {
            generations: vec![Generation::new(0, set)],
            since: vec![0; workers],
            file,
            ledger,
            waiting: BTreeMap::new(),
            inbox: Inbox::default(),
            past: Past::default(),
        }
    }

    /// Forgets rules that can fit nothing any more.
    #[cold]
    fn retire(&mut self, of_packets: u32) {
        let waiting = self.waiting.values().map(|one| one.rule);
        let since = self.since.iter().copied().chain(waiting).min();
        let since = since.unwrap_or(of_packets).min(of_packets);
        let last = self.generations.len().saturating_sub(1);
        let next = self.generations.iter().skip(1);
        let over = next.take_while(|one| one.first <= since).count().min(last);
        for one in self.generations.drain(..over) {
            self.past.add(one);
        }
    }

    /// Alerts of packets that belong to no connection, if there are any: for a decider in another
    /// process.
    pub fn take_inbox(&self) -> Option<AlertNews> {
        let news = AlertNews::from(self.inbox.take());
        (!news.candidates.is_empty()).then_some(news)
    }

    /// Where the input stage puts alerts of packets that belong to no connection.
    pub fn inbox(&self) -> Inbox {
        self.inbox.clone()
    }
}

impl Generation {
    fn new(first: u32, set: Arc<RuleSet>) -> Self {
        Self {
            first,
            hosts: Hosts::default(),
            sets: WrittenSets::new(set.written.clone()),
            counts: BTreeMap::new(),
            set,
        }
    }

    /// Whether a rule that fits becomes a record; what it changes of hosts is changed.
    fn is_written(&mut self, rule: &Rule, candidate: &Candidate) -> bool {
        let place = &candidate.place;
        let ends = match candidate.to_server {
            true => (place.client.address, place.server.address),
            false => (place.server.address, place.client.address),
        };
        let now = candidate.key.time;
        let of = |track| Of::new(track, ends, place.uid);
        let bits = rule.conditions.iter().filter_map(|one| match one {
            Condition::HostBit {
                action,
                name,
                track,
                expire_s,
            } => Some((*action, (*name, of(*track)), *expire_s)),
            _ => None,
        });
        for (action, (name, of), _) in bits.clone() {
            let is_set = self.hosts.is_set(name, of, now);
            let fails = match action {
                BitAction::IsSet => !is_set,
                BitAction::IsNotSet => is_set,
                _ => false,
            };
            if fails {
                return false;
            }
        }
        let sets = candidate.sets.as_deref().unwrap_or_default();
        if !self.sets.hold(sets) {
            return false;
        }
        self.sets.change(sets);
        for (action, bit, expire_s) in bits {
            self.hosts.change(action, bit, now, expire_s);
        }
        if rule.noalert || self.is_suppressed(rule, ends) {
            return false;
        }
        let mut counts = rule.counts.iter();
        counts.all(|count| {
            self.hosts
                .count(candidate.rule, count, of(count.track), now)
        })
    }

    fn is_suppressed(&self, rule: &Rule, (from, to): (IpAddr, IpAddr)) -> bool {
        self.set.suppressions.iter().any(|one| {
            (one.gid == 0 || one.gid == rule.gid)
                && (one.sid == 0 || one.sid == rule.sid)
                && one.of.as_ref().is_none_or(|(side, set)| match side {
                    SuppressedSide::Source => set.contains(from),
                    SuppressedSide::Destination => set.contains(to),
                    SuppressedSide::Either => set.contains(from) || set.contains(to),
                })
        })
    }
}

impl Past {
    fn add(&mut self, of: Generation) {
        self.losses.add(&of.losses());
        for one in of.counted() {
            let known = self.counted.entry((one.gid, one.sid));
            let known = known.or_insert_with(|| Counted {
                alerts: 0,
                ..one.clone()
            });
            known.alerts += one.alerts;
        }
    }
}

impl Generation {
    fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        losses.count(Loss::RuleHosts, self.hosts.left_out);
        losses.count(Loss::RuleSets, self.sets.left_out);
        losses
    }

    /// Its rules that have alerted.
    fn counted(&self) -> impl Iterator<Item = Counted> {
        self.counts.iter().filter_map(|(&place, &alerts)| {
            let rule = self.set.rules.get(place as usize)?;
            Some(Counted {
                gid: rule.gid,
                sid: rule.sid,
                message: rule.message.clone(),
                priority: rule.priority,
                alerts,
            })
        })
    }
}

impl Decider for AlertDecider {
    type News = AlertNews;
    type Findings = AlertCounts;
    const EMITS: bool = true;

    fn add(&mut self, worker: usize, news: AlertNews) {
        let keyed = news.candidates.into_iter().map(|one| (one.key, one));
        self.waiting.extend(keyed);
        if let (Some(known), Some(since)) = (self.since.get_mut(worker), news.since) {
            *known = since;
        }
    }

    fn decide(&mut self, delivered: RecordKey, out: &mut impl Emit) -> RecordKey {
        let Waiting {
            candidates,
            sets,
            since,
        } = self.inbox.take();
        let replacing = sets.into_iter();
        self.generations
            .extend(replacing.map(|(first, set)| Generation::new(first, set)));
        let keyed = candidates.into_iter().map(|one| (one.key, one));
        self.waiting.extend(keyed);
        while let Some(entry) = self.waiting.first_entry() {
            if *entry.key() > delivered {
                break;
            }
            let candidate = entry.remove();
            let mut generations = self.generations.iter_mut().rev();
            let Some(of) = generations.find(|one| one.first <= candidate.rule) else {
                continue;
            };
            let (set, place) = (Arc::clone(&of.set), candidate.rule - of.first);
            let Some(rule) = set.rules.get(place as usize) else {
                continue;
            };
            if of.is_written(rule, &candidate) {
                *of.counts.entry(place).or_default() += 1;
                if let Some(ledger) = &self.ledger {
                    let at = &candidate.place;
                    let connection = Some(at.uid).filter(|&uid| uid != Uid(0));
                    ledger.note(rule.sid, connection, at.packet_number);
                }
                let mut shown_at = candidate.place;
                let mut client = None;
                match of.set.forwarded {
                    Some((ForwardedAs::Extra, hop)) => client = named_client(&candidate, hop),
                    Some((ForwardedAs::Overwrite, hop)) => {
                        shown_at.shown_client = named_client(&candidate, hop);
                    }
                    None => {}
                }
                let beside = (self.file.as_deref(), client);
                values(rule, &candidate, beside, |values| {
                    out.message(candidate.key, &shown_at, &ALERT, values);
                });
            }
        }
        if self.generations.len() > 1 {
            self.retire(since);
        }
        delivered
    }

    fn losses(&self) -> Losses {
        let mut losses = self.past.losses;
        let all = self.generations.iter().map(Generation::losses);
        all.for_each(|one| losses.add(&one));
        losses
    }

    fn take_findings(&mut self) -> AlertCounts {
        let rules_loaded = self.generations.last().map_or(0, |one| one.set.rules.len());
        let generations = core::mem::take(&mut self.generations);
        generations.into_iter().for_each(|one| self.past.add(one));
        let counted = core::mem::take(&mut self.past.counted);
        let mut rules: Vec<Counted> = counted.into_values().collect();
        rules.sort_by_key(|one| (core::cmp::Reverse(one.alerts), one.gid, one.sid));
        AlertCounts {
            rules_loaded,
            rules,
        }
    }
}

/// Alerts of a run, for its summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertCounts {
    /// Rules that were loaded; 0 without rules.
    pub rules_loaded: usize,
    /// Rules that have alerted: most alerts first.
    pub rules: Vec<Counted>,
}

impl AlertCounts {
    /// All alerts.
    pub fn total(&self) -> u64 {
        self.rules.iter().map(|one| one.alerts).sum()
    }
}

/// The alerts of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Its generator.
    pub gid: u32,
    /// Its number.
    pub sid: u32,
    /// What it says.
    pub message: String,
    /// Its priority: 1 is the highest.
    pub priority: u8,
    /// How many alerts.
    pub alerts: u64,
}
