//! Records, row by row, from the engine's record batches.

use crate::handle::{Failure, Flowpin, call};
use crate::text::{Text, c_string, optional};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float64Type, Int64Type, TimestampMicrosecondType, TimestampNanosecondType, UInt16Type,
    UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use core::ffi::{CStr, c_char, c_double, c_int, c_void};
use flowpin_engine::{BatchSink, TableSchema};
use std::cell::RefCell;
use std::ffi::CString;
use std::ptr;

/// `flowpin_on_record`.
pub type OnRecord = unsafe extern "C" fn(user: *mut c_void, record: *const Record<'_>) -> c_int;

/// `flowpin_record`.
#[derive(Debug)]
pub struct Record<'a> {
    kind: &'a Kind,
    batch: &'a RecordBatch,
    row: usize,
    /// Texts that were made for this record: they stay until it is done.
    made: RefCell<Vec<Box<str>>>,
}

/// A kind of records.
#[derive(Debug)]
struct Kind {
    number: usize,
    name: CString,
    columns: Vec<CString>,
}

/// `enum flowpin_type`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Nothing.
    None,
    /// Yes or no.
    Bool,
    /// A whole number.
    Int,
    /// Any number.
    Double,
    /// Nanoseconds since 1970.
    Time,
    /// Text.
    Text,
    /// Several values.
    List,
}

/// Who takes the rows, and hands them on one by one.
struct Calls {
    kinds: Vec<Kind>,
    on_record: OnRecord,
    user: *mut c_void,
}

// SAFETY: the header says that a thread of the run calls, one at a time; what `user` points to is
// the program's.
unsafe impl Send for Calls {}

impl BatchSink for Calls {
    fn wants(&self, table: usize) -> bool {
        self.kinds.iter().any(|kind| kind.number == table)
    }

    fn take(&mut self, table: usize, batch: RecordBatch) -> bool {
        let Some(kind) = self.kinds.iter().find(|kind| kind.number == table) else {
            return true;
        };
        (0..batch.num_rows()).all(|row| {
            let record = Record {
                kind,
                batch: &batch,
                row,
                made: RefCell::default(),
            };
            // SAFETY: the program's own function, called as the header says.
            let code = unsafe { (self.on_record)(self.user, &raw const record) };
            code == 0
        })
    }
}

/// The kinds that are wanted.
fn kinds(tables: Vec<TableSchema>, wanted: Option<&str>) -> Result<Vec<Kind>, Failure> {
    let names: Option<Vec<_>> = wanted.map(|names| names.split(',').map(str::trim).collect());
    for name in names.iter().flatten() {
        if tables.iter().all(|table| table.name != *name) {
            let all: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
            let line = format!(
                "there are no records `{name}`; there are {}",
                all.join(", ")
            );
            return Err(Failure::usage(line));
        }
    }
    let is_wanted = |table: &TableSchema| {
        names
            .as_ref()
            .is_none_or(|names| names.contains(&&*table.name))
    };
    let kind = |table: TableSchema| Kind {
        number: table.number,
        name: c_string(&table.name),
        columns: (table.schema.fields().iter())
            .map(|field| c_string(field.name()))
            .collect(),
    };
    Ok(tables.into_iter().filter(is_wanted).map(kind).collect())
}

/// Runs all stages, and calls for each record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_records(
    run: *mut Flowpin,
    wanted: *const c_char,
    on_record: Option<OnRecord>,
    user: *mut c_void,
) -> c_int {
    let records = |run: &Flowpin| {
        // SAFETY: the caller hands over text that ends in a zero, or NULL.
        let wanted = unsafe { optional(wanted, "the kinds of records") }?;
        let on_record = on_record.ok_or_else(|| Failure::usage("no function for records"))?;
        let plan = run.plan()?;
        let calls = Calls {
            kinds: kinds(flowpin_engine::tables(&plan), wanted)?,
            on_record,
            user,
        };
        let report = flowpin_engine::run_batches(&plan, Box::new(calls), run.control(), &())?;
        let inputs = report.inputs.iter();
        Failure::of_damage(inputs.map(|input| (&*input.path, input.damage.as_deref())))
    };
    // SAFETY: the caller hands over a run.
    unsafe { call(run, records) }
}

impl Record<'_> {
    fn column(&self, column: c_int) -> Option<&ArrayRef> {
        let column = usize::try_from(column).ok()?;
        self.batch.columns().get(column)
    }

    /// The value, if there is one.
    fn value(&self, column: c_int) -> Option<&ArrayRef> {
        self.column(column).filter(|array| array.is_valid(self.row))
    }

    fn keep(&self, text: String) -> Text {
        let text = text.into_boxed_str();
        // The text stays where it is when the list grows.
        let kept = Text::of(&text);
        self.made.borrow_mut().push(text);
        kept
    }
}

fn type_of(data: &DataType) -> Type {
    match data {
        DataType::Boolean => Type::Bool,
        DataType::Int64 | DataType::UInt64 | DataType::UInt16 => Type::Int,
        DataType::Float64 => Type::Double,
        DataType::Timestamp(..) => Type::Time,
        DataType::List(_) => Type::List,
        _ => Type::Text,
    }
}

fn int_of(array: &ArrayRef, row: usize) -> i64 {
    match array.data_type() {
        DataType::Boolean => array.as_boolean().value(row).into(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row),
        DataType::UInt64 => {
            let value = array.as_primitive::<UInt64Type>().value(row);
            i64::try_from(value).unwrap_or(i64::MAX)
        }
        DataType::UInt16 => array.as_primitive::<UInt16Type>().value(row).into(),
        #[expect(clippy::cast_possible_truncation, reason = "the number nearest to it")]
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row) as i64,
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let value = array.as_primitive::<TimestampMicrosecondType>().value(row);
            value.saturating_mul(1_000)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            array.as_primitive::<TimestampNanosecondType>().value(row)
        }
        _ => 0,
    }
}

#[expect(clippy::cast_precision_loss, reason = "a number for people")]
fn double_of(array: &ArrayRef, row: usize) -> f64 {
    match array.data_type() {
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row),
        _ => int_of(array, row) as f64,
    }
}

/// A value as JSON, or as itself if it is text alone.
fn write(array: &ArrayRef, row: usize, within: bool, out: &mut String) {
    use core::fmt::Write;
    if array.is_null(row) {
        out.push_str(if within { "null" } else { "" });
        return;
    }
    // Writing to a string does not fail.
    let _ = match array.data_type() {
        DataType::Utf8 if within => {
            quote(array.as_string::<i32>().value(row), out);
            Ok(())
        }
        DataType::Utf8 => write!(out, "{}", array.as_string::<i32>().value(row)),
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(row)),
        DataType::Float64 => write!(out, "{}", double_of(array, row)),
        DataType::List(_) => {
            let members = array.as_list::<i32>().value(row);
            out.push('[');
            for member in 0..members.len() {
                if member > 0 {
                    out.push(',');
                }
                write(&members, member, true, out);
            }
            out.push(']');
            Ok(())
        }
        _ => write!(out, "{}", int_of(array, row)),
    };
}

/// A JSON string (RFC 8259, section 7).
fn quote(text: &str, out: &mut String) {
    use core::fmt::Write;
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\0'..='\x1f' => {
                let _ = write!(out, "\\u{:04x}", u32::from(letter));
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
}

/// The kind of a record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_kind(record: *const Record<'_>) -> *const c_char {
    // SAFETY: the caller hands over the record that it was called with.
    let record = unsafe { record.as_ref() };
    record.map_or(c"".as_ptr(), |record| record.kind.name.as_ptr())
}

/// How many columns it has.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_columns(record: *const Record<'_>) -> c_int {
    // SAFETY: the caller hands over the record that it was called with.
    let record = unsafe { record.as_ref() };
    record.map_or(0, |record| {
        c_int::try_from(record.kind.columns.len()).unwrap_or(c_int::MAX)
    })
}

/// A column's name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_column_name(
    record: *const Record<'_>,
    column: c_int,
) -> *const c_char {
    // SAFETY: the caller hands over the record that it was called with.
    let record = unsafe { record.as_ref() };
    let column = usize::try_from(column).ok();
    let name = record
        .zip(column)
        .and_then(|(record, column)| record.kind.columns.get(column));
    name.map_or(ptr::null(), |name| name.as_ptr())
}

/// A column's number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_column(record: *const Record<'_>, name: *const c_char) -> c_int {
    // SAFETY: the caller hands over the record that it was called with.
    let record = unsafe { record.as_ref() };
    if name.is_null() {
        return -1;
    }
    // SAFETY: not NULL, and the caller hands over text that ends in a zero.
    let name = unsafe { CStr::from_ptr(name) };
    let of = |record: &Record<'_>| record.kind.columns.iter().position(|one| **one == *name);
    let found = record.and_then(of).and_then(|at| c_int::try_from(at).ok());
    found.unwrap_or(-1)
}

/// What a column holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_get_type(record: *const Record<'_>, column: c_int) -> Type {
    // SAFETY: the caller hands over the record that it was called with.
    let record = unsafe { record.as_ref() };
    let value = record.and_then(|record| record.value(column));
    value.map_or(Type::None, |array| type_of(array.data_type()))
}

/// Its value as a whole number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_get_int(record: *const Record<'_>, column: c_int) -> i64 {
    // SAFETY: the caller hands over the record that it was called with.
    let record = unsafe { record.as_ref() };
    let value = record.and_then(|record| Some((record.value(column)?, record.row)));
    value.map_or(0, |(array, row)| int_of(array, row))
}

/// Its value as a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_get_double(record: *const Record<'_>, column: c_int) -> c_double {
    // SAFETY: the caller hands over the record that it was called with.
    let record = unsafe { record.as_ref() };
    let value = record.and_then(|record| Some((record.value(column)?, record.row)));
    value.map_or(0.0, |(array, row)| double_of(array, row))
}

/// Its value as text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_get_text(record: *const Record<'_>, column: c_int) -> Text {
    // SAFETY: the caller hands over the record that it was called with.
    let Some(record) = (unsafe { record.as_ref() }) else {
        return Text::of("");
    };
    match record.value(column) {
        None => Text::of(""),
        Some(array) if array.data_type() == &DataType::Utf8 => {
            Text::of(array.as_string::<i32>().value(record.row))
        }
        Some(array) => {
            let mut text = String::new();
            write(array, record.row, false, &mut text);
            record.keep(text)
        }
    }
}
