//! Memory of decompressors: of all captures of an input that are open at once.
//!
//! What a decompressor keeps is chosen by whoever compressed: the window of Zstandard (RFC 8878
//! §3.1.1.1.2), the dictionary of xz. Captures that overlap in time are open together. What counts
//! is what is used: a small file may ask for a large window.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What all decompressors of an input may keep at once.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    max: u64,
    used: Arc<AtomicU64>,
}

impl Windows {
    pub(crate) fn new(max: u64) -> Self {
        Self {
            max,
            used: Arc::default(),
        }
    }

    /// A share for one more decompressor, of nothing yet.
    pub(super) fn share(&self) -> Share {
        Share {
            of: self.clone(),
            bytes: 0,
            made: 0,
        }
    }
}

/// What one decompressor keeps; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    of: Windows,
    bytes: u64,
    /// Bytes that came out of it.
    made: u64,
}

impl Share {
    /// The decompressor has room for so many bytes, and made some more.
    ///
    /// # Errors
    ///
    /// If it uses more than is left.
    pub(super) fn keep(&mut self, room: u64, made: usize) -> io::Result<()> {
        self.made = self.made.saturating_add(made as u64);
        self.set(room.min(self.made + UNSEEN))
    }

    /// The decompressor uses so many bytes.
    ///
    /// # Errors
    ///
    /// If that is more than is left.
    pub(super) fn set(&mut self, bytes: u64) -> io::Result<()> {
        // Relaxed: all captures of an input are read by one thread at a time.
        let others = self.of.used.load(Ordering::Relaxed) - self.bytes;
        if bytes > self.of.max.saturating_sub(others) {
            return Err(self.exhausted());
        }
        self.of.used.store(others + bytes, Ordering::Relaxed);
        self.bytes = bytes;
        Ok(())
    }

    fn exhausted(&self) -> io::Error {
        let message = format!(
            "it needs more memory than is left: files that are read at the same time may take \
             {} MiB for it, a quarter of --memory; give more, or decompress it first",
            self.of.max >> 20
        );
        io::Error::new(io::ErrorKind::OutOfMemory, message)
    }
}

/// What a decompressor uses besides what came out of it: tables, a block.
const UNSEEN: u64 = 128 << 10;

impl Drop for Share {
    fn drop(&mut self) {
        self.of.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{UNSEEN, Windows};

    #[test]
    fn shares_are_given_back() {
        let windows = Windows::new(100);
        let mut first = windows.share();
        first.set(60).unwrap();
        let mut second = windows.share();
        assert!(second.set(41).is_err());
        second.set(40).unwrap();
        first.set(10).unwrap();
        second.set(90).unwrap();
        drop(first);
        second.set(100).unwrap();
    }

    #[test]
    fn what_is_not_used_does_not_count() {
        let windows = Windows::new(3 * UNSEEN);
        let mut shares = [windows.share(), windows.share()];
        for share in &mut shares {
            share.keep(100 * UNSEEN, 0).unwrap();
        }
        shares[0].keep(100 * UNSEEN, UNSEEN as usize).unwrap();
        assert!(shares[1].keep(100 * UNSEEN, 1).is_err());
    }
}
