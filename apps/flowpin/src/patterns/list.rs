//! The built-in protocols.

use crate::summary;
use crate::summary::page::{Cell, Page};
use flowpin_engine::{Protocol, ProtocolRule};
use serde::Serialize;

/// As a table.
pub(crate) fn list(protocols: &[&Protocol]) -> String {
    let mut page = Page::new(summary::width(false));
    let about = "ports are hints: no rule decides by them alone";
    page.title(&format!("{} built-in protocols", protocols.len()), about);
    let rows: Vec<_> = sorted(protocols)
        .into_iter()
        .map(|one| {
            let ports: Vec<String> = one.ports.iter().map(u16::to_string).collect();
            let rules: Vec<String> = one.rules.iter().map(rule).collect();
            vec![
                Cell::left(one.name),
                Cell::left(groups(one).join(", ")),
                Cell::left(ports.join(", ")),
                Cell::dim(rules.join(", ")),
            ]
        })
        .collect();
    page.rows(&rows);
    page.into_text()
}

/// As JSON.
pub(crate) fn list_json(protocols: &[&Protocol]) -> serde_json::Result<String> {
    let rows: Vec<_> = sorted(protocols).into_iter().map(Row::of).collect();
    Ok(serde_json::to_string_pretty(&rows)? + "\n")
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    groups: Vec<&'static str>,
    ports: &'a [u16],
    rules: Vec<RuleRow<'a>>,
}

#[derive(Serialize)]
struct RuleRow<'a> {
    name: &'a str,
    transport: &'static str,
}

impl<'a> Row<'a> {
    fn of(protocol: &'a Protocol) -> Self {
        let rules = protocol.rules.iter().map(|rule| RuleRow {
            name: rule.name,
            transport: rule.on.name(),
        });
        Self {
            name: protocol.name,
            groups: groups(protocol),
            ports: protocol.ports,
            rules: rules.collect(),
        }
    }
}

fn sorted<'a>(protocols: &[&'a Protocol]) -> Vec<&'a Protocol> {
    let mut protocols = protocols.to_vec();
    protocols.sort_by_key(|one| one.name);
    protocols
}

fn groups(protocol: &Protocol) -> Vec<&'static str> {
    protocol.groups.iter().map(|group| group.name()).collect()
}

fn rule(rule: &ProtocolRule) -> String {
    format!("{} ({})", rule.name, rule.on.name())
}
