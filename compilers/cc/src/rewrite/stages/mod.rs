//! Programs in several stages: `stage`, `cut`, `in`, `keyed` and `perpacket` lines.
//!
//! ```text
//!  packets ─► stage ip (its handler) ─ cut ─► stage tcp (process_tcp) ─ cut ─► stage scan
//!             n cores                        m cores                          k cores
//! ```
//!
//! Each core runs the whole program, so that it is set up; at a cut the call is not made, but
//! handed on with what it needs. What state would be torn apart is refused (`check`).

mod check;
mod emit;
mod graph;
mod parse;
mod said;

pub(super) use check::{Question, check};
pub(super) use parse::statement_end;

use crate::model::{FunctionId, GlobalId, Model, Place};

/// A stage.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) name: String,
    /// How many cores, unless the run says it.
    pub(super) ways: Option<u32>,
    /// Sources whose functions with state run in this stage alone.
    files: Vec<String>,
    place: Place,
}

/// By what a stage's packets are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    /// `FLOWPIN_IP_PAIR`, …: its number, and its name.
    Packet(u32, &'static str),
    /// An expression in C.
    Expression(String),
    /// All calls go to the stage's first core.
    None,
}

/// Bytes that a call takes along.
#[derive(Clone, Debug)]
struct Copied {
    /// A parameter, or a variable that is forwarded.
    name: String,
    /// How many bytes, in C.
    length: String,
}

/// A call that another stage makes.
#[derive(Debug)]
pub(super) struct Cut {
    from: usize,
    to: usize,
    caller: FunctionId,
    callee: FunctionId,
    /// The callee's name in the call.
    name: Place,
    key: Key,
    copies: Vec<Copied>,
    forward: Vec<GlobalId>,
    /// Variables of which the author says that each stage may have its own.
    separate: Vec<GlobalId>,
    /// What is copied, though it holds pointers that the other core is not to follow.
    unchecked: Vec<String>,
    place: Place,
}

/// A statement that one stage alone runs.
#[derive(Debug)]
struct Inside {
    stage: usize,
    start: Place,
    end: usize,
}

/// Variables whose entries belong to hosts, not to connections.
#[derive(Debug)]
struct Keyed {
    global: GlobalId,
    key: &'static str,
    place: Place,
}

/// How a program is divided.
#[derive(Debug, Default)]
pub(super) struct Stages {
    pub(super) all: Vec<Stage>,
    pub(super) cuts: Vec<Cut>,
    inside: Vec<Inside>,
    keyed: Vec<Keyed>,
    /// Variables that each packet sets: they go along with what is handed on.
    perpacket: Vec<(GlobalId, Place)>,
    /// Which stage the tick is for.
    pub(super) tick: usize,
}

impl Stages {
    /// Whether a call is handed on, by the place of its name.
    pub(super) fn cut_at(&self, place: Option<Place>) -> Option<usize> {
        let is_here = |cut: &Cut| {
            place.is_some_and(|at| at.file == cut.name.file && at.offset == cut.name.offset)
        };
        self.cuts.iter().position(is_here)
    }

    /// Functions that hand calls on: they need the context.
    pub(super) fn callers(&self) -> impl Iterator<Item = FunctionId> {
        self.cuts.iter().map(|cut| cut.caller)
    }

    /// Functions that another stage runs.
    pub(super) fn callees(&self) -> impl Iterator<Item = FunctionId> {
        self.cuts.iter().map(|cut| cut.callee)
    }

    /// The stages before one, a bit for each.
    pub(super) fn before(&self, stage: usize) -> u32 {
        let cuts = self.cuts.iter().filter(|cut| cut.to == stage);
        cuts.fold(0, |all, cut| all | 1 << cut.from)
    }

    fn region(&self, place: Place) -> Option<usize> {
        let is_inside = |one: &&Inside| {
            one.start.file == place.file && (one.start.offset..one.end).contains(&place.offset)
        };
        self.inside.iter().find(is_inside).map(|one| one.stage)
    }

    fn name(&self, stage: usize) -> &str {
        self.all.get(stage).map_or("", |stage| stage.name.as_str())
    }

    fn key_of(&self, stage: usize, of_program: &'static str) -> Vec<String> {
        if stage == 0 {
            return vec![of_program.to_owned()];
        }
        let cuts = self.cuts.iter().filter(|cut| cut.to == stage);
        let keys = cuts.map(|cut| match &cut.key {
            Key::Packet(_, name) => (*name).to_owned(),
            Key::Expression(text) => text.clone(),
            Key::None => "none".to_owned(),
        });
        keys.collect()
    }
}

/// The name of a parameter; functions may leave it out in C23.
fn parameter_name(model: &Model, function: FunctionId, number: usize) -> String {
    let names = &model.function(function).parameter_names;
    match names.get(number).filter(|name| !name.is_empty()) {
        Some(name) => name.clone(),
        None => format!("a{number}"),
    }
}
