//! Bytes as they lie on disk or come through a pipe.

use super::attention::Attention;
use super::pipe::Pipe;
use crate::live::Live;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where bytes come from, before any decompression.
///
/// Serves the bytes that were looked at ([`Raw::peek`]) again, and counts what it serves.
#[derive(Debug)]
pub(crate) struct Raw {
    origin: Origin,
    /// Bytes looked at in advance, and how many of them were served.
    head: Vec<u8>,
    head_served: usize,
    served: u64,
    /// The last bytes served, the newest last.
    tail: [u8; Self::TAIL_LEN],
}

#[derive(Debug)]
enum Origin {
    /// A regular file. Without a handle it is opened for each read, so that thousands that
    /// overlap in time do not exhaust the descriptors.
    File {
        path: PathBuf,
        handle: Option<Arc<File>>,
        offset: u64,
        /// When it was opened.
        size: u64,
    },
    /// Anything else: a named pipe, a device, standard input.
    Pipe(Pipe),
    Memory(io::Cursor<Vec<u8>>),
    /// Network interfaces.
    Live(Box<Live>),
}

impl Raw {
    const TAIL_LEN: usize = 8;

    /// Opens a file, or a pipe that has a path. Also tells a regular file's size.
    pub(crate) fn open(path: &Path, attention: &Attention) -> io::Result<(Self, Option<u64>)> {
        let file = Pipe::open(path)?;
        let meta = file.metadata()?;
        if meta.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if meta.is_file() {
            let path = path.to_owned();
            let origin = Origin::File {
                path,
                handle: Some(Arc::new(file)),
                offset: 0,
                size: meta.len(),
            };
            Ok((Self::new(origin), Some(meta.len())))
        } else {
            let pipe = Pipe::new(file, attention);
            Ok((Self::new(Origin::Pipe(pipe)), None))
        }
    }

    pub(crate) fn stdin(attention: &Attention) -> io::Result<Self> {
        Ok(Self::new(Origin::Pipe(Pipe::stdin(attention)?)))
    }

    pub(crate) fn live(live: Live) -> Self {
        Self::new(Origin::Live(Box::new(live)))
    }

    pub(crate) fn memory(bytes: Vec<u8>) -> Self {
        Self::new(Origin::Memory(io::Cursor::new(bytes)))
    }

    fn new(origin: Origin) -> Self {
        Self {
            origin,
            head: Vec::new(),
            head_served: 0,
            served: 0,
            tail: [0; Self::TAIL_LEN],
        }
    }

    /// Whether it can be closed now and read from the start later.
    pub(crate) const fn can_reopen(&self) -> bool {
        matches!(self.origin, Origin::File { .. })
    }

    /// Whether reading ended because the run is to stop.
    pub(crate) const fn is_stopped(&self) -> bool {
        matches!(&self.origin, Origin::Pipe(pipe) if pipe.is_stopped())
    }

    /// What happened to network interfaces.
    pub(crate) fn notes(&self) -> Vec<String> {
        match &self.origin {
            Origin::Live(live) => live.notes(),
            _ => Vec::new(),
        }
    }

    /// Packets that interfaces received and no socket has.
    pub(crate) fn uncaptured(&self) -> u64 {
        match &self.origin {
            Origin::Live(live) => live.uncaptured(),
            _ => 0,
        }
    }

    /// Whether it is no file but network interfaces.
    pub(crate) const fn is_live(&self) -> bool {
        matches!(self.origin, Origin::Live(_))
    }

    /// Whether the last read ended because nothing came for a while.
    pub(crate) const fn is_idle(&self) -> bool {
        match &self.origin {
            Origin::Pipe(pipe) => pipe.is_idle(),
            Origin::Live(live) => live.is_idle(),
            Origin::File { .. } | Origin::Memory(_) => false,
        }
    }

    /// Lets go of the descriptor between reads, where that is possible.
    pub(crate) fn let_go(&mut self) {
        if let Origin::File { handle, .. } = &mut self.origin {
            *handle = None;
        }
    }

    /// The file, where its next bytes are, and its size; none where that is not all there is to it.
    pub(crate) fn file(&self) -> Option<(&Arc<File>, u64, u64)> {
        match &self.origin {
            Origin::File {
                handle: Some(file),
                offset,
                size,
                ..
            } if self.head_served == self.head.len() => Some((file, *offset, *size)),
            _ => None,
        }
    }

    /// The file's next bytes were read by somebody else: `bytes`.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        if let Origin::File { offset, .. } = &mut self.origin {
            *offset += bytes.len() as u64;
            self.served += bytes.len() as u64;
            self.remember_tail(bytes);
        }
    }

    /// Bytes served so far.
    pub(crate) const fn served(&self) -> u64 {
        self.served
    }

    /// The last bytes served.
    pub(crate) const fn tail(&self) -> [u8; Self::TAIL_LEN] {
        self.tail
    }

    /// The bytes looked at by [`Raw::peek`].
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Looks at the first `len` bytes, or all if there are fewer. Only before the first read.
    pub(crate) fn peek(&mut self, len: usize) -> io::Result<()> {
        let mut have = self.head.len();
        self.head.resize(len.max(have), 0);
        while let Some(room) = self.head.get_mut(have..).filter(|room| !room.is_empty()) {
            match self.origin.read(room) {
                Ok(0) => break,
                Ok(count) => have += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.head.truncate(have);
                    return Err(error);
                }
            }
        }
        self.head.truncate(have);
        Ok(())
    }

    /// Whether the bytes began as a legacy LZ4 frame.
    pub(crate) fn is_legacy_lz4(&self) -> bool {
        self.head.starts_with(&[0x02, 0x21, 0x4c, 0x18])
    }

    fn remember_tail(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last_chunk() {
            self.tail = *last;
        } else {
            self.tail.rotate_left(bytes.len());
            let kept = Self::TAIL_LEN - bytes.len();
            if let Some(end) = self.tail.get_mut(kept..) {
                end.copy_from_slice(bytes);
            }
        }
    }
}

impl Read for Raw {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let ahead = self.head.get(self.head_served..).unwrap_or_default();
        let count = if ahead.is_empty() {
            self.origin.read(into)?
        } else {
            let count = ahead.len().min(into.len());
            for (to, &from) in into.iter_mut().zip(ahead) {
                *to = from;
            }
            self.head_served += count;
            count
        };
        self.served += count as u64;
        self.remember_tail(into.get(..count).unwrap_or_default());
        Ok(count)
    }
}

impl Origin {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File {
                path,
                handle,
                offset,
                ..
            } => {
                let count = match handle {
                    Some(file) => file.read_at(into, *offset)?,
                    None => File::open(path)?.read_at(into, *offset)?,
                };
                *offset += count as u64;
                Ok(count)
            }
            Self::Pipe(pipe) => pipe.read(into),
            Self::Memory(bytes) => bytes.read(into),
            Self::Live(live) => live.read(into),
        }
    }
}
