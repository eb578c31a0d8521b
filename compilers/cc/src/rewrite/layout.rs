//! Where private variables go: structures of a unit's statics, and where in the text those stand.

use super::Refusal;
use crate::classify::{Decision, Verdict};
use crate::model::{FunctionId, Global, GlobalId, Model, Place, Scope, Texts};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The structures.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) structures: Vec<Structure>,
    /// External variables: each has its own bytes, because their types are not known everywhere.
    pub(super) externals: Vec<GlobalId>,
    /// How the program's text names a private variable.
    pub(super) accessors: HashMap<GlobalId, String>,
    /// What a variable's field is called, or its bytes.
    pub(super) fields: HashMap<GlobalId, String>,
    /// A short name for each unit, unique.
    pub(super) tags: Vec<String>,
}

/// One structure of statics.
#[derive(Debug)]
pub(super) struct Structure {
    pub(super) unit: usize,
    pub(super) name: String,
    /// It stands before the function that begins here.
    pub(super) place: Place,
    pub(super) members: Vec<GlobalId>,
    pub(super) size: u64,
}

impl Layout {
    pub(super) fn of(
        model: &Model,
        texts: &Texts,
        decisions: &[Decision],
        refused: &mut Vec<Refusal>,
    ) -> Self {
        let mut layout = Self {
            tags: tags(model),
            ..Self::default()
        };
        let private: Vec<GlobalId> = (0..model.globals.len())
            .filter(|id| decisions[*id].verdict == Verdict::Private)
            .collect();
        for id in &private {
            if model.global(*id).scope == Scope::External {
                layout.externals.push(*id);
                let name = model.global(*id).name.clone();
                layout.accessors.insert(*id, format!("flowpin_own({name})"));
                layout.fields.insert(*id, name);
            }
        }
        for unit in 0..model.units.len() {
            let statics = private.iter().copied().filter(|id| {
                let global = model.global(*id);
                global.scope != Scope::External && global.unit == unit
            });
            layout.place_unit(model, texts, unit, statics.collect(), refused);
        }
        layout
    }

    /// Structures of one unit: before the first function that uses a variable, with all variables
    /// that are declared until there.
    fn place_unit(
        &mut self,
        model: &Model,
        texts: &Texts,
        unit: usize,
        mut waiting: Vec<GlobalId>,
        refused: &mut Vec<Refusal>,
    ) {
        let file = model.units[unit].file;
        let users = users(model, &waiting);
        for id in &waiting {
            let elsewhere = users.get(id).into_iter().flatten().find(|function| {
                let body = model.function(**function).body;
                body.is_none_or(|body| body.start.file != file)
            });
            if let Some(function) = elsewhere {
                let what = format!(
                    "`{}` is a static variable that the function {} of another file uses; move \
                     the function into {}",
                    model.global(*id).name,
                    model.function(*function).name,
                    model.path(file)
                );
                let at = model.at(model.global(*id).place);
                refused.push(Refusal::new(at, what));
                return;
            }
        }
        let mut functions: BTreeMap<(Place, usize), HashSet<GlobalId>> = BTreeMap::new();
        for id in &waiting {
            for function in users.get(id).into_iter().flatten() {
                let function = model.function(*function);
                if let Some(body) = function.body {
                    let key = (body.start, function.number);
                    functions.entry(key).or_default().insert(*id);
                }
            }
        }
        for ((place, number), used) in functions {
            if !waiting.iter().any(|id| used.contains(id)) {
                continue;
            }
            let (members, later): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|id| used.contains(id) || is_known_at(model, *id, number));
            waiting = later;
            self.structure(model, texts, unit, place, members);
        }
        // Used in initialisers only.
        if let (false, Some(last)) = (waiting.is_empty(), last_function(model, unit)) {
            self.structure(model, texts, unit, last, waiting);
        }
    }

    fn structure(
        &mut self,
        model: &Model,
        texts: &Texts,
        unit: usize,
        place: Place,
        members: Vec<GlobalId>,
    ) {
        let count = self
            .structures
            .iter()
            .filter(|one| one.unit == unit)
            .count();
        let tag = &self.tags[unit];
        let name = match count {
            0 => format!("{tag}_thread_local"),
            more => format!("{tag}_thread_local_{}", more + 1),
        };
        let mut size = 0_u64;
        for id in &members {
            let global = model.global(*id);
            let field = match global.scope {
                Scope::Local(function) => {
                    format!("{}__{}", model.function(function).name, global.name)
                }
                _ => global.name.clone(),
            };
            // A function may have a static of one name in each of its blocks.
            let is_taken = |field: &String| {
                let mut before = members.iter().filter_map(|id| self.fields.get(id));
                before.any(|one| one == field)
            };
            let mut names = std::iter::once(field.clone())
                .chain((2..).map(|number| format!("{field}_{number}")));
            let field = names.find(|name| !is_taken(name)).unwrap_or(field.clone());
            let align = alignment(global);
            size = size.next_multiple_of(align) + global.ty.size;
            self.accessors.insert(*id, format!("{name}_p->{field}"));
            self.fields.insert(*id, field);
        }
        let at = start_of_line(texts.of(place.file), place);
        self.structures.push(Structure {
            unit,
            name,
            place: at,
            members,
            size: size.next_multiple_of(64),
        });
    }
}

/// How a variable is aligned in a structure: as its type, or as an attribute says. One that is more
/// than a number counts as the most that there is.
pub(super) fn alignment(global: &Global) -> u64 {
    let said = global
        .attributes
        .iter()
        .filter(|text| text.contains("lign"));
    let said = said.map(|text| {
        let digits = |c: char| !c.is_ascii_digit();
        let mut numbers = text.split(digits).filter_map(|it| it.parse().ok());
        match (numbers.next(), numbers.next()) {
            (Some(number), None) => number,
            _ => ALIGNMENT_MAX,
        }
    });
    said.chain([global.ty.align.max(1)]).max().unwrap_or(1)
}

/// A core's structures begin at multiples of this.
pub(super) const ALIGNMENT_MAX: u64 = 64;

/// A definition may begin after its return type's line; its comment stays with it.
fn start_of_line(text: &[u8], place: Place) -> Place {
    let before = text.get(..place.offset).unwrap_or_default();
    let blank = |byte: &&u8| **byte == b' ' || **byte == b'\t';
    let indent = before.iter().rev().take_while(blank).count();
    Place {
        offset: place.offset - indent,
        ..place
    }
}

/// Whether a variable's type is known where the function with this number begins.
fn is_known_at(model: &Model, id: GlobalId, number: usize) -> bool {
    let global = model.global(id);
    match global.scope {
        Scope::Local(_) => is_builtin(&global.ty.canonical),
        _ => global.number < number,
    }
}

/// Whether a type needs no declaration.
fn is_builtin(canonical: &str) -> bool {
    !["struct ", "union ", "enum ", "("]
        .iter()
        .any(|part| canonical.contains(part))
}

/// Functions that use each variable.
fn users(model: &Model, globals: &[GlobalId]) -> HashMap<GlobalId, Vec<FunctionId>> {
    let wanted: HashSet<_> = globals.iter().copied().collect();
    let mut users: HashMap<GlobalId, Vec<FunctionId>> = HashMap::new();
    for one in &model.references {
        if wanted.contains(&one.global) && model.needs_state(one) {
            users.entry(one.global).or_default().extend(one.inside);
        }
    }
    users
}

fn last_function(model: &Model, unit: usize) -> Option<Place> {
    let file = model.units[unit].file;
    let bodies = model.functions.iter().filter_map(|one| one.body);
    bodies
        .map(|body| body.start)
        .filter(|start| start.file == file)
        .max()
}

/// File names without ending, as identifiers; numbered if two are the same.
fn tags(model: &Model) -> Vec<String> {
    let mut tags: Vec<String> = Vec::new();
    for unit in &model.units {
        let path = std::path::PathBuf::from(model.path(unit.file));
        let stem = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        let as_word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut tag: String = stem.unwrap_or_default().chars().map(as_word).collect();
        if tag.starts_with(|c: char| c.is_ascii_digit()) {
            tag.insert(0, '_');
        }
        let same = tags.iter().filter(|one| **one == tag).count();
        if same > 0 {
            tag = format!("{tag}_{}", tags.len());
        }
        tags.push(tag);
    }
    tags
}
