//! What is made of the files that connections carry: bodies of messages.

use crate::options::{Flag, Hint, options};
use crate::{ByteSize, Settings};
use std::ffi::OsStr;
use std::path::PathBuf;

options! {
    /// Files: bodies that are decoded, hashed and kept. By default they are skipped.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan FilesPlan {
        [files] FileSettings: "`[files]`: what is made of bodies of messages." {
            /// Undo gzip, deflate, br and zstd of bodies; on where they are extracted.
            decode: bool => decode: bool = false;
            /// Records of files have their MD5.
            md5: bool => md5: bool = false,
                flag Flag::value("hash", "NAMES", "Tell the hashes of the bodies of messages, \
                    decoded: md5, sha1, sha256")
                    .by_comma().one_of(&["md5", "sha1", "sha256"]).by(hash);
            /// Records of files have their SHA-1.
            sha1: bool => sha1: bool = false, flag Flag::shared("hash");
            /// Records of files have their SHA-256.
            sha256: bool => sha256: bool = false, flag Flag::shared("hash");
            /// The directory that bodies are written to; "": nowhere.
            extract: PathBuf => extract: Option<PathBuf> = None, example "\"files\"",
                flag Flag::value("extract", "DIR", "Write the bodies of messages to files in this \
                    directory; limits: `[files]` in settings").hint(Hint::Directory);
            /// The most bytes of one file.
            size_max: ByteSize => bytes_max: u64 = 64 << 20;
            /// The most files that one run writes, an equal part of them in each of 256 shards.
            count_max: u64 => count_max: u64 = 1 << 20;
            /// The most bytes of all files that one run writes, an equal part in each shard.
            total_max: ByteSize => total_bytes_max: u64 = 64 << 30;
        }
    }
}

fn hash(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    let files = &mut settings.files;
    let slot = match text.to_str() {
        Some("md5") => &mut files.md5,
        Some("sha1") => &mut files.sha1,
        _ => &mut files.sha256,
    };
    *slot = Some(true);
    Ok(())
}

impl FilesPlan {
    /// Whether any body is looked at.
    pub const fn any(&self) -> bool {
        self.decode || self.md5 || self.sha1 || self.sha256 || self.extract.is_some()
    }

    /// Who wants files wants to open them; who wants hashes, to look them up: bodies are decoded
    /// then, unless that is set.
    pub(crate) fn settle(&mut self, decode: Option<bool>) {
        self.extract.take_if(|path| path.as_os_str().is_empty());
        self.decode = decode.unwrap_or_else(|| self.any());
    }
}
