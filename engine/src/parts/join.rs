//! What no part can decide: scans and floods, from what all parts have observed.

use super::Whole;
use crate::aggregates::News;
use crate::output::{Delivery, Output, messages};
use crate::run::stage_options;
use crate::{Control, RunError};
use flowpin_config::Plan;
use flowpin_counters::Losses;
use flowpin_output::{BatchSink, RecordBatch, Writers};
use flowpin_portscan::{ScanNews, Summary};
use flowpin_record::RecordKey;

/// What a part has observed of scans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Every interval below this one is closed: notes are joined in the order of these, those of
    /// a part in their own.
    pub upto: u64,
    /// The observations.
    pub bytes: Vec<u8>,
}

impl Note {
    /// None if there is nothing in it that others wait for.
    pub(crate) fn of(news: &ScanNews) -> Self {
        let (upto, bytes) = match news {
            ScanNews::Closed(summary) => (summary.upto(), summary.to_bytes()),
            ScanNews::Last { summary, .. } => (u64::MAX, summary.to_bytes()),
        };
        Self { upto, bytes }
    }
}

/// Decides what is a scan or a flood: `next` gives the notes of all parts, in the order of
/// [`Note::upto`], each with its part. The records go to `sink`.
///
/// # Errors
/// As [`crate::run_batches`]; a note that is none.
pub fn join(
    plan: &Plan,
    parts: u16,
    whole: Whole,
    next: &mut dyn FnMut() -> Result<Option<(u16, Note)>, RunError>,
    sink: Box<dyn BatchSink>,
    control: &Control,
) -> Result<Losses, RunError> {
    let mut plan = messages::in_tables(plan);
    // Scans alone.
    plan.parse.enabled = false;
    plan.output.host_pairs = false;
    plan.rules.loaded = None;
    let parts = usize::from(parts);
    let schemas = messages::schemas(&plan);
    let writers = Writers::into_batches(&stage_options::output(&plan), &schemas, sink);
    let mut output = Output::new(parts, writers, &plan, control);
    // Nothing but scans and floods comes from here.
    output.push(parts, RecordBatch::none_up_to(RecordKey::LAST));
    let end = whole.end.plus_nanos(1);
    let mut is_over = vec![false; parts];
    while let Some((part, note)) = next()? {
        let summary = Summary::of_bytes(&note.bytes).ok_or_else(not_a_note)?;
        let place = usize::from(part);
        let was_over = is_over.get_mut(place).ok_or_else(not_a_note)?;
        let is_last = note.upto == u64::MAX;
        if core::mem::replace(was_over, is_last) {
            return Err(not_a_note());
        }
        let scans = match is_last {
            true => ScanNews::Last { summary, end },
            false => ScanNews::Closed(summary),
        };
        push(&mut output, place, scans)?;
    }
    // A part without a packet has said nothing.
    for (part, _) in is_over.iter().enumerate().filter(|(_, is_over)| !**is_over) {
        let summary = Summary::default();
        push(&mut output, part, ScanNews::Last { summary, end })?;
    }
    Ok(output.close()?.losses)
}

fn push(output: &mut Output, part: usize, scans: ScanNews) -> Result<(), RunError> {
    let news = News {
        scans: Some(scans),
        ..News::default()
    };
    let records = RecordBatch::none_up_to(RecordKey::LAST);
    output.push(part, Delivery { records, news });
    output.write(|_, _| {})
}

fn not_a_note() -> RunError {
    RunError::StreamWrite {
        path: "the notes of a part".into(),
        source: std::io::ErrorKind::InvalidData.into(),
    }
}
