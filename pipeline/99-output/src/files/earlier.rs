//! Which files of a directory are logs of an earlier run, by their names.
//!
//! A run's logs belong together: one of before beside those of now would be taken for one of them.
//! So they keep a run from beginning, or make way for it.

use super::{order, rotation};
use crate::OutputError;
use crate::format::Formats;
use flowpin_config::OutputPlan;
use flowpin_disk::{Existing, Reads, earlier, named, read_head};
use flowpin_record::RecordType;
use std::path::{Path, PathBuf};

/// What an earlier run left in the directory for logs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Earlier {
    /// In the formats of this run: replaced.
    pub replaced: Vec<PathBuf>,
    /// In other formats: left.
    pub left: Vec<PathBuf>,
}

impl Earlier {
    /// Looks at the directory of `plan`. `stems`: the names of all kinds of messages' logs.
    pub(super) fn find(
        plan: &OutputPlan,
        stems: &[String],
        reads: &Reads,
    ) -> Result<Self, OutputError> {
        let formats = Formats::of(plan);
        if plan.is_one_place() || plan.has_bucket() || !formats.any() {
            return Ok(Self::default());
        }
        let existing = if plan.replace {
            Existing::Replace
        } else {
            Existing::Refuse
        };
        let replaced = earlier(&plan.dir, existing, reads, |name| {
            extension(name, stems).is_some_and(|extension| writes(formats, extension))
        })?;
        let left = others(&plan.dir, |name| {
            extension(name, stems).is_some_and(|extension| !writes(formats, extension))
        });
        match left.first() {
            Some(path) if !plan.replace => Err(OutputError::OtherRun { path: path.clone() }),
            _ => Ok(Self { replaced, left }),
        }
    }
}

/// Logs that this run does not write. They only stand beside: what is none after all by its first
/// bytes does not matter, nor what cannot be read.
fn others(directory: &Path, is_log: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let found = named(directory, is_log).unwrap_or_default();
    found
        .into_iter()
        .filter(|path| begins_as_log(path))
        .collect()
}

fn begins_as_log(path: &Path) -> bool {
    let first = read_head(path, 16).unwrap_or_default();
    BEGINNINGS.iter().any(|begin| first.starts_with(begin))
}

/// How EVE, Zeek's JSON, Zeek's logs, CSV, Parquet and orders begin.
const BEGINNINGS: [&[u8]; 6] = [
    b"{\"timestamp\":",
    b"{\"ts\":",
    b"#separator",
    b"ts,",
    b"PAR1",
    order::BEGINNING,
];

fn writes(formats: Formats, extension: Extension) -> bool {
    match extension {
        Extension::Eve => formats.eve,
        Extension::Json => formats.zeek_json,
        Extension::Log => formats.zeek_tsv,
        Extension::Csv => formats.csv,
        Extension::Parquet => formats.parquet,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extension {
    /// `eve.json`, which has all types.
    Eve,
    Json,
    Log,
    Csv,
    Parquet,
}

/// Which format's log a name is, rotated or not, if it is one.
fn extension(name: &str, stems: &[String]) -> Option<Extension> {
    let name = name.strip_suffix(order::SUFFIX).unwrap_or(name);
    let (stem, ending) = name.rsplit_once('.')?;
    let stem = rotation::stem(order::whole(stem));
    let is_table = |one: &RecordType| one.file_stem() == stem;
    let is_known =
        RecordType::TABLES.iter().any(is_table) || stems.iter().any(|known| known == stem);
    match ending {
        "json" if stem == "eve" => Some(Extension::Eve),
        "json" if is_known => Some(Extension::Json),
        "log" if is_known => Some(Extension::Log),
        "csv" if is_known => Some(Extension::Csv),
        "parquet" if is_known => Some(Extension::Parquet),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Extension, extension};

    /// Names of logs, of all ways to rotate them; and names that only look alike.
    #[test]
    fn logs_are_known_by_their_names() {
        let stems = ["http".to_owned()];
        for (name, expected) in [
            ("eve.json", Some(Extension::Eve)),
            ("eve-000017.json", Some(Extension::Eve)),
            ("conn.log", Some(Extension::Log)),
            ("conn_long.csv", Some(Extension::Csv)),
            ("http-2024-02-29T12-00-00Z.json", Some(Extension::Json)),
            (
                "http-2024-02-29T12-00-00Z-000001.parquet",
                Some(Extension::Parquet),
            ),
            ("http-1000000.log", Some(Extension::Log)),
            ("eve.1of4.json", Some(Extension::Eve)),
            ("eve.json.order", Some(Extension::Eve)),
            ("conn.12of16.log", Some(Extension::Log)),
            ("conn.csv.order", Some(Extension::Csv)),
            ("eve.of4.json", None),
            ("eve.1of.json", None),
            ("eve.order", None),
            ("eve.json.1", None),
            ("eve.log", None),
            ("http-00001.log", None),
            ("http-2024.log", None),
            ("my-conn.log", None),
            ("conn-old.log", None),
            ("smtp.log", None),
            ("conn", None),
        ] {
            assert_eq!(extension(name, &stems), expected, "{name}");
        }
    }
}
