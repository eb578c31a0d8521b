//! Logs that were divided among files, made one again.
//!
//! ```text
//!  eve.json.order ──► whose record comes next
//!  eve.1of2.json ─┐        │
//!  eve.2of2.json ─┴────────┴──► eve.json     as a run without `--output-files` writes it
//! ```
//!
//! Guarantees that nothing is kept but whole logs: if a record is missing, or left, there is none.

use crate::files::order::{SUFFIX, count_of, part_stem, run_of};
use flowpin_disk::{Existing, Identity, Output, Reads, Refused, named, open_to_read};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// A log that is one file again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Where it is.
    pub path: PathBuf,
    /// How many records it has.
    pub records: u64,
    /// Of how many files it was made.
    pub files: usize,
}

/// Why a log could not be made.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// No orders are there.
    #[error("{}: no log is divided there (with `--output-files`, each has an order: *{SUFFIX})",
        .0.display())]
    NoOrder(PathBuf),
    /// A directory or file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of an order says nothing.
    #[error("{}:{line}: no order of a divided log (a letter and a number)", path.display())]
    Line {
        /// The order.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
    },
    /// A file has fewer records than its order.
    #[error(
        "{} has {records} records and its order more: the run was cut short, or files of two runs \
         are mixed", path.display()
    )]
    TooFew {
        /// The file.
        path: PathBuf,
        /// How many it has.
        records: u64,
    },
    /// A file has more records than its order.
    #[error(
        "{} has more than the {records} records of its order: the run was cut short, or files of \
         two runs are mixed", path.display()
    )]
    TooMany {
        /// The file.
        path: PathBuf,
        /// How many the order has.
        records: u64,
    },
    /// A line is longer than any record.
    #[error("{}: a line is longer than {LINE_MAX} bytes: no log of records", .0.display())]
    TooLong(PathBuf),
    /// The log would take the place of something.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The log cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// No line of a log is longer: messages' values have limits far below.
const LINE_MAX: u64 = 64 << 20;

/// The orders of all divided logs in a directory, by name.
///
/// # Errors
/// The directory cannot be read, or has none.
pub fn divided_logs(directory: &Path) -> Result<Vec<PathBuf>, AssembleError> {
    let found = named(directory, |name| name.ends_with(SUFFIX));
    let mut orders = found?;
    orders.sort();
    match orders.is_empty() {
        true => Err(AssembleError::NoOrder(directory.to_owned())),
        false => Ok(orders),
    }
}

/// Makes one log of the files beside `order`, in the directory `to`.
///
/// # Errors
/// A file is missing, or does not fit to the order; the log is there already, and not to be
/// replaced; what the system says. Then there is no log, or the one that was there.
pub fn assemble(order: &Path, to: &Path, existing: Existing) -> Result<Assembled, AssembleError> {
    let name = order.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(SUFFIX).unwrap_or(&name).to_owned();
    let mut runs = Lines::open(order)?;
    let count = runs.next()?.and_then(count_of);
    let count = count.ok_or_else(|| AssembleError::Line {
        path: order.to_owned(),
        line: 1,
    })?;
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let folder = order.parent().unwrap_or(Path::new(""));
    let part = |number| folder.join(format!("{}.{extension}", part_stem(stem, number, count)));
    let mut parts: Vec<Part> = Vec::new();
    let mut reads = Reads::default();
    for path in (0..count.into()).map(part) {
        // The file of a log without a record was never begun.
        parts.push(Part::open(&path, extension)?);
        if let Some(identity) = Identity::at(&path) {
            reads.add(identity, &path);
        }
    }
    let path = to.join(name);
    let failed = |source| AssembleError::Write {
        path: path.clone(),
        source,
    };
    Output::check(&path, existing, &reads)?;
    let output = Output::open(&path, existing, &reads).map_err(failed)?;
    let mut output = BufWriter::with_capacity(1 << 20, output);
    let mut records = 0;
    let mut last = None;
    while let Some(line) = runs.next()? {
        let run = run_of(line).filter(|(number, _)| *number < parts.len());
        let Some((number, many)) = run else {
            return Err(runs.is_no_order());
        };
        for _ in 0..many {
            let Some(part) = parts.get_mut(number) else {
                break;
            };
            if records == 0 {
                output.write_all(&part.head).map_err(failed)?;
            }
            part.copy_record(&mut output, &failed)?;
            records += 1;
        }
        last = Some(number);
    }
    if records == 0 {
        // Header and footer of a log without records have no times of their own.
        let head = parts.iter().find(|part| !part.head.is_empty());
        let head = head.map_or(&[][..], |part| &part.head);
        output.write_all(head).map_err(failed)?;
        last = parts.iter().position(|part| !part.head.is_empty());
    }
    for (number, part) in parts.iter_mut().enumerate() {
        let foot = part.foot()?;
        if last == Some(number) {
            output.write_all(&foot).map_err(failed)?;
        }
    }
    let output = output
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    output.keep().map_err(failed)?;
    Ok(Assembled {
        path,
        records,
        files: parts.len(),
    })
}

/// The lines of a file, each within bounds.
struct Lines {
    path: PathBuf,
    file: Option<BufReader<File>>,
    line: Vec<u8>,
    number: u64,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, AssembleError> {
        let file = open_to_read(path).map_err(|source| AssembleError::Read {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            path: path.to_owned(),
            file: Some(BufReader::with_capacity(256 << 10, file)),
            line: Vec::new(),
            number: 0,
        })
    }

    /// The next line without its end; none at the end.
    fn next(&mut self) -> Result<Option<&[u8]>, AssembleError> {
        self.read()?;
        self.number += 1;
        Ok(self.line.strip_suffix(b"\n"))
    }

    /// Reads the next line with its end. What has no end is no line: a run that was cut short.
    fn read(&mut self) -> Result<(), AssembleError> {
        self.line.clear();
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let read = file.take(LINE_MAX).read_until(b'\n', &mut self.line);
        let read = read.map_err(|source| AssembleError::Read {
            path: self.path.clone(),
            source,
        })?;
        if read as u64 == LINE_MAX {
            return Err(AssembleError::TooLong(self.path.clone()));
        }
        Ok(())
    }

    fn is_no_order(&self) -> AssembleError {
        AssembleError::Line {
            path: self.path.clone(),
            line: self.number,
        }
    }
}

/// One of a log's files. Its next line is read ahead.
struct Part {
    lines: Lines,
    /// The lines above the records.
    head: Vec<u8>,
    /// How many records were copied.
    records: u64,
    /// Whether lines that begin with `#` are none.
    has_comments: bool,
}

impl Part {
    fn open(path: &Path, extension: &str) -> Result<Self, AssembleError> {
        let mut part = Self {
            lines: match Lines::open(path) {
                Err(AssembleError::Read { source, .. })
                    if source.kind() == io::ErrorKind::NotFound =>
                {
                    Lines {
                        path: path.to_owned(),
                        file: None,
                        line: Vec::new(),
                        number: 0,
                    }
                }
                lines => lines?,
            },
            head: Vec::new(),
            records: 0,
            has_comments: extension == "log",
        };
        part.lines.read()?;
        let mut is_head = extension == "csv";
        while is_head || part.is_comment() {
            part.head.extend_from_slice(&part.lines.line);
            part.lines.read()?;
            is_head = false;
        }
        Ok(part)
    }

    fn is_comment(&self) -> bool {
        self.has_comments && self.lines.line.starts_with(b"#")
    }

    fn has_record(&self) -> bool {
        self.lines.line.ends_with(b"\n") && !self.is_comment()
    }

    /// Copies the next record.
    fn copy_record(
        &mut self,
        output: &mut impl Write,
        failed: &impl Fn(io::Error) -> AssembleError,
    ) -> Result<(), AssembleError> {
        if !self.has_record() {
            return Err(AssembleError::TooFew {
                path: self.lines.path.clone(),
                records: self.records,
            });
        }
        self.records += 1;
        output.write_all(&self.lines.line).map_err(failed)?;
        self.lines.read()
    }

    /// The lines below the records.
    fn foot(&mut self) -> Result<Vec<u8>, AssembleError> {
        let mut foot = Vec::new();
        while self.is_comment() {
            foot.extend_from_slice(&self.lines.line);
            self.lines.read()?;
        }
        match self.lines.line.is_empty() {
            true => Ok(foot),
            false => Err(AssembleError::TooMany {
                path: self.lines.path.clone(),
                records: self.records,
            }),
        }
    }
}
