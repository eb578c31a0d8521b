//! What no part can decide, from what all parts have observed.

use super::Whole;
use super::notes::{Joint, Note, by_rules, fingerprint};
use crate::aggregates::News;
use crate::output::{Delivery, Output, messages};
use crate::run::stage_options;
use crate::{Control, RunError};
use flowpin_aggregate::Travel;
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_output::{BatchSink, RecordBatch, Writers};
use flowpin_packet::Timestamp;
use flowpin_portscan::{ScanNews, Summary};
use flowpin_record::RecordKey;
use flowpin_totals::PairNews;

/// Gives the next note, with its part; none at the end.
pub type NextNote<'a> = dyn FnMut() -> Result<Option<(u16, Note)>, RunError> + 'a;

/// Decides one of the things that parts leave to be decided: `next` gives the notes of all parts
/// about it, in the order of [`Note::order`], each with its part. The records go to `sink`.
///
/// # Errors
/// As [`crate::run_batches`]; a note that is none; other rules than those of the parts.
pub fn join(
    plan: &Plan,
    (joint, parts): (Joint, u16),
    whole: Whole,
    next: &mut NextNote<'_>,
    sink: Box<dyn BatchSink>,
    control: &Control,
) -> Result<Losses, RunError> {
    let plan = alone(plan, joint);
    let workers = match joint {
        Joint::Scans => usize::from(parts),
        // In the order of their notes, all parts are like one worker.
        Joint::Alerts | Joint::HostPairs => 1,
    };
    let schemas = messages::schemas(&plan);
    let writers = Writers::into_batches(&stage_options::output(&plan), &schemas, sink);
    let mut output = Output::new(workers, writers, &plan, control);
    // Nothing comes from an input stage.
    output.push(workers, RecordBatch::none_up_to(RecordKey::LAST));
    let end = whole.end.plus_nanos(1);
    match joint {
        Joint::Scans => scans(&mut output, (workers, end), next)?,
        Joint::Alerts => {
            let known = fingerprint(&plan);
            let of = |bytes: &[u8]| {
                let (own, rules) = by_rules(bytes).ok_or(NOT_A_NOTE)?;
                if rules != known {
                    return Err(OTHER_RULES);
                }
                let alerts = Some(Travel::of_bytes(own).ok_or(NOT_A_NOTE)?);
                Ok(News {
                    alerts,
                    ..News::default()
                })
            };
            in_order(&mut output, News::default(), next, of)?;
        }
        Joint::HostPairs => {
            let of_pairs = |host_pairs| News {
                host_pairs: Some(host_pairs),
                ..News::default()
            };
            let of = |bytes: &[u8]| {
                let pairs = Travel::of_bytes(bytes).ok_or(NOT_A_NOTE)?;
                Ok(of_pairs(pairs))
            };
            in_order(&mut output, of_pairs(PairNews::over(end)), next, of)?;
        }
    }
    Ok(output.close()?.losses)
}

/// The plan with nothing but this.
fn alone(plan: &Plan, joint: Joint) -> Plan {
    let mut plan = messages::in_tables(plan);
    plan.scans.enabled &= joint == Joint::Scans;
    plan.output.host_pairs &= joint == Joint::HostPairs;
    if joint != Joint::Alerts {
        plan.parse.enabled = false;
        plan.rules.loaded = None;
    }
    plan
}

fn scans(
    output: &mut Output,
    (parts, end): (usize, Timestamp),
    next: &mut NextNote<'_>,
) -> Result<(), RunError> {
    let mut is_over = vec![false; parts];
    while let Some((part, note)) = next()? {
        let summary = Summary::of_bytes(&note.bytes).ok_or(NOT_A_NOTE)?;
        let place = usize::from(part);
        let was_over = is_over.get_mut(place).ok_or(NOT_A_NOTE)?;
        let is_last = note.order == u64::MAX;
        if core::mem::replace(was_over, is_last) {
            return Err(NOT_A_NOTE);
        }
        let scans = match is_last {
            true => ScanNews::Last { summary, end },
            false => ScanNews::Closed(summary),
        };
        push(output, place, RecordKey::LAST, of_scans(scans))?;
    }
    // A part without a packet has said nothing.
    for (part, _) in is_over.iter().enumerate().filter(|(_, is_over)| !**is_over) {
        let summary = Summary::default();
        let last = of_scans(ScanNews::Last { summary, end });
        push(output, part, RecordKey::LAST, last)?;
    }
    Ok(())
}

fn of_scans(scans: ScanNews) -> News {
    News {
        scans: Some(scans),
        ..News::default()
    }
}

/// Hands on notes each of which tells of nothing earlier than the ones before it, and in the end
/// the last news.
fn in_order(
    output: &mut Output,
    last: News,
    next: &mut NextNote<'_>,
    of: impl Fn(&[u8]) -> Result<News, RunError>,
) -> Result<(), RunError> {
    while let Some((_, note)) = next()? {
        let news = of(&note.bytes)?;
        // All that happens before is known; so no more waits than what notes overlap in.
        let before = match note.order.checked_sub(1) {
            Some(before) => RecordKey::last_at(Timestamp(before)),
            None => RecordKey::default(),
        };
        push(output, 0, before, news)?;
    }
    push(output, 0, RecordKey::LAST, last)
}

fn push(output: &mut Output, worker: usize, upto: RecordKey, news: News) -> Result<(), RunError> {
    let records = RecordBatch::none_up_to(upto);
    output.push(worker, Delivery { records, news });
    output.write(|_, _| {})
}

const NOT_A_NOTE: RunError = RunError::Parts("what parts have noted is damaged; please report it");
const OTHER_RULES: RunError = RunError::Parts(
    "parts were compared with other rules than these; give every worker the same files of rules",
);
