//! `#pragma flowpin` lines: what the compiler cannot know, said by the program's author.
//!
//! Other compilers ignore them, so that the annotated program stays the sequential one.

use super::edits::{Edits, Slot};
use super::marked::{Reserved, entry, is_opened, reserved};
use super::sums::{self, Sum};
use super::{Backend, Plan, Refusal, lex};
use crate::classify::{Decision, Order, Verdict, begins_at_0, running, set_once};
use crate::model::{
    Access, FileId, Function, FunctionId, GlobalId, Model, Place, PointerCall, Scope, Texts,
};
use std::fmt::Write;

/// All lines of a program.
#[derive(Debug, Default)]
pub(super) struct Pragmas {
    shared: Vec<(GlobalId, Place, bool)>,
    private: Vec<GlobalId>,
    sums: Vec<Sum>,
    once: Vec<Place>,
    /// Where each line's words begin, how long they are, and the words.
    lines: Vec<(Place, usize, String)>,
    /// The function, and how often in µs.
    tick: Option<(FunctionId, u64)>,
    /// `FLOWPIN_IP_PAIR` or `FLOWPIN_FOUR_TUPLE`.
    pub(super) key: Option<&'static str>,
    /// How many cores, unless the run says it.
    pub(super) ways: Option<u32>,
    /// Variables whose files each core keeps.
    pub(super) percore: Vec<GlobalId>,
    /// Memory that each core takes when it starts.
    pub(super) reserved: Vec<Reserved>,
}

/// How the cores' values of a variable become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Sum,
    Or,
    And,
    Least,
    Most,
}

impl Pragmas {
    pub(super) fn read(model: &Model, texts: &Texts, refused: &mut Vec<Refusal>) -> Self {
        let mut pragmas = Self::default();
        for file in 0..model.files.len() {
            for (place, len, words) in lines(texts.of(file), file) {
                pragmas.lines.push((place, len, words.clone()));
                if let Err(what) = pragmas.line(model, texts, place, &words) {
                    let what = format!("#pragma flowpin {words}: {what}");
                    refused.push(Refusal::new(model.at(place), what));
                }
            }
        }
        pragmas
    }

    fn line(
        &mut self,
        model: &Model,
        texts: &Texts,
        place: Place,
        words: &str,
    ) -> Result<(), String> {
        let name_end = words
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(words.len());
        let (verb, rest) = words.split_at(name_end);
        let rest = rest.trim();
        match verb {
            "shared" => {
                let names = rest.strip_suffix("unchecked");
                for name in list(names.unwrap_or(rest)) {
                    self.shared
                        .push((global(model, place.file, name)?, place, names.is_some()));
                }
            }
            "entry" => entry(model, texts, after_line(texts, place), rest)?,
            "pool" => self.reserved.push(reserved(model, place, rest)?),
            "percore" => {
                for name in list(rest) {
                    let id = global(model, place.file, name)?;
                    is_opened(model, id)?;
                    self.percore.push(id);
                    self.private.push(id);
                }
            }
            // Those of the packet that a core works on are its own; `Stages` forwards them.
            "private" | "perpacket" => {
                for name in list(rest) {
                    self.private.push(global(model, place.file, name)?);
                }
            }
            "reduce" => {
                let inside = in_parentheses(rest)?;
                let (operation, names) = inside.split_once(':').ok_or("write (+: NAME, …)")?;
                let operation = operation_of(operation.trim())?;
                for text in list(names) {
                    let (name, path) = sums::split(text);
                    let id = global(model, place.file, name)?;
                    can_be_reduced(model, texts, id, operation)?;
                    if !sums::has_field(model, id, path) {
                        return Err(format!("`{name}` has no whole number `{path}`"));
                    }
                    self.sums.push(Sum {
                        global: id,
                        path: path.to_owned(),
                        operation,
                    });
                }
            }
            // `push_scanner`, `cut` and `Stages` read these.
            "perflow" | "targets" | "stage" | "cut" | "in" | "keyed" => {}
            "once" if rest.is_empty() => self.once.push(after_line(texts, place)),
            "tick" => {
                let period = match rest.strip_prefix("period") {
                    Some(text) => microseconds(in_parentheses(text.trim())?)?,
                    None if rest.is_empty() => 1_000_000,
                    None => return Err("write `tick period(1s)`".to_owned()),
                };
                if self.tick.is_some() {
                    return Err("one tick is all that there is".to_owned());
                }
                self.tick = Some((ticked(model, place)?, period));
            }
            "key" => {
                self.key = Some(match in_parentheses(rest)? {
                    "ip_pair" => "FLOWPIN_IP_PAIR",
                    "four_tuple" => "FLOWPIN_FOUR_TUPLE",
                    "source" => "FLOWPIN_SOURCE",
                    _ => return Err("the keys are ip_pair, four_tuple and source".to_owned()),
                });
            }
            "ways" => {
                let count = in_parentheses(rest)?.parse().ok();
                let count = count.filter(|count| (1..=256).contains(count));
                self.ways = Some(count.ok_or("write a number from 1 to 256")?);
            }
            _ => {
                return Err(
                    "the words are shared, private, perpacket, percore, reduce, once, entry, tick, \
                     key, ways, pool, stage, cut, in, keyed, targets and perflow"
                        .into(),
                );
            }
        }
        Ok(())
    }

    /// What the lines say about variables.
    pub(super) fn overrule(
        &self,
        model: &Model,
        decisions: &mut [Decision],
        refused: &mut Vec<Refusal>,
    ) {
        let set = |decisions: &mut [Decision], id: GlobalId, verdict, why: &str| {
            decisions[id] = Decision {
                verdict,
                why: why.to_owned(),
            };
        };
        for id in &self.private {
            set(decisions, *id, Verdict::Private, "private by a pragma");
        }
        for (id, path) in sums::left_out(model, &self.sums) {
            let global = model.global(id);
            let what = format!(
                "`{}{path}` is reduced by no line, though other fields are: say what becomes of it",
                global.name
            );
            refused.push(Refusal::new(model.at(global.place), what));
        }
        for id in sums::ids(&self.sums) {
            set(
                decisions,
                id,
                Verdict::Private,
                "private, and reduced at the end",
            );
        }
        if let (Some(sum), true) = (self.sums.first(), self.once.is_empty()) {
            let global = model.global(sum.global);
            let what = format!(
                "`{}` is reduced, but no `#pragma flowpin once` says where the result is used",
                global.name
            );
            refused.push(Refusal::new(model.at(global.place), what));
        }
        for (id, place, is_unchecked) in &self.shared {
            match obstacle_to_sharing(model, *id).filter(|_| !is_unchecked) {
                Some(what) => refused.push(Refusal::new(model.at(*place), what)),
                // The run-time compares what cores set.
                None if decisions[*id].verdict == Verdict::SetOnce && !is_unchecked => {}
                None => set(decisions, *id, Verdict::Shared, "shared by a pragma"),
            }
        }
    }

    /// What packets of one core have in common, as `flowpin cc` names it.
    pub(super) fn shared(&self) -> &'static str {
        match self.key {
            Some("FLOWPIN_FOUR_TUPLE") => "four_tuple",
            Some("FLOWPIN_SOURCE") => "source",
            _ => "ip_pair",
        }
    }

    /// Whether a line says what becomes of a variable.
    pub(super) fn says_of(&self, id: GlobalId) -> bool {
        let mut sums = self.sums.iter().map(|one| one.global);
        let mut shared = self.shared.iter().map(|(id, _, _)| *id);
        self.private.contains(&id) || sums.any(|one| one == id) || shared.any(|one| one == id)
    }

    /// A sum that no line asks for, and the statements that are run once because of it.
    pub(super) fn sum(&mut self, id: GlobalId, statements: &[Place]) {
        self.sums.push(Sum {
            global: id,
            path: String::new(),
            operation: Operation::Sum,
        });
        for place in statements {
            let is_same = |one: &Place| one.file == place.file && one.offset == place.offset;
            if !self.once.iter().any(is_same) {
                self.once.push(*place);
            }
        }
    }

    /// Conditions of statements that run once.
    pub(super) fn edit(&self, plan: &Plan<'_>, edits: &mut Edits) {
        // Compilers warn of pragmas that they do not know.
        for (place, len, words) in &self.lines {
            let comment = format!("/* flowpin: {words} */");
            edits.replace(plan.model, *place, *len, &comment);
        }
        for place in &self.once {
            let condition = "if (flowpin_once()) ";
            edits.insert(plan.model, *place, Slot::Condition, condition);
        }
    }

    /// Whether a unit has variables that are reduced.
    pub(super) fn has_sums(&self, model: &Model, unit: usize) -> bool {
        self.sums
            .iter()
            .any(|one| model.global(one.global).unit == unit)
    }

    /// Lines as they are written: where, how long, and the words.
    pub(super) fn lines(&self) -> &[(Place, usize, String)] {
        &self.lines
    }

    /// Variables that are reduced at the end.
    pub(super) fn reduced(&self) -> Vec<GlobalId> {
        sums::ids(&self.sums)
    }

    /// The function that time is passed to.
    pub(super) fn ticked(&self) -> Option<FunctionId> {
        self.tick.map(|(function, _)| function)
    }

    /// How often time is passed.
    pub(super) fn tick(&self) -> Option<u64> {
        self.tick.map(|(_, period)| period)
    }

    /// What a unit's end has because of pragmas.
    pub(super) fn unit_end(&self, plan: &Plan<'_>, unit: usize) -> String {
        let mut out = super::marked::unit_end(plan, unit);
        if self.has_sums(plan.model, unit) {
            sums::reductions(plan, &self.sums, unit, &mut out);
        }
        if let Some((function, _)) = self
            .tick
            .filter(|(id, _)| plan.model.function(*id).unit == unit)
        {
            let takes_context =
                plan.backend == Backend::Context && plan.closure.all.contains(&function);
            let context = if takes_context { "flowpin, " } else { "" };
            let name = &plan.model.function(function).name;
            let _ = write!(
                out,
                "/* Packet time has passed. */\n\
                 void flowpin_tick(struct flowpin_core *flowpin, struct timeval *now) {{\n\
                 \x20 (void)flowpin;\n  {name}({context}now);\n}}\n\n"
            );
        }
        out
    }
}

/// `targets(a, b)` before a call through a pointer: it calls no others.
pub(crate) fn narrow(
    model: &Model,
    texts: &Texts,
    calls: &mut [PointerCall],
) -> Result<(), String> {
    for file in 0..model.files.len() {
        for (place, _, words) in lines(texts.of(file), file) {
            let Some(rest) = words.strip_prefix("targets") else {
                continue;
            };
            let inside =
                in_parentheses(rest.trim()).map_err(|what| model.at(place) + ": " + &what)?;
            let mut allowed = Vec::new();
            for name in list(inside) {
                let named = |one: &Function| one.name == name && one.body.is_some();
                let id = model.functions.iter().position(named);
                allowed.push(id.ok_or_else(|| {
                    format!("{}: there is no function `{name}`", model.at(place))
                })?);
            }
            let follows = |call: &&mut PointerCall| {
                call.place.file == file && call.place.offset > place.offset
            };
            let calls = calls.iter_mut().filter(follows);
            if let Some(call) = calls.min_by_key(|call| call.place.offset) {
                call.targets = allowed;
            }
        }
    }
    Ok(())
}

/// Pragma lines of a text: where each begins, how long it is without a comment, its words.
fn lines(text: &[u8], file: FileId) -> Vec<(Place, usize, String)> {
    let mut found = Vec::new();
    let mut offset = 0;
    for (line, number) in text.split_inclusive(|byte| *byte == b'\n').zip(1..) {
        if let Some(words) = pragma_words(line) {
            let comment = line
                .windows(2)
                .position(|pair| pair == b"/*" || pair == b"//");
            let len = line.get(..comment.unwrap_or(line.len())).unwrap_or(line);
            let place = Place {
                file,
                offset,
                line: number,
            };
            found.push((place, len.trim_ascii_end().len(), words));
        }
        offset += line.len();
    }
    found
}

fn pragma_words(line: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(line);
    let rest = line.trim().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("pragma")?.trim_start();
    let rest = rest.strip_prefix("flowpin")?;
    let rest = rest.split("/*").next()?.split("//").next()?;
    rest.starts_with([' ', '\t'])
        .then(|| rest.trim().to_owned())
}

/// Whether a byte is on such a line.
pub(super) fn is_in_pragma(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let start = before
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    let rest = text.get(start..).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    pragma_words(line).is_some()
}

/// The first byte of what follows a line.
pub(super) fn after_line(texts: &Texts, place: Place) -> Place {
    let text = texts.of(place.file);
    let rest = text.get(place.offset..).unwrap_or_default();
    let len = rest
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap_or(rest.len());
    let offset = lex::skip_blank(text, place.offset + len);
    Place { offset, ..place }
}

pub(super) fn list(names: &str) -> impl Iterator<Item = &str> {
    names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
}

pub(super) fn in_parentheses(text: &str) -> Result<&str, String> {
    let inside = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    inside
        .map(str::trim)
        .ok_or_else(|| "parentheses are missing".to_owned())
}

fn operation_of(word: &str) -> Result<Operation, String> {
    Ok(match word {
        "+" => Operation::Sum,
        "|" => Operation::Or,
        "&" => Operation::And,
        "min" => Operation::Least,
        "max" => Operation::Most,
        _ => return Err("the operations are +, |, &, min and max".to_owned()),
    })
}

fn microseconds(text: &str) -> Result<u64, String> {
    let units = [("ms", 1000), ("us", 1), ("s", 1_000_000)];
    let found = units.iter().find_map(|(unit, factor)| {
        let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_mul(*factor).filter(|period| *period > 0)
    });
    found.ok_or_else(|| "write a time such as 1s or 100ms".to_owned())
}

/// The variable that a name means in a file: its own, an external one, or another file's that has
/// the name alone.
pub(super) fn global(model: &Model, file: FileId, name: &str) -> Result<GlobalId, String> {
    let named = (0..model.globals.len()).filter(|id| model.global(*id).name == name);
    let named: Vec<GlobalId> = named.collect();
    let is_seen = |id: &GlobalId| {
        let global = model.global(*id);
        global.scope == Scope::External || global.place.file == file
    };
    let mut found: Vec<GlobalId> = named.iter().copied().filter(is_seen).collect();
    if let (true, [only]) = (found.is_empty(), named.as_slice()) {
        found.push(*only);
    }
    found.sort_by_key(|id| model.global(*id).scope == Scope::External);
    let is_one = match found.as_slice() {
        [_] => true,
        [first, second, ..] => model.global(*first).scope != model.global(*second).scope,
        [] => false,
    };
    match (found.first(), is_one) {
        (Some(id), true) => Ok(*id),
        (Some(_), false) => Err(format!("`{name}` is the name of several variables here")),
        (None, _) => Err(format!("there is no variable `{name}` here")),
    }
}

fn can_be_reduced(
    model: &Model,
    texts: &Texts,
    id: GlobalId,
    operation: Operation,
) -> Result<(), String> {
    let global = model.global(id);
    if !is_number(&global.ty.canonical) && global.ty.leaves.is_empty() {
        return Err(format!(
            "`{}` is no number, nor a record of whole numbers",
            global.name
        ));
    }
    if operation == Operation::Sum && !begins_at_0(texts, global) {
        let name = &global.name;
        return Err(format!(
            "`{name}` does not begin at 0, so that each core would add its start"
        ));
    }
    if matches!(global.scope, Scope::Local(_)) {
        return Err(format!(
            "`{}` is a function's: move it to file scope",
            global.name
        ));
    }
    Ok(())
}

pub(super) fn is_number(canonical: &str) -> bool {
    !canonical.contains(['*', '[', '('])
        && !["struct", "union"].iter().any(|w| canonical.contains(w))
}

/// Why a variable cannot be one for all cores.
fn obstacle_to_sharing(model: &Model, id: GlobalId) -> Option<String> {
    let global = model.global(id);
    let uses = || model.references.iter().filter(|one| one.global == id);
    if global.ty.canonical.contains('*') {
        return Some(format!(
            "`{}` cannot be shown to be safe for all cores: what it points to may change; if it \
             does not, write `unchecked` at the line's end",
            global.name
        ));
    }
    let running = running(model);
    let written = uses().find(|one| {
        let is_running = one.inside.is_some_and(|inside| running.contains(&inside));
        one.access != Access::Unevaluated && one.access.may_write() && is_running
    });
    let is_set = uses().any(|one| one.access.may_write());
    if let (None, true, Err(why)) = (written, is_set, set_once(model, &Order::of(model), id)) {
        return Some(format!(
            "`{}` cannot be shown to be the same for all cores: {why}; if it is, write `unchecked` \
             at the line's end",
            global.name
        ));
    }
    written.map(|one| {
        let function = one
            .inside
            .map_or("", |inside| model.function(inside).name.as_str());
        format!(
            "`{}` cannot be one for all cores: {function} writes it while packets come, at {}",
            global.name,
            model.at(one.site.expanded)
        )
    })
}

/// The function whose definition follows a line.
fn ticked(model: &Model, place: Place) -> Result<FunctionId, String> {
    let after = model
        .functions
        .iter()
        .enumerate()
        .filter_map(|(id, function)| {
            let start = function.body?.start;
            (start.file == place.file && start.offset > place.offset).then_some((start.offset, id))
        });
    let (_, id) = after.min().ok_or("no function follows")?;
    let function = model.function(id);
    match function.parameters.as_slice() {
        [one] if one == "struct timeval *" || one == "const struct timeval *" => Ok(id),
        _ => Err(format!(
            "`{}` is to take a struct timeval * alone",
            function.name
        )),
    }
}
