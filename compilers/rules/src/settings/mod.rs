//! What a `suricata.yaml` says of rules: variables, files, classes, thresholds, reputation; and
//! what it says of hosts and alerts that changes what rules find.
//!
//! What it says of anything else is left out; what has another form than it should is refused, with
//! its place.

mod forwarded;
mod yaml;

use crate::Reader;
use crate::files::rules_in;
use flowpin_config::System;
use flowpin_packet::{Network, NetworkError};
use flowpin_rule::{ForwardedAs, ForwardedHop};
use std::path::{Path, PathBuf};
use yaml::Node;

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
        let (root, missing) = yaml::read(path, &mut self.beside)?;
        for one in missing {
            let line = format!("include: {}", one.name);
            let why = "there is no such file: what it says does not count".to_owned();
            self.refuse_line(&one.file, (one.line, &line), why);
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        self.take_variables(&root)?;
        self.take_hosts(&root)?;
        if let Some(shown) = forwarded::forwarded(&root)? {
            self.around.forwarded = Some(shown);
        }
        let path_of = |name| Ok::<_, String>(text(&root, name)?.map(|path| folder.join(path)));
        let categories = path_of("reputation-categories-file")?;
        let of_lists = path_of("default-reputation-path")?;
        let of_lists = of_lists.as_deref().unwrap_or(folder);
        let lists = texts(&root, "reputation-files")?;
        let lists: Vec<PathBuf> = lists.iter().map(|name| of_lists.join(name)).collect();
        self.read_reputation(categories.as_deref(), &lists)?;
        Ok(Named {
            rules: texts(&root, "rule-files")?,
            rule_path: path_of("default-rule-path")?,
            classes: path_of("classification-file")?,
            thresholds: path_of("threshold-file")?,
        })
    }

    fn take_variables(&mut self, root: &Node) -> Result<(), String> {
        let Some(vars) = root.get("vars")? else {
            return Ok(());
        };
        for kind in ["address-groups", "port-groups"] {
            let Some(group) = vars.get(kind)? else {
                continue;
            };
            for (name, value) in group.names()? {
                if self.given_variables.iter().all(|given| given != name) {
                    self.context.variables.set(name, &value.joined()?);
                }
            }
        }
        Ok(())
    }

    fn take_hosts(&mut self, root: &Node) -> Result<(), String> {
        let Some(policy) = root.get("host-os-policy")? else {
            return Ok(());
        };
        for (system, value) in policy.names()? {
            let wrong = |why| value.wrong(format_args!("host-os-policy: {why}"));
            let hosts = systems(system, &value.joined()?).map_err(wrong)?;
            self.around.hosts.extend(hosts);
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

/// The text of a name, if it has one.
fn text(root: &Node, name: &str) -> Result<Option<String>, String> {
    let found = root.get(name)?.map_or(Ok(""), Node::text)?;
    Ok((!found.is_empty()).then(|| found.to_owned()))
}

/// The texts that a name lists.
fn texts(root: &Node, name: &str) -> Result<Vec<String>, String> {
    let list = root.get(name)?.map_or(Ok(&[][..]), Node::elements)?;
    list.iter().map(|one| Ok(one.text()?.to_owned())).collect()
}

/// The hosts that run a system, as Suricata calls it: `[10.0.0.0/8, "2001:db8::/32"]`.
fn systems(name: &str, value: &str) -> Result<Vec<(Network, System)>, String> {
    let known = SYSTEMS.iter().find(|(known, _)| *known == name);
    let Some(&(_, system)) = known else {
        let names: Vec<&str> = SYSTEMS.iter().map(|one| one.0).collect();
        return Err(format!("{name:?} is not one of {}", names.join(", ")));
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
mod tests;
