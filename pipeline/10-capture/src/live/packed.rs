//! A recording's file, compressed if its name says so.
//!
//! Compressed bytes are written in frames (Zstandard, RFC 8878) or members (gzip, RFC 1952), each
//! whole by itself, a mebibyte or a second of traffic each. So a recording that was cut short by a
//! kill, or a full disk, lacks its last second and can be read.

use flate2::Compression as Level;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use zstd::bulk::Compressor;

/// A file that is written.
pub(super) struct RecordingFile {
    file: File,
    packer: Packer,
    /// What waits to be compressed.
    waiting: Vec<u8>,
    /// Since when.
    since: Instant,
}

enum Packer {
    None,
    Zstd(Box<Compressor<'static>>),
    Gzip,
}

impl core::fmt::Debug for RecordingFile {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RecordingFile")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

impl RecordingFile {
    /// Writes to a new file; the end of its name says whether it is compressed.
    pub(super) fn new(path: &Path, file: File) -> Self {
        let extension = path.extension().unwrap_or_default();
        let packer = if extension == "gz" {
            Packer::Gzip
        } else if extension == "zst" {
            // Without memory for it, what is recorded is larger.
            Compressor::new(ZSTD_LEVEL).map_or(Packer::None, |one| Packer::Zstd(Box::new(one)))
        } else {
            Packer::None
        };
        Self {
            file,
            packer,
            waiting: Vec::new(),
            since: Instant::now(),
        }
    }

    /// Writes whole blocks.
    pub(super) fn write_all(&mut self, blocks: &[u8]) -> io::Result<()> {
        if matches!(self.packer, Packer::None) {
            return self.file.write_all(blocks);
        }
        if self.waiting.is_empty() {
            self.since = Instant::now();
        }
        self.waiting.extend_from_slice(blocks);
        if self.waiting.len() >= FRAME_LEN || self.since.elapsed() >= FRAME_EVERY {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let packed = match &mut self.packer {
            Packer::None => Ok(Vec::new()),
            Packer::Zstd(compressor) => compressor.compress(&self.waiting),
            Packer::Gzip => {
                let mut member = GzEncoder::new(Vec::new(), Level::fast());
                member
                    .write_all(&self.waiting)
                    .and_then(|()| member.finish())
            }
        };
        self.waiting.clear();
        self.file.write_all(&packed?)
    }
}

impl Drop for RecordingFile {
    /// Of a run that fails elsewhere, which is told, the recording is as long as it can be.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// The fastest of the ordinary levels: what is recorded must keep up with what comes.
const ZSTD_LEVEL: i32 = 1;
const FRAME_LEN: usize = 1 << 20;
const FRAME_EVERY: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::RecordingFile;
    use std::fs::{self, File};
    use std::io::Read;

    /// What was written can be read at any time up to the last frame, and all of it in the end;
    /// without compression at once.
    #[test]
    fn frames_are_whole_by_themselves() {
        let dir = tempfile::tempdir().unwrap();
        let blocks: Vec<u8> = (0..3_000_000_u32)
            .flat_map(|n| (n / 7).to_le_bytes())
            .collect();
        for name in ["a.pcapng", "a.pcapng.zst", "a.gz"] {
            let path = dir.path().join(name);
            let mut file = RecordingFile::new(&path, File::create(&path).unwrap());
            let unpacked = || {
                let bytes = fs::read(&path).unwrap();
                let mut text = Vec::new();
                match path.extension().unwrap().to_str().unwrap() {
                    "zst" => zstd::stream::copy_decode(&*bytes, &mut text).unwrap(),
                    "gz" => {
                        let mut members = flate2::read::MultiGzDecoder::new(&*bytes);
                        members.read_to_end(&mut text).unwrap();
                    }
                    _ => text = bytes,
                }
                text
            };
            for part in blocks.chunks(100_001) {
                file.write_all(part).unwrap();
            }
            let so_far = unpacked();
            assert!(blocks.starts_with(&so_far) && so_far.len() + (1 << 21) > blocks.len());
            file.flush().unwrap();
            assert!(unpacked() == blocks, "{name}");
        }
    }
}
