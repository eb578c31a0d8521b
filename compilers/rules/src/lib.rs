//! Reads signature rules: Suricata's language, and the forms of Snort 2 and 3.
//!
//! ```text
//!  files ─► text ─► option ─► header, keyword ─► Builder ─► Rule      one rule after another
//!           lines   names,    addresses, what   buffers,
//!           joined  values    each one says     terms
//! ```
//!
//! Owns how rules are written; what they mean is in `flowpin-rule`. A rule that cannot be read is
//! a [`Problem`] with its place, and never keeps others from being read. [`read_for`] and [`put`]
//! are for programs with a plan.
//!
//! ```
//! use flowpin_rules::Reader;
//!
//! let mut reader = Reader::default();
//! reader.read_text("mine", "alert http any any -> any any (http.uri; content:\"/x\"; sid:1;)\n\
//!     alert tcp any any -> any any (content:\"|4\"; sid:2;)\n");
//! let loaded = reader.finish();
//! assert_eq!(loaded.set.rules.len(), 1);
//! assert_eq!(loaded.problems[0].place.line, 2);
//! ```

mod builder;
mod compile;
mod files;
mod header;
mod indicators;
mod keyword;
mod option;
mod plan;
mod problem;
mod reputation;
mod requires;
mod sets;
mod settings;
mod text;
mod thresholds;
mod variables;

pub use plan::{put, read, read_for};
pub use problem::Problem;
pub use variables::{DEFAULTS, Variables};

use builder::AllNames;
use compile::{Context, Outcome};
use flowpin_config::System;
use flowpin_packet::Network;
use flowpin_record::SetAction;
use flowpin_rule::{Asks, Count, Lookup, Place, Rule, RuleSet, Suppression, Term};
use keyword::Classes;
use problem::Fault;
use settings::Around;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use text::RuleText;

/// Reads rules from files and texts.
pub struct Reader {
    context: Context,
    rules: Vec<Rule>,
    /// Where a rule of this generator and number is.
    known: HashMap<(u32, u32), usize>,
    loaded: Loaded,
    /// Counts of alerts that files give to rules.
    counts: Vec<(u32, u32, Count)>,
    suppressions: Vec<Suppression>,
    files: Vec<PathBuf>,
    /// What lies beside rules and was read.
    beside: Vec<PathBuf>,
    /// Lists of indicators that were read.
    indicator_lists: u32,
    /// Variables that the command line gives: no file changes them.
    given_variables: Vec<String>,
    /// What settings say beside rules.
    around: Around,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The rules.
    pub set: RuleSet,
    /// What was refused, in the order of the files.
    pub problems: Vec<Problem>,
    /// Rules that say themselves that they need something else: where, and what.
    pub left_out: Vec<(Place, String)>,
    /// Classes of rules that no `classification.config` has described, and how many rules have
    /// each.
    pub unknown_classes: BTreeMap<String, u64>,
    /// Rules that a later revision has replaced.
    pub replaced: u64,
    /// Files of rules and indicators that were read.
    pub files: Vec<PathBuf>,
    /// Files of settings, classes, thresholds, sets and reputation that were read.
    pub beside: Vec<PathBuf>,
    /// Systems of hosts, as settings say.
    pub hosts: Vec<(Network, System)>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            context: Context {
                variables: Variables::default(),
                classes: Classes::default(),
                names: AllNames::default(),
            },
            rules: Vec::new(),
            known: HashMap::new(),
            loaded: Loaded::default(),
            counts: Vec::new(),
            suppressions: Vec::new(),
            files: Vec::new(),
            beside: Vec::new(),
            indicator_lists: 0,
            given_variables: Vec::new(),
            around: Around::default(),
        }
    }
}

impl Reader {
    /// Gives a variable of headers a value, whatever files say of it.
    pub fn set_variable(&mut self, name: &str, value: &str) {
        let name = name.trim_start_matches('$');
        let variables = &mut self.context.variables;
        variables.set(name, value);
        self.given_variables.push(name.to_owned());
    }

    /// Checks the variables that were given: once all are, as they may name each other.
    ///
    /// # Errors
    /// The first that is neither addresses nor ports, and why.
    pub fn check_variables(&mut self) -> Result<(), String> {
        let variables = &mut self.context.variables;
        let names = self.given_variables.iter();
        let mut wrong = names.filter_map(|name| {
            let why = variables.check(name).err()?;
            Some(format!("{name}: {why}"))
        });
        wrong.next().map_or(Ok(()), Err)
    }

    /// Reads the rules of a text; `name` stands for the file in problems.
    pub fn read_text(&mut self, name: &str, text: &str) {
        let file: Arc<str> = Arc::from(name);
        for source in text::rules(text) {
            match compile::rule(&source, &file, &mut self.context) {
                Ok(Outcome::Rule(rule)) => self.add(*rule, &source),
                Ok(Outcome::LeftOut(why)) => {
                    let place = place(&file, &source, 0);
                    self.loaded.left_out.push((place, why));
                }
                Err(fault) => self.refuse(&file, &source, &fault),
            }
        }
    }

    /// Adds a rule, or replaces the one of its number if that is older.
    fn add(&mut self, rule: Rule, source: &RuleText) {
        if !self.context.classes.have(&rule.class) {
            let name = rule.class.name.clone();
            *self.loaded.unknown_classes.entry(name).or_default() += 1;
        }
        let key = (rule.gid, rule.sid);
        let Some(&at) = self.known.get(&key) else {
            self.known.insert(key, self.rules.len());
            self.rules.push(rule);
            return;
        };
        let Some(known) = self.rules.get_mut(at) else {
            return;
        };
        if known.rev < rule.rev {
            *known = rule;
            self.loaded.replaced += 1;
            return;
        }
        let Place { file, line, .. } = &known.place;
        let why = format!(
            "the rule {}:{} already stands in {file}:{line}",
            key.0, key.1
        );
        let at = source.text.find("sid:").unwrap_or(0);
        let file = Arc::clone(&rule.place.file);
        self.refuse(&file, source, &Fault::new(at, 4, why));
    }

    fn refuse(&mut self, file: &Arc<str>, source: &RuleText, fault: &Fault) {
        let mut at = fault.at.min(source.text.len());
        while !source.text.is_char_boundary(at) {
            at -= 1;
        }
        let sid = source.text.split("sid:").nth(1);
        let sid = sid.and_then(|rest| rest.split(';').next()?.trim().parse().ok());
        self.loaded.problems.push(Problem {
            place: place(file, source, at),
            line: source.line(at),
            width: fault.len,
            why: fault.why.clone(),
            sid,
        });
    }

    /// A line of another file than those of rules is wrong, or a file cannot be read.
    fn refuse_line(&mut self, file: &str, (number, line): (u32, &str), why: String) {
        self.loaded.problems.push(Problem {
            place: Place {
                file: Arc::from(file),
                line: number,
                column: 1,
            },
            line: line.to_owned(),
            width: line.chars().count(),
            why,
            sid: None,
        });
    }

    /// What was read.
    pub fn finish(mut self) -> Loaded {
        for (gid, sid, count) in core::mem::take(&mut self.counts) {
            let of =
                |rule: &&mut Rule| (gid == 0 || rule.gid == gid) && (sid == 0 || rule.sid == sid);
            for rule in self.rules.iter_mut().filter(of) {
                // What stands in the rule itself is replaced where the rule is named.
                if sid != 0 {
                    rule.counts.clear();
                }
                if rule.counts.is_empty() {
                    rule.counts.push(count);
                }
            }
        }
        let names = self.context.names;
        for inspection in self.rules.iter_mut().flat_map(|rule| &mut rule.inspections) {
            for term in &mut inspection.terms {
                if let Term::In(Lookup { set, asks }) = term
                    && let Some(number) = names.sets.written_number(set)
                {
                    *term = match asks {
                        Asks::In => Term::Written(number, SetAction::In),
                        Asks::NotIn => Term::Written(number, SetAction::NotIn),
                        Asks::Domain | Asks::Number(_) => continue,
                    };
                }
            }
        }
        self.loaded.files = self.files;
        self.loaded.beside = self.beside;
        self.loaded.beside.extend(names.sets.files());
        self.loaded.hosts = self.around.hosts;
        self.loaded.set = RuleSet {
            rules: self.rules,
            bits: names.bits.into_list(),
            host_bits: names.host_bits.into_list(),
            suppressions: self.suppressions,
            written: names.sets.into_written(),
            forwarded: self.around.forwarded,
        };
        self.loaded
    }
}

fn place(file: &Arc<str>, source: &RuleText, at: usize) -> Place {
    let (line, column) = source.place(at);
    Place {
        file: Arc::clone(file),
        line,
        column,
    }
}

/// Reads anything as rules: for fuzzing.
#[doc(hidden)]
pub fn fuzz_rules(bytes: &[u8]) {
    let mut reader = Reader::default();
    reader.read_text("fuzz", &String::from_utf8_lossy(bytes));
    let loaded = reader.finish();
    for problem in &loaded.problems {
        let _ = problem.to_string();
    }
}

#[cfg(test)]
mod tests;
