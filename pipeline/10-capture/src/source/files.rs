//! The captures of one input: found, looked at once, in the order of their first packets.

use crate::bytes::{Attention, Raw, Windows};
use crate::error::CaptureError;
use crate::format::Damage;
use crate::inputs::{Candidate, candidates};
use crate::link;
use crate::live::Live;
use crate::magic::Refusal;
use crate::reader::{Reader, Unopened};
use crate::report::FileReport;
use flowpin_config::Input;
use flowpin_packet::{InterfaceNames, Timestamp};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

/// One capture of the input.
pub(super) struct CaptureFile {
    pub(super) report: FileReport,
    /// Size on disk; none for a pipe.
    pub(super) size: Option<u64>,
    /// Open while the stream is within it; always for what cannot be opened twice.
    pub(super) reader: Option<Box<Reader>>,
}

/// All of them, and those that the stream has not reached.
pub(super) struct Files {
    pub(super) files: Vec<CaptureFile>,
    /// Time of the first packet and index of each capture not begun, earliest first.
    pub(super) pending: VecDeque<(Timestamp, usize)>,
    pub(super) skipped: usize,
    /// The sum of all sizes; none if one of them is unknown.
    pub(super) bytes_total: Option<u64>,
    /// The interfaces of all captures.
    pub(super) names: InterfaceNames,
    attention: Attention,
    windows: Windows,
}

impl Files {
    /// Finds the captures and looks at the head of each.
    pub(super) fn open(
        inputs: &[Input],
        attention: &Attention,
        windows: Windows,
    ) -> Result<Self, CaptureError> {
        if inputs.is_empty() {
            return Err(CaptureError::NoInput);
        }
        let (candidates, directories) = candidates(inputs)?;
        let mut files = Self::empty(attention, windows);
        let mut looked_at = vec![(0_usize, 0_usize); directories.len()];
        let alone = candidates.len() == 1;
        for candidate in candidates {
            let (path, directory) = match &candidate {
                Candidate::Stdin => (PathBuf::from("-"), None),
                Candidate::Named(path) => (path.clone(), None),
                Candidate::Found(path, directory) => (path.clone(), Some(*directory)),
            };
            let opened = open_raw(&candidate, attention)
                .map_err(Unopened::Unreadable)
                .and_then(|(raw, size)| {
                    Ok((Reader::begin(raw, &files.windows, &files.names)?, size))
                });
            let accepted = files.look_at(path, opened, directory.is_some(), alone)?;
            if let Some((all, captures)) = directory.and_then(|i| looked_at.get_mut(i)) {
                *all += 1;
                *captures += usize::from(accepted);
            }
        }
        for (path, (file_count, captures)) in directories.into_iter().zip(looked_at) {
            if captures == 0 {
                return Err(CaptureError::NoCaptures { path, file_count });
            }
        }
        files.ready()
    }

    /// Open interfaces.
    pub(super) fn live(live: Live, name: &str) -> Self {
        let mut files = Self::empty(&Attention::default(), Windows::new(0));
        let mut report = FileReport {
            path: PathBuf::from(name),
            is_live: true,
            ..FileReport::default()
        };
        // Its first bytes are there: the section and its interfaces.
        if let Ok(reader) = Reader::begin(Raw::live(live), &files.windows, &files.names) {
            reader.settle(&mut report);
            files.pending.push_back((Timestamp::default(), 0));
            files.push(report, None, Some(Box::new(reader)));
        }
        files
    }

    /// Captures that are in memory, by name.
    pub(super) fn open_memory(
        captures: Vec<(PathBuf, Vec<u8>)>,
        windows: Windows,
    ) -> Result<Self, CaptureError> {
        let mut files = Self::empty(&Attention::default(), windows);
        for (path, bytes) in captures {
            let size = bytes.len() as u64;
            let opened = Reader::begin(Raw::memory(bytes), &files.windows, &files.names)
                .map(|reader| (reader, Some(size)));
            files.look_at(path, opened, false, false)?;
        }
        if files.files.is_empty() {
            return Err(CaptureError::NoInput);
        }
        files.ready()
    }

    /// None at all.
    pub(super) fn empty(attention: &Attention, windows: Windows) -> Self {
        Self {
            files: Vec::new(),
            pending: VecDeque::new(),
            skipped: 0,
            bytes_total: None,
            names: InterfaceNames::default(),
            attention: attention.clone(),
            windows,
        }
    }

    /// Takes a candidate in; `Ok(false)`: it is no capture and need not be one.
    fn look_at(
        &mut self,
        path: PathBuf,
        opened: Result<(Reader, Option<u64>), Unopened>,
        in_directory: bool,
        alone: bool,
    ) -> Result<bool, CaptureError> {
        let mut report = FileReport {
            path,
            ..FileReport::default()
        };
        let (mut reader, size) = match opened {
            Ok(opened) => opened,
            Err(Unopened::Stopped) => {
                self.push(report, None, None);
                return Ok(true);
            }
            Err(Unopened::Unreadable(source)) if in_directory => {
                report.damage = Some(unreadable(&source));
                // Nothing of it is read: it makes no pipe of the others.
                self.push(report, Some(0), None);
                return Ok(true);
            }
            Err(Unopened::Refused(refusal))
                if in_directory && is_missed(&refusal, &report.path) =>
            {
                report.damage = Some(unopened(refusal.to_string()));
                self.push(report, Some(0), None);
                return Ok(true);
            }
            Err(Unopened::Refused(_)) if in_directory => {
                self.skipped += 1;
                return Ok(false);
            }
            Err(Unopened::Unreadable(source)) => {
                let path = report.path;
                return Err(CaptureError::Unreadable { path, source });
            }
            Err(Unopened::Refused(refusal)) => {
                return Err(CaptureError::NotACapture {
                    path: report.path,
                    found: refusal.to_string(),
                });
            }
        };
        let first = reader.head(0).map(|frame| frame.time);
        reader.settle(&mut report);
        // Nothing came before: alone it is no capture, among others something is missing.
        if reader.format.is_none()
            && let Some(damage) = &mut report.damage
        {
            if !in_directory {
                let (path, found) = (report.path, damage.what.clone());
                return Err(CaptureError::NotACapture { path, found });
            }
            damage.unopened = true;
        }
        // Thousands of files must not hold thousands of descriptors until their time comes.
        let keep = first.is_some() && (alone || !reader.can_reopen());
        let reader = keep.then(|| Box::new(reader));
        let index = self.files.len();
        self.pending.extend(first.map(|time| (time, index)));
        self.push(report, size, reader);
        Ok(true)
    }

    fn push(&mut self, report: FileReport, size: Option<u64>, reader: Option<Box<Reader>>) {
        self.files.push(CaptureFile {
            report,
            size,
            reader,
        });
    }

    /// All are known: puts them in order.
    fn ready(mut self) -> Result<Self, CaptureError> {
        self.pending.make_contiguous().sort_unstable();
        self.bytes_total = self.files.iter().map(|file| file.size).sum();
        // Found in directories, and none of them can be begun.
        let mut damages = self.files.iter().map(|file| file.report.damage.as_ref());
        if let Some(first) = self.files.first()
            && let Some(damage) = &first.report.damage
            && damages.all(|damage| damage.is_some_and(|damage| damage.unopened))
        {
            return Err(CaptureError::NotACapture {
                path: first.report.path.clone(),
                found: damage.what.clone(),
            });
        }
        if let Some(first) = self.files.first()
            && self.files.iter().all(|file| file.report.is_unsupported())
        {
            let number = first.report.links.first().copied().unwrap_or_default();
            return Err(CaptureError::UnsupportedLink {
                path: first.report.path.clone(),
                number,
                name: link::link_name(number),
            });
        }
        Ok(self)
    }

    /// Makes sure that a capture is open; false if it cannot be opened any more.
    pub(super) fn begin(&mut self, index: usize) -> bool {
        let Some(file) = self.files.get_mut(index) else {
            return false;
        };
        if file.reader.is_some() {
            return true;
        }
        let opened = Raw::open(&file.report.path, &self.attention)
            .map_err(Unopened::Unreadable)
            .and_then(|(raw, _)| Reader::begin(raw, &self.windows, &self.names));
        let source = match opened {
            Ok(reader) => {
                file.reader = Some(Box::new(reader));
                return true;
            }
            Err(Unopened::Unreadable(source)) => source,
            Err(Unopened::Refused(refusal)) => io::Error::other(refusal.to_string()),
            Err(Unopened::Stopped) => return false,
        };
        file.report.damage = Some(unreadable(&source));
        false
    }

    /// Closes a capture and writes down what was learned of it.
    pub(super) fn close(&mut self, index: usize) {
        if let Some(file) = self.files.get_mut(index)
            && let Some(reader) = file.reader.take()
        {
            reader.settle(&mut file.report);
            file.report.uncaptured = reader.uncaptured();
            // A pipe's size is known now.
            file.size.get_or_insert(reader.bytes_read());
        }
    }

    /// The open reader of a capture.
    pub(super) fn reader(&mut self, index: usize) -> Option<&mut Reader> {
        self.files.get_mut(index)?.reader.as_deref_mut()
    }
}

fn open_raw(candidate: &Candidate, attention: &Attention) -> io::Result<(Raw, Option<u64>)> {
    match candidate {
        Candidate::Stdin => Ok((Raw::stdin(attention)?, None)),
        Candidate::Named(path) | Candidate::Found(path, _) => Raw::open(path, attention),
    }
}

/// Whether what is refused would be missed, though it was found and not named: its packing breaks
/// off before it shows what it holds, or its name says that it is a capture.
fn is_missed(refusal: &Refusal, path: &Path) -> bool {
    matches!(refusal, Refusal::Undecodable(..)) || Input::is_capture_name(path)
}

fn unreadable(source: &io::Error) -> Damage {
    unopened(source.to_string())
}

const fn unopened(what: String) -> Damage {
    Damage {
        unopened: true,
        offset: 0,
        decompressed: false,
        what,
    }
}
