//! The page of the documentation that lists every field of every format.

use crate::format::{EVE_FIELDS, MESSAGE_EVE_FIELDS, MessageSchemas};
use core::fmt::Write;
use flowpin_record::{
    AnomalyRecord, ConnRow, FloodRecord, HostPairRecord, Kind, Logs, RecordType, Row, ScanRecord,
    Shown, TunnelRecord,
};

/// The page as Markdown, made from the tables that the writers use, with these kinds of messages.
pub fn records_page(schemas: &MessageSchemas) -> String {
    let mut page = String::from(INTRODUCTION);
    for record_type in RecordType::TABLES {
        let stem = record_type.file_stem();
        let _ = writeln!(page, "\n## `{stem}`\n\n{}\n", record_type.description());
        match record_type {
            RecordType::Conn => put_table::<ConnRow>(&mut page),
            RecordType::ConnLong => page += "The columns of `conn`.\n",
            RecordType::Anomaly => put_table::<AnomalyRecord>(&mut page),
            RecordType::Tunnel => put_table::<TunnelRecord>(&mut page),
            RecordType::Scan => put_table::<ScanRecord>(&mut page),
            RecordType::Flood => put_table::<FloodRecord>(&mut page),
            RecordType::HostPair => put_table::<HostPairRecord>(&mut page),
            RecordType::Message => {}
        }
    }
    put_messages(&mut page, schemas);
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
    put_message_events(&mut page, schemas);
    page
}

/// The columns of messages.
fn put_messages(page: &mut String, schemas: &MessageSchemas) {
    let shown = schemas.iter();
    for ready in shown.filter(|ready| ready.schema.shown != Shown::InEvents) {
        let (stem, doc) = (&ready.schema.file_stem, &ready.schema.doc);
        let _ = writeln!(page, "\n## `{stem}`\n\n{doc}\n");
        *page += TABLE_HEAD;
        for field in &ready.fields {
            let kinds = (field.kind, field.in_parquet);
            put_row(page, &field.name, field.logs, kinds, &field.doc);
        }
    }
}

/// The events of messages: what all have, then what each has.
fn put_message_events(page: &mut String, schemas: &MessageSchemas) {
    if schemas.is_empty() {
        return;
    }
    *page += MESSAGE_EVENTS;
    for (path, meaning) in MESSAGE_EVE_FIELDS {
        let _ = writeln!(page, "| `{path}` | {meaning} |");
    }
    let shown = schemas.iter();
    for ready in
        shown.filter(|ready| !matches!(ready.schema.shown, Shown::InColumns | Shown::InZeek))
    {
        let name = &ready.schema.name;
        let _ = writeln!(page, "\n### `{name}`\n\n| field | meaning |\n| --- | --- |");
        let columns = ready.schema.columns.iter();
        for column in columns.filter(|column| !column.eve.is_empty()) {
            let path = column.eve.split('=').next().unwrap_or_default();
            let _ = writeln!(page, "| `{path}` | {} |", column.doc);
        }
    }
}

fn put_table<R: Row>(page: &mut String) {
    *page += TABLE_HEAD;
    for column in R::COLUMNS {
        put_row(
            page,
            column.name,
            column.logs,
            (column.kind, column.kind),
            column.doc,
        );
    }
}

/// `kinds`: in Zeek's formats, and in Parquet.
fn put_row(page: &mut String, name: &str, logs: Logs, kinds: (Kind, Kind), doc: &str) {
    let quoted = |name: &str, is_there: bool| match is_there {
        true => format!("`{name}`"),
        false => String::new(),
    };
    let zeek = quoted(name, logs.in_zeek());
    let flat = quoted(&name.replace('.', "_"), logs.in_tables());
    let (in_zeek, in_parquet) = (kinds.0.zeek_name(), kinds.1.parquet_name());
    let _ = writeln!(
        page,
        "| {zeek} | {flat} | {in_zeek} | {in_parquet} | {doc} |"
    );
}

const TABLE_HEAD: &str = "\
| Zeek TSV and JSON | CSV and Parquet | Zeek type | Parquet type | meaning |
| --- | --- | --- | --- | --- |
";

const INTRODUCTION: &str = "\
# Records

<!-- @generated from the tables in `foundation/record` and `pipeline/99-output`:
     cargo run -p flowpin-engine --example records_page > docs/user/records.md -->

Every format is written from one definition of each record. Records come in the order of stream
time, the same for any number of workers; each type has one file, but for EVE JSON, where
`eve.json` has all.

| `--format` | files | notes |
| --- | --- | --- |
| `eve` | `eve.json` | as Suricata 8 writes it; our own fields under `flowpin` |
| `zeek` | `conn.log`, … | tabs, Zeek's header; `#open` and `#close` are the stream times of \
the first and last record |
| `zeek-json` | `conn.json`, … | unset columns are left out |
| `csv` | `conn.csv`, … | RFC 4180 with a header line, lines end in LF; times in RFC 3339 with \
nanoseconds, intervals in seconds; unset is empty; sets separated by spaces |
| `parquet` | `conn.parquet`, … | zstd; row groups of 131,072 records, fewer with little \
`--memory`; readable while it is written; sets and lists are lists, times microseconds in UTC, \
intervals seconds |

`--output -` writes EVE JSON to standard output instead. Figures about the run itself are no
records, since they may differ between runs: the [summary](summary.md) has them, `--json` as JSON.

Times in Parquet are microseconds, with which DuckDB, Spark, pandas and Polars reckon alike
(`date_trunc('minute', ts)`, `end_ts - ts`); nanoseconds, which Spark refuses and DuckDB does not
reckon with, are there with `[output] parquet_time = \"ns\"`. Counts are unsigned: subtract them as
signed numbers (`orig_bytes::bigint - resp_bytes::bigint` in DuckDB).

Rotated files carry the start of their interval (stream time, UTC) or a number in their names:
`conn-2024-02-29T12-00-00Z.log`, `conn-000001.log`, or both. A text file is rotated before it grows
past the limit by a record; Parquet looks every 4,096 records. The limit over all files stops
writing and is counted as `records_over_limit`.

Text off the wire may be any bytes. UTF-8 is written as it is; other bytes become `\\xHH`, and so
do control characters and separators in Zeek's text (backslashes too, as Zeek does) and control
characters in CSV. In JSON the backslash of `\\xHH` is escaped like any other. Lists of messages are
joined by commas in Zeek's text, by spaces in CSV (spaces inside become `\\x20`), and lists in
Parquet.

Text in CSV is written as it was on the wire, so that it may begin like a formula (`=`, `+`, `-`,
`@`). Programs read it as it is; before you open a file in a spreadsheet, write it with `--csv-safe`
(`[output] csv_safe = true`): such text then has an apostrophe in front, unless it is a number.

The protocol of a connection has Zeek's name in `service` (`ssl`, `ldap_tcp`; where it changed,
both: `smtp,ssl`), Suricata's in `app_proto` (`tls`, `krb5`, `smb`), and ours in `service_name`,
`flowpin.app` (where it is not Suricata's) and the summary. What a tool does not know has our name.

A file has an identifier of its own (`fuid`: `F` and eleven letters and digits), made of its
connection's `uid` and its number there: `files` has it, and `http` in `orig_fuids` and
`resp_fuids`, `smtp` in `fuids`, where bodies are examined. That of `ftp` is unset.

What Zeek's users expect of a name, where it says less than ours or something else, is in Zeek's
logs only: names of oddities, targets with their `%XX` decoded, names in lower case, no ports, sizes
or states of transports that Zeek does not know. They also have a row in `conn` for the UDP
connection around a tunnel; in the other formats the record of the tunnel tells of it, so that sums
over connections count no byte twice. Zeek's `path` of `smtp` is not there.

If a file cannot be written any further, it is cut back to its last whole record (Parquet: row
group), the other files are ended properly, and the run fails with one line that says what to do.
";

const EVE: &str = "
## EVE JSON

Fields that do not apply are left out. IPv6 addresses are written in full, as Suricata does.

The fields of event types that Suricata has are those of its own schema (`etc/schema.json`, version
8), with its types, but for the object `flowpin`, which its schema does not know. Event types of our
own (`flow_interim`, `tunnel`, `scan`, `flood`, `host_pair`, `llmnr`, `fix`, `redis`, and those of
your grammars) are not in it. Of mDNS Suricata tells only names; the rest of our records stands in
`flowpin`, in the same order (`flowpin.answers[0]` belongs to `mdns.answers[0]`).
";

const MESSAGE_EVENTS: &str = "
### All messages of application protocols

| field | meaning |
| --- | --- |
";
