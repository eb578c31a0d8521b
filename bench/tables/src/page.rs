//! The page about performance: every table of some records, with pictures.

use crate::lab::Machine;
use crate::table::{Table, markdown};
use crate::{draw, write_file};
use anyhow::{Context, Result};
use flowpin_disk::{Existing, Reads};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Tables that were measured together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) machine: Machine,
    pub(crate) tables: Vec<Table>,
}

const HEAD: &str = "# Performance\n\n\
    Made by `bench/performance`; do not edit. Figures are medians, with the least and the most of \
    the rounds; a dash is what was not published, or cannot be measured here. Rates are of whole \
    runs by the clock, files in the page cache. *Theirs* are the papers' figures, on machines of \
    2008 to 2011: they show where the time went then and goes now, not whose program is better.\n";

/// Writes `performance.md` and the pictures, over those of before: they are made of records alone.
///
/// # Errors
/// A record that cannot be read, a file that cannot be written.
pub(crate) fn write(records: &[PathBuf], docs: &Path) -> Result<()> {
    let mut text = String::from(HEAD);
    let mut reads = Reads::default();
    records.iter().for_each(|path| reads.add_path(path));
    for path in records {
        let name = path.display().to_string();
        let json = fs::read_to_string(path).with_context(|| name.clone())?;
        let record: Record = serde_json::from_str(&json).context(name)?;
        text.push_str(&format!("\n## Measured on {}\n", record.machine.date));
        text.push_str(&format!("\n{}\n", record.machine.text()));
        for table in &record.tables {
            draw(&docs.join("performance"), table, Existing::Replace, &reads)?;
            text.push_str(&format!("\n{}", markdown(table)));
            if !table.drawn.is_empty() {
                let (title, name) = (&table.title, &table.name);
                text.push_str(&format!("\n![{title}](performance/{name}.svg)\n"));
            }
        }
    }
    let path = docs.join("performance.md");
    write_file(&path, &text, Existing::Replace, &reads)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All tables of all records are on the page, each with its picture.
    #[test]
    fn a_page_holds_every_table() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = Table::new("one", "One table", "Nobody's", "row")
            .ours("speed", "Mpps")
            .draw(&[0]);
        table.row("a", vec![1.0.into()]);
        let record = Record {
            machine: Machine::now(),
            tables: vec![table],
        };
        let path = folder.path().join("record.json");
        fs::write(&path, serde_json::to_string(&record).unwrap()).unwrap();
        write(&[path], folder.path()).unwrap();
        let page = fs::read_to_string(folder.path().join("performance.md")).unwrap();
        assert!(page.contains("### One table") && page.contains("performance/one.svg"));
        assert!(page.contains(&record.machine.date), "{page}");
        assert!(folder.path().join("performance/one.svg").exists());
    }
}
