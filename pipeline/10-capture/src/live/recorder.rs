//! What is captured, written to a file as it is read, or to one file after the other.
//!
//! ```text
//!  walked bytes ──► section, interfaces │ packet, packet, statistics, packet │ packet, …
//!                   └─ kept ─────────────────────────────────────────────► before the next file's
//!                      all-….pcapng                                            all-….pcapng
//! ```
//!
//! Each file is whole by itself: it begins with the section and its interfaces.

use super::blocks::{ENHANCED_PACKET, INTERFACE, SECTION_HEADER};
use super::packed::RecordingFile;
use crate::error::CaptureError;
use core::fmt::{self, Debug};
use flowpin_packet::Timestamp;
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// Makes the next file of a recording, for packets from a time on. `Err`: the file that could not
/// be made, and why.
pub type MakeFile =
    Box<dyn FnMut(Timestamp, Cut) -> Result<(PathBuf, File), (PathBuf, io::Error)> + Send>;

/// Why a recording goes on in another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// An interval is over.
    Time,
    /// The file would be larger than it may be.
    Size,
}

/// When a recording goes on in another file, and how that is made.
pub struct NextFiles {
    /// Start of the first file's interval.
    pub begun: Timestamp,
    /// A new file at each multiple of this, in nanoseconds since 1970.
    pub every_ns: Option<u64>,
    /// A new file before one is larger than this; each holds one packet at least.
    pub bytes_max: Option<u64>,
    /// Makes it.
    pub make: MakeFile,
}

impl Debug for NextFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NextFiles")
            .field("every_ns", &self.every_ns)
            .field("bytes_max", &self.bytes_max)
            .finish_non_exhaustive()
    }
}

/// The recording of a run.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    file: RecordingFile,
    next: Option<NextFiles>,
    /// The section and its interfaces so far.
    preamble: Vec<u8>,
    /// Bytes of the present file, and whether a packet is among them.
    len: u64,
    has_packet: bool,
    failure: Option<io::Error>,
}

impl Recorder {
    /// Writes to a new file, and to others if there is to be more than one.
    pub(crate) fn new(path: PathBuf, file: File, next: Option<NextFiles>) -> Self {
        Self {
            file: RecordingFile::new(&path, file),
            path,
            next,
            preamble: Vec::new(),
            len: 0,
            has_packet: false,
            failure: None,
        }
    }

    /// Writes whole blocks that were analysed. Nothing after a failure: a recording has no holes.
    pub(crate) fn write(&mut self, blocks: &[u8]) {
        if self.failure.is_none() {
            let written = if self.next.is_some() {
                self.write_divided(blocks)
            } else {
                self.file.write_all(blocks)
            };
            self.failure = written.err();
        }
    }

    /// Writes blocks, and begins new files between them.
    fn write_divided(&mut self, blocks: &[u8]) -> io::Result<()> {
        let (mut from, mut at) = (0, 0);
        while let Some(head) = Head::of(blocks.get(at..).unwrap_or_default()) {
            if let Some(time) = head.time {
                if let Some((cut, time)) = self.cut(time, head.len as u64) {
                    self.file
                        .write_all(blocks.get(from..at).unwrap_or_default())?;
                    from = at;
                    self.begin(time, cut)?;
                }
                self.has_packet = true;
            } else if head.is_preamble {
                let block = blocks.get(at..at + head.len).unwrap_or_default();
                self.preamble.extend_from_slice(block);
            }
            self.len += head.len as u64;
            at += head.len;
        }
        self.file.write_all(blocks.get(from..).unwrap_or_default())
    }

    /// Whether a packet of `time` and `len` begins another file: why, and its interval's start.
    fn cut(&mut self, time: Timestamp, len: u64) -> Option<(Cut, Timestamp)> {
        let next = self.next.as_mut()?;
        let interval = Timestamp(next.every_ns.map_or(0, |every| time.0 - time.0 % every));
        if interval > next.begun {
            // Whose first packet comes late begins there.
            next.begun = interval;
            return self.has_packet.then_some((Cut::Time, interval));
        }
        let is_full = next.bytes_max.is_some_and(|max| self.len + len > max);
        (is_full && self.has_packet).then_some((Cut::Size, next.begun))
    }

    fn begin(&mut self, time: Timestamp, cut: Cut) -> io::Result<()> {
        let Some(next) = &mut self.next else {
            return Ok(());
        };
        self.file.flush()?;
        match (next.make)(time, cut) {
            Ok((path, file)) => {
                self.file = RecordingFile::new(&path, file);
                self.path = path;
            }
            Err((path, error)) => {
                self.path = path;
                return Err(error);
            }
        }
        self.len = self.preamble.len() as u64;
        self.has_packet = false;
        self.file.write_all(&self.preamble)
    }

    /// Nothing comes any more.
    pub(crate) fn end(&mut self) {
        if self.failure.is_none() {
            self.failure = self.file.flush().err();
        }
    }

    /// Why bytes could not be written, if that has not been told.
    pub(crate) fn failure(&mut self) -> Option<CaptureError> {
        let source = self.failure.as_ref()?;
        // Kept, so that nothing more is written.
        let source = io::Error::new(source.kind(), source.to_string());
        let path = self.path.clone();
        Some(CaptureError::Unwritable { path, source })
    }
}

/// The beginning of a block.
struct Head {
    len: usize,
    /// Of a packet.
    time: Option<Timestamp>,
    /// The section or an interface.
    is_preamble: bool,
}

impl Head {
    fn of(block: &[u8]) -> Option<Self> {
        let word = |place: usize| {
            let bytes = block.get(4 * place..)?.first_chunk::<4>()?;
            Some(u32::from_le_bytes(*bytes))
        };
        let (block_type, len) = (word(0)?, word(1)? as usize);
        let time = match block_type {
            ENHANCED_PACKET => {
                let (high, low) = (u64::from(word(3)?), u64::from(word(4)?));
                Some(Timestamp(high << 32 | low))
            }
            _ => None,
        };
        // Our own blocks are at least so long; nothing else must keep us here for ever.
        (len >= 12).then_some(Self {
            len,
            time,
            is_preamble: matches!(block_type, SECTION_HEADER | INTERFACE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, NextFiles, Recorder};
    use crate::live::blocks::Blocks;
    use flowpin_packet::Timestamp;
    use std::fs::File;
    use std::io;
    use std::sync::{Arc, Mutex};

    fn serve(blocks: &mut Blocks) -> Vec<u8> {
        let mut bytes = vec![0; 1 << 16];
        let count = blocks.serve(&mut bytes);
        bytes.truncate(count);
        bytes
    }

    fn packet(time: u64, len: u32) -> Vec<u8> {
        let mut block = Vec::new();
        for word in [6, 32 + len, 0, (time >> 32) as u32, time as u32, len, len] {
            block.extend(word.to_le_bytes());
        }
        block.resize(28 + len as usize, 7);
        block.extend((32 + len).to_le_bytes());
        block
    }

    /// Files begin with the section, and together hold every block once and in order.
    #[test]
    fn each_file_begins_with_the_section() {
        let mut blocks = Blocks::default();
        blocks.section();
        blocks.interface("eth0", 1, 1000);
        let preamble = serve(&mut blocks);
        let dir = tempfile::tempdir().unwrap();
        let path = |number: usize| dir.path().join(format!("{number}"));
        let cuts = Arc::new(Mutex::new(Vec::new()));
        let (told, folder) = (Arc::clone(&cuts), dir.path().to_owned());
        let make = move |time: Timestamp, cut| {
            let mut told = told.lock().unwrap();
            told.push((time.0, cut));
            let path = folder.join(format!("{}", told.len()));
            let file = File::create_new(&path).unwrap();
            Ok::<_, (_, io::Error)>((path, file))
        };
        let next = NextFiles {
            begun: Timestamp(0),
            every_ns: Some(1000),
            bytes_max: Some(preamble.len() as u64 + 150),
            make: Box::new(make),
        };
        let first = File::create_new(path(0)).unwrap();
        let mut recorder = Recorder::new(path(0), first, Some(next));
        recorder.write(&preamble);
        let times = [10, 20, 999, 998, 1000, 4500, 4000, 4501];
        let packets: Vec<_> = times.map(|time| packet(time, 40)).into();
        // Two pieces.
        recorder.write(&packets[..3].concat());
        recorder.write(&packets[3..].concat());
        assert!(recorder.failure().is_none());
        drop(recorder);
        let expected = [
            (0, Cut::Size),
            (1000, Cut::Time),
            (4000, Cut::Time),
            (4000, Cut::Size),
        ];
        assert_eq!(*cuts.lock().unwrap(), expected);
        let mut all = Vec::new();
        for number in 0..=expected.len() {
            let bytes = std::fs::read(path(number)).unwrap();
            let rest = bytes.strip_prefix(preamble.as_slice()).unwrap();
            assert!(!rest.is_empty());
            all.extend_from_slice(rest);
        }
        assert_eq!(all, packets.concat());
    }

    #[test]
    fn a_file_that_cannot_be_made_ends_the_recording() {
        let dir = tempfile::tempdir().unwrap();
        let first = File::create_new(dir.path().join("first")).unwrap();
        let next = NextFiles {
            begun: Timestamp(0),
            every_ns: None,
            bytes_max: Some(1),
            make: Box::new(|_, _| Err(("there".into(), io::ErrorKind::AlreadyExists.into()))),
        };
        let mut recorder = Recorder::new("first".into(), first, Some(next));
        recorder.write(&[packet(1, 4), packet(2, 4), packet(3, 4)].concat());
        let told = recorder.failure().unwrap().to_string();
        assert!(told.contains("there"), "{told}");
        let written = std::fs::read(dir.path().join("first")).unwrap();
        assert_eq!(written, packet(1, 4));
    }
}
