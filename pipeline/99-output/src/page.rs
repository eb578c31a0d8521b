//! The page of the documentation that lists every field of every format.

use crate::format::{EVE_FIELDS, flat_name};
use core::fmt::Write;
use flowpin_record::{
    AnomalyRecord, ConnRow, FloodRecord, RecordType, Row, ScanRecord, TunnelRecord,
};

/// The page as Markdown, made from the tables that the writers use.
pub fn records_page() -> String {
    let mut page = String::from(INTRODUCTION);
    for record_type in RecordType::ALL {
        let stem = record_type.file_stem();
        let _ = writeln!(page, "\n## `{stem}`\n\n{}\n", record_type.description());
        match record_type {
            RecordType::Conn => put_table::<ConnRow>(&mut page),
            RecordType::ConnLong => page += "The columns of `conn`.\n",
            RecordType::Anomaly => put_table::<AnomalyRecord>(&mut page),
            RecordType::Tunnel => put_table::<TunnelRecord>(&mut page),
            RecordType::Scan => put_table::<ScanRecord>(&mut page),
            RecordType::Flood => put_table::<FloodRecord>(&mut page),
        }
    }
    page += EVE;
    for (event_type, fields) in EVE_FIELDS {
        let _ = writeln!(
            page,
            "\n### `{event_type}`\n\n| field | meaning |\n| --- | --- |"
        );
        for (path, meaning) in *fields {
            let _ = writeln!(page, "| `{path}` | {meaning} |");
        }
    }
    page
}

fn put_table<R: Row>(page: &mut String) {
    *page += "| Zeek TSV and JSON | CSV and Parquet | Zeek type | Parquet type | meaning |\n";
    *page += "| --- | --- | --- | --- | --- |\n";
    for column in R::COLUMNS {
        let zeek = if column.zeek {
            format!("`{}`", column.name)
        } else {
            String::new()
        };
        let (flat, kind) = (flat_name(column), column.kind);
        let _ = writeln!(
            page,
            "| {zeek} | `{flat}` | {} | {} | {} |",
            kind.zeek_name(),
            kind.parquet_name(),
            column.doc
        );
    }
}

const INTRODUCTION: &str = "\
# Records

<!-- @generated from the tables in `foundation/record` and `pipeline/99-output`:
     cargo run -p flowpin-output --example records_page > docs/user/records.md -->

Every format is written from one definition of each record. Records come in the order of stream
time, the same for any number of workers; each type has one file, but for EVE JSON, where
`eve.json` has all.

| `--format` | files | notes |
| --- | --- | --- |
| `eve` | `eve.json` | as Suricata writes it; our own fields under `flowpin` |
| `zeek` | `conn.log`, … | tabs, Zeek's header; `#open` and `#close` are the stream times of \
the first and last record |
| `zeek-json` | `conn.json`, … | unset columns are left out |
| `csv` | `conn.csv`, … | RFC 4180 with a header line, lines end in LF; times in RFC 3339 with \
nanoseconds, intervals in seconds; unset is empty; sets separated by spaces |
| `parquet` | `conn.parquet`, … | zstd; row groups of 131,072 records; readable while it is \
written; sets as in CSV |

`--output -` writes EVE JSON to standard output instead. Figures about the run itself stand in
`stats.json`, since they may differ between runs.

Rotated files carry the start of their interval (stream time, UTC) or a number in their names:
`conn-2024-02-29T12-00-00Z.log`, `conn-000001.log`, or both. A text file is rotated before it grows
past the limit by a record; Parquet looks every 4,096 records. The limit over all files stops
writing and is counted as `records_over_limit`.

If a file cannot be written any further, it is cut back to its last whole record (Parquet: row
group), the other files are ended properly, and the run fails with one line that says what to do.
";

const EVE: &str = "
## EVE JSON

Fields that do not apply are left out. IPv6 addresses are written in full, as Suricata does.
";
