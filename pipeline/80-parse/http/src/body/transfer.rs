//! A transfer coding below a content coding (RFC 9112 §7): undone first.
//!
//! ```text
//!  bytes of chunks ──► transfer decoder ──► content decoder ──► hashes, file
//! ```
//!
//! Limits hold for what comes out of each, against what came in at the very beginning.

use super::coding::{Encoding, Encodings};
use super::work::{STRIDE, Work};
use crate::options::BodyOptions;

/// What undoes a transfer coding.
#[derive(Debug)]
pub(super) struct Transfer(Box<Work>);

impl Transfer {
    pub(super) fn new(encoding: Encoding) -> Self {
        // Hashes and files are of what comes out in the end.
        let options = BodyOptions {
            decode: true,
            ..BodyOptions::default()
        };
        Self(Box::new(Work::new(
            Encodings::of_content(encoding),
            0,
            0,
            &options,
        )))
    }

    /// Memory that it takes.
    pub(super) fn cost(&self) -> u64 {
        self.0.cost(&BodyOptions::default())
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
            let end = self
                .0
                .raw_len
                .checked_div(STRIDE)
                .unwrap_or(0)
                .saturating_add(1)
                .saturating_mul(STRIDE);
            let left = usize::try_from(end.saturating_sub(self.0.raw_len)).unwrap_or(usize::MAX);
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
