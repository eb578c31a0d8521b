//! YAML as Suricata reads it, with the place of everything.
//!
//! Of a name that occurs twice the last value counts; mappings are joined. Aliases are not
//! followed, so that no file becomes more than it is: whoever needs a value behind one is told.

use crate::files::given_up_to;
use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A value, with its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    file: Arc<str>,
    line: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Text(String),
    List(Vec<Node>),
    Names(BTreeMap<String, Node>),
    /// It stands for another value.
    Alias,
    /// A text with a tag that has no meaning here: probably one that lacks its quotes.
    Tagged,
    /// The name of a file that has the value.
    Include(String),
}

impl Node {
    /// What is wrong with it, with its place.
    pub(super) fn wrong(&self, why: impl core::fmt::Display) -> String {
        format!("{}:{}: {why}", self.file, self.line)
    }

    fn unfit(&self, expected: &str) -> String {
        match &self.kind {
            Kind::Alias => self.wrong("aliases are not followed: write the value here"),
            Kind::Tagged => self.wrong("a text that begins with ! needs quotes"),
            _ => self.wrong(format_args!("{expected} expected")),
        }
    }

    /// The value of a name; none if that has none.
    pub(super) fn get(&self, name: &str) -> Result<Option<&Self>, String> {
        match &self.kind {
            Kind::Names(names) => Ok(names.get(name)),
            Kind::Text(text) if text.is_empty() => Ok(None),
            _ => Err(self.unfit("names and values are")),
        }
    }

    /// All names with their values.
    pub(super) fn names(&self) -> Result<impl Iterator<Item = (&String, &Self)>, String> {
        let names = match &self.kind {
            Kind::Names(names) => Some(names),
            Kind::Text(text) if text.is_empty() => None,
            _ => return Err(self.unfit("names and values are")),
        };
        Ok(names.into_iter().flatten())
    }

    /// Its elements.
    pub(super) fn elements(&self) -> Result<&[Self], String> {
        match &self.kind {
            Kind::List(list) => Ok(list),
            Kind::Text(text) if text.is_empty() => Ok(&[]),
            _ => Err(self.unfit("a list is")),
        }
    }

    /// One text.
    pub(super) fn text(&self) -> Result<&str, String> {
        match &self.kind {
            Kind::Text(text) => Ok(text.trim()),
            _ => Err(self.unfit("one text is")),
        }
    }

    /// One text, or several as Suricata writes them in one: `[a, b]`.
    pub(super) fn joined(&self) -> Result<String, String> {
        let Kind::List(list) = &self.kind else {
            return self.text().map(str::to_owned);
        };
        let texts: Result<Vec<&str>, _> = list.iter().map(Self::text).collect();
        Ok(format!("[{}]", texts?.join(", ")))
    }

    /// Whether it has names and values.
    pub(super) const fn has_names(&self) -> bool {
        matches!(self.kind, Kind::Names(_))
    }

    /// Takes the value that a later place gives the same name.
    fn take(&mut self, later: Self) {
        let (Kind::Names(names), true) = (&mut self.kind, later.has_names()) else {
            *self = later;
            return;
        };
        if let Kind::Names(others) = later.kind {
            for (name, value) in others {
                put(names, name, value);
            }
        }
    }
}

fn put(names: &mut BTreeMap<String, Node>, name: String, value: Node) {
    match names.entry(name) {
        std::collections::btree_map::Entry::Vacant(free) => {
            free.insert(value);
        }
        std::collections::btree_map::Entry::Occupied(mut taken) => taken.get_mut().take(value),
    }
}

/// An included file that is not there: where it is named, and how.
pub(super) struct Missing {
    pub(super) file: Arc<str>,
    pub(super) line: u32,
    pub(super) name: String,
}

/// Reads a file, with those that it includes, which `read` then has, too; and which of these are
/// not there.
pub(super) fn read(path: &Path, read: &mut Vec<PathBuf>) -> Result<(Node, Vec<Missing>), String> {
    let mut files = Files {
        folder: path.parent().unwrap_or(Path::new(".")),
        left: FILES_MAX,
        read,
        missing: Vec::new(),
    };
    let root = files.read(path, false)?;
    Ok((root, files.missing))
}

/// The files that settings are in.
struct Files<'a> {
    folder: &'a Path,
    left: usize,
    read: &'a mut Vec<PathBuf>,
    missing: Vec<Missing>,
}

impl Files<'_> {
    /// `of_variables`: its names are those of variables.
    fn read(&mut self, path: &Path, of_variables: bool) -> Result<Node, String> {
        let text = given_up_to(path, LEN_MAX)?;
        self.read.push(path.to_owned());
        let shown: Arc<str> = path.display().to_string().into();
        let mut tree = Tree {
            open: Vec::new(),
            of_variables,
            root: Node {
                kind: Kind::Names(BTreeMap::new()),
                file: Arc::clone(&shown),
                line: 1,
            },
        };
        for event in Parser::new_from_str(text.trim_start_matches('\u{feff}')) {
            let (event, span) = event
                .map_err(|wrong| format!("{shown}:{}: {}", wrong.marker().line(), wrong.info()))?;
            let kind = match event {
                Event::Scalar(text, style, _, tag) => text_of(&text, style, tag.as_deref()),
                Event::Alias(_) => Kind::Alias,
                Event::SequenceStart(..) => Kind::List(Vec::new()),
                Event::MappingStart(..) => Kind::Names(BTreeMap::new()),
                Event::SequenceEnd | Event::MappingEnd => {
                    let done = tree.open.pop();
                    done.map_or(Ok(()), |done| tree.add(done.node, self))?;
                    continue;
                }
                _ => continue,
            };
            let is_open = matches!(kind, Kind::List(_) | Kind::Names(_));
            let (file, line) = (Arc::clone(&shown), span.start.line());
            let node = Node { file, line, kind };
            if !is_open {
                tree.add(node, self)?;
            } else if tree.open.len() < DEPTH_MAX {
                tree.open.push(Open { node, name: None });
            } else {
                return Err(node.wrong("values are nested too deeply"));
            }
        }
        Ok(tree.root)
    }

    fn included(&mut self, by: &Node, name: &str, of_variables: bool) -> Result<Node, String> {
        self.left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| by.wrong(format_args!("more than {FILES_MAX} files are included")))?;
        let path = self.folder.join(name);
        if !path.exists() {
            // The rest counts: settings come without the folders that they were written in.
            self.missing.push(Missing {
                file: Arc::clone(&by.file),
                line: u32::try_from(by.line).unwrap_or(u32::MAX),
                name: name.to_owned(),
            });
            let kind = Kind::Names(BTreeMap::new());
            let (file, line) = (Arc::clone(&by.file), by.line);
            return Ok(Node { kind, file, line });
        }
        let read = self.read(&path, of_variables);
        read.map_err(|why| by.wrong(format_args!("include: {why}")))
    }
}

fn text_of(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Kind {
    match tag {
        Some(tag) if tag.suffix == "include" => Kind::Include(text.trim().to_owned()),
        Some(tag) if style == ScalarStyle::Plain && !tag.is_yaml_core_schema() => Kind::Tagged,
        _ => Kind::Text(text.to_owned()),
    }
}

/// Whether the names below this one are those of variables.
fn is_group(name: &str) -> bool {
    matches!(name, "address-groups" | "port-groups")
}

/// What of a file has been read.
struct Tree {
    open: Vec<Open>,
    of_variables: bool,
    root: Node,
}

/// A list or a mapping that is not over.
struct Open {
    node: Node,
    /// The name whose value comes next.
    name: Option<String>,
}

impl Tree {
    fn add(&mut self, mut node: Node, files: &mut Files<'_>) -> Result<(), String> {
        if let Kind::Include(name) = &node.kind {
            let below = self.open.last().and_then(|open| open.name.as_deref());
            node = files.included(&node, name, below.is_some_and(is_group))?;
        }
        let is_root = self.open.len() == 1;
        let above = self.open.len().checked_sub(2);
        let above = above.and_then(|above| self.open.get(above)?.name.as_deref());
        // As in Suricata, names may have underscores for hyphens; variables have underscores.
        let is_variable = above.is_some_and(is_group) || is_root && self.of_variables;
        let Some(open) = self.open.last_mut() else {
            return match &node.kind {
                Kind::Names(_) => {
                    self.root.take(node);
                    Ok(())
                }
                Kind::Text(text) if text.is_empty() => Ok(()),
                _ => Err(node.unfit("names and values are")),
            };
        };
        let names = match &mut open.node.kind {
            Kind::Names(names) => names,
            Kind::List(list) => {
                list.push(node);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let Some(name) = open.name.take() else {
            let name = match &node.kind {
                Kind::Text(name) if is_variable => name.clone(),
                Kind::Text(name) => name.replace('_', "-"),
                _ => return Err(node.unfit("a name is")),
            };
            open.name = Some(name);
            return Ok(());
        };
        if is_root && name == "include" {
            let listed = match &node.kind {
                Kind::List(list) => list.as_slice(),
                _ => core::slice::from_ref(&node),
            };
            for one in listed {
                let found = files.included(one, one.text()?, false)?;
                open.node.take(found);
            }
            return Ok(());
        }
        put(names, name, node);
        Ok(())
    }
}

/// Suricata's own settings have some 90 KiB.
const LEN_MAX: u64 = 4 << 20;
/// Values within values.
const DEPTH_MAX: usize = 64;
/// Files that others include.
const FILES_MAX: usize = 64;
