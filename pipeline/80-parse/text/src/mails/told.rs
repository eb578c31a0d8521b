//! What a mail tells of its parts: their bytes go on to hashes and to the sink.

use super::{FILES_MAX, MailOptions};
use flowpin_content::{CarriedFile, FileQuota};
use flowpin_counters::{Loss, Losses};
use flowpin_mime::{MailFlaw, MailParts};
use flowpin_packet::Timestamp;
use flowpin_record::{FilePart, MessageSink, mail_file};

/// A file gets at most this many zeros for one gap.
const FILLED_MAX: u64 = 1 << 20;

/// What was odd about a mail and was not reported yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flaws(u8);

/// The names of anomalies, in the order in which they are reported.
const NAMES: [(MailFlaw, &str); 6] = [
    (MailFlaw::Head, "mime_head_too_long"),
    (MailFlaw::Boundary, "mime_boundary_invalid"),
    (MailFlaw::Nested, "mime_nested_too_deep"),
    (MailFlaw::Base64, "mime_encoding_invalid"),
    (MailFlaw::QuotedPrintable, "mime_quoted_invalid"),
    (MailFlaw::BoundaryOpen, "mime_boundary_open"),
];

impl Flaws {
    fn add(&mut self, flaw: MailFlaw) {
        let bits = NAMES.iter().zip(0u32..);
        for (_, nth) in bits.filter(|((known, _), _)| *known == flaw) {
            self.0 |= 1u8.wrapping_shl(nth);
        }
    }

    /// The names of those there are, which are reported now.
    pub(super) fn take(&mut self) -> impl Iterator<Item = &'static str> + use<> {
        let bits = core::mem::take(&mut self.0);
        let names = NAMES.iter().zip(0u32..);
        names
            .filter(move |(_, nth)| bits & 1u8.wrapping_shl(*nth) != 0)
            .map(|((_, name), _)| *name)
    }
}

/// Takes what one mail tells.
pub(super) struct Told<'a, S> {
    pub(super) options: &'a MailOptions,
    pub(super) sink: &'a mut S,
    pub(super) quota: &'a mut FileQuota,
    pub(super) losses: &'a mut Losses,
    pub(super) current: &'a mut Option<CarriedFile>,
    pub(super) nth: &'a mut u64,
    pub(super) count: &'a mut u64,
    pub(super) over: &'a mut Vec<(CarriedFile, u64)>,
    pub(super) flaws: &'a mut Flaws,
    pub(super) at: Timestamp,
    /// How many files of the direction there were.
    pub(super) number: &'a mut u64,
    /// 1: those of the server. No two files of a connection have one number.
    pub(super) side: u64,
}

/// Whether a part is no file so far.
fn is_nothing(file: &CarriedFile) -> bool {
    file.name.is_empty() && file.len == 0 && file.missing == 0
}

impl<S: MessageSink> Told<'_, S> {
    /// Something of a part without a name is there.
    fn begin_unnamed(&mut self) {
        if self.current.as_ref().is_some_and(is_nothing) {
            self.begin_file();
        }
    }

    /// The current part is a file.
    fn begin_file(&mut self) {
        if *self.count >= FILES_MAX {
            self.losses.count(Loss::MailParts, 1);
            *self.current = None;
        }
        let Some(file) = self.current else {
            return;
        };
        *self.count = self.count.saturating_add(1);
        *self.number = self.number.saturating_add(1);
        if self.options.are_handed_on() {
            file.is_file = self.quota.begin(self.options.quota);
            match file.is_file {
                true => self.sink.file(FilePart::Begin(file.number)),
                false => self.losses.count(Loss::MailFiles, 1),
            }
        }
    }
}

impl<S: MessageSink> MailParts for Told<'_, S> {
    fn begin(&mut self, nth: u64, name: Option<&[u8]>) {
        *self.nth = nth;
        let number = mail_file(self.number.saturating_add(1), self.side);
        let hashes = self.options.hashes;
        let is_named = name.is_some();
        let name = name.unwrap_or_default();
        *self.current = Some(CarriedFile::new(number, name, hashes, self.at));
        // What nobody names may have nothing in it, as the end of a form letter has: that is no
        // file.
        if is_named {
            self.begin_file();
        }
    }

    fn content(&mut self, bytes: &[u8]) {
        self.begin_unnamed();
        let Some(file) = self.current else {
            return;
        };
        let before = file.len.saturating_add(file.missing);
        file.put(bytes, self.at);
        if !file.is_file {
            return;
        }
        let len = bytes.len() as u64;
        let room = self.options.file_bytes_max.saturating_sub(before);
        let taken = self.quota.take(len.min(room), self.options.quota);
        file.left_out = file.left_out.saturating_add(len.saturating_sub(taken));
        let taken = usize::try_from(taken).ok();
        let taken = taken.and_then(|taken| bytes.get(..taken));
        if let Some(taken) = taken.filter(|taken| !taken.is_empty()) {
            self.sink.file(FilePart::Data(file.number, taken));
        }
    }

    fn missing(&mut self, len: u64) {
        self.begin_unnamed();
        let Some(file) = self.current else {
            return;
        };
        let before = file.len.saturating_add(file.missing);
        file.missing = file.missing.saturating_add(len);
        let room = self.options.file_bytes_max.saturating_sub(before);
        let zeros = len.min(FILLED_MAX).min(room);
        if file.is_file && zeros > 0 {
            let zeros = self.quota.take(zeros, self.options.quota);
            self.sink.file(FilePart::Missing(file.number, zeros));
        }
    }

    fn over(&mut self, is_whole: bool) {
        let Some(mut file) = self.current.take() else {
            return;
        };
        if is_nothing(&file) {
            return;
        }
        file.end(is_whole);
        if file.is_file {
            self.losses.count(Loss::MailFileBytes, file.left_out);
            self.sink.file(FilePart::End(file.number, file.is_whole));
        }
        self.over.push((file, *self.nth));
    }

    fn odd(&mut self, flaw: MailFlaw) {
        self.flaws.add(flaw);
        match flaw {
            MailFlaw::Nested => self.losses.count(Loss::MailNested, 1),
            MailFlaw::Head => self.losses.count(Loss::MailHeads, 1),
            _ => {}
        }
    }
}
