//! Bytes from a pipe, a device or standard input: waits for them, but not with deaf ears.

use super::attention::Attention;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Something that may keep a reader waiting.
#[derive(Debug)]
pub(crate) struct Pipe {
    file: File,
    attention: Attention,
    /// Calls answered so far.
    answered: u32,
    stopped: bool,
}

impl Pipe {
    /// Takes over an open file.
    pub(crate) fn new(file: File, attention: &Attention) -> Self {
        Self {
            file,
            attention: attention.clone(),
            answered: attention.calls(),
            stopped: false,
        }
    }

    /// Standard input. Not through the standard library's buffer: bytes in there would be
    /// waited for, though they have come.
    pub(crate) fn stdin(attention: &Attention) -> io::Result<Self> {
        let stdin = io::stdin().as_fd().try_clone_to_owned()?;
        Ok(Self::new(File::from(stdin), attention))
    }

    /// Opens a path. A named pipe without a writer is waited for in [`Pipe::read`], not here,
    /// where nobody could be heard.
    pub(crate) fn open(path: &Path) -> io::Result<File> {
        let is_fifo = path.metadata().is_ok_and(|meta| meta.file_type().is_fifo());
        let flags = if is_fifo { O_NONBLOCK } else { 0 };
        OpenOptions::new().read(true).custom_flags(flags).open(path)
    }

    /// Whether reading ended because the run is to stop.
    pub(crate) const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Reads what there is, or waits for more.
    ///
    /// # Errors
    /// `Interrupted`: somebody called; read again. Else what the system says, or that the run is
    /// to stop.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.attention.is_stopped() {
                self.stopped = true;
                return Err(io::Error::other("stopped"));
            }
            let calls = self.attention.calls();
            if calls != self.answered {
                self.answered = calls;
                return Err(io::ErrorKind::Interrupted.into());
            }
            let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut fds, Some(&LISTEN_EVERY)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                // What cannot be waited for is read at once.
                Ok(_) | Err(_) => match self.file.read(into) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => return done,
                },
            }
        }
    }
}

/// How long a call may go unheard while no bytes come.
const LISTEN_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const O_NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;
