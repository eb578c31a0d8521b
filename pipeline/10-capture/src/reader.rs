//! One capture being read: its bytes, its format, and what of it is not walked yet.

use crate::ahead::{Ahead, Fetched};
use crate::bytes::{ByteStream, Raw, Windows};
use crate::error::CaptureError;
use crate::format::{Damage, DamageKind, Format, Next, Order, Peek};
use crate::live::Recorder;
use crate::magic::{Compression, Refusal};
use crate::report::FileReport;
use flowpin_packet::{Frame, InterfaceNames, LinkType, Piece, Timestamp};
use std::io::{self, Read};
use std::sync::Arc;

/// Why a capture could not be begun.
pub(crate) enum Unopened {
    Unreadable(io::Error),
    Refused(Refusal),
    /// The run is to stop, and nothing has come yet.
    Stopped,
}

/// A capture from which frames can be taken, either a piece at a time ([`Reader::fill`], no
/// copy) or one by one ([`Reader::head`], for merging).
pub(crate) struct Reader {
    stream: ByteStream,
    compression: Compression,
    /// None where the file header is cut off.
    pub(crate) format: Option<Format>,
    /// Bytes read and not walked: `rest[from..]`.
    rest: Vec<u8>,
    from: usize,
    /// Where in the (decompressed) bytes `rest[from]` is.
    offset: u64,
    /// (Decompressed) bytes read so far.
    bytes_out: u64,
    /// How many bytes the record at `rest[from]` has at least.
    need: usize,
    /// Bytes behind those of the piece, read to look at the record after the last one.
    ahead: Vec<u8>,
    /// No more bytes come, and why, if that is not their end.
    ended: bool,
    /// A piece was begun and nothing of it is given out yet: so many bytes are still to be read.
    owed: Option<usize>,
    failure: Option<String>,
    /// No more frames come.
    finished: bool,
    /// The frame at `rest[from]`, if it was looked at, and where it ends.
    head: Option<(Frame, usize)>,
    pub(crate) packets: u64,
    pub(crate) packets_unsupported: u64,
    damage: Option<Damage>,
    /// Where what is walked is written down.
    recorder: Option<Recorder>,
}

impl Reader {
    /// Begins a capture: tells compression and format by its first bytes. Its interfaces get their
    /// numbers by `names`.
    pub(crate) fn begin(
        mut raw: Raw,
        windows: &Windows,
        names: &InterfaceNames,
    ) -> Result<Self, Unopened> {
        if let Err(error) = raw.peek(HEAD_LEN) {
            return Err(if raw.is_stopped() {
                Unopened::Stopped
            } else {
                Unopened::Unreadable(error)
            });
        }
        let head = raw.head();
        if head.is_empty() {
            return Err(Unopened::Refused(Refusal::Empty));
        }
        let compression = Compression::of(head);
        let stream = ByteStream::new(raw, compression, windows).map_err(Unopened::Unreadable)?;
        let mut reader = Self {
            stream,
            compression,
            format: None,
            rest: Vec::new(),
            from: 0,
            offset: 0,
            bytes_out: 0,
            need: 0,
            ahead: Vec::new(),
            ended: false,
            owed: None,
            failure: None,
            finished: false,
            head: None,
            packets: 0,
            packets_unsupported: 0,
            damage: None,
            recorder: None,
        };
        reader.read_more(HEAD_LEN);
        match Format::identify(&reader.rest, names) {
            Ok(Some((format, header_len))) => {
                reader.from = header_len;
                reader.offset = header_len as u64;
                reader.format = Some(format);
            }
            Ok(None) if reader.is_stopped() => reader.finished = true,
            Ok(None) => {
                let kind = DamageKind::CutHeader;
                let what = reader.failure.take().unwrap_or_else(|| kind.to_string());
                reader.offset = reader.rest.len() as u64;
                reader.damaged(0, what);
            }
            Err(refusal) => return Err(Unopened::Refused(reader.refusal(refusal))),
        }
        Ok(reader)
    }

    /// Says about compressed bytes that they are; and if they are damaged, that: what a damaged
    /// byte becomes is found not to be one only some bytes later.
    fn refusal(&mut self, refusal: Refusal) -> Refusal {
        if self.compression != Compression::None && self.failure.is_none() {
            self.read_more(DOUBT_LEN);
        }
        match (self.compression, self.failure.take()) {
            (Compression::None, _) => refusal,
            (compression, Some(message)) => Refusal::Undecodable(compression, message),
            (compression, None) => Refusal::Inside(compression),
        }
    }

    /// Whether it can be closed now and read from the start later.
    pub(crate) fn can_reopen(&self) -> bool {
        self.stream.raw().can_reopen()
    }

    /// Lets go of the descriptor between reads, where that is possible.
    pub(crate) fn let_go(&mut self) {
        self.stream.raw_mut().let_go();
    }

    /// Whether reading ended because the run is to stop.
    fn is_stopped(&self) -> bool {
        self.stream.raw().is_stopped()
    }

    /// Bytes read, as they lie on disk.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.stream.raw().served()
    }

    /// Whether no more frames come.
    pub(crate) const fn is_finished(&self) -> bool {
        self.finished
    }

    /// Fills a piece with what is not walked yet and about `piece_len` bytes more. Returns where
    /// in the piece to start.
    ///
    /// The same bytes always make the same pieces, however they trickle in, unless nothing comes
    /// for a while: then the piece ends with what has come. If somebody calls meanwhile, the piece
    /// has nothing to walk, and the next one goes on with these bytes.
    pub(crate) fn fill(&mut self, piece: &mut Piece, piece_len: usize) -> usize {
        self.head = None;
        let rest = self.rest.get(self.from..).unwrap_or_default();
        // PERF: the kernel copies faster from page borders to page borders: the first piece is
        // cut so that all later ones begin at one. See docs/decisions/0002.
        let past_border = self.bytes_out as usize % READ_ALIGN;
        let want = read_len(self.bytes_out, piece_len);
        let want = self.owed.take().unwrap_or(want);
        let want = want.max(self.need.saturating_sub(rest.len()));
        let room = rest.len() + want + 2 * READ_ALIGN;
        if piece.bytes.len() < room {
            piece.make_room(room.max(piece_len + REST_LEN_USUAL));
        }
        let address = piece.bytes.as_ptr().addr();
        let border = (address + rest.len()).next_multiple_of(READ_ALIGN) - address;
        let read_at = border + past_border;
        let start = read_at - rest.len();
        if let Some(carried) = piece.bytes.get_mut(start..read_at) {
            carried.copy_from_slice(rest);
        }
        let into = piece.bytes.get_mut(read_at..read_at + want);
        let count = self.read_full(into.unwrap_or_default(), true);
        piece.len = read_at + count;
        if count < want && !self.ended && !self.stream.raw().is_idle() {
            let read = piece.bytes.get(read_at..piece.len).unwrap_or_default();
            self.rest.drain(..self.from);
            self.rest.extend_from_slice(read);
            self.from = 0;
            self.owed = Some(want - count);
            return piece.len;
        }
        self.rest.clear();
        self.rest.reserve(REST_LEN_USUAL);
        self.from = 0;
        start
    }

    /// The bytes that come next, if others may read them.
    pub(crate) fn ahead(&self, piece_len: usize) -> Option<Ahead> {
        let ByteStream::Plain(raw) = &self.stream else {
            return None;
        };
        let (file, offset, size) = raw.file()?;
        let is_sure = self.owed.is_none() && !self.finished && piece_len >= AHEAD_LEN_MIN;
        is_sure.then(|| Ahead::new(Arc::clone(file), offset, size, piece_len))
    }

    /// As [`Reader::fill`], with the bytes that were fetched into the piece, if they are the ones
    /// that come next. The pieces are the same.
    pub(crate) fn fill_fetched(
        &mut self,
        piece: &mut Piece,
        piece_len: usize,
        fetched: &Fetched,
    ) -> usize {
        let want = read_len(self.bytes_out, piece_len);
        let Some(start) = self.take_fetched(piece, fetched) else {
            return self.fill(piece, piece_len);
        };
        // The file ends there, or it has grown since.
        if let Some(missing) = want.checked_sub(fetched.len).filter(|&missing| missing > 0) {
            let into = piece.bytes.get_mut(piece.len..piece.len + missing);
            piece.len += self.read_full(into.unwrap_or_default(), false);
        }
        start
    }

    fn take_fetched(&mut self, piece: &mut Piece, fetched: &Fetched) -> Option<usize> {
        let &Fetched { at, len, .. } = fetched;
        let ByteStream::Plain(raw) = &mut self.stream else {
            return None;
        };
        let (file, offset, _) = raw.file()?;
        let is_next = Arc::ptr_eq(file, &fetched.file) && offset == fetched.offset;
        let rest = self.rest.get(self.from..).unwrap_or_default();
        let is_enough = len > 0 && rest.len() + len >= self.need;
        if !is_next || !is_enough || self.owed.is_some() || self.ended {
            return None;
        }
        let start = at.checked_sub(rest.len())?;
        piece.bytes.get_mut(start..at)?.copy_from_slice(rest);
        raw.pass(piece.bytes.get(at..at + len)?);
        piece.len = at + len;
        self.bytes_out += len as u64;
        self.head = None;
        self.rest.clear();
        self.from = 0;
        Some(start)
    }

    /// Takes back what of a piece was not walked, `walked` bytes of it being done.
    pub(crate) fn keep(&mut self, unwalked: &[u8], walked: usize) {
        if self.owed.is_some() {
            return;
        }
        self.offset += walked as u64;
        self.rest.clear();
        self.from = 0;
        if !self.finished {
            self.rest.extend_from_slice(unwalked);
            self.rest.append(&mut self.ahead);
        }
    }

    /// What stands at `*pos` of a piece, as [`Format::next`]; what ends the capture is noted.
    /// `base` is where the walk of the piece began.
    pub(crate) fn next(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        base: usize,
    ) -> Option<(Frame, usize)> {
        let format = self.format.as_mut().filter(|_| !self.finished)?;
        match format.next(bytes, pos) {
            Next::Frame(frame, record_start) => return Some((frame, record_start)),
            Next::Need(need) => {
                self.need = need;
                if self.stream.raw().is_stopped() {
                    self.finished = true;
                } else if self.ended && self.ahead.is_empty() {
                    let may_end = format.may_end() && *pos >= bytes.len();
                    let cut = format.cut();
                    match self.failure.take() {
                        Some(failure) => self.damaged(bytes.len() - base, failure),
                        None if !may_end => self.damaged(*pos - base, cut.to_string()),
                        None => self.finished = true,
                    }
                }
            }
            Next::Damaged(kind) => self.damaged(*pos - base, kind.to_string()),
        }
        None
    }

    /// Up to when nothing came after the last packet, if that is written and was not taken yet.
    #[inline]
    pub(crate) fn take_silence(&mut self) -> Option<Timestamp> {
        self.format.as_mut()?.take_silence()
    }

    /// Packets that were lost while it was captured, as far as it says so.
    pub(crate) fn dropped(&self) -> u64 {
        self.format.as_ref().map_or(0, Format::dropped)
    }

    /// Packets that interfaces received and no socket has.
    pub(crate) fn uncaptured(&self) -> u64 {
        self.stream.raw().uncaptured()
    }

    /// Writes down what was walked, if that is wanted.
    pub(crate) fn record(&mut self, walked: &[u8]) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(walked);
        }
    }

    /// Writes down everything from here on.
    pub(crate) fn record_to(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Everything is written down; or why it could not be.
    pub(crate) fn end_recording(&mut self) -> Option<CaptureError> {
        self.recorder.as_mut()?.end();
        self.failure_to_record()
    }

    /// Why it could not be written down.
    pub(crate) fn failure_to_record(&mut self) -> Option<CaptureError> {
        self.recorder.as_mut()?.failure()
    }

    /// The time of the record at `pos` of a piece, which may lie behind it. None if it has none, or
    /// if none comes.
    #[cold]
    pub(crate) fn peek(&mut self, bytes: &[u8], pos: usize) -> Option<Timestamp> {
        loop {
            let unwalked = bytes.get(pos..).unwrap_or_default();
            let format = self.format.as_ref().filter(|_| !self.finished)?;
            let peek = match self.ahead.as_slice() {
                [] => format.peek(bytes, pos),
                ahead => {
                    let mut both = Vec::with_capacity(HEAD_LEN);
                    both.extend(unwalked.iter().chain(ahead).take(HEAD_LEN));
                    format.peek(&both, 0)
                }
            };
            match peek {
                Peek::Time(time) => return Some(time),
                Peek::Need(need) if need > unwalked.len() + self.ahead.len() && !self.ended => {
                    let mut ahead = core::mem::take(&mut self.ahead);
                    let have = ahead.len();
                    ahead.resize(need - unwalked.len(), 0);
                    // A pipe is waited for: what comes after a pause must decide as in a file. The
                    // clock of interfaces never leaps, as it is written down every second.
                    let may_pause = self.stream.raw().is_live();
                    let into = ahead.get_mut(have..).unwrap_or_default();
                    let count = self.read_full(into, may_pause);
                    ahead.truncate(have + count);
                    self.ahead = ahead;
                    if count == 0 {
                        return None;
                    }
                }
                Peek::Need(_) | Peek::Nothing => return None,
            }
        }
    }

    /// Counts a frame that was taken.
    pub(crate) fn count(&mut self, link: LinkType) {
        self.packets += 1;
        self.packets_unsupported += u64::from(link == LinkType::Unsupported);
    }

    /// Counts frames of one link type that were taken.
    pub(crate) fn count_many(&mut self, link: LinkType, count: u64) {
        self.packets += count;
        if link == LinkType::Unsupported {
            self.packets_unsupported += count;
        }
    }

    /// The LINKTYPE_ number and byte order of the last frame found.
    pub(crate) fn last_link(&self) -> (u16, Order) {
        self.format
            .as_ref()
            .map_or((0, Order::Little), Format::last_link)
    }

    /// The next frame, without taking it. If need be, more is read, `read_len` bytes at once.
    pub(crate) fn head(&mut self, read_len: usize) -> Option<Frame> {
        if let Some((frame, _)) = self.head {
            return Some(frame);
        }
        loop {
            // Out of the way, so that the format can be called.
            let rest = core::mem::take(&mut self.rest);
            let mut pos = self.from;
            let found = self.next(&rest, &mut pos, self.from);
            self.rest = rest;
            let start = found.map_or(pos, |(_, start)| start);
            self.offset += (start - self.from) as u64;
            self.from = start;
            if let Some((frame, _)) = found {
                self.head = Some((frame, pos));
                return Some(frame);
            }
            if self.finished || self.ended {
                return None;
            }
            self.read_more(read_len.max(self.need));
        }
    }

    /// The bytes of the frame that [`Self::head`] shows.
    pub(crate) fn head_bytes(&self) -> &[u8] {
        let Some((frame, _)) = self.head else {
            return &[];
        };
        let start = frame.start as usize;
        let range = start..start + frame.captured_len as usize;
        self.rest.get(range).unwrap_or_default()
    }

    /// Takes the frame that [`Self::head`] shows.
    pub(crate) fn take_head(&mut self) {
        if let Some((frame, end)) = self.head.take() {
            self.offset += (end - self.from) as u64;
            self.from = end;
            self.count(frame.link);
        }
    }

    /// Writes down what was learned.
    pub(crate) fn settle(&self, report: &mut FileReport) {
        report.compression = self.compression;
        report.happened = self.stream.raw().notes();
        report.packets = self.packets;
        report.packets_unsupported = self.packets_unsupported;
        if self.damage.is_some() && report.damage.is_none() {
            report.damage.clone_from(&self.damage);
        }
        match &self.format {
            None => {}
            Some(format @ Format::Classic(classic)) => {
                report.format = format.name();
                if report.links.is_empty() {
                    report.links.push(classic.link_number);
                }
            }
            Some(format @ Format::Pcapng(pcapng)) => {
                report.format = format.name();
                report.unknown_blocks = pcapng.unknown_blocks;
                report.unnamed_interfaces = pcapng.unnamed;
                report.dropped = pcapng.dropped();
                let new = pcapng.links.get(report.links.len()..).unwrap_or_default();
                report.links.extend_from_slice(new);
            }
        }
    }

    /// Ends the capture `further` bytes behind what is walked.
    fn damaged(&mut self, further: usize, what: String) {
        self.finished = true;
        self.damage = Some(Damage {
            unopened: false,
            offset: self.offset + further as u64,
            decompressed: self.compression != Compression::None,
            what,
        });
    }

    /// Reads at least `len` bytes behind the rest, if there are so many.
    fn read_more(&mut self, len: usize) {
        let mut rest = core::mem::take(&mut self.rest);
        rest.drain(..self.from);
        self.from = 0;
        let have = rest.len();
        rest.resize(have + len, 0);
        let count = self.read_full(rest.get_mut(have..).unwrap_or_default(), false);
        rest.truncate(have + count);
        self.rest = rest;
    }

    /// Reads until `into` is full or nothing more comes; or, if it `may_pause`, somebody calls or a
    /// pipe is idle.
    fn read_full(&mut self, into: &mut [u8], may_pause: bool) -> usize {
        let mut count = 0;
        while let Some(room) = into.get_mut(count..).filter(|room| !room.is_empty()) {
            if self.ended {
                break;
            }
            match self.stream.read(room) {
                Ok(0) => self.ended = true,
                Ok(read) => count += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    if may_pause {
                        break;
                    }
                }
                Err(_) if self.is_stopped() => self.ended = true,
                Err(error) => {
                    self.ended = true;
                    self.failure = Some(self.describe(&error));
                }
            }
        }
        self.bytes_out += count as u64;
        count
    }

    fn describe(&self, error: &io::Error) -> String {
        if error.kind() == io::ErrorKind::OutOfMemory {
            return format!("cannot be decompressed further ({error})");
        }
        match self.compression {
            Compression::None if self.stream.raw().is_live() => error.to_string(),
            Compression::None => format!("cannot be read on ({error})"),
            compression => format!(
                "the {} data ends or is broken here ({error})",
                compression.name()
            ),
        }
    }
}

/// Bytes looked at to tell what a file is.
const HEAD_LEN: usize = 64;
/// Decompressed bytes within which damage shows that has made a capture's header unreadable.
const DOUBT_LEN: usize = 64 << 10;
/// How many bytes are read at once, so many being read.
pub(crate) const fn read_len(bytes_read: u64, piece_len: usize) -> usize {
    let past_border = bytes_read as usize % READ_ALIGN;
    if piece_len > READ_ALIGN {
        piece_len - past_border
    } else {
        piece_len
    }
}

/// Shorter pieces are not worth being read ahead.
const AHEAD_LEN_MIN: usize = 4 * READ_ALIGN;
/// Bytes of a file that lie so far from a page border are read to memory that does, too.
pub(crate) const READ_ALIGN: usize = 4096;
/// Room for what is carried over from piece to piece, so that it rarely has to grow.
pub(crate) const REST_LEN_USUAL: usize = 64 << 10;
