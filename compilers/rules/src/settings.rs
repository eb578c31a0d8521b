//! What a `suricata.yaml` says of rules: variables, files, classes, thresholds.
//!
//! Reads the plain form that such files have (nested names by indentation, lists of texts), not
//! YAML as a whole; what it says of anything else is left out.

use crate::Reader;
use crate::files::{given, rules_in};
use std::path::Path;

impl Reader {
    /// Reads the rules that a `suricata.yaml` names, with its variables.
    pub(crate) fn read_settings(&mut self, path: &Path) -> Result<(), String> {
        let text = given(path)?;
        self.beside.push(path.to_owned());
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut names = Vec::new();
        let mut rule_path = None;
        let (mut classes, mut thresholds) = (None, None);
        for (keys, value) in entries(&text) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            match keys.as_slice() {
                ["vars", "address-groups" | "port-groups", name]
                    if self.given_variables.iter().all(|given| given != name) =>
                {
                    self.context.variables.set(name, &value);
                }
                ["rule-files", "-"] => names.push(value),
                ["default-rule-path"] => rule_path = Some(folder.join(value)),
                ["classification-file"] => classes = Some(folder.join(value)),
                ["threshold-file"] => thresholds = Some(folder.join(value)),
                _ => {}
            }
        }
        if let Some(path) = classes {
            self.read_classes(&path)?;
        }
        if let Some(path) = thresholds {
            self.read_thresholds(&path)?;
        }
        if names.is_empty() {
            return Err(format!("{}: it names no rule-files", path.display()));
        }
        let rule_path = rule_path.unwrap_or_else(|| folder.to_owned());
        for name in names {
            self.read_named(&rule_path.join(name))?;
        }
        Ok(())
    }

    fn read_named(&mut self, path: &Path) -> Result<(), String> {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if !name.contains('*') {
            return self.read_file(path);
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        rules_in(folder, name)?
            .iter()
            .try_for_each(|file| self.read_file(file))
    }
}

/// The values of a file, each with the names around it; an element of a list is called `-`.
fn entries(text: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    let mut around: Vec<(usize, String)> = Vec::new();
    for line in text.lines() {
        let line = without_comment(line);
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['%', '#']) || trimmed == "---" {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let is_element = trimmed.starts_with("- ");
        // Elements may stand as far left as the name of their list.
        around.retain(|&(other, _)| other < indent || is_element && other == indent);
        let (name, value) = match trimmed.strip_prefix("- ") {
            Some(value) => ("-", value),
            None => match trimmed.split_once(':') {
                Some((name, value)) => (name, value),
                None => continue,
            },
        };
        let names = around.iter().map(|(_, name)| name.clone());
        let names: Vec<String> = names.chain([unquoted(name).to_owned()]).collect();
        let value = unquoted(value);
        if value.is_empty() {
            around.push((indent, unquoted(name).to_owned()));
        } else {
            found.push((names, value.to_owned()));
        }
    }
    found
}

fn without_comment(line: &str) -> &str {
    let end = line.find(" #").unwrap_or(line.len());
    line.get(..end).unwrap_or(line).trim_end()
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let inner = inner.or_else(|| {
        text.strip_prefix('\'')
            .and_then(|text| text.strip_suffix('\''))
    });
    inner.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::entries;

    /// Variables and lists of files are found below their names.
    #[test]
    fn nested_names_lead_to_values() {
        let text = "%YAML 1.1\n---\nvars:\n  address-groups:\n\
            \x20   HOME_NET: \"[10.0.0.0/8]\" # ours\n\
            \x20 port-groups:\n    HTTP_PORTS: \"80\"\nrule-files:\n - a.rules\n - b.rules\nx: y\n";
        let found = entries(text);
        let shown: Vec<String> = found
            .iter()
            .map(|(names, value)| format!("{}={value}", names.join(".")))
            .collect();
        assert_eq!(
            shown,
            [
                "vars.address-groups.HOME_NET=[10.0.0.0/8]",
                "vars.port-groups.HTTP_PORTS=80",
                "rule-files.-=a.rules",
                "rule-files.-=b.rules",
                "x=y"
            ]
        );
    }
}
