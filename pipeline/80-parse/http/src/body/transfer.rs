//! Codings that were applied behind the first: content codings (RFC 9110 §8.4), then transfer
//! codings (RFC 9112 §7). The last is undone first.
//!
//! ```text
//!  bytes of a body ──► last decoder ──► … ──► first decoder ──► hashes, file
//! ```
//!
//! Limits hold for what comes out of each, against what came in at the very beginning.

use super::coding::Layers;
use super::work::{STRIDE, Work};
use crate::options::BodyOptions;

/// What undoes them.
#[derive(Debug)]
pub(super) struct Transfer(Box<Work>);

impl Transfer {
    pub(super) fn new(layers: Layers) -> Self {
        // Hashes and files are of what comes out in the end.
        Self(Box::new(Work::of(layers, 0, 0, &BodyOptions::default())))
    }

    /// Memory that it takes.
    pub(super) fn cost(&self) -> u64 {
        self.0.cost_below()
    }

    /// Memory that it takes from the beginning.
    pub(super) fn least_cost(layers: Layers) -> u64 {
        layers
            .iter()
            .map(Work::cost_of)
            .fold(0, u64::saturating_add)
    }

    /// Bytes that came, before anything was undone.
    pub(super) fn came(&self) -> u64 {
        self.0.came()
    }

    /// The next bytes; what came of them goes on to `content`.
    pub(super) fn feed(
        &mut self,
        content: &mut Work,
        bytes: &[u8],
        (space, room): (&mut [u8], u64),
        options: &BodyOptions,
        file: &mut dyn FnMut(&[u8]),
    ) {
        let half = space.len() >> 1;
        let Some((space, below)) = space.split_at_mut_checked(half) else {
            return;
        };
        let len_max = content.len.saturating_add(room);
        let mut rest = bytes;
        while !rest.is_empty() {
            // What one stride of bytes makes counts against all of that stride: so it does not
            // depend on segments.
            let came = self.0.came();
            let end = came
                .checked_div(STRIDE)
                .unwrap_or(0)
                .saturating_add(1)
                .saturating_mul(STRIDE);
            let left = usize::try_from(end.saturating_sub(came)).unwrap_or(usize::MAX);
            let (part, later) = rest.split_at_checked(left).unwrap_or((rest, &[]));
            rest = later;
            content.wire_len = Some(end);
            self.0
                .feed(part, (&mut *below, u64::MAX), options, &mut |made| {
                    let room = len_max.saturating_sub(content.len);
                    content.feed_content(made, (&mut *space, room), options, file);
                });
            content.is_broken |= self.0.is_broken;
            if part.len() == left && content.is_over() {
                // Nobody needs the rest.
                self.0.give_up();
            }
            if self.0.is_over() {
                return;
            }
        }
    }

    /// Nothing behind missing bytes can be decoded.
    pub(super) fn give_up(&mut self) {
        self.0.give_up();
    }

    /// No more bytes come: what is known of it, and a byte that was too few to decide.
    pub(super) fn finish(
        mut self,
        space: &mut [u8],
        options: &BodyOptions,
        made: &mut dyn FnMut(&[u8]),
    ) -> Box<Work> {
        self.0.finish((space, u64::MAX), options, made);
        self.0
    }
}
