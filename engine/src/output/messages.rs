//! The kinds of messages that a run may write records of.

use crate::error::RunError;
use crate::run::stage_options;
use crate::worker::netflow::NETFLOW;
use crate::worker::parse::registry;
use flowpin_config::{Format, Plan};
use flowpin_data_channels::FTP_DATA;
use flowpin_detect::ALERT;
use flowpin_output::{MessageSchemas, TableSchema};
use std::collections::BTreeSet;

/// The schemas of all parsers: grammars last, parts of messages after the messages.
pub(crate) fn schemas(plan: &Plan) -> MessageSchemas {
    let netflow = plan.output.netflow.then_some(&NETFLOW);
    if !plan.parse.enabled {
        return MessageSchemas::new(netflow);
    }
    let setup = stage_options::parsers(plan);
    let mut all = registry::schemas(&setup);
    all.push((false, &FTP_DATA));
    if plan.rules.loaded.is_some() {
        all.push((false, &ALERT));
    }
    all.sort_by_key(|&(is_grammar, schema)| (is_grammar, schema.part_of.is_some()));
    let all = all.into_iter().map(|(_, schema)| schema);
    MessageSchemas::new(all.chain(netflow))
}

/// The tables of a plan's run, in the order of their numbers.
pub(crate) fn tables(plan: &Plan) -> Vec<TableSchema> {
    TableSchema::all(&schemas(plan), plan.output.parquet_time)
}

/// The plan with rows for tables as its only records. They have the memory that the rows of Parquet
/// files have, so that they are the same rows.
pub(crate) fn in_tables(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    plan.output.formats = vec![Format::Parquet];
    (plan.output.to_stdout, plan.output.stream) = (false, None);
    plan
}

/// The names of the messages of built-in parsers and of their files: grammars may not take them.
pub(crate) fn names_of_parsers() -> BTreeSet<String> {
    let mut plan = Plan::default();
    plan.files.decode = true;
    let setup = stage_options::parsers(&plan);
    let all = registry::schemas(&setup).into_iter();
    let own = all.filter(|(is_grammar, _)| !is_grammar);
    own.map(|(_, schema)| schema)
        .chain([&FTP_DATA, &ALERT, &NETFLOW])
        .flat_map(|schema| [&schema.name, &schema.file_stem])
        .map(|name| name.to_string())
        .collect()
}

/// The schemas of all parsers, enabled or not: an earlier run may have had others enabled.
pub(crate) fn all_schemas(plan: &Plan) -> MessageSchemas {
    let mut plan = plan.clone();
    plan.parse.enabled = true;
    plan.files.decode = true;
    plan.output.netflow = true;
    plan.rules.loaded.get_or_insert_default();
    schemas(&plan)
}

/// Checks that all protocols of `--parse` have a parser.
///
/// # Errors
/// The first protocol without a parser, and those that have one.
pub(crate) fn check(plan: &Plan) -> Result<(), RunError> {
    let setup = stage_options::parsers(plan);
    let mut known = registry::names(&setup);
    let mut asked = plan.parse.protocols.iter();
    match asked.find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            known.sort_unstable();
            known.dedup();
            Err(RunError::NoSuchParser {
                name: name.clone(),
                known: known.into_iter().map(str::to_owned).collect(),
            })
        }
    }
}

/// The page of the documentation that lists every field of every format: `docs/user/records.md`.
pub fn records_page() -> String {
    let mut plan = Plan::default();
    plan.parse.all_fields = true;
    plan.parse.roots = Some("system".into());
    plan.output.netflow = true;
    plan.files.decode = true;
    plan.rules.loaded.get_or_insert_default();
    flowpin_output::records_page(&schemas(&plan))
}

#[cfg(test)]
mod tests {
    use super::names_of_parsers;

    /// A grammar with such a message would write into another parser's files.
    #[test]
    fn names_of_records_are_those_of_every_schema() {
        let names = names_of_parsers();
        let known = [
            "alert", "dns", "dns_log", "fileinfo", "files", "fix", "ftp", "ftp_data", "ftp_log",
            "http", "llmnr", "mdns", "quic", "ssl", "tls",
        ];
        for name in known {
            assert!(names.contains(name), "{name}");
        }
        assert!(
            !names.contains("smtp") && !names.contains("redis"),
            "{names:?}"
        );
    }
}
