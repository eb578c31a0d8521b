//! One source of many: the transformed sources are compiled as one, so that the compiler can put
//! functions of one file into those of another without link-time optimisation.
//!
//! ```text
//!  each source alone ─► print ─┐
//!  all sources as one ─► print ┴─ the same? ─► flowpin_unity.c
//!        ▲                            │ no
//!        └── without that source ◄────┘
//! ```
//!
//! Guarantees that each definition in the one source says what it said alone (`print`); a source
//! of which that is not so stays apart, with the reason.

mod print;

use crate::clang::{Library, LibraryError};
use crate::model::Model;
use crate::program::SourceUnit;
use crate::rewrite::lex::identifiers;
use crate::rewrite::{OutputFile, unit_sources, unity_rules};
use print::{PREFIX, Print, print};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The sources that are compiled as one.
#[derive(Clone, Debug, Default)]
pub struct Unity {
    /// What is to be written below the output's folder; nothing if fewer than two go together.
    pub files: Vec<OutputFile>,
    /// How many sources it holds.
    pub together: usize,
    /// Sources that stay apart, and why.
    pub apart: Vec<(String, String)>,
}

/// Tries which sources of the output below `folder` can be one.
///
/// # Errors
/// No usable libclang.
pub fn unite(model: &Model, folder: &Path) -> Result<Unity, LibraryError> {
    let library = Library::load()?;
    let sources = unit_sources(model, folder, &[]);
    let mut trial = Trial {
        library: &library,
        model,
        folder,
        sources: &sources,
        prints: HashMap::new(),
        renames: HashMap::new(),
        apart: Vec::new(),
    };
    let mut all = trial.candidates();
    while all.len() > 1 && trial.apart.len() <= APART_MAX {
        match trial.odd_one(&all) {
            Some((number, why)) => {
                all.retain(|one| *one != number);
                trial.leave(number, why);
            }
            None => break,
        }
    }
    if trial.apart.len() > APART_MAX {
        let what = format!("more than {APART_MAX} sources do not go together with the others");
        all.drain(..).for_each(|one| trial.leave(one, what.clone()));
    }
    let mut unity = Unity::default();
    if all.len() > 1 {
        unity.together = all.len();
        unity.files = trial.files(&all);
    }
    unity.apart = trial.apart;
    let trial_file = folder.join(SOURCE);
    if unity.files.is_empty() && trial_file.is_file() {
        // What was tried last is no part of the output.
        let _ = fs::remove_file(trial_file);
    }
    Ok(unity)
}

/// After this many, it is not tried further: each takes a reading of all sources.
const APART_MAX: usize = 64;
/// With more sources, pairs are not tried.
const PAIRS_MAX: usize = 40;
/// The one source, beside the program's folders, so that `__FILE__` is the same.
const SOURCE: &str = "flowpin_unity.c";
/// What make reads.
const RULES: &str = "flowpin_unity.mk";

struct Trial<'a> {
    library: &'a Library,
    model: &'a Model,
    folder: &'a Path,
    sources: &'a [SourceUnit],
    /// Of each source alone.
    prints: HashMap<usize, Print>,
    /// Names that are changed in a source: there, and everywhere.
    renames: HashMap<usize, Vec<(String, String)>>,
    apart: Vec<(String, String)>,
}

impl Trial<'_> {
    fn name(&self, number: usize) -> String {
        let file = &self.sources[number].file;
        let below = file.strip_prefix(self.folder).unwrap_or(file);
        below.display().to_string()
    }

    fn leave(&mut self, number: usize, why: String) {
        let name = self.name(number);
        self.apart.push((name, why));
    }

    /// Sources that have the flags that most have, and nothing that reaches into others.
    fn candidates(&mut self) -> Vec<usize> {
        let flags = |number: usize| &self.sources[number].flags;
        let all = 0..self.sources.len();
        let same = |one: usize| all.clone().filter(|it| flags(*it) == flags(one)).count();
        let most = all.clone().max_by_key(|one| (same(*one), usize::MAX - one));
        let usual = most.map(|one| flags(one).clone()).unwrap_or_default();
        let mut found = Vec::new();
        for number in 0..self.sources.len() {
            if self.sources[number].flags != usual {
                self.leave(number, "it has other flags".to_owned());
            } else if let Some(what) = self.reaches_on(number) {
                self.leave(number, what);
            } else {
                match print(
                    self.library,
                    &self.sources[number],
                    self.folder,
                    &HashMap::new(),
                ) {
                    Ok(print) => {
                        self.prints.insert(number, print);
                        found.push(number);
                    }
                    Err((_, what)) => self.leave(number, what),
                }
            }
        }
        self.rename(&found);
        found
    }

    fn reaches_on(&self, number: usize) -> Option<String> {
        let model = self.model;
        let files = &model.units.get(number)?.files;
        files.iter().find_map(|file| {
            let path = model.path(*file);
            let text = fs::read(self.folder.join(&path)).unwrap_or_default();
            let text_of_lines = String::from_utf8_lossy(&text);
            if text_of_lines.lines().any(has_pragma) {
                let what = "has a #pragma, which would reach into what follows";
                return Some(format!("{path} {what}"));
            }
            // What is named in a string is not seen to be another thing beside others.
            let words = identifiers(&text);
            let named = words.iter().find(|(_, word)| NAMING.contains(word))?;
            let word = String::from_utf8_lossy(named.1);
            Some(format!("{path} names something in a string (`{word}`)"))
        })
    }

    /// What two sources declare, each for itself, gets a name of its own in both.
    fn rename(&mut self, all: &[usize]) {
        let mut users: HashMap<&str, HashSet<usize>> = HashMap::new();
        for number in all {
            let print = &self.prints[number];
            for name in print.own.iter().chain(&print.given) {
                users.entry(name).or_default().insert(*number);
            }
        }
        let mut renames = HashMap::new();
        for number in all {
            let mut own: Vec<&String> = self.prints[number].own.iter().collect();
            own.sort();
            own.dedup();
            own.retain(|name| users.get(name.as_str()).is_some_and(|all| all.len() > 1));
            let new = |name: &String| (name.clone(), format!("{PREFIX}{number}_{name}"));
            renames.insert(*number, own.into_iter().map(new).collect());
        }
        self.renames = renames;
    }

    /// The source that does not go together with the others, and why; none if all do.
    fn odd_one(&self, all: &[usize]) -> Option<(usize, String)> {
        let united = match self.read(all) {
            Ok(print) => print,
            Err((file, what)) => {
                let is_it = |one: &&usize| self.sources[**one].file == file;
                let number = all.iter().find(is_it).copied();
                let number = number.unwrap_or_else(|| self.first_broken(all));
                return Some((self.to_blame(number, all), what));
            }
        };
        all.iter().find_map(|number| {
            let alone = &self.prints[number].definitions;
            let other = alone
                .iter()
                .find(|(at, what)| united.definitions.get(*at) != Some(*what));
            let (_, (name, _)) = other?;
            let what = format!("`{name}` would mean something else there");
            Some((*number, what))
        })
    }

    /// Of sources that do not go together, the one that goes with the fewest others: one wrong
    /// declaration would otherwise drive out all sources that have the right one.
    fn to_blame(&self, number: usize, all: &[usize]) -> usize {
        if all.len() > PAIRS_MAX {
            return number;
        }
        let against = |one: usize| -> Vec<usize> {
            let others = all.iter().copied().filter(|it| *it != one);
            let breaks = |it: &usize| self.read(&[one.min(*it), one.max(*it)]).is_err();
            others.filter(breaks).collect()
        };
        let odd = against(number);
        let mut most = (odd.len(), number);
        for other in odd {
            let count = against(other).len();
            if count > most.0 {
                most = (count, other);
            }
        }
        most.1
    }

    /// The last of the fewest sources, from the first on, that do not compile as one.
    fn first_broken(&self, all: &[usize]) -> usize {
        let (mut good, mut bad) = (0, all.len());
        while bad - good > 1 {
            let middle = good.midpoint(bad);
            match self.read(&all[..middle]) {
                Ok(_) => good = middle,
                Err(_) => bad = middle,
            }
        }
        all[bad - 1]
    }

    fn read(&self, all: &[usize]) -> Result<Print, print::Broken> {
        let file = self.folder.join(SOURCE);
        let failed = |what: std::io::Error| (file.clone(), what.to_string());
        fs::write(&file, self.text(all)).map_err(failed)?;
        let back = self.renames.values().flatten();
        let back = back.map(|(name, new)| (new.clone(), name.clone()));
        let unit = SourceUnit {
            file: file.clone(),
            ..self.sources[all[0]].clone()
        };
        print(self.library, &unit, self.folder, &back.collect())
    }

    fn text(&self, all: &[usize]) -> String {
        let mut out = String::from(
            "/* Made by `flowpin cc`: sources that are compiled as one. Names that two of them\n\
             \x20* have are told apart; macros of a source end with it. */\n",
        );
        for number in all {
            out.push('\n');
            let mut macros = self.prints[number].macros.clone();
            macros.sort();
            macros.dedup();
            // A header that was read before may have them, too.
            for name in &macros {
                let _ = writeln!(out, "#undef {name}");
            }
            let renames = self.renames.get(number).into_iter().flatten();
            for (name, new) in renames.clone() {
                let _ = writeln!(out, "#define {name} {new}");
            }
            let _ = writeln!(out, "#include \"{}\"", self.name(*number));
            for name in renames.map(|(name, _)| name).chain(&macros) {
                let _ = writeln!(out, "#undef {name}");
            }
        }
        out
    }

    fn files(&self, all: &[usize]) -> Vec<OutputFile> {
        let names: Vec<String> = all.iter().map(|one| self.name(*one)).collect();
        let rules = unity_rules(self.model, all[0], SOURCE, &names);
        let file = |path: &str, text: String| OutputFile {
            path: path.into(),
            text: text.into_bytes(),
            is_source: false,
        };
        vec![file(SOURCE, self.text(all)), file(RULES, rules)]
    }
}

/// Words behind which strings name functions or variables.
const NAMING: [&[u8]; 9] = [
    b"alias",
    b"__alias__",
    b"weakref",
    b"__weakref__",
    b"ifunc",
    b"__ifunc__",
    b"asm",
    b"__asm",
    b"__asm__",
];

/// Whether a line says something to the compiler that lasts; `once` and comments of ours do not.
fn has_pragma(line: &str) -> bool {
    let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
    let said = directive.and_then(|rest| rest.strip_prefix("pragma"));
    let lasts = said.is_some_and(|words| words.trim() != "once");
    lasts || line.contains("_Pragma")
}

#[cfg(test)]
mod tests {
    use super::has_pragma;

    /// A pragma of one source must not reach the next one.
    #[test]
    fn pragmas_that_last_are_seen() {
        for line in [
            "#pragma pack(1)",
            " # pragma GCC optimize(\"O0\")",
            "_Pragma(\"pack(1)\")",
        ] {
            assert!(has_pragma(line), "{line}");
        }
        for line in [
            "#pragma once",
            "/* flowpin: shared a */",
            "int pragma;",
            "#define a",
        ] {
            assert!(!has_pragma(line), "{line}");
        }
    }
}
