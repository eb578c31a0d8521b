//! Bytes from a pipe, a device or standard input: waits for them, but not with deaf ears.

use super::attention::Attention;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// Something that may keep a reader waiting.
#[derive(Debug)]
pub(crate) struct Pipe {
    file: File,
    attention: Attention,
    /// Calls answered so far.
    answered: u32,
    stopped: bool,
    /// When the last bytes came, and how often it was told that none do since.
    last: Option<Instant>,
    told: u32,
    idle: bool,
}

impl Pipe {
    /// Takes over an open file.
    pub(crate) fn new(file: File, attention: &Attention) -> Self {
        Self {
            file,
            attention: attention.clone(),
            answered: attention.calls(),
            stopped: false,
            last: None,
            told: 0,
            idle: false,
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

    /// Whether the last read ended because nothing came for [`IDLE_AFTER`].
    pub(crate) const fn is_idle(&self) -> bool {
        self.idle
    }

    /// Reads what there is, or waits for more.
    ///
    /// # Errors
    /// `Interrupted`: somebody called, or bytes came and then nothing for a while; read again.
    /// Else what the system says, or that the run is to stop.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.idle = false;
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
                Ok(0) | Err(rustix::io::Errno::INTR) => self.wait()?,
                // What cannot be waited for is read at once.
                Ok(_) | Err(_) => match self.file.read(into) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    done => {
                        (self.last, self.told) = (Some(Instant::now()), 0);
                        return done;
                    }
                },
            }
        }
    }

    /// Nothing has come yet.
    fn wait(&mut self) -> io::Result<()> {
        let patience = patience(self.told);
        self.idle = self.last.is_some_and(|last| last.elapsed() >= patience);
        if self.idle {
            self.told = self.told.saturating_add(1);
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(())
    }
}

/// How long a call may go unheard while no bytes come.
const LISTEN_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// After how long a reader learns that nothing comes: a program that writes a file into a pipe
/// leaves no such gaps, a capture of a quiet link does.
const IDLE_AFTER: Duration = Duration::from_millis(1000);

/// The second time comes early, for what other threads have made by then of the bytes that came.
const IDLE_AGAIN: Duration = Duration::from_millis(100);

/// How long nothing must have come for it to be told, if it was told so often. Again and again: how
/// long other threads take is not known, and files are brought up to date now and then.
fn patience(told: u32) -> Duration {
    match told {
        0 => IDLE_AFTER,
        _ => IDLE_AFTER.saturating_mul(told) + IDLE_AGAIN,
    }
}

#[expect(clippy::cast_possible_wrap, reason = "a small constant")]
const O_NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits() as i32;
