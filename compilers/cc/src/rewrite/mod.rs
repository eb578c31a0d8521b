//! The transformation: the same program with its state in a structure for each core.
//!
//! ```text
//!  model ─► decide ─► layout ─► edits (names, parameters, calls, callbacks, ends) ─► files
//!                        │                                                             │
//!                  refusals with file, line and reason                 read again: verify
//! ```
//!
//! Guarantees that a program either comes out whole or is refused: what was written is read once
//! more, and no use of a variable that should be private may be left.

mod calls;
mod context;
mod counted;
mod edits;
mod expand;
mod finders;
mod inactive;
mod initialisers;
mod layout;
pub(crate) mod lex;
mod libraries;
mod marked;
mod output;
mod pragma;
mod second_names;
mod set_once;
mod shown;
mod stages;
mod sums;
mod thread;
mod unit_end;
mod variables;
mod verify;

pub(crate) use counted::reported;
pub(crate) use finders::finders;
pub(crate) use inactive::not_compiled;
pub(crate) use output::unity_rules;
pub use output::{Output, OutputFile};
pub(crate) use pragma::narrow;
pub(crate) use verify::unit_sources;
pub use verify::verify;

use crate::classify::{Closure, Decision, Verdict, decide};
use crate::model::{GlobalId, Model, Texts};
use edits::Edits;
use layout::Layout;
use pragma::Pragmas;
use stages::Stages;

/// How each core gets its own state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// A structure, whose address functions get as their first parameter.
    #[default]
    Context,
    /// `__thread`: few edits, used to check the other.
    Thread,
}

/// How threads exchange packets and calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fifo {
    /// Counters of bytes, shown in runs.
    #[default]
    Flowpin,
    /// Lamport's: counters shown with each element.
    Lamport,
    /// FastForward: no counters, slots that are empty or not.
    FastForward,
}

/// Where the program's memory comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alloc {
    /// The C library.
    #[default]
    Libc,
    /// A pool for each core.
    Pool,
}

/// What the author of a run chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// How each core gets its own state.
    pub backend: Backend,
    /// How threads exchange packets and calls.
    pub fifo: Fifo,
    /// Where memory comes from.
    pub alloc: Alloc,
    /// Whether make is to look for one source of many ([`crate::unite`]).
    pub unity: bool,
}

impl From<Backend> for Choices {
    fn from(backend: Backend) -> Self {
        Self {
            backend,
            ..Self::default()
        }
    }
}

/// Why a program is refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// File and line.
    pub place: String,
    /// What is not safe, and what to do.
    pub what: String,
}

impl Refusal {
    fn new(place: String, what: impl Into<String>) -> Self {
        Self {
            place,
            what: what.into(),
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}

/// What every pass of the transformation reads.
struct Plan<'a> {
    model: &'a Model,
    texts: &'a Texts,
    decisions: Vec<Decision>,
    closure: Closure,
    layout: Layout,
    pragmas: Pragmas,
    stages: Stages,
    backend: Backend,
    choices: Choices,
    warnings: Vec<String>,
}

impl Plan<'_> {
    fn is_private(&self, id: GlobalId) -> bool {
        self.decisions
            .get(id)
            .is_some_and(|decision| decision.verdict == Verdict::Private)
    }
}

/// Transforms a program.
///
/// # Errors
/// Everything that cannot be shown to be safe, each with its place.
pub fn transform(
    model: &Model,
    texts: &Texts,
    choices: impl Into<Choices>,
) -> Result<Output, Vec<Refusal>> {
    let mut choices = choices.into();
    let backend = choices.backend;
    let mut edits = Edits::default();
    names_are_free(model, texts, &mut edits);
    let mut pragmas = Pragmas::read(model, texts, &mut edits.refused);
    if !pragmas.reserved.is_empty() {
        choices.alloc = Alloc::Pool;
    }
    let mut decisions = decide(model);
    pragmas.overrule(model, &mut decisions, &mut edits.refused);
    variables::keep_groups_together(model, &mut decisions);
    let refused = &mut edits.refused;
    let warnings = counted::apply(model, texts, &mut decisions, &mut pragmas, refused);
    let is_private = |id: GlobalId| decisions[id].verdict == Verdict::Private;
    let mut stages = Stages::read(model, texts, pragmas.lines(), &mut edits.refused);
    let question = stages::Question {
        model,
        texts,
        decisions: &decisions,
        reduced: pragmas.reduced(),
        tick: pragmas.ticked(),
        key: pragmas.shared(),
    };
    stages::check(&mut stages, &question, &mut edits.refused);
    // A cut makes its call for the stage that runs it, with the context.
    let mut finders = finders(model, texts);
    stages.callees().for_each(|id| {
        finders.remove(&id);
    });
    let mut closure = Closure::of(model, is_private, stages.callers(), &finders);
    let main = main_function(model);
    match main {
        Some(main) => {
            closure.all.insert(main);
        }
        None => {
            let what = "no main function is among the sources: name all sources of the program";
            edits.refused.push(Refusal::new("sources".into(), what));
        }
    }
    let layout = match backend {
        Backend::Context => Layout::of(model, texts, &decisions, &mut edits.refused),
        Backend::Thread => Layout::default(),
    };
    let plan = Plan {
        model,
        texts,
        decisions,
        closure,
        layout,
        pragmas,
        stages,
        backend,
        choices,
        warnings,
    };
    variables::refuse(&plan, &mut edits);
    second_names::refuse(&plan, &mut edits);
    calls::refuse_other_threads(&plan, &mut edits);
    libraries::edit(&plan, &mut edits);
    match backend {
        Backend::Context => context::edit(&plan, &mut edits),
        Backend::Thread => thread::edit(&plan, &mut edits),
    }
    plan.pragmas.edit(&plan, &mut edits);
    plan.stages.edit(&plan, &mut edits);
    unit_end::edit(&plan, &mut edits);
    let kept = kept_names(&plan);
    expand::settle(&plan, &mut edits, &kept);
    if backend == Backend::Context {
        context::tops(&plan, &mut edits);
    }
    if edits.refused.is_empty() {
        Ok(output::make(&plan, &edits, main))
    } else {
        edits.refused.sort_by(|a, b| a.place.cmp(&b.place));
        edits.refused.dedup();
        Err(edits.refused)
    }
}

fn main_function(model: &Model) -> Option<usize> {
    let is_main = |id: &usize| {
        let function = model.function(*id);
        function.name == "main" && function.body.is_some()
    };
    (0..model.functions.len()).find(is_main)
}

/// A program that has our names is transformed already, or cannot be.
fn names_are_free(model: &Model, texts: &Texts, edits: &mut Edits) {
    for file in 0..model.files.len() {
        let text = texts.of(file);
        let names = lex::identifiers(text);
        let ours = names.iter().find(|(at, name)| {
            (name.starts_with(b"flowpin") || name.starts_with(b"FLOWPIN"))
                && !pragma::is_in_pragma(text, *at)
        });
        if let Some((at, name)) = ours {
            let line = lex::line_of(text, *at);
            let place = format!("{}:{line}", model.path(file));
            let name = String::from_utf8_lossy(name);
            let what = format!(
                "`{name}`: names that begin with flowpin are the compiler's; is this its output?"
            );
            edits.refused.push(Refusal::new(place, what));
        }
    }
}

/// Names in macros' bodies that mean something else in some use, and must stay there.
fn kept_names(plan: &Plan<'_>) -> std::collections::HashSet<(usize, usize)> {
    let model = plan.model;
    let references = model.references.iter().filter(|one| {
        let stays = !plan.is_private(one.global) || one.initialises.is_some();
        stays && one.site.is_in_macro()
    });
    let calls = model.calls.iter().filter(|call| {
        let is_ours = plan.closure.all.contains(&call.callee);
        let is_library = model.function(call.callee).body.is_none();
        !is_ours && !is_library && call.name.is_in_macro()
    });
    let sites = references
        .map(|one| one.site)
        .chain(calls.map(|call| call.name));
    // A declaration's name stays what it is.
    let declared = model.globals.iter().flat_map(|one| &one.declarations);
    let declared = declared
        .filter(|one| one.is_in_macro)
        .filter_map(|one| one.name);
    let places = sites.filter_map(|site| site.spelled).chain(declared);
    let places = places.map(|place| (place.file, place.offset));
    places.chain(model.other_names.iter().copied()).collect()
}
