//! What a capture turned out to be: for the progress bar and the summary.

use crate::format::Damage;
use crate::link;
use crate::magic::Compression;
use flowpin_packet::{InterfaceNames, LinkType};
use std::path::PathBuf;

/// How far reading has come. Cheap to ask for, at every piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read, as they lie on disk (compressed ones if they are).
    pub bytes_read: u64,
    /// All bytes that there are; none if some come through a pipe.
    pub bytes_total: Option<u64>,
    /// Captures read to their end.
    pub files_done: usize,
    /// Captures in all.
    pub files_total: usize,
    /// Frames read, those that were left out included.
    pub packets: u64,
    /// Packets that were lost while they were captured, as far as the open captures say so.
    pub dropped: u64,
}

/// What there is to say about one capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileReport {
    /// Its path; `-` for standard input.
    pub path: PathBuf,
    /// It is no file: its path is the name of an interface, or of several.
    pub is_live: bool,
    /// The format's name, with its variant.
    pub format: &'static str,
    /// What is wrapped around it.
    pub compression: Compression,
    /// LINKTYPE_ numbers of its interfaces, each once.
    pub links: Vec<u16>,
    /// Frames read from it.
    pub packets: u64,
    /// Those of them whose link type is not decoded.
    pub packets_unsupported: u64,
    /// pcapng blocks of types that the standard does not name; passed over.
    pub unknown_blocks: u64,
    /// Interfaces whose packets have no name in records: there were too many different ones.
    pub unnamed_interfaces: u64,
    /// Packets that were lost while it was captured, as far as it says so (pcapng statistics).
    pub dropped: u64,
    /// Packets that interfaces received by queues which nobody has captured from.
    pub uncaptured: u64,
    /// What happened to interfaces, one line each.
    pub happened: Vec<String>,
    /// Where it stops being readable.
    pub damage: Option<Damage>,
}

impl FileReport {
    /// Whether there is a link type, and none is decoded.
    pub fn is_unsupported(&self) -> bool {
        !self.links.is_empty()
            && (self.links.iter()).all(|&link| LinkType::of_number(link) == LinkType::Unsupported)
    }

    /// What a user should know, one line each, path first.
    pub fn notes(&self) -> Vec<String> {
        let path = self.path.display();
        let mut notes = Vec::new();
        if let Some(damage) = &self.damage {
            notes.push(format!("{path}: {damage}; what came before was analysed"));
        }
        if self.packets_unsupported > 0 || self.is_unsupported() {
            let unsupported =
                (self.links.iter()).filter(|&&l| LinkType::of_number(l) == LinkType::Unsupported);
            let names: Vec<_> = unsupported
                .map(|&number| format!("{number} ({})", link::link_name(number)))
                .collect();
            notes.push(format!(
                "{path}: {} of a link type that is not decoded: {}",
                things(self.packets_unsupported, "packet"),
                names.join(", ")
            ));
        }
        if self.unknown_blocks > 0 {
            let count = self.unknown_blocks;
            notes.push(format!(
                "{path}: {} of unknown types passed over",
                things(count, "block")
            ));
        }
        if self.unnamed_interfaces > 0 {
            notes.push(format!(
                "{path}: {} without in_iface in records: of one run only {} have it",
                things(self.unnamed_interfaces, "interface"),
                InterfaceNames::COUNT_MAX
            ));
        }
        notes.extend_from_slice(&self.happened);
        notes
    }
}

/// What there is to say about the whole input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Every capture, in argument order (directories by name).
    pub files: Vec<FileReport>,
    /// Files in directories that are no captures.
    pub files_skipped: usize,
    /// Frames that were left out, by the filter or by their time.
    pub rejected_by_filter: u64,
}

impl Report {
    /// Whether any capture is damaged (exit code 4).
    pub fn is_damaged(&self) -> bool {
        self.files.iter().any(|file| file.damage.is_some())
    }
}

/// `1 file`, `2 files`.
pub(crate) fn things(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}
