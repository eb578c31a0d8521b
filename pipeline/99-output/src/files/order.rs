//! Logs that are divided among files: their names, and in which order their records come.
//!
//! ```text
//!  eve.1of4.json … eve.4of4.json     a connection's records are in one of them
//!  eve.json.order                    #order 4
//!                                    b        a record of the second file
//!                                    a3       then three of the first
//! ```
//!
//! With the order the files make the one log that they would have been, byte for byte.

use super::FileInfo;
use super::frames::Frame;
use super::rotation::Rotation;
use super::storage::Storage;
use super::text_log::TextLog;
use crate::OutputError;
use flowpin_config::OutputPlan;
use flowpin_packet::Timestamp;
use std::fmt::Write;

/// How a file with an order begins.
pub(super) const BEGINNING: &[u8] = b"#order ";

/// How its name ends.
pub(crate) const SUFFIX: &str = ".order";

/// The stem of the log to which a file of this stem belongs: `eve` of `eve.1of4`.
pub(super) fn whole(stem: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
    let divided = stem.rsplit_once('.').filter(|(_, part)| {
        let numbers = part.split_once("of");
        numbers.is_some_and(|(number, count)| is_number(number) && is_number(count))
    });
    divided.map_or(stem, |(whole, _)| whole)
}

/// The stem of one of a log's files; `part` from 0.
pub(crate) fn part_stem(stem: &str, part: usize, count: u16) -> String {
    format!("{stem}.{}of{count}", part + 1)
}

/// A line of an order: the file, from 0, and how many records of it come.
pub(crate) fn run_of(line: &[u8]) -> Option<(usize, u64)> {
    let (letter, count) = line.split_first()?;
    let part = letter.checked_sub(b'a')?.into();
    if count.is_empty() {
        return Some((part, 1));
    }
    let count = std::str::from_utf8(count).ok()?;
    let is_number = count.bytes().all(|one| one.is_ascii_digit());
    let count = count.parse().ok().filter(|&count| count > 0)?;
    is_number.then_some((part, count))
}

/// How many files the log of an order has, by its first line.
pub(crate) fn count_of(line: &[u8]) -> Option<u16> {
    let count = line.strip_prefix(BEGINNING)?;
    let count = std::str::from_utf8(count).ok()?.parse().ok()?;
    (2..=OutputPlan::FILES_MAX)
        .contains(&count)
        .then_some(count)
}

/// The letter of a file; `part` from 0.
fn letter(part: usize) -> char {
    let letter = u8::try_from(part)
        .ok()
        .and_then(|part| b'a'.checked_add(part));
    char::from(letter.unwrap_or(b'?'))
}

/// The file with the order of a divided log.
pub(super) struct Order {
    log: TextLog,
    /// The file of the last records, and how many they are.
    run: Option<(usize, u64)>,
    time: Timestamp,
    line: String,
}

impl Order {
    pub(super) fn new(rotation: Rotation, count: u16) -> Self {
        let head = format!("#order {count}\n").into_bytes();
        let frame = Frame {
            header: Box::new(move |_| head.clone()),
            footer: |_| Vec::new(),
        };
        Self {
            log: TextLog::new(frame, rotation),
            run: None,
            time: Timestamp::default(),
            line: String::new(),
        }
    }

    /// Creates the file now.
    pub(super) fn create_early(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        self.log.create_early(storage)
    }

    /// The next record is in the file `part`.
    pub(super) fn put(
        &mut self,
        storage: &mut dyn Storage,
        time: Timestamp,
        part: usize,
    ) -> Result<(), OutputError> {
        if let Some((same, count)) = &mut self.run
            && *same == part
        {
            *count += 1;
            return Ok(());
        }
        self.end_run(storage)?;
        self.run = Some((part, 1));
        self.time = time;
        Ok(())
    }

    fn end_run(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        let Some((part, count)) = self.run.take() else {
            return Ok(());
        };
        self.line.clear();
        self.line.push(letter(part));
        if count > 1 {
            // Text in memory takes what it gets.
            let _ = write!(self.line, "{count}");
        }
        self.line.push('\n');
        self.log.write(storage, self.time, self.line.as_bytes())
    }

    pub(super) fn flush(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        self.end_run(storage)?;
        self.log.flush()
    }

    pub(super) fn reopen(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        self.end_run(storage)?;
        self.log.reopen(storage)
    }

    pub(super) fn close(&mut self, storage: &mut dyn Storage) -> Result<(), OutputError> {
        let ended = self.end_run(storage);
        ended.and(self.log.close())
    }

    /// Its files, in the order in which they were begun.
    pub(super) fn files(&self) -> impl Iterator<Item = &FileInfo> {
        self.log.files()
    }
}
