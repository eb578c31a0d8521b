//! All captures of the input as one stream of frames, in pieces.
//!
//! ```text
//!            ┌ nothing open ─► open the capture whose first packet is earliest
//!  fill ─────┤ solo: one open ─► read on; the piece is the file's bytes as they are
//!            └ merge: several ─► copy frames into the piece, earliest first
//! ```
//!
//! A solo walk ends where the next capture's first packet is due; from there to the end of one
//! of the two, frames are merged. So captures that do not overlap are never copied.

mod files;
mod merge;
mod selection;
mod walk;

pub use walk::Walk;

use crate::ahead::{Ahead, Fetched};
use crate::bytes::{Attention, Windows};
use crate::error::CaptureError;
use crate::format::Order;
use crate::live::{Live, LiveOptions, NextFiles, Recorder};
use crate::reader::Reader;
use crate::report::{Progress, Report};
use crate::share::{Told, next_told};
use files::Files;
use flowpin_config::{Input, Plan};
use flowpin_packet::{Frame, InterfaceNames, Piece, Timestamp};
use merge::Merge;
use selection::Selection;
use std::fs::File;
use std::path::PathBuf;

/// How the input is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bytes read at once: what the cache holds well. See `docs/decisions/0002`.
    pub piece_len: usize,
    /// A pcap-filter(7) expression; empty for none.
    pub filter: String,
    /// Leave out frames captured earlier.
    pub since: Option<Timestamp>,
    /// Leave out frames captured at this time or later.
    pub until: Option<Timestamp>,
    /// Stop after that many frames that were not left out.
    pub packet_count_max: Option<u64>,
    /// Bytes that the decompressors of files which are open at once may keep together. A file for
    /// which there is not enough ends where that shows, as a damaged one does.
    pub windows_max: u64,
}

impl From<&Plan> for Options {
    fn from(plan: &Plan) -> Self {
        Self {
            piece_len: plan.piece_bytes,
            filter: plan.filter.clone(),
            since: plan.since.map(|time| time.0),
            until: plan.until.map(|time| time.0),
            packet_count_max: plan.packet_count_max,
            windows_max: (plan.memory_bytes / 4).max(WINDOWS_MIN),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            piece_len: 256 << 10,
            filter: String::new(),
            since: None,
            until: None,
            packet_count_max: None,
            windows_max: 256 << 20,
        }
    }
}

/// Enough for what common tools make by default, also for two or three files at once: `xz` 9 MiB,
/// `zstd` 2 MiB.
const WINDOWS_MIN: u64 = 24 << 20;

/// The input: captures merged by time into one stream.
///
/// ```no_run
/// use flowpin_capture::{Options, Source};
/// use flowpin_config::{Input, Plan};
/// use flowpin_packet::Piece;
///
/// let inputs = [Input::File("day.pcap.zst".into())];
/// let mut source = Source::open(&inputs, &Options::default())?;
/// let mut piece = Piece::default();
/// let mut bytes = 0;
/// while source.fill(&mut piece)? {
///     let mut walk = source.walk(&piece);
///     while let Some(frame) = walk.next_frame() {
///         bytes += u64::from(frame.captured_len);
///     }
/// }
/// # Ok::<(), flowpin_capture::CaptureError>(())
/// ```
pub struct Source {
    files: Files,
    lane: Lane,
    merge: Merge,
    /// Leaves frames out; none if all are delivered.
    selection: Option<Selection>,
    piece_len: usize,
    /// Number of the next piece.
    pieces: u64,
    /// Frames still to be delivered, and how many that were in the beginning.
    remaining: u64,
    packet_count_max: u64,
    /// Frames so far, those included that were left out.
    number: u64,
    /// Captures that no frame is left of.
    files_done: usize,
    /// Bytes and frames of those.
    bytes_done: u64,
    packets_done: u64,
    /// Where shares come from, if there are no captures.
    shares: Option<Shares>,
}

/// Gives one [share](crate::add_to_share) after the other; none at their end.
pub type Shares = Box<dyn FnMut() -> Option<Vec<u8>> + Send>;

/// Where the last piece came from.
enum Lane {
    /// No capture is open.
    Closed,
    /// From the only capture that is open.
    Solo {
        index: usize,
        /// Where in the piece to start.
        start: usize,
        /// Frames up to this time are delivered before another capture begins.
        until: Timestamp,
        /// There was a later one.
        overtaken: bool,
    },
    /// From several: frames with their numbers.
    Merged(Vec<(Frame, u64)>),
    /// From a share: frames with their numbers and stream times.
    Told(Vec<Told>),
}

impl Source {
    /// Finds all captures, looks at their heads and compiles the filter.
    ///
    /// # Errors
    /// If something that was named cannot be read or is no capture, if a directory holds none,
    /// if no link type can be decoded, or if the filter does not compile.
    pub fn open(inputs: &[Input], options: &Options) -> Result<Self, CaptureError> {
        Self::open_attentive(inputs, options, &Attention::default())
    }

    /// As [`Self::open`], but somebody may call while a pipe keeps the source waiting.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_attentive(
        inputs: &[Input],
        options: &Options,
        attention: &Attention,
    ) -> Result<Self, CaptureError> {
        Self::new(
            Files::open(inputs, attention, Windows::new(options.windows_max))?,
            options,
        )
    }

    /// Captures that are in memory already, with a name for each.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn from_memory(
        captures: Vec<(PathBuf, Vec<u8>)>,
        options: &Options,
    ) -> Result<Self, CaptureError> {
        Self::new(
            Files::open_memory(captures, Windows::new(options.windows_max))?,
            options,
        )
    }

    /// Captures from network interfaces.
    ///
    /// # Errors
    /// An interface cannot be opened; the filter does not compile.
    pub fn live(
        live: &LiveOptions,
        options: &Options,
        attention: &Attention,
    ) -> Result<Self, CaptureError> {
        let names: Vec<_> = live.interfaces.iter().map(ToString::to_string).collect();
        let opened = Live::open(live, attention)?;
        // The filter is the interfaces'.
        let options = Options {
            filter: String::new(),
            ..options.clone()
        };
        Self::new(Files::live(opened, &names.join(", ")), &options)
    }

    /// Reads so many bytes at once from now on. Before the first piece is filled.
    pub fn set_piece_len(&mut self, len: usize) {
        self.piece_len = len.max(PIECE_LEN_MIN);
    }

    /// Also writes what is read to a new file, and to more if there are to be any. Before the first
    /// piece is filled.
    pub fn record_to(&mut self, path: PathBuf, file: File, next: Option<NextFiles>) {
        if let Some(reader) = self.files.reader(0) {
            reader.record_to(Recorder::new(path, file, next));
        }
    }

    /// Packets that were numbered by who has read them. Each says its stream time, which
    /// [`Walk::take_silence`] tells.
    ///
    /// # Errors
    /// None at present: as [`Self::open`].
    pub fn told(shares: Shares) -> Result<Self, CaptureError> {
        let files = Files::empty(&Attention::default(), Windows::new(0));
        let mut source = Self::new(files, &Options::default())?;
        (source.shares, source.lane) = (Some(shares), Lane::Told(Vec::new()));
        Ok(source)
    }

    fn new(files: Files, options: &Options) -> Result<Self, CaptureError> {
        let mut links: Vec<_> = (files.files.iter())
            .flat_map(|file| &file.report.links)
            .map(|&number| (number, Order::Little))
            .collect();
        links.sort_unstable_by_key(|(number, _)| *number);
        links.dedup();
        let selection = Selection::new(options, &links)?;
        let packet_count_max = options.packet_count_max.unwrap_or(u64::MAX);
        let mut source = Self {
            files,
            lane: Lane::Closed,
            merge: Merge::default(),
            selection,
            piece_len: options.piece_len.max(PIECE_LEN_MIN),
            pieces: 0,
            remaining: packet_count_max,
            packet_count_max,
            number: 0,
            files_done: 0,
            bytes_done: 0,
            packets_done: 0,
            shares: None,
        };
        source.count_empty_files();
        Ok(source)
    }

    /// Captures without a frame are done before they begin.
    fn count_empty_files(&mut self) {
        let sizes = self.files.files.iter().filter_map(|file| file.size);
        let pending = self.files.pending.iter();
        let pending_sizes = pending.filter_map(|&(_, i)| self.files.files.get(i)?.size);
        self.bytes_done = sizes.sum::<u64>() - pending_sizes.sum::<u64>();
        self.files_done = self.files.files.len() - self.files.pending.len();
    }

    /// Reads the next piece; false at the end of the input. Each piece must be walked to its end
    /// before the next one is filled, since only the walk finds where a record ends.
    ///
    /// # Errors
    /// If the filter does not compile for a link type that turns up in the middle.
    pub fn fill(&mut self, piece: &mut Piece) -> Result<bool, CaptureError> {
        self.fill_with(piece, None)
    }

    /// As [`Source::fill`], with a piece into which bytes were [fetched](crate::Claim::fetch).
    ///
    /// # Errors
    /// As [`Source::fill`].
    pub fn fill_fetched(
        &mut self,
        piece: &mut Piece,
        fetched: &Fetched,
    ) -> Result<bool, CaptureError> {
        self.fill_with(piece, Some(fetched))
    }

    /// The bytes that come next, if they may be fetched before it is their turn: those of a file
    /// that is not packed, while no other one has to be merged with it. Between the walk of a piece
    /// and the next one's filling.
    pub fn ahead(&mut self) -> Option<Ahead> {
        let piece_len = self.piece_len;
        match self.lane {
            Lane::Solo {
                index,
                overtaken: false,
                ..
            } => self.files.reader(index)?.ahead(piece_len),
            _ => None,
        }
    }

    fn fill_with(
        &mut self,
        piece: &mut Piece,
        fetched: Option<&Fetched>,
    ) -> Result<bool, CaptureError> {
        if let Some(error) = self.selection.as_mut().and_then(Selection::take_failure) {
            return Err(error);
        }
        if let Lane::Solo { index, .. } = self.lane
            && let Some(error) = self.files.reader(index).and_then(Reader::failure_to_record)
        {
            return Err(error);
        }
        piece.len = 0;
        while self.remaining > 0 {
            match core::mem::replace(&mut self.lane, Lane::Closed) {
                Lane::Closed => {
                    if !self.open_earliest() {
                        return Ok(false);
                    }
                }
                Lane::Solo {
                    index, overtaken, ..
                } => {
                    if overtaken {
                        self.enter(index);
                        self.lane = Lane::Merged(Vec::new());
                    } else if self.files.reader(index).is_none_or(|r| r.is_finished()) {
                        self.end_recording(index)?;
                        self.close(index);
                    } else {
                        self.read_on(index, piece, fetched);
                        return Ok(true);
                    }
                }
                Lane::Merged(frames) => {
                    if self.fill_merged(piece, frames) {
                        return Ok(true);
                    }
                }
                Lane::Told(told) => return self.fill_told(piece, told),
            }
        }
        // As many packets as were wanted: only a single capture is recorded.
        self.end_recording(0)?;
        Ok(false)
    }

    /// Takes the next share as a piece.
    fn fill_told(&mut self, piece: &mut Piece, mut told: Vec<Told>) -> Result<bool, CaptureError> {
        told.clear();
        let Some(share) = self.shares.as_mut().and_then(|next| next()) else {
            return Ok(false);
        };
        (piece.len, piece.bytes) = (share.len(), share);
        let mut at = 0;
        while let Some(one) = next_told(&piece.bytes, &mut at, &self.files.names) {
            told.push(one);
        }
        if at < piece.len {
            let source = std::io::Error::from(std::io::ErrorKind::InvalidData);
            let path = PathBuf::from("a share");
            return Err(CaptureError::Unreadable { path, source });
        }
        self.number(piece);
        self.lane = Lane::Told(told);
        Ok(true)
    }

    fn end_recording(&mut self, index: usize) -> Result<(), CaptureError> {
        let failure = self.files.reader(index).and_then(Reader::end_recording);
        failure.map_or(Ok(()), Err)
    }

    /// Frames of the piece that was filled last, in order.
    pub fn walk<'a>(&'a mut self, piece: &'a Piece) -> Walk<'a> {
        Walk::new(self, piece)
    }

    /// Frames delivered so far: walked, once a walk is over.
    pub const fn delivered(&self) -> u64 {
        self.packet_count_max - self.remaining
    }

    /// Frames so far, those included that were left out: walked, once a walk is over.
    pub const fn numbered(&self) -> u64 {
        self.number
    }

    /// The time of the first frame. Before the first piece is filled.
    pub fn first_time(&self) -> Option<Timestamp> {
        self.files.pending.front().map(|&(time, _)| time)
    }

    /// The names of the interfaces that packets carry numbers of.
    pub const fn interfaces(&self) -> &InterfaceNames {
        &self.files.names
    }

    /// How far reading has come.
    pub fn progress(&self) -> Progress {
        let open = self.files.files.iter().filter_map(|f| f.reader.as_ref());
        let (mut bytes_read, mut packets) = (self.bytes_done, self.packets_done);
        let mut dropped = 0;
        for reader in open {
            bytes_read += reader.bytes_read();
            packets += reader.packets;
            dropped += reader.dropped();
        }
        Progress {
            bytes_read,
            bytes_total: self.files.bytes_total,
            files_done: self.files_done,
            files_total: self.files.files.len(),
            packets,
            dropped,
        }
    }

    /// Packets that interfaces received by queues which were added after they had been opened, and
    /// that nobody has captured.
    pub fn uncaptured(&self) -> u64 {
        let live = self.files.files.first();
        let live = live.filter(|file| file.report.is_live);
        live.map_or(0, |live| match &live.reader {
            Some(reader) => reader.uncaptured(),
            None => live.report.uncaptured,
        })
    }

    /// What the captures turned out to be so far.
    pub fn report(&self) -> Report {
        let settled = self.files.files.iter().map(|file| {
            let mut report = file.report.clone();
            if let Some(reader) = &file.reader {
                reader.settle(&mut report);
            }
            report
        });
        Report {
            files: settled.collect(),
            files_skipped: self.files.skipped,
            rejected_by_filter: self.selection.as_ref().map_or(0, |one| one.rejected),
        }
    }

    /// Opens the capture that is due next; false if there is none.
    fn open_earliest(&mut self) -> bool {
        while let Some((_, index)) = self.files.pending.pop_front() {
            if self.files.begin(index) {
                self.solo(index);
                return true;
            }
            self.close(index);
        }
        false
    }

    /// From here on, only this capture is read.
    fn solo(&mut self, index: usize) {
        self.lane = Lane::Solo {
            index,
            start: 0,
            until: Timestamp::MAX,
            overtaken: false,
        };
    }

    /// Fills a piece from the one capture that is open.
    fn read_on(&mut self, index: usize, piece: &mut Piece, fetched: Option<&Fetched>) {
        let until = match self.files.pending.front() {
            None => Timestamp::MAX,
            // At the same time, the capture that was named first comes first.
            Some(&(time, next)) if index < next => time,
            // A capture whose first packet is at 0 has been opened by now.
            Some(&(time, _)) => Timestamp(time.0.saturating_sub(1)),
        };
        let piece_len = self.piece_len;
        if let Some(reader) = self.files.reader(index) {
            let start = match fetched {
                None => reader.fill(piece, piece_len),
                Some(fetched) => reader.fill_fetched(piece, piece_len, fetched),
            };
            self.number(piece);
            self.lane = Lane::Solo {
                index,
                start,
                until,
                overtaken: false,
            };
        }
    }

    const fn number(&mut self, piece: &mut Piece) {
        piece.number = self.pieces;
        self.pieces += 1;
    }

    /// Nothing more comes from a capture.
    fn close(&mut self, index: usize) {
        let before = self.files.reader(index).map_or(0, |reader| reader.packets);
        self.files.close(index);
        self.packets_done += before;
        self.files_done += 1;
        let file = self.files.files.get(index);
        self.bytes_done += file.and_then(|file| file.size).unwrap_or(0);
    }
}

/// A piece holds at least a few records.
const PIECE_LEN_MIN: usize = 64;
