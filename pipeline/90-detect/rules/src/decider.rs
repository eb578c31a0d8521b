//! Which alerts become records: decided in the order of keys.

use crate::alert::{ALERT, AlertNews, Candidate, values};
use crate::connection::Inbox;
use crate::count::{Hosts, Of};
use crate::written::WrittenSets;
use core::net::IpAddr;
use flowpin_aggregate::{Decider, Emit};
use flowpin_counters::{Loss, Losses};
use flowpin_record::RecordKey;
use flowpin_rule::{BitAction, Condition, Rule, RuleSet, SuppressedSide};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The side in the output stage.
#[derive(Debug)]
pub struct AlertDecider {
    set: Arc<RuleSet>,
    /// The capture that all packets are of, if alerts have it.
    file: Option<String>,
    /// Waits until no worker can deliver anything before it.
    waiting: BTreeMap<RecordKey, Candidate>,
    /// Alerts of packets that belong to no connection.
    inbox: Inbox,
    hosts: Hosts,
    sets: WrittenSets,
    counts: BTreeMap<u32, u64>,
}

impl AlertDecider {
    pub(crate) fn new(set: Arc<RuleSet>, file: Option<String>) -> Self {
        Self {
            file,
            waiting: BTreeMap::new(),
            inbox: Inbox::default(),
            hosts: Hosts::default(),
            sets: WrittenSets::new(set.written.clone()),
            counts: BTreeMap::new(),
            set,
        }
    }

    /// Where the input stage puts alerts of packets that belong to no connection.
    pub fn inbox(&self) -> Inbox {
        self.inbox.clone()
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

impl Decider for AlertDecider {
    type News = AlertNews;
    type Findings = AlertCounts;
    const EMITS: bool = true;

    fn add(&mut self, _: usize, news: AlertNews) {
        let keyed = news.0.into_iter().map(|one| (one.key, one));
        self.waiting.extend(keyed);
    }

    fn decide(&mut self, delivered: RecordKey, out: &mut impl Emit) -> RecordKey {
        let set = Arc::clone(&self.set);
        let of_packets = self.inbox.take().into_iter();
        self.waiting.extend(of_packets.map(|one| (one.key, one)));
        while let Some(entry) = self.waiting.first_entry() {
            if *entry.key() > delivered {
                break;
            }
            let candidate = entry.remove();
            let Some(rule) = set.rules.get(candidate.rule as usize) else {
                continue;
            };
            if self.is_written(rule, &candidate) {
                *self.counts.entry(candidate.rule).or_default() += 1;
                values(rule, &candidate, self.file.as_deref(), |values| {
                    out.message(candidate.key, &candidate.place, &ALERT, values);
                });
            }
        }
        delivered
    }

    fn losses(&self) -> Losses {
        let mut losses = Losses::default();
        losses.count(Loss::RuleHosts, self.hosts.left_out);
        losses.count(Loss::RuleSets, self.sets.left_out);
        losses
    }

    fn take_findings(&mut self) -> AlertCounts {
        let counts = core::mem::take(&mut self.counts);
        let rules = counts.into_iter().filter_map(|(number, alerts)| {
            let rule = self.set.rules.get(number as usize)?;
            Some(Counted {
                gid: rule.gid,
                sid: rule.sid,
                message: rule.message.clone(),
                priority: rule.priority,
                alerts,
            })
        });
        let mut rules: Vec<Counted> = rules.collect();
        rules.sort_by_key(|one| (core::cmp::Reverse(one.alerts), one.gid, one.sid));
        AlertCounts {
            rules_loaded: self.set.rules.len(),
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
