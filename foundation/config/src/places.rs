//! Positions of keys in a settings file, for errors found only in the complete plan.
//!
//! Only keys that take effect have a position: not those that an option overrides.

use crate::Settings;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The keys of a settings file, each with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    path: PathBuf,
    keys: Vec<Key>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    section: String,
    /// Of `[[hosts]]`: their number, from 1.
    key: String,
    line: usize,
    column: usize,
}

impl Places {
    /// Those of a file with this text.
    pub(crate) fn read(path: &Path, text: &str) -> Self {
        let mut found = Vec::new();
        let mut add = |section: &str, key: &str, offset: usize| {
            found.push((offset, section.to_owned(), key.to_owned()));
        };
        let table = DeTable::parse(text);
        for (section, values) in table.iter().flat_map(|table| table.get_ref()) {
            match values.get_ref() {
                DeValue::Table(values) => {
                    for (key, value) in values {
                        add(section.get_ref(), key.get_ref(), value.span().start);
                    }
                }
                DeValue::Array(groups) => {
                    for (group, number) in groups.iter().zip(1..) {
                        let number: u64 = number;
                        add(section.get_ref(), &number.to_string(), group.span().start);
                    }
                }
                _ => {}
            }
        }
        // In the order of the text, so that it is walked once.
        found.sort_unstable();
        let mut walk = Walk::new(text);
        let keys = found.into_iter().map(|(offset, section, key)| {
            let (line, column) = walk.to(offset);
            Key {
                section,
                key,
                line,
                column,
            }
        });
        Self {
            path: path.to_owned(),
            keys: keys.collect(),
        }
    }

    /// The keys that `flags` do not override.
    pub(crate) fn below(mut self, flags: &Settings) -> Self {
        // A file name that is not valid UTF-8. Better no position than a wrong one.
        let Ok(said) = toml::Table::try_from(flags) else {
            return Self::default();
        };
        self.keys.retain(|key| {
            let section = said.get(&key.section).and_then(toml::Value::as_table);
            !section.is_some_and(|values| values.contains_key(&key.key))
        });
        self
    }

    /// File, line and column of a key, if the file has it and no option overrides it.
    pub fn of(&self, section: &str, key: &str) -> Option<String> {
        let (line, column) = self.line_and_column(section, key)?;
        Some(format!("{}:{line}:{column}", self.path.display()))
    }

    pub(crate) fn line_and_column(&self, section: &str, key: &str) -> Option<(usize, usize)> {
        let mut keys = self.keys.iter();
        let found = keys.find(|known| known.section == section && known.key == key)?;
        Some((found.line, found.column))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Line and column, both from 1, of a byte offset.
pub(crate) fn place(text: &str, offset: usize) -> (usize, usize) {
    Walk::new(text).to(offset)
}

/// A walk over a text that counts lines and columns.
struct Walk<'a> {
    rest: core::str::CharIndices<'a>,
    line: usize,
    column: usize,
}

impl<'a> Walk<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text.char_indices(),
            line: 1,
            column: 1,
        }
    }

    /// Goes on to a byte offset, which is not before the last one: its line and column.
    fn to(&mut self, offset: usize) -> (usize, usize) {
        while self.rest.offset() < offset
            && let Some((_, letter)) = self.rest.next()
        {
            if letter == '\n' {
                (self.line, self.column) = (self.line + 1, 1);
            } else {
                self.column += 1;
            }
        }
        (self.line, self.column)
    }
}

/// A section in the wrong brackets: its position, and the correct form.
pub(crate) fn wrong_brackets(text: &str) -> Option<(usize, String)> {
    let table = DeTable::parse(text).ok()?;
    let options = Settings::options();
    table.get_ref().iter().find_map(|(name, value)| {
        let section = name.get_ref();
        let is_section = options.iter().any(|option| option.section == section);
        let right = match value.get_ref() {
            DeValue::Table(_) if section == "hosts" => "write `[[hosts]]` for each group of hosts",
            DeValue::Array(_) if is_section => "write a section in single brackets",
            _ => return None,
        };
        Some((name.span().start, format!("`{section}`: {right}")))
    })
}

#[cfg(test)]
mod tests {
    use crate::{Plan, Settings};
    use std::path::Path;

    /// The plan of this file below these options.
    fn plan(flags: &str, file: &str) -> Result<Plan, String> {
        let flags = Settings::from_toml(flags).unwrap();
        let plan = flags.plan_over(Path::new("f.toml"), file);
        plan.map_err(|error| error.to_string())
    }

    /// An error found in the complete plan is reported at the position of its key.
    #[test]
    fn errors_in_the_plan_have_position_and_key() {
        for (file, expected) in [
            ("[scans]\nports = 0", "2:9: `ports` must be more than 0"),
            ("scans.ports = 0", "1:15: `ports` must be more than 0"),
            ("scans = { ports = 0 }", "1:19: `ports` must be more than 0"),
            ("[input]\ncount = 0", "2:9: `count` must be more than 0"),
            (
                "[defragmentation]\n  timeout = '0 s'",
                "2:13: `timeout` must be more than 0",
            ),
            ("[output]\nformats = []", "2:11: no output format"),
            (
                "[output]\nstdout = true\nrotate_every = '1 h'",
                "3:16: what goes to `--output` cannot be rotated",
            ),
            (
                "[output]\nstdout = true\nformats = ['csv']",
                "3:11: `--output` takes only EVE JSON lines",
            ),
            ("[input]\nread = ['-', '-']", "2:8: standard input"),
            (
                "[pipeline]\nmemory = '1 KiB'",
                "2:10: memory of 1 KiB is too small",
            ),
            (
                "\n[[hosts]]\nsystem = 'bsd'",
                "2:1: [[hosts]] number 1 has no networks",
            ),
            (
                "[[hosts]]\nnetworks = ['::/0']\n[[hosts]]\nnetworks = ['::/0']",
                "3:1: the network ::/0 is in [[hosts]] twice",
            ),
        ] {
            let error = plan("", file).unwrap_err();
            assert!(error.starts_with(&format!("f.toml:{expected}")), "{error}");
        }
    }

    /// Each of very many keys has its place, in one walk over the text: without that, this takes
    /// minutes. In one line as well, where columns are counted.
    #[test]
    fn many_groups_take_no_time_by_the_square() {
        let address = |n: usize| format!("10.{}.{}.{}/32", n >> 16, n >> 8 & 255, n & 255);
        let count = 100_000;
        let tables: String = (0..count)
            .map(|n| format!("[[hosts]]\nnetworks = ['{}']\n", address(n)))
            .collect();
        let again = format!("{tables}[[hosts]]\nnetworks = ['{}']\n", address(7));
        let error = plan("", &again).unwrap_err();
        assert!(error.starts_with("f.toml:200001:1: "), "{error}");
        let groups: Vec<_> = (0..count)
            .map(|n| format!("{{networks=['{}']}}", address(n)))
            .collect();
        let line = format!("hosts = [{}]", groups.join(","));
        assert_eq!(plan("", &line).unwrap().hosts.groups.len(), count);
    }

    /// An error in an option has no position in the file, nor has a key that an option overrides.
    #[test]
    fn errors_in_options_have_no_position_in_the_file() {
        let error = plan("[input]\ncount = 0", "[input]\ncount = 5").unwrap_err();
        assert!(!error.contains("f.toml"), "{error}");
        let plan = plan("[input]\ncount = 5", "[input]\ncount = 0\nfilter = 'udp'").unwrap();
        assert_eq!(plan.places.of("input", "count"), None);
        let filter = plan.places.of("input", "filter");
        assert_eq!(filter.as_deref(), Some("f.toml:3:10"));
    }
}
