//! The memory that a body takes, which counts against its shard.

use super::decoder::{Cost, Decoder};
use super::layers::{Encoding, Encodings};
use super::outer::OuterCodings;
use super::parts::FORM_BYTES;
use super::state::BodyState;
use crate::options::BodyOptions;

/// A body without its decoder: hashes, and the bytes of its file that wait to be written.
const BODY_BYTES: u64 = 1 << 10;
const FILE_BYTES: u64 = 16 << 10;

const _: () = assert!(size_of::<Option<BodyState>>() as u64 <= BODY_BYTES);

impl BodyState {
    /// The memory of a body at its beginning.
    pub(super) fn least_cost(encodings: Encodings, options: &BodyOptions) -> u64 {
        let (content, outer) = encodings.undone(options.are_decoded()).split_first();
        Self::bare_cost(options)
            .saturating_add(OuterCodings::least_cost(outer))
            .saturating_add(Decoder::cost(content).base)
    }

    /// The memory that it takes now.
    pub(super) fn cost(&self, options: &BodyOptions) -> u64 {
        let Cost { base, window } = self.decoder_cost;
        let outer = self.outer.as_ref().map_or(0, OuterCodings::cost);
        let form = if self.form.is_some() { FORM_BYTES } else { 0 };
        Self::bare_cost(options)
            .saturating_add(outer)
            .saturating_add(form)
            .saturating_add(base)
            .saturating_add(window.min(self.len))
    }

    /// The memory of outer codings: with all of the decoder's window, because the shard's room is
    /// not checked while it fills.
    pub(super) fn outer_cost(&self) -> u64 {
        let own = if self.is_over {
            BODY_BYTES
        } else {
            Self::coding_cost(self.encoding)
        };
        let outer = self.outer.as_ref().map_or(0, OuterCodings::cost);
        own.saturating_add(outer)
    }

    /// Like [`BodyState::outer_cost`], of one coding at its beginning.
    pub(super) const fn coding_cost(encoding: Encoding) -> u64 {
        let Cost { base, window } = Decoder::cost(encoding);
        BODY_BYTES.saturating_add(base).saturating_add(window)
    }

    const fn bare_cost(options: &BodyOptions) -> u64 {
        let file = if options.are_handed_on() {
            FILE_BYTES
        } else {
            0
        };
        BODY_BYTES.saturating_add(file)
    }

    /// Reads the size of the decoder's window from the first bytes, before the decoder gets more
    /// than `raw_len` bytes.
    pub(super) fn learn_window(&mut self, raw_len: u64) {
        let known = usize::try_from(raw_len).unwrap_or(usize::MAX);
        let begin = self.begin.get(..known).unwrap_or(&self.begin);
        let most = Decoder::cost(self.encoding).window;
        self.decoder_cost.window = self.decoder.window(begin, self.is_next_frame).min(most);
    }
}
