//! Mails that a grammar's tokens are the lines of: their parts become files.
//!
//! ```text
//!  token ─► Mail ─► content of a part, decoded ─► CarriedFile: hashes, media type ─► FILES
//!                                             └─► sink: files that are written, and rules
//! ```
//!
//! Only where files are asked for, or rules read them: otherwise tokens of mails cost nothing. What
//! a mail takes is charged to the budget of bodies, once, when it begins.

mod lines;
mod record;
mod told;

pub(crate) use record::{Shared, shared};

use flowpin_content::{CarriedFile, FileQuota, HashOptions, QuotaOptions};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Budget;
use flowpin_mime::Mail;
use flowpin_packet::SHARD_COUNT;
use flowpin_parser::ParserSetup;
use told::Flaws;

/// What is made of the parts of mails.
#[derive(Clone, Copy, Debug)]
struct MailOptions {
    /// Records tell of them.
    records: bool,
    hashes: HashOptions,
    /// The sink gets their bytes, to be written.
    files: bool,
    /// The sink gets their bytes, for rules.
    rules: bool,
    /// Bytes of one file that the sink gets.
    file_bytes_max: u64,
    quota: QuotaOptions,
}

impl MailOptions {
    /// Whether the sink gets the bytes.
    const fn are_handed_on(&self) -> bool {
        self.files || self.rules
    }
}

/// The mails of one worker.
#[derive(Debug)]
pub(crate) struct Mails {
    options: MailOptions,
    states: Vec<Option<Box<MailState>>>,
    free: Vec<u32>,
    budget: Budget,
    /// By shard: files that were written.
    quotas: Box<[FileQuota; SHARD_COUNT]>,
    pub(crate) losses: Losses,
}

/// One mail of which bytes are to come.
#[derive(Debug)]
struct MailState {
    mail: Mail,
    shard: u8,
    /// Parts that have become files.
    count: u64,
    current: Option<CarriedFile>,
    /// Of `current`: which of the mail's entities it is.
    nth: u64,
    /// Files that are over and were not told yet: of one token.
    over: Vec<(CarriedFile, u64)>,
    flaws: Flaws,
    /// The next byte is the first of a line.
    is_line_start: bool,
}

impl Mails {
    pub(crate) fn new(setup: &ParserSetup) -> Self {
        let files = &setup.files;
        let records = files.any();
        // Without files that are written, rules alone say how much of one is read.
        let of_run = |most: u64| if records { most } else { u64::MAX };
        Self {
            options: MailOptions {
                records,
                hashes: HashOptions {
                    md5: files.md5,
                    sha1: files.sha1,
                    sha256: files.sha256,
                },
                files: files.extract.is_some(),
                rules: setup.rules,
                file_bytes_max: match records {
                    true => files.bytes_max,
                    false => RULES_BYTES_MAX,
                },
                quota: QuotaOptions {
                    files: of_run(files.count_max.div_ceil(SHARD_COUNT as u64)),
                    bytes: of_run(files.total_bytes_max.div_ceil(SHARD_COUNT as u64)),
                },
            },
            states: Vec::new(),
            free: Vec::new(),
            budget: setup.bodies.clone(),
            quotas: Box::new([FileQuota::default(); SHARD_COUNT]),
            losses: Losses::default(),
        }
    }

    /// Whether anybody reads the parts of mails.
    #[inline]
    pub(crate) const fn are_wanted(&self) -> bool {
        self.options.records || self.options.rules
    }

    /// Begins a mail; none if its shard has no memory for it.
    fn begin(&mut self, shard: u8) -> Option<u32> {
        if !self.budget.take(shard, self.cost()) {
            self.losses.count(Loss::MailBodies, 1);
            return None;
        }
        let state = Box::new(MailState {
            mail: Mail::default(),
            shard,
            count: 0,
            current: None,
            nth: 0,
            over: Vec::new(),
            flaws: Flaws::default(),
            is_line_start: true,
        });
        if let Some(handle) = self.free.pop() {
            if let Some(place) = self.states.get_mut(handle as usize) {
                *place = Some(state);
            }
            return Some(handle);
        }
        self.states.push(Some(state));
        u32::try_from(self.states.len().saturating_sub(1)).ok()
    }

    /// Ends a mail, and gives its memory back.
    fn end(&mut self, handle: u32) {
        let place = self.states.get_mut(handle as usize);
        if let Some(state) = place.and_then(Option::take) {
            self.budget.give_back(state.shard, self.cost());
            self.free.push(handle);
        }
    }

    /// What a mail takes.
    const fn cost(&self) -> u64 {
        if self.options.files {
            MAIL_BYTES.saturating_add(FILE_BYTES)
        } else {
            MAIL_BYTES
        }
    }
}

/// Files of one mail; more are counted.
const FILES_MAX: u64 = 64;
/// The most of a part that rules examine.
const RULES_BYTES_MAX: u64 = 100 << 10;
/// A mail with its hashes and boundaries, and the head of its current entity.
const MAIL_BYTES: u64 = 12 << 10;
/// The bytes of a file that wait to be written.
const FILE_BYTES: u64 = 16 << 10;

const _: () = assert!(
    (size_of::<MailState>() + 2 * size_of::<CarriedFile>() + Mail::bytes_max()) as u64
        + 2 * flowpin_content::NAME_MAX as u64
        <= MAIL_BYTES,
    "what a mail takes is charged"
);
