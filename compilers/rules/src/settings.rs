//! What a `suricata.yaml` says of rules: variables, files, classes, thresholds, reputation; and
//! what it says of hosts and alerts that changes what rules find.
//!
//! Reads the plain form that such files have (nested names by indentation, lists of texts), not
//! YAML as a whole; what it says of anything else is left out.

use crate::Reader;
use crate::files::{given, rules_in};
use flowpin_config::System;
use flowpin_packet::{Network, NetworkError};
use flowpin_rule::{ForwardedAs, ForwardedHop};
use std::path::{Path, PathBuf};

/// What settings say beside rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Around {
    /// Systems of hosts.
    pub(crate) hosts: Vec<(Network, System)>,
    /// What alerts do with the client that a proxy names.
    pub(crate) forwarded: Option<(ForwardedAs, ForwardedHop)>,
}

/// What one file says of rules.
#[derive(Default)]
struct Named {
    rules: Vec<String>,
    rule_path: Option<PathBuf>,
    classes: Option<PathBuf>,
    thresholds: Option<PathBuf>,
    categories: Option<PathBuf>,
    reputation: Vec<String>,
    reputation_path: Option<PathBuf>,
    forwarded: Forwarded,
}

impl Reader {
    /// Reads the rules that a `suricata.yaml` names, with its settings.
    pub(crate) fn read_settings(&mut self, path: &Path) -> Result<(), String> {
        let named = self.read_names(path)?;
        if let Some(path) = named.classes {
            self.read_classes(&path)?;
        }
        if let Some(path) = named.thresholds {
            self.read_thresholds(&path)?;
        }
        if named.rules.is_empty() {
            return Err(format!("{}: it names no rule-files", path.display()));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        let rule_path = named.rule_path.unwrap_or_else(|| folder.to_owned());
        for name in named.rules {
            self.read_named(&rule_path.join(name))?;
        }
        Ok(())
    }

    /// Reads the settings of a `suricata.yaml` without the rules that it names, their classes and
    /// thresholds; of a folder, that of the one that lies there, if one does.
    ///
    /// # Errors
    /// If it cannot be read, or says what has no meaning.
    pub fn read_settings_alone(&mut self, path: &Path) -> Result<(), String> {
        if !path.is_dir() {
            return self.read_names(path).map(|_| ());
        }
        let path = path.join("suricata.yaml");
        match path.is_file() {
            true => self.read_names(&path).map(|_| ()),
            false => Ok(()),
        }
    }

    /// Reads variables, hosts, what alerts show and the reputation of addresses; what else is
    /// named.
    fn read_names(&mut self, path: &Path) -> Result<Named, String> {
        let text = given(path)?;
        self.beside.push(path.to_owned());
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut named = Named::default();
        for (keys, value) in entries(&text) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            match keys.as_slice() {
                ["vars", "address-groups" | "port-groups", name]
                    if self.given_variables.iter().all(|given| given != name) =>
                {
                    self.context.variables.set(name, &value);
                }
                ["rule-files", "-"] => named.rules.push(value),
                ["default-rule-path"] => named.rule_path = Some(folder.join(value)),
                ["classification-file"] => named.classes = Some(folder.join(value)),
                ["threshold-file"] => named.thresholds = Some(folder.join(value)),
                ["reputation-categories-file"] => named.categories = Some(folder.join(value)),
                ["default-reputation-path"] => named.reputation_path = Some(folder.join(value)),
                ["reputation-files", "-"] => named.reputation.push(value),
                ["host-os-policy", system] | ["host-os-policy", system, "-"] => {
                    let wrong = |why| format!("{}: host-os-policy: {why}", path.display());
                    let hosts = systems(system, &value).map_err(wrong)?;
                    self.around.hosts.extend(hosts);
                }
                ["outputs", _, "eve-log", .., "xff", key] => named.forwarded.set(key, &value),
                _ => {}
            }
        }
        if let Some(shown) = named.forwarded.shown() {
            self.around.forwarded = Some(shown);
        }
        let of_lists = named.reputation_path.as_deref().unwrap_or(folder);
        let lists = named.reputation.iter().map(|name| of_lists.join(name));
        let lists: Vec<PathBuf> = lists.collect();
        self.read_reputation(named.categories.as_deref(), &lists)?;
        Ok(named)
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

/// What one `xff` of settings says.
#[derive(Default)]
struct Forwarded {
    is_on: bool,
    is_overwrite: bool,
    is_forward: bool,
}

impl Forwarded {
    fn set(&mut self, key: &str, value: &str) {
        match key {
            "enabled" => self.is_on = ["yes", "true", "on", "1"].contains(&value),
            "mode" => self.is_overwrite = value == "overwrite",
            "deployment" => self.is_forward = value == "forward",
            _ => {}
        }
    }

    fn shown(&self) -> Option<(ForwardedAs, ForwardedHop)> {
        let shown = match self.is_overwrite {
            true => ForwardedAs::Overwrite,
            false => ForwardedAs::Extra,
        };
        let hop = match self.is_forward {
            true => ForwardedHop::First,
            false => ForwardedHop::Last,
        };
        self.is_on.then_some((shown, hop))
    }
}

/// The hosts that run a system, as Suricata calls it: `[10.0.0.0/8, "2001:db8::/32"]`.
fn systems(name: &str, value: &str) -> Result<Vec<(Network, System)>, String> {
    let known = SYSTEMS.iter().find(|(known, _)| *known == name);
    let Some(&(_, system)) = known else {
        let names: Vec<&str> = SYSTEMS.iter().map(|one| one.0).collect();
        return Err(format!("{name} is not one of {}", names.join(", ")));
    };
    let inner = value
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let networks = inner.unwrap_or(value).split(',').map(unquoted);
    let networks = networks.filter(|network| !network.is_empty());
    networks
        .map(|network| match network.parse() {
            // As in Suricata, bits behind the prefix do not count.
            Ok(network) | Err(NetworkError::HostBits(_, network)) => Ok((network, system)),
            Err(error) => Err(error.to_string()),
        })
        .collect()
}

/// Suricata's systems. Its `linux` joins overlapping fragments, as Linux did up to 4.18.
const SYSTEMS: [(&str, System); 13] = [
    ("windows", System::Windows),
    ("windows2k3", System::Windows),
    ("vista", System::Vista),
    ("bsd", System::Bsd),
    ("bsd-right", System::Bsd),
    ("old-linux", System::OldLinux),
    ("linux", System::Linux26),
    ("old-solaris", System::Solaris),
    ("solaris", System::Solaris),
    ("hpux10", System::Hpux),
    ("hpux11", System::Hpux),
    ("irix", System::Irix),
    ("macos", System::Macos),
];

/// The values of a file, each with the names around it; an element of a list is called `-`, and
/// what is named within one stands below that.
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
        let element = trimmed.strip_prefix("- ");
        // Elements may stand as far left as the name of their list.
        around.retain(|(other, name)| {
            *other < indent || element.is_some() && *other == indent && name != "-"
        });
        let (indent, name, value) = match (element, element.unwrap_or(trimmed).split_once(':')) {
            (None, None) => continue,
            (None, Some((name, value))) => (indent, name, value),
            // A name within an element: behind its colon is nothing, or a blank.
            (Some(element), Some((name, value)))
                if !element.starts_with(['"', '\'', '[']) && !value.starts_with(|c| c != ' ') =>
            {
                around.push((indent, "-".to_owned()));
                (indent + 2, name, value)
            }
            (Some(element), _) => (indent, "-", element),
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
    use super::{Forwarded, entries, systems};
    use flowpin_config::System;
    use flowpin_rule::{ForwardedAs, ForwardedHop};

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

    /// What is named within an element of a list stands below it, and beside the next one.
    #[test]
    fn elements_may_have_names_and_values() {
        let text = "outputs:\n  - fast:\n      enabled: no\n  - eve-log:\n      enabled: yes\n\
            \x20     types:\n        - alert:\n            metadata: no\n            xff:\n\
            \x20             mode: overwrite\n        - http\nhost-os-policy:\n  linux:\n\
            \x20   - 2001:db8::1\n    - \"10.0.0.1\"\nlist:\n- a: b\n  c: d\n- e: f\n";
        let found = entries(text);
        let shown: Vec<String> = found
            .iter()
            .map(|(names, value)| format!("{}={value}", names.join(".")))
            .collect();
        assert_eq!(
            shown,
            [
                "outputs.-.fast.enabled=no",
                "outputs.-.eve-log.enabled=yes",
                "outputs.-.eve-log.types.-.alert.metadata=no",
                "outputs.-.eve-log.types.-.alert.xff.mode=overwrite",
                "outputs.-.eve-log.types.-=http",
                "host-os-policy.linux.-=2001:db8::1",
                "host-os-policy.linux.-=10.0.0.1",
                "list.-.a=b",
                "list.-.c=d",
                "list.-.e=f"
            ]
        );
    }

    /// Suricata's names are read, and what is no system or network is told.
    #[test]
    fn systems_have_hosts() {
        let found = systems("old-linux", "[10.0.0.1/8, \"::1\"]").unwrap();
        let shown: Vec<String> = found.iter().map(|one| one.0.to_string()).collect();
        assert_eq!(shown, ["10.0.0.0/8", "::1/128"]);
        assert!(found.iter().all(|one| one.1 == System::OldLinux));
        assert_eq!(systems("bsd", "[]"), Ok(Vec::new()));
        assert!(systems("dos", "[::1]").unwrap_err().contains("old-linux"));
        assert!(systems("bsd", "[ten]").unwrap_err().contains("`ten`"));
    }

    /// It is on where it says so.
    #[test]
    fn proxies_name_clients_where_that_is_on() {
        let mut forwarded = Forwarded::default();
        forwarded.set("mode", "overwrite");
        forwarded.set("deployment", "forward");
        forwarded.set("header", "X-Forwarded-For");
        assert_eq!(forwarded.shown(), None);
        forwarded.set("enabled", "yes");
        let expected = (ForwardedAs::Overwrite, ForwardedHop::First);
        assert_eq!(forwarded.shown(), Some(expected));
    }
}
