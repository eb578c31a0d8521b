//! What a part says beside its records: notes from which the whole run decides.

use crate::aggregates::News;
use flowpin_aggregate::Travel;
use flowpin_aggregate::travel::{put, take};
use flowpin_config::Plan;
use flowpin_detect::AlertNews;
use flowpin_portscan::ScanNews;
use flowpin_rule::RuleSet;
use std::net::IpAddr;

/// What no part can decide, as it depends on connections of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// Scans and floods.
    Scans,
    /// Which rules that fit become alerts: their counts, the bits of hosts, the sets that they
    /// write.
    Alerts,
    /// The sums of pairs of hosts.
    HostPairs,
}

impl Joint {
    /// What a plan's parts leave to be decided.
    ///
    /// ```
    /// use flowpin_engine::parts::Joint;
    /// let plan = flowpin_engine::Plan::default();
    /// assert_eq!(Joint::of(&plan), [Joint::Scans]);
    /// ```
    pub fn of(plan: &Plan) -> Vec<Self> {
        let all = [
            (Self::Scans, plan.scans.enabled),
            (Self::Alerts, plan.rules.loaded.is_some()),
            (Self::HostPairs, plan.output.host_pairs),
        ];
        let wanted = all.into_iter().filter(|(_, is_wanted)| *is_wanted);
        wanted.map(|(one, _)| one).collect()
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        let mut all = [Self::Scans, Self::Alerts, Self::HostPairs].into_iter();
        all.find(|one| one.name() == name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scans => "scans",
            Self::Alerts => "alerts",
            Self::HostPairs => "host_pairs",
        }
    }
}

/// What a part has observed, for [`super::join`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What is decided from it.
    pub joint: Joint,
    /// Notes are joined in the order of these, those of a part in their own: of scans, below
    /// which interval all are closed; of all else, when the earliest happens that it tells.
    pub order: u64,
    /// The observations.
    pub bytes: Vec<u8>,
}

impl Note {
    pub(crate) fn of_scans(news: &ScanNews) -> Self {
        let (order, bytes) = match news {
            ScanNews::Closed(summary) => (summary.upto(), summary.to_bytes()),
            ScanNews::Last { summary, .. } => (u64::MAX, summary.to_bytes()),
        };
        Self {
            joint: Joint::Scans,
            order,
            bytes,
        }
    }

    /// None if there is nothing in it.
    fn of(joint: Joint, news: &impl Travel) -> Option<Self> {
        let order = news.earliest()?.0;
        let bytes = news.to_bytes();
        Some(Self {
            joint,
            order,
            bytes,
        })
    }
}

/// What a part says beside its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartNote {
    /// What the whole run decides: for [`super::join`].
    Joint(Note),
    /// A connection between these hosts announces others: they belong together, in
    /// [`super::Division::hosts`].
    Hosts(IpAddr, IpAddr),
}

/// Who takes a part's notes.
pub(crate) type Notes = Box<dyn FnMut(PartNote) + Send>;

/// Tells what a part has observed and the whole run decides.
pub(crate) struct Teller {
    notes: Notes,
    /// By which rules those that fit are numbered.
    rules: u64,
}

impl Teller {
    pub(crate) fn new(plan: &Plan, notes: Notes) -> Self {
        Self {
            notes,
            rules: fingerprint(plan),
        }
    }

    /// Takes out of the news what others decide; `inbox`: alerts of the input stage.
    pub(crate) fn tell(&mut self, news: &mut News, inbox: Option<AlertNews>) {
        if let Some(scans) = news.scans.take() {
            (self.notes)(PartNote::Joint(Note::of_scans(&scans)));
        }
        for alerts in [news.alerts.take(), inbox].into_iter().flatten() {
            if let Some(mut note) = Note::of(Joint::Alerts, &alerts) {
                put(&mut note.bytes, self.rules);
                (self.notes)(PartNote::Joint(note));
            }
        }
        let pairs = news.host_pairs.take();
        if let Some(note) = pairs.and_then(|news| Note::of(Joint::HostPairs, &news)) {
            (self.notes)(PartNote::Joint(note));
        }
        if let Some(data) = &news.data {
            let announced = data.announced();
            announced.for_each(|(one, other)| (self.notes)(PartNote::Hosts(one, other)));
        }
    }
}

/// Tells the plan's rules from others; 0 if it has none.
pub(super) fn fingerprint(plan: &Plan) -> u64 {
    let rules = plan.rules.loaded.as_deref();
    rules.map_or(0, RuleSet::fingerprint)
}

/// The bytes of a note of alerts, and the fingerprint of its rules.
pub(super) fn by_rules(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let (own, mut rules) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
    Some((own, take(&mut rules)?))
}
