//! Patterns on trial: what became of each, what it costs, and what it matches in captures.
//!
//! ```text
//!  .pat files ─► read ─► compile each alone ─► rate ──────────────────────────┐
//!  captures ─► connections ─► every pattern over the first bytes of each ─────┴─► PatternTrial
//! ```
//!
//! One thread. Every pattern is asked about every connection, also where a built-in rule decides,
//! so that its author sees what it would match by itself, and what comes of it in a run.

mod attempt;
mod tester;

use crate::report::{InputReport, ProgressSink};
use crate::run::open;
use crate::tools;
use crate::worker::identify::IdentifyRules;
use crate::worker::stages::{AllStages, Planned};
use crate::{Control, RunError};
use flowpin_config::{IdentifyPlan, Plan, ScansPlan};
use flowpin_flow::Table;
use flowpin_pattern::l7::{self, L7Pattern, PatternFileError};
use flowpin_pattern::{Automaton, Limits, PatternSet, Refusal, Rewrite, Source};
use flowpin_record::ConnRecord;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tester::Tester;

/// What became of all patterns.
#[derive(Debug, Default)]
pub struct PatternsReport {
    /// Those that were read, in the order of their files.
    pub patterns: Vec<PatternTrial>,
    /// Files that give no pattern.
    pub refused: Vec<RefusedPattern>,
    /// All that were compiled, in as few automata as possible.
    pub together: Together,
    /// Connections that said anything.
    pub connections: u64,
    /// Those of them for which there was no memory: more were open at the same time than are tried.
    pub untried: u64,
    /// The input files.
    pub inputs: Vec<InputReport>,
    /// A signal stopped it.
    pub stopped_early: bool,
}

/// A file that gives no pattern.
#[derive(Clone, Debug)]
pub struct RefusedPattern {
    /// The file.
    pub file: PathBuf,
    /// File, line and reason.
    pub reason: String,
    /// What its author can do.
    pub advice: &'static str,
}

/// Patterns as a run loads them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Together {
    /// How many automata.
    pub automata: usize,
    /// Their states.
    pub states: usize,
    /// Their memory.
    pub bytes: usize,
}

/// One pattern.
#[derive(Clone, Debug)]
pub struct PatternTrial {
    /// The protocol that it names.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// The expression's line there.
    pub line: usize,
    /// Begins with the first byte; otherwise it may begin anywhere.
    pub anchored: bool,
    /// Matches too often by chance: it is never a verdict.
    pub is_hint: bool,
    /// Probability of a match in 4 KiB of random bytes.
    pub on_random: f64,
    /// In as much English text.
    pub on_english: f64,
    /// States of its automaton, compiled alone.
    pub states: usize,
    /// Memory of it.
    pub bytes: usize,
    /// Connections that it was asked about.
    pub attempts: u64,
    /// Bytes that it looked at in all of them.
    pub bytes_read: u64,
    /// Connections that it matched.
    pub matched: u64,
    /// Those of them that built-in rules decide, by what they say: there it never gets a say.
    pub decided: BTreeMap<&'static str, u64>,
    /// The first of them.
    pub found: Vec<Found>,
    /// A built-in protocol has this name.
    pub is_built_in: bool,
    /// Other files with this name.
    pub namesakes: Vec<PathBuf>,
}

/// A match.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// The connection.
    pub record: ConnRecord,
    /// Whose bytes completed it.
    pub to_server: bool,
    /// How many bytes of that side (of the datagram) were needed.
    pub bytes: u64,
    /// UDP and SCTP: which datagram of the connection, from 1.
    pub datagram: Option<u8>,
    /// It waited for the end of a turn, datagram or stream (`$`).
    pub at_end: bool,
}

impl From<&PatternFileError> for RefusedPattern {
    fn from(error: &PatternFileError) -> Self {
        Self {
            file: error.path().to_owned(),
            reason: error.to_string(),
            advice: error.advice(),
        }
    }
}

pub(crate) fn try_patterns(
    plan: &Plan,
    control: &Control,
    progress: &dyn ProgressSink,
) -> Result<PatternsReport, RunError> {
    let (mut report, automata) = load(&plan.identify.patterns)?;
    let plan = Plan {
        identify: IdentifyPlan {
            enabled: true,
            cache: plan.identify.cache.clone(),
            ..IdentifyPlan::default()
        },
        scans: ScansPlan {
            enabled: false,
            ..plan.scans.clone()
        },
        interim_ns: None,
        ..tools::silent(plan)
    };
    let known = IdentifyRules::of(&plan)?;
    let built_in = known.iter().flat_map(|known| known.names.all());
    let built_in: Vec<&str> = built_in.collect();
    for pattern in &mut report.patterns {
        pattern.is_built_in = built_in.contains(&pattern.name.as_str());
    }
    if plan.inputs.is_empty() {
        return Ok(report);
    }
    let source = open(&plan, control)?;
    let stages = |table: &Table| {
        let all = AllStages::new(&plan, known.as_ref(), table)?;
        Tester::new(&plan, all, automata, &mut report, table.capacity())
    };
    let hands = (control, progress);
    let (_, input) = tools::run(&plan, source, hands, stages, |_, _, _| Ok(()))?;
    report.inputs = input.inputs;
    report.stopped_early = control.is_stopped();
    Ok(report)
}

/// Reads and compiles; the automata are those of `patterns`, in their order.
fn load(paths: &[PathBuf]) -> Result<(PatternsReport, Vec<Automaton>), RunError> {
    let limits = Limits::default();
    let read = l7::read_paths(paths, &limits);
    let (patterns, errors) = read.map_err(|(path, source)| RunError::Patterns { path, source })?;
    let mut report = PatternsReport {
        refused: errors.iter().map(RefusedPattern::from).collect(),
        ..PatternsReport::default()
    };
    let mut automata = Vec::new();
    let mut sources = Vec::new();
    for pattern in &patterns {
        let source = [Source {
            name: pattern.name.clone(),
            hir: pattern.hir.clone(),
        }];
        let (alone, refused) = PatternSet::build(&source, Rewrite::Exact, &limits);
        match (trial(pattern, &patterns, &alone), alone.groups.first()) {
            (Some(trial), Some(group)) => {
                report.patterns.push(trial);
                automata.push(group.automaton.clone());
                sources.extend(source);
            }
            _ => {
                let why = refused.first().map_or(Refusal::Empty, |&(_, why)| why);
                let error = pattern.refused(why);
                report.refused.push(RefusedPattern::from(&error));
            }
        }
    }
    let (set, _) = PatternSet::build(&sources, Rewrite::Exact, &limits);
    let (states, bytes) = set.size();
    report.together = Together {
        automata: set.groups.len(),
        states,
        bytes,
    };
    Ok((report, automata))
}

fn trial(pattern: &L7Pattern, all: &[L7Pattern], alone: &PatternSet) -> Option<PatternTrial> {
    let compiled = alone.patterns.first()?;
    let automaton = &alone.groups.first()?.automaton;
    let same = all
        .iter()
        .filter(|one| one.name == pattern.name && one.path != pattern.path);
    Some(PatternTrial {
        name: pattern.name.clone(),
        file: pattern.path.clone(),
        line: pattern.line,
        anchored: compiled.anchored,
        is_hint: !compiled.rating.is_sharp(),
        on_random: compiled.rating.random,
        on_english: compiled.rating.english,
        states: automaton.states(),
        bytes: automaton.bytes(),
        attempts: 0,
        bytes_read: 0,
        matched: 0,
        decided: BTreeMap::new(),
        found: Vec::new(),
        is_built_in: false,
        namesakes: same.map(|one| one.path.clone()).collect(),
    })
}
