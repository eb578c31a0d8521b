//! The files of a form (RFC 7578): parts of a request's body that give a file's name.
//!
//! ```text
//!  decoded bytes ──► Multipart ──► head: a file's name ──► bytes: hashes, media type, file
//!                                └──► any other part: skipped
//! ```
//!
//! The body itself is examined like any other: rules read it whole, and it is a file of its own if
//! no part is one, so that nothing is hidden behind a boundary that only some receivers find.

use super::Output;
use crate::options::BodyOptions;
use flowpin_content::{CarriedFile, NAME_MAX};
use flowpin_mime::{Multipart, Parts, field, parameter};
use flowpin_packet::Timestamp;
use flowpin_record::part_number;

/// Files of one form; more are counted.
const FILES_MAX: u64 = 64;
/// The memory of a form beside that of its body: the current part and its head.
pub(super) const FORM_BYTES: u64 = 8 << 10;

const _: () = assert!(
    (size_of::<Form>() + NAME_MAX + Multipart::bytes_max()) as u64 <= FORM_BYTES,
    "what a form takes is charged"
);

/// The parts of one body.
#[derive(Debug)]
pub(super) struct Form {
    multipart: Multipart,
    files: Files,
}

#[derive(Debug)]
struct Files {
    options: BodyOptions,
    /// The number of the body's own file.
    body: u64,
    count: u64,
    /// Parts that name a file beyond [`FILES_MAX`].
    left_out: u64,
    current: Option<CarriedFile>,
    /// Those that are over and were not yet taken: of one call.
    over: Vec<CarriedFile>,
}

impl Form {
    /// At the first byte of a body; none if there can be no such boundary. `body`: the number of
    /// its file.
    pub(super) fn new(boundary: &[u8], body: u64, options: &BodyOptions) -> Option<Self> {
        Some(Self {
            multipart: Multipart::new(boundary)?,
            files: Files {
                options: *options,
                body,
                count: 0,
                left_out: 0,
                current: None,
                over: Vec::new(),
            },
        })
    }

    /// The next bytes of the body, decoded, which were captured at this time.
    pub(super) fn feed(&mut self, bytes: &[u8], at: Timestamp, output: &mut dyn Output) {
        let Self { multipart, files } = self;
        multipart.feed(bytes, &mut Told { files, at, output });
    }

    /// Bytes of the body are missing, of which the file gets so many zeros.
    pub(super) fn gap(&mut self, len: u64, zeros: u64, output: &mut dyn Output) {
        let Self { multipart, files } = self;
        let at = files.last_seen();
        let is_inside = multipart.gap(&mut Told { files, at, output });
        if let Some(file) = files.current.as_mut().filter(|_| is_inside) {
            file.missing = file.missing.saturating_add(len);
            if file.is_file && zeros > 0 {
                output.part_missing(file.number, zeros);
            }
        }
    }

    /// The body is over, complete or not.
    pub(super) fn finish(&mut self, output: &mut dyn Output) {
        let Self { multipart, files } = self;
        let at = files.last_seen();
        multipart.finish(&mut Told { files, at, output });
    }

    /// Whether any part is a file.
    pub(super) const fn has_files(&self) -> bool {
        self.files.count > 0
    }

    /// The files that are over since the last call.
    pub(super) fn take_over(&mut self) -> Vec<CarriedFile> {
        core::mem::take(&mut self.files.over)
    }

    /// Files that were left out since the last call.
    pub(super) const fn take_left_out(&mut self) -> u64 {
        core::mem::replace(&mut self.files.left_out, 0)
    }
}

impl Files {
    fn last_seen(&self) -> Timestamp {
        let current = self.current.as_ref();
        current.map_or(Timestamp(0), |file| file.times[1])
    }
}

/// What the parts are told to.
struct Told<'a> {
    files: &'a mut Files,
    at: Timestamp,
    output: &'a mut dyn Output,
}

impl Parts for Told<'_> {
    fn head(&mut self, head: &[u8]) {
        let Some(disposition) = field(head, b"content-disposition") else {
            return;
        };
        let name = parameter(&disposition, b"filename").plain_first();
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return;
        };
        let files = &mut *self.files;
        if files.count == FILES_MAX {
            files.left_out = files.left_out.saturating_add(1);
            return;
        }
        files.count = files.count.saturating_add(1);
        let number = part_number(files.body, files.count);
        let hashes = files.options.hashes();
        let mut file = CarriedFile::new(number, &name, hashes, self.at);
        file.is_file = files.options.files && self.output.begin_part(number);
        files.current = Some(file);
    }

    fn content(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.files.current else {
            return;
        };
        file.put(bytes, self.at);
        let len = bytes.len() as u64;
        if file.is_file {
            let taken = self.output.part(file.number, bytes);
            file.left_out = file.left_out.saturating_add(len.saturating_sub(taken));
        }
    }

    fn over(&mut self, is_whole: bool) {
        let Some(mut file) = self.files.current.take() else {
            return;
        };
        file.end(is_whole);
        self.files.over.push(file);
    }
}
