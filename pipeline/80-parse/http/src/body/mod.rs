//! Bodies of messages: the way of their bytes.
//!
//! ```text
//!  bytes of a body ──► counted ─┬─► skipped
//!                               └─► outer codings ──► decoder ──► limits ──► hashes, file
//! ```
//!
//! The second way is for bodies that are to be decoded, hashed, or written to files.

mod begin;
mod chunks;
mod decoder;
mod end;
mod layers;
mod memory;
mod outer;
mod output;
mod parts;
mod pool;
mod record;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use layers::Encodings;
pub(crate) use pool::Bodies;
pub(crate) use record::path;

use crate::anomaly::Anomaly;
use crate::options::BodyOptions;
use crate::parser::turn::Turn;
use crate::state::{NONE, Phase};
use flowpin_packet::Timestamp;
use flowpin_record::{FilePart, MessageSink};
use output::FileOutput;
use state::{BodyState, STRIDE};
use std::ops::ControlFlow;

impl<S: MessageSink> Turn<'_, S> {
    /// Bytes of a body of known length.
    #[inline]
    pub(crate) fn counted<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (body, rest) = self.take_left(bytes);
        self.body(body);
        if self.mine.left == 0 {
            self.message_over();
        }
        rest
    }

    /// Bytes of a chunk.
    #[inline]
    pub(crate) fn chunk_data<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let (body, rest) = self.take_left(bytes);
        self.body(body);
        if self.mine.left > 0 {
            return rest;
        }
        // PERF: the usual line end follows at once: no further phase for it.
        if let [b'\r', b'\n', rest @ ..] = rest {
            self.mine.phase = Phase::ChunkLine;
            return rest;
        }
        self.mine.phase = Phase::ChunkEnd;
        // Nothing of the line end was read.
        self.mine.matched = 0;
        rest
    }

    /// Splits off at most the bytes that remain of the body or chunk.
    #[inline]
    fn take_left<'b>(&mut self, bytes: &'b [u8]) -> (&'b [u8], &'b [u8]) {
        let count = usize::try_from(self.mine.left).unwrap_or(usize::MAX);
        let (body, rest) = bytes.split_at_checked(count).unwrap_or((bytes, &[]));
        self.mine.left = self.mine.left.saturating_sub(body.len() as u64);
        (body, rest)
    }

    /// Bytes of a body that ends with the stream.
    pub(crate) fn until_close<'b>(&mut self, bytes: &[u8]) -> &'b [u8] {
        self.body(bytes);
        &[]
    }

    /// The next bytes of a body.
    #[inline]
    pub(crate) fn body(&mut self, bytes: &[u8]) {
        self.count_body(bytes.len() as u64);
        if self.mine.body != NONE {
            self.wanted_body(bytes);
        }
    }

    /// Counts bytes of a body, which may be missing.
    #[inline]
    pub(crate) fn count_body(&mut self, count: u64) {
        self.mine.body_len = self.mine.body_len.saturating_add(count);
    }

    #[cold]
    fn wanted_body(&mut self, bytes: &[u8]) {
        let open = self.pools.bodies.open(self.mine.body, self.sink);
        if let Some(mut open) = open {
            let (state, mut context) = open.parts();
            state.see(self.at);
            state.feed(bytes, &mut context);
            open.charge();
        }
        self.write_parts();
    }
}

/// What the bytes of a body are fed with.
struct Context<'a> {
    options: &'a BodyOptions,
    /// Space for decoded bytes.
    space: &'a mut [u8],
    /// The length that the body may reach within the memory of its shard.
    len_max: u64,
    /// Where decoded bytes go.
    output: &'a mut (dyn Output + 'a),
}

/// Where the decoded bytes of one coding go: to the next coding, or to a file.
trait Output {
    fn put(&mut self, bytes: &[u8]);

    /// A part of the body becomes a file of its own; false if it does not.
    fn begin_part(&mut self, number: u64) -> bool {
        let _ = number;
        false
    }

    /// Bytes of such a part; how many of them are kept.
    fn part(&mut self, number: u64, bytes: &[u8]) -> u64 {
        let _ = (number, bytes);
        0
    }

    /// So many zeros in the place of missing bytes.
    fn part_missing(&mut self, number: u64, zeros: u64) {
        let _ = (number, zeros);
    }
}

impl BodyState {
    /// The next bytes as they were sent.
    fn feed(&mut self, bytes: &[u8], context: &mut Context<'_>) {
        match self.outer.take() {
            None => self.feed_content(bytes, context),
            Some(mut outer) => {
                outer.feed(self, bytes, context);
                self.outer = Some(outer);
            }
        }
    }

    /// The next bytes, after outer codings were undone.
    fn feed_content(&mut self, bytes: &[u8], context: &mut Context<'_>) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_over {
            let left = STRIDE.wrapping_sub(self.raw_len.checked_rem(STRIDE).unwrap_or(0));
            let count = if self.is_encoded {
                usize::try_from(left).unwrap_or(rest.len()).min(rest.len())
            } else {
                rest.len()
            };
            let (now, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = later;
            self.keep_first_bytes(now);
            self.learn_window(self.raw_len.saturating_add(now.len() as u64));
            self.feed_part(Some(now), context);
        }
    }

    /// The next bytes, or none at the end. An error or a limit may end the body.
    fn feed_part(&mut self, part: Option<&[u8]>, context: &mut Context<'_>) {
        let (options, by_memory) = (context.options, context.len_max);
        let by_file = options.decoded_bytes_max.saturating_sub(self.filled);
        let is_memory = by_memory < by_file.min(self.decoder_cost.window);
        let len_max = if is_memory { by_memory } else { by_file };
        let Some(anomaly) = self.decode(part, len_max, context) else {
            return;
        };
        if is_memory && anomaly == Anomaly::DecodedTooLong {
            self.no_room = true;
            return self.give_up();
        }
        // A body that is not encoded at all can still be kept.
        self.is_encoded = !self.decoder.is_plain();
        if self.is_encoded || anomaly != Anomaly::EncodingInvalid {
            self.give_up();
        }
        self.anomalies.add(anomaly);
    }

    fn decode(
        &mut self,
        part: Option<&[u8]>,
        len_max: u64,
        context: &mut Context<'_>,
    ) -> Option<Anomaly> {
        let Context { space, output, .. } = context;
        let mut decoder = self.take_decoder();
        let mut anomalies = self.anomalies;
        let mut too_long = false;
        let mut out = |made: &[u8]| {
            let left = usize::try_from(len_max.saturating_sub(self.len)).unwrap_or(usize::MAX);
            let taken = made.get(..left).unwrap_or(made);
            self.take(taken, &mut **output);
            too_long = taken.len() < made.len();
            if too_long {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let result = match part {
            Some(part) if decoder.is_plain() => {
                let _ = out(part);
                Ok(())
            }
            Some(part) => decoder.push(part, space, &mut out, &mut anomalies),
            None => decoder.finish(space, &mut out, &mut anomalies),
        };
        self.anomalies = anomalies;
        self.decoder = decoder;
        let len = part.map_or(0, <[u8]>::len);
        self.raw_len = self.raw_len.saturating_add(len as u64);
        if result.is_err() {
            return Some(Anomaly::EncodingInvalid);
        }
        if too_long {
            return Some(Anomaly::DecodedTooLong);
        }
        self.expands_too_much(context.options)
            .then_some(Anomaly::ExpandsTooMuch)
    }

    /// Hashes decoded bytes and passes them on.
    fn take(&mut self, bytes: &[u8], output: &mut dyn Output) {
        let begin = usize::from(self.head_len);
        for (place, &byte) in self.head.iter_mut().skip(begin).zip(bytes) {
            *place = byte;
            self.head_len = self.head_len.wrapping_add(1);
        }
        self.hashers.update(bytes);
        self.len = self.len.saturating_add(bytes.len() as u64);
        if let Some(form) = &mut self.form {
            let at = self.times.map_or(Timestamp(0), |[_, last]| last);
            form.feed(bytes, at, output);
        }
        output.put(bytes);
    }
}

impl<S: MessageSink> Output for FileOutput<'_, S> {
    /// Hands the sink as many bytes as the shard's quota allows.
    fn put(&mut self, bytes: &[u8]) {
        if !self.is_file {
            return;
        }
        let taken = self.hand_on(self.number, bytes);
        let left_out = (bytes.len() as u64).saturating_sub(taken);
        self.left_out = self.left_out.saturating_add(left_out);
    }

    fn begin_part(&mut self, number: u64) -> bool {
        let is_file = self.quota.begin(self.options.quota());
        if is_file {
            self.sink.file(FilePart::Begin(number));
        }
        is_file
    }

    fn part(&mut self, number: u64, bytes: &[u8]) -> u64 {
        self.hand_on(number, bytes)
    }

    fn part_missing(&mut self, number: u64, zeros: u64) {
        let zeros = self.quota.take(zeros, self.options.quota());
        self.sink.file(FilePart::Missing(number, zeros));
    }
}

impl<S: MessageSink> FileOutput<'_, S> {
    /// Hands on the bytes of a file as far as the quota goes, and returns how many.
    fn hand_on(&mut self, number: u64, bytes: &[u8]) -> u64 {
        let taken = self.quota.take(bytes.len() as u64, self.options.quota());
        let part = usize::try_from(taken)
            .ok()
            .and_then(|taken| bytes.get(..taken));
        if let Some(part) = part.filter(|part| !part.is_empty()) {
            self.sink.file(FilePart::Data(number, part));
        }
        taken
    }
}
