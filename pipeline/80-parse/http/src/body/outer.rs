//! Codings that were applied after the first: further content codings (RFC 9110 §8.4), then
//! transfer codings (RFC 9112 §7). The last one is undone first.
//!
//! ```text
//!  bytes of a body ──► last decoder ──► … ──► first decoder ──► hashes, file
//! ```
//!
//! Limits hold for the output of each, relative to the bytes that were sent.

use super::layers::Layers;
use super::state::{BodyState, STRIDE};
use super::{Context, Output};
use crate::options::BodyOptions;

/// Undoes all codings but the first.
#[derive(Debug)]
pub(super) struct OuterCodings(Box<BodyState>);

/// Decoded bytes of outer codings go to the decoder of the first one.
struct ToContent<'a, 'b> {
    content: &'a mut BodyState,
    context: Context<'b>,
}

impl Output for ToContent<'_, '_> {
    fn put(&mut self, bytes: &[u8]) {
        self.content.feed_content(bytes, &mut self.context);
    }
}

impl OuterCodings {
    pub(super) fn new(layers: Layers) -> Self {
        // Hashes and files are of the fully decoded body.
        let state = BodyState::of(layers, 0, 0, &BodyOptions::default());
        Self(Box::new(state))
    }

    /// The memory that they take.
    pub(super) fn cost(&self) -> u64 {
        self.0.outer_cost()
    }

    /// The memory that they take at the beginning.
    pub(super) fn least_cost(layers: Layers) -> u64 {
        layers
            .iter()
            .map(BodyState::coding_cost)
            .fold(0, u64::saturating_add)
    }

    /// Bytes before anything was decoded.
    pub(super) fn sent_len(&self) -> u64 {
        self.0.sent_len()
    }

    /// Undoes these codings of the next bytes, and feeds the result to `content`.
    pub(super) fn feed(
        &mut self,
        content: &mut BodyState,
        bytes: &[u8],
        context: &mut Context<'_>,
    ) {
        let mut rest = bytes;
        while !rest.is_empty() {
            // The output of one stride of bytes is compared with the end of that stride, so the
            // result does not depend on segments.
            let sent = self.sent_len();
            let end = sent
                .checked_div(STRIDE)
                .unwrap_or(0)
                .saturating_add(1)
                .saturating_mul(STRIDE);
            let left = usize::try_from(end.saturating_sub(sent)).unwrap_or(usize::MAX);
            let (part, later) = rest.split_at_checked(left).unwrap_or((rest, &[]));
            rest = later;
            content.wire_len = Some(end);
            with_output_to(content, context, |context| self.0.feed(part, context));
            content.is_broken |= self.0.is_broken;
            if part.len() == left && content.is_over {
                // The rest is ignored.
                self.0.give_up();
            }
            if self.0.is_over {
                return;
            }
        }
    }

    /// Ignores all further bytes: after missing ones, nothing can be decoded.
    pub(super) fn give_up(&mut self) {
        self.0.give_up();
    }

    /// The body has ended: feeds `content` with the bytes that were held back, and returns the
    /// final state.
    pub(super) fn finish(
        mut self,
        content: &mut BodyState,
        context: &mut Context<'_>,
    ) -> Box<BodyState> {
        with_output_to(content, context, |context| self.0.finish(context));
        self.0
    }
}

/// Runs outer decoders, whose output goes to `content`, with half of the space.
fn with_output_to(
    content: &mut BodyState,
    context: &mut Context<'_>,
    decode: impl FnOnce(&mut Context<'_>),
) {
    let options = context.options;
    let half = context.space.len() >> 1;
    let Some((space, outer_space)) = context.space.split_at_mut_checked(half) else {
        return;
    };
    let mut to_content = ToContent {
        content,
        context: Context {
            options,
            space,
            len_max: context.len_max,
            output: &mut *context.output,
        },
    };
    decode(&mut Context {
        options,
        space: outer_space,
        len_max: u64::MAX,
        output: &mut to_content,
    });
}
