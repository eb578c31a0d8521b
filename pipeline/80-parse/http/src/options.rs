//! Options: limits of one connection or message, and the treatment of bodies.

use flowpin_content::{HashOptions, QuotaOptions};

/// Options of the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// Requests of one connection that wait for their response.
    pub pipelined_max: u32,
    /// Bytes of a line of a head that are read.
    pub line_bytes_max: u32,
    /// Bytes of a head before it is reported as too long; it is still read.
    pub head_bytes_max: u32,
    /// Bytes of one value that are kept for its record.
    pub value_bytes_max: u16,
    /// Records have all fields of request and response.
    pub all_fields: bool,
    /// Rules read all fields, and bodies: the sink gets them, whatever records have.
    pub rules: bool,
    /// The treatment of bodies.
    pub bodies: BodyOptions,
}

/// The treatment of bodies. With none of these they are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodyOptions {
    /// Bodies are decoded (gzip, deflate, br, zstd) before they are hashed or written.
    pub decode: bool,
    /// Records of files have their MD5.
    pub md5: bool,
    /// Records of files have their SHA-1.
    pub sha1: bool,
    /// Records of files have their SHA-256.
    pub sha256: bool,
    /// The sink gets the bytes of files.
    pub files: bool,
    /// The sink gets the bytes of bodies, decoded, for rules: no record shows anything of that.
    pub rules: bool,
    /// Decoded bytes of one body; the rest is left out.
    pub decoded_bytes_max: u64,
    /// The maximum ratio of decoded to sent bytes, beyond 64 KiB.
    pub ratio_max: u32,
    /// Files of one shard whose bytes the sink gets.
    pub shard_files_max: u64,
    /// Bytes of files of one shard that the sink gets, gaps among them.
    pub shard_file_bytes_max: u64,
}

impl BodyOptions {
    /// Whether records have anything of what bodies hold.
    pub const fn any(&self) -> bool {
        self.decode || self.md5 || self.sha1 || self.sha256 || self.files
    }

    /// The hashes that records have.
    pub(crate) const fn hashes(&self) -> HashOptions {
        HashOptions {
            md5: self.md5,
            sha1: self.sha1,
            sha256: self.sha256,
        }
    }

    /// What one shard may write.
    pub(crate) const fn quota(&self) -> QuotaOptions {
        QuotaOptions {
            files: self.shard_files_max,
            bytes: self.shard_file_bytes_max,
        }
    }

    /// Whether bodies are read at all.
    pub(crate) const fn are_read(&self) -> bool {
        self.any() || self.rules
    }

    /// Whether codings are undone. What records have decides, where they have anything.
    pub(crate) const fn are_decoded(&self) -> bool {
        self.decode || self.rules && !self.any()
    }

    /// Whether the sink gets the bytes.
    pub(crate) const fn are_handed_on(&self) -> bool {
        self.files || self.rules
    }
}

impl Default for BodyOptions {
    fn default() -> Self {
        Self {
            decode: false,
            md5: false,
            sha1: false,
            sha256: false,
            files: false,
            rules: false,
            decoded_bytes_max: 64 << 20,
            ratio_max: 1000,
            shard_files_max: 4096,
            shard_file_bytes_max: 256 << 20,
        }
    }
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            pipelined_max: 256,
            line_bytes_max: 16 << 10,
            head_bytes_max: 64 << 10,
            value_bytes_max: 8 << 10,
            all_fields: false,
            rules: false,
            bodies: BodyOptions::default(),
        }
    }
}
