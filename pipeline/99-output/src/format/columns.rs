//! The formats that go by columns: Zeek TSV, Zeek JSON, CSV. The schema's table drives them.

use crate::text::{DateCache, Line, zeek_header_time};
use flowpin_packet::Timestamp;
use flowpin_record::{Column, Kind, Row, Value};

/// Appends a record as Zeek writes it, separated by tabs.
pub(super) fn zeek_tsv<R: Row>(line: &mut Line<'_>, row: &R) {
    let mut separate = false;
    for column in R::COLUMNS.iter().filter(|column| column.logs.in_zeek()) {
        if separate {
            line.put(b"\t");
        }
        separate = true;
        match (column.value)(row) {
            Value::Unset => line.put(b"-"),
            Value::Bool(value) => line.put(if value { b"T" } else { b"F" }),
            value => put_plain(line, value, b","),
        }
    }
    line.put(b"\n");
}

/// Appends a record as Zeek's JSON writer has it: unset columns are left out.
pub(super) fn zeek_json<R: Row>(line: &mut Line<'_>, row: &R) {
    let mut separator = b"{\"";
    for column in R::COLUMNS.iter().filter(|column| column.logs.in_zeek()) {
        let value = (column.value)(row);
        if value == Value::Unset {
            continue;
        }
        line.put(separator);
        separator = b",\"";
        line.put_str(column.name);
        line.put(b"\":");
        match (column.kind, value) {
            (_, Value::Bool(value)) => line.put_bool(value),
            (Kind::PortSet, value) => {
                line.put(b"[");
                put_plain(line, value, b",");
                line.put(b"]");
            }
            (Kind::UidSet | Kind::AddressSet | Kind::TextSet, value) => {
                line.put(b"[\"");
                put_plain(line, value, b"\",\"");
                line.put(b"\"]");
            }
            (Kind::Text | Kind::Enum | Kind::Address, value) => {
                line.put(b"\"");
                put_plain(line, value, b"");
                line.put(b"\"");
            }
            (_, value) => put_plain(line, value, b""),
        }
    }
    line.put(b"}\n");
}

/// Appends a record as comma-separated values: all columns, nothing where one is unset.
pub(super) fn csv<R: Row>(line: &mut Line<'_>, dates: &mut DateCache, row: &R) {
    let mut separate = false;
    for column in R::COLUMNS.iter().filter(|column| column.logs.in_tables()) {
        if separate {
            line.put(b",");
        }
        separate = true;
        match (column.value)(row) {
            Value::Unset => {}
            Value::Time(time) => line.put_rfc3339_time(dates, time),
            Value::Interval(nanos) => line.put_seconds_nanos(nanos),
            Value::Bool(value) => line.put_bool(value),
            value @ Value::Words(_) => {
                line.put(b"\"");
                put_plain(line, value, b" ");
                line.put(b"\"");
            }
            value => put_plain(line, value, b" "),
        }
    }
    line.put(b"\n");
}

/// A value as both of Zeek's writers have it; `separator` between the members of a set. No text of
/// ours needs an escape (see [`Value`]).
fn put_plain<const N: usize>(line: &mut Line<'_>, value: Value<'_>, separator: &[u8; N]) {
    match value {
        Value::Unset | Value::Bool(_) => {}
        Value::Time(Timestamp(nanos)) | Value::Interval(nanos) => line.put_seconds_micros(nanos),
        Value::Text(text) => line.put_str(text),
        Value::Words([first, second]) => {
            line.put_str(first);
            line.put(b",");
            line.put_str(second);
        }
        Value::Uid(uid) => line.put(&uid.text()),
        Value::CommunityId(id) => line.put_community_id(&id),
        Value::Address(address) => line.put_address(address),
        Value::Port(port) => line.put_u64(u64::from(port)),
        Value::Count(count) => line.put_u64(count),
        Value::Addresses(addresses) => {
            for (index, &address) in addresses.iter().enumerate() {
                if index > 0 {
                    line.put(separator);
                }
                line.put_address(address);
            }
        }
        Value::Ports(ports) => {
            for (index, &port) in ports.iter().enumerate() {
                if index > 0 {
                    line.put(separator);
                }
                line.put_u64(u64::from(port));
            }
        }
        Value::Names(names) => {
            for (index, name) in names.iter().enumerate() {
                if index > 0 {
                    line.put(separator);
                }
                line.put_str(name);
            }
        }
        Value::Bytes(_) | Value::Int(_) | Value::List(_) | Value::File(_) => {
            debug_assert!(false, "only messages have such values");
        }
    }
}

/// The lines above the first record of a file in Zeek's format.
pub(crate) fn zeek_header<R: Row>(path: &str, open: Timestamp) -> Vec<u8> {
    let columns = R::COLUMNS.iter().filter(|column| column.logs.in_zeek());
    let columns: Vec<_> = columns.map(|column| (column.name, column.kind)).collect();
    zeek_header_of(&columns, path, open)
}

/// Likewise, of columns by name and kind.
pub(crate) fn zeek_header_of(columns: &[(&str, Kind)], path: &str, open: Timestamp) -> Vec<u8> {
    let names: Vec<_> = columns.iter().map(|&(name, _)| name).collect();
    let types: Vec<_> = columns.iter().map(|(_, kind)| kind.zeek_name()).collect();
    let open = zeek_header_time(open);
    let mut header = String::from("#separator \\x09\n#set_separator\t,\n");
    header += "#empty_field\t(empty)\n#unset_field\t-\n#path\t";
    header += path;
    header += "\n#open\t";
    header += core::str::from_utf8(&open).unwrap_or_default();
    header += "\n#fields\t";
    header += &names.join("\t");
    header += "\n#types\t";
    header += &types.join("\t");
    header += "\n";
    header.into_bytes()
}

/// The line below the last record of a file in Zeek's format.
pub(crate) fn zeek_footer(close: Timestamp) -> Vec<u8> {
    [b"#close\t", zeek_header_time(close).as_slice(), b"\n"].concat()
}

/// The first line of a CSV file.
pub(crate) fn csv_header<R: Row>() -> Vec<u8> {
    let columns = R::COLUMNS.iter().filter(|column| column.logs.in_tables());
    let names: Vec<_> = columns.map(flat_name).collect();
    (names.join(",") + "\n").into_bytes()
}

/// A column's name where a dot would have to be quoted: in CSV for R and SQL, in Parquet.
pub(crate) fn flat_name<R>(column: &Column<R>) -> String {
    column.name.replace('.', "_")
}
