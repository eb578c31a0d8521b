//! What is made of the files that connections carry: bodies of messages.

use crate::{ByteSize, FileSettings};
use std::path::PathBuf;

/// Files: bodies that are decoded, hashed and kept. By default they are skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesPlan {
    /// Encoded bodies (gzip, deflate, br, zstd) are decoded first.
    pub decode: bool,
    /// Their records have an MD5.
    pub md5: bool,
    /// Their records have a SHA-1.
    pub sha1: bool,
    /// Their records have a SHA-256.
    pub sha256: bool,
    /// The directory that they are written to; none: they are not.
    pub extract: Option<PathBuf>,
    /// The most bytes of one, decoded.
    pub bytes_max: u64,
    /// The most files that are written in one run, an equal part of them for each shard.
    pub count_max: u64,
    /// The most bytes of all of them, likewise.
    pub total_bytes_max: u64,
}

impl Default for FilesPlan {
    fn default() -> Self {
        Self {
            decode: false,
            md5: false,
            sha1: false,
            sha256: false,
            extract: None,
            bytes_max: 64 << 20,
            count_max: 1 << 20,
            total_bytes_max: 64 << 30,
        }
    }
}

impl FilesPlan {
    /// Whether any body is looked at.
    pub const fn any(&self) -> bool {
        self.decode || self.md5 || self.sha1 || self.sha256 || self.extract.is_some()
    }
}

impl From<FileSettings> for FilesPlan {
    fn from(settings: FileSettings) -> Self {
        let defaults = Self::default();
        let md5 = settings.md5.unwrap_or(defaults.md5);
        let sha1 = settings.sha1.unwrap_or(defaults.sha1);
        let sha256 = settings.sha256.unwrap_or(defaults.sha256);
        let extract = settings.extract.filter(|path| !path.as_os_str().is_empty());
        Self {
            // Who wants files wants to open them; who wants hashes, to look them up.
            decode: settings
                .decode
                .unwrap_or(extract.is_some() || md5 || sha1 || sha256),
            md5,
            sha1,
            sha256,
            extract,
            bytes_max: settings.size_max.map_or(defaults.bytes_max, |size| size.0),
            count_max: settings.count_max.unwrap_or(defaults.count_max),
            total_bytes_max: settings
                .total_max
                .map_or(defaults.total_bytes_max, |size| size.0),
        }
    }
}

impl From<&FilesPlan> for FileSettings {
    fn from(plan: &FilesPlan) -> Self {
        Self {
            decode: Some(plan.decode),
            md5: Some(plan.md5),
            sha1: Some(plan.sha1),
            sha256: Some(plan.sha256),
            extract: plan.extract.clone(),
            size_max: Some(ByteSize(plan.bytes_max)),
            count_max: Some(plan.count_max),
            total_max: Some(ByteSize(plan.total_bytes_max)),
        }
    }
}
