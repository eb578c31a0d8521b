//! The configuration file: TOML in, settings out; and the effective configuration printed.

use crate::options::{Described, Section};
use crate::places::{Places, place, wrong_brackets};
use crate::{ByteSize, ConfigError, FilesPlan, Plan, Settings};
use std::path::Path;

impl Settings {
    /// The plan of these settings over those of a configuration file.
    ///
    /// # Errors
    /// The file cannot be read, or has an unknown key or an invalid value; or the plan is
    /// refused, as by [`Settings::into_plan`]: with line and column if the value is from the file.
    pub fn into_plan_over_file(self, path: &Path) -> Result<Plan, ConfigError> {
        let text =
            flowpin_disk::read_given_text(path).map_err(|source| ConfigError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
        self.plan_over(path, &text)
    }

    /// The plan of these settings over those of a file with this text.
    pub(crate) fn plan_over(self, path: &Path, text: &str) -> Result<Plan, ConfigError> {
        let file = Self::from_toml(text).map_err(|error| match error {
            ConfigError::Refused {
                line,
                column,
                message,
                ..
            } => ConfigError::Refused {
                path: Some(path.to_owned()),
                line,
                column,
                message,
            },
            other => other,
        })?;
        let places = Places::read(path, text).below(&self);
        let plan = self.over(file).into_plan();
        let mut plan = plan.map_err(|error| error.in_file(&places))?;
        plan.settings_file = Some(path.to_owned());
        plan.places = places;
        Ok(plan)
    }

    /// Reads settings from TOML.
    ///
    /// # Errors
    /// The text is not TOML, or has an unknown key or an invalid value: with line and column.
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let (offset, message) = wrong_brackets(text).unwrap_or_else(|| {
                let offset = error.span().map_or(0, |span| span.start);
                (offset, in_plain_words(&one_line(error.message())))
            });
            let (line, column) = place(text, offset);
            ConfigError::Refused {
                path: None,
                line,
                column,
                message,
            }
        })
    }

    /// The settings as a commented configuration file; what is not set is commented out.
    ///
    /// ```
    /// use flowpin_config::{Plan, Settings};
    /// let text = Settings::from(&Plan::default()).to_commented_toml().unwrap();
    /// assert!(text.contains("memory = \"1 GiB\""));
    /// assert_eq!(Settings::from_toml(&text).unwrap().into_plan().unwrap(), Plan::default());
    /// ```
    ///
    /// # Errors
    /// A file name is not valid UTF-8, which a configuration file must be; or a number is larger
    /// than TOML allows.
    pub fn to_commented_toml(&self) -> Result<String, ConfigError> {
        let table = toml::Table::try_from(self).map_err(|_| ConfigError::NoText)?;
        let mut out = String::from("# Flowpin's configuration: `flowpin run -c THIS_FILE`.\n");
        let mut last = "";
        for option in Self::options() {
            let (section, key) = (option.section, option.key);
            if section != last {
                out.push_str(&format!("\n[{section}]\n"));
                last = section;
            }
            out.push_str(&format!("# {}\n", option.comment()));
            let values = table.get(section).and_then(toml::Value::as_table);
            match (values.and_then(|values| values.get(key)), option.example) {
                (Some(value), _) if self.follows(section, key) => {
                    out.push_str(&format!("# {key} = {value}\n"));
                }
                (Some(value), _) => out.push_str(&format!("{key} = {value}\n")),
                (None, Some(example)) => out.push_str(&format!("# {key} = {example}\n")),
                (None, None) => {}
            }
        }
        self.write_hosts(&mut out);
        Ok(out)
    }

    /// The settings that differ from `others`, as `[section] key`, in the order to show.
    ///
    /// ```
    /// use flowpin_config::Settings;
    /// let settings = |text| Settings::from_toml(text).unwrap();
    /// let (one, other) = (settings("[live]\nring = '1 MiB'"), settings("[input]\ncount = 9"));
    /// assert_eq!(one.differing(&other), ["[input] count", "[live] ring"]);
    /// ```
    pub fn differing(&self, others: &Self) -> Vec<String> {
        let tables = [self, others].map(|one| toml::Table::try_from(one).unwrap_or_default());
        let value = |table: &toml::Table, section: &str, key: &str| {
            let values = table.get(section).and_then(toml::Value::as_table);
            values.and_then(|values| values.get(key)).cloned()
        };
        let [ours, theirs] = &tables;
        let options = Self::options().into_iter();
        let differ = options.filter(|option| {
            let Described { section, key, .. } = option;
            value(ours, section, key) != value(theirs, section, key)
        });
        let mut names: Vec<_> = differ
            .map(|option| format!("[{}] {}", option.section, option.key))
            .collect();
        if self.hosts != others.hosts {
            names.push("[[hosts]]".to_owned());
        }
        names
    }

    /// Whether a value is what follows from others: what is read back leads to it by itself, and
    /// may be changed with them.
    fn follows(&self, section: &str, key: &str) -> bool {
        let mut files = FilesPlan::default();
        self.files.clone().put(&mut files);
        files.settle();
        let with_bodies = Some(ByteSize(Plan::MEMORY_BYTES_WITH_BODIES));
        let is_memory = (section, key) == ("pipeline", "memory");
        is_memory && files.decode && self.pipeline.memory == with_bodies
    }

    /// `[[hosts]]`, as many as there are; an example if there are none.
    fn write_hosts(&self, out: &mut String) {
        out.push_str(HOSTS_COMMENT);
        for group in &self.hosts {
            let table = toml::Table::try_from(group).unwrap_or_default();
            out.push_str("\n[[hosts]]\n");
            for (key, value) in &table {
                out.push_str(&format!("{key} = {value}\n"));
            }
        }
        if self.hosts.is_empty() {
            out.push_str(HOSTS_EXAMPLE);
        }
    }
}

fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).collect();
    lines.join("; ")
}

/// Replaces serde's names of types by those that the author of a file knows.
fn in_plain_words(message: &str) -> String {
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let found = found
        .replacen("invalid type: map", "invalid type: table", 1)
        .replacen("invalid type: sequence", "invalid type: list", 1)
        .replacen("invalid type: floating point", "invalid type: fraction", 1);
    let expected = match expected {
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "i64" => "a whole number, 0 or more",
        "a boolean" => "true or false",
        "a string" => "text in quotes",
        "path string" => "the name of a file, in quotes",
        "a sequence" => "a list in brackets, such as [\"…\"]",
        section if section.starts_with("struct ") => "a section: its name in brackets, then keys",
        other => other,
    };
    format!("{found}, expected {expected}")
}

const HOSTS_COMMENT: &str = "
# Hosts whose system is known, and so how they resolve overlapping fragments and segments. Of
# nested networks the longest prefix wins. Keys: those of [other_hosts], and `networks`.
";
const HOSTS_EXAMPLE: &str = "
# [[hosts]]
# networks = [\"10.0.0.0/8\", \"2001:db8::/32\"]
# system = \"linux\"
";

#[cfg(test)]
mod tests {
    use crate::{ConfigError, Plan, Settings};

    fn refusal(text: &str) -> String {
        Settings::from_toml(text).unwrap_err().to_string()
    }

    /// The memory that follows from decoded bodies is shown, and changes with them.
    #[test]
    fn memory_that_follows_is_a_comment() {
        for (text, line) in [
            ("[files]\nmd5 = true", "# memory = \"3 GiB\""),
            ("", "memory = \"1 GiB\""),
            (
                "[files]\nmd5 = true\n[pipeline]\nmemory = '1 GiB'",
                "memory = \"1 GiB\"",
            ),
        ] {
            let plan = Settings::from_toml(text).unwrap().into_plan().unwrap();
            let printed = Settings::from(&plan).to_commented_toml().unwrap();
            assert!(printed.lines().any(|one| one == line), "{printed}");
            let again = Settings::from_toml(&printed).unwrap().into_plan().unwrap();
            assert_eq!(again, plan);
        }
    }

    /// An unknown key is reported with its position and the known keys.
    #[test]
    fn unknown_key_is_named_with_line_and_column() {
        let text = refusal("[input]\n  fliter = 'tcp'\n");
        assert!(
            text.starts_with("2:3: unknown field `fliter`, expected one of"),
            "{text}"
        );
        assert_eq!(text.lines().count(), 1);
    }

    /// A wrong value is reported at its position, with columns counted in characters.
    #[test]
    fn wrong_value_is_shown_where_it_stands() {
        assert_eq!(
            refusal("[pipeline]\nmemory = \"64\""),
            "2:10: `64` needs a unit, such as \"64 MiB\""
        );
        assert_eq!(
            refusal("[pipeline]\nmemory = 64"),
            "2:10: invalid type: integer `64`, expected a size with its unit, such as \"64 MiB\""
        );
        assert_eq!(
            refusal("[output]\nformats = ['eve', 'jsön']"),
            "2:19: `jsön` is not one of eve, zeek, zeek-json, csv, parquet, none"
        );
    }

    /// Broken TOML is one line too.
    #[test]
    fn broken_toml_is_one_line() {
        for text in ["[input", "= 3", "[input]\nread = [\n\n", "a = \"\n\""] {
            assert_eq!(refusal(text).lines().count(), 1, "{text:?}");
        }
    }

    /// Errors describe the expected value as it is written in a file, without names of types.
    #[test]
    fn the_expected_value_is_described_in_plain_words() {
        for (text, expected) in [
            (
                "[input]\ncount = 'x, expected u64'",
                "2:9: invalid type: string \"x, expected u64\", expected a whole number, 0 or more",
            ),
            (
                "[scans]\nports = -3",
                "2:9: invalid value: integer `-3`, expected a whole number from 0 to 4294967295",
            ),
            (
                "[input]\nread = 'x'",
                "2:8: invalid type: string \"x\", expected a list in brackets, such as [\"…\"]",
            ),
            (
                "[output]\ndir = ['x']",
                "2:7: invalid type: list, expected the name of a file, in quotes",
            ),
            (
                "input = 3",
                "1:9: invalid type: integer `3`, expected a section: its name in brackets, \
                 then keys",
            ),
            (
                "[hosts]\nsystem = 'bsd'",
                "1:2: `hosts`: write `[[hosts]]` for each group of hosts",
            ),
            (
                "[[input]]\ncount = 3",
                "1:3: `input`: write a section in single brackets",
            ),
        ] {
            assert_eq!(refusal(text), expected);
        }
    }

    /// A file that is not there is named.
    #[test]
    fn missing_file_is_named() {
        let path = "/does/not/exist.toml".as_ref();
        let error = Settings::default().into_plan_over_file(path).unwrap_err();
        assert!(matches!(error, ConfigError::Unreadable { .. }));
        assert!(error.to_string().starts_with("/does/not/exist.toml: "));
    }

    /// An option without a default has an example, which is a value of it; no other has one.
    #[test]
    fn what_has_no_default_has_an_example() {
        let defaults = toml::Table::try_from(Settings::from(&Plan::default())).unwrap();
        for option in Settings::options() {
            let (section, key) = (option.section, option.key);
            let section_values = defaults.get(section).and_then(toml::Value::as_table);
            let default = section_values.and_then(|values| values.get(key));
            assert_ne!(
                default.is_some(),
                option.example.is_some(),
                "{section}.{key}"
            );
            let Some(example) = option.example else {
                continue;
            };
            let text = format!("[{section}]\n{key} = {example}\n");
            assert_ne!(Settings::from_toml(&text).unwrap(), Settings::default());
        }
    }

    /// The effective configuration leads back to the plan: with all defaults, and with each key
    /// set to something else.
    #[test]
    fn printed_settings_lead_back_to_the_plan() {
        let again = |plan: &Plan| {
            let printed = Settings::from(plan).to_commented_toml().unwrap();
            Settings::from_toml(&printed).unwrap().into_plan().unwrap()
        };
        let default = Plan::default();
        assert_eq!(again(&default), default);
        for option in Settings::options() {
            let (section, key) = (option.section, option.key);
            let values = VALUES.iter().chain(&option.example);
            let plans = values.filter_map(|value| {
                let settings =
                    Settings::from_toml(&format!("[{section}]\n{key} = {value}")).ok()?;
                settings.into_plan().ok()
            });
            let mut others = plans.filter(|plan| *plan != default);
            let plan = others.next().unwrap_or_else(|| panic!("{section}.{key}"));
            assert_eq!(again(&plan), plan, "{section}.{key}");
        }
    }

    /// Values of the types whose keys have a default: each key takes one that it has not by
    /// default.
    const VALUES: &[&str] = &[
        "7",
        "true",
        "false",
        "'9 MiB'",
        "'9 s'",
        "'1x1'",
        "'l3'",
        "'none'",
        "'drop'",
        "'ns'",
        "'af-xdp'",
        "'linux'",
        "'last'",
        "'0-1'",
        "'there'",
        "['csv']",
        "['10.0.0.0/8']",
        "['there']",
        "'/dev/null'",
    ];
}
