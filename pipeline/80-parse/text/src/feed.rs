//! Inner streams: a body sent in parts, each preceded by its length, is scanned as one stream.
//!
//! ```text
//!  BDAT 40\r\n│forty bytes│BDAT 9 LAST\r\n│nine bytes│QUIT\r\n
//!              └─────┬─────┘               └────┬─────┘
//!                    └── a stream of its own ───┴─ <<EOF>>
//! ```
//!
//! A token may begin in one part and end in the next. The outer stream has the length of each part,
//! so the content of a part cannot change where the outer stream continues.

use crate::actions::Actor;
use flowpin_lexer::{Condition, Saved};
use flowpin_record::MessageSink;

/// The role of the skipped bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Feeding {
    /// Not part of an inner stream.
    #[default]
    No,
    /// A part of an inner stream.
    Part,
    /// The last part of an inner stream.
    Last,
}

impl<S: MessageSink> Actor<'_, S> {
    /// Begins a part of an inner stream: the bytes skipped from now on belong to it.
    pub(crate) fn begin_feed(&mut self, condition: Condition, is_last: bool) {
        // An inner stream has no inner streams itself: their bytes are only skipped.
        if self.fed_texts.is_some() {
            self.extra.fed.get_or_insert(Saved::new(condition));
            self.extra.feeding = if is_last {
                Feeding::Last
            } else {
                Feeding::Part
            };
        }
    }

    /// Scans the next bytes of a part.
    #[cold]
    #[inline(never)]
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.within(|actor, fed, texts| {
            actor.scanner.scan(fed, texts, actor.shard, bytes, actor);
        });
    }

    /// Ends a part.
    #[cold]
    #[inline(never)]
    pub(crate) fn feed_ended(&mut self) {
        let feeding = core::mem::take(&mut self.extra.feeding);
        if feeding == Feeding::Last {
            self.within(|actor, fed, texts| {
                actor.scanner.finish(fed, texts, actor.shard, actor);
            });
            self.drop_fed();
        }
    }

    /// Resynchronises the inner stream after missing bytes of a part.
    pub(crate) fn feed_gap(&mut self, len: u64) {
        self.within(|actor, fed, texts| {
            let to = fed.resync(&actor.grammar.resync);
            fed.gap_to(to, texts, len);
        });
    }

    /// `len` bytes are missing: how many of them are a mail's.
    pub(crate) fn content_missing(&mut self, saved: &Saved, len: u64) {
        if self.extra.content.is_none() {
            return;
        }
        let held = |saved: &Saved| match self.extra.has_overflowed {
            // They have passed by.
            true => 0,
            false => saved.token_len(),
        };
        let missing = match (saved.skip_len(), &self.extra.fed) {
            (0, _) => len.saturating_add(held(saved)),
            (left, fed) => len.min(left).saturating_add(fed.as_ref().map_or(0, held)),
        };
        self.content_gap(missing);
    }

    /// Drops the inner stream.
    pub(crate) fn drop_fed(&mut self) {
        if let (Some(texts), Some(fed)) = (&mut self.fed_texts, &mut self.extra.fed) {
            fed.stop(texts);
            self.extra.fed = None;
        }
    }

    fn within(&mut self, run: impl FnOnce(&mut Self, &mut Saved, &mut flowpin_lexer::Texts)) {
        let Some(mut fed) = self.extra.fed else {
            return;
        };
        let Some(texts) = self.fed_texts.take() else {
            return;
        };
        let before = (self.extra.feeding, self.extra.taking.take(), self.condition);
        self.extra.feeding = Feeding::No;
        self.condition = fed.condition();
        run(self, &mut fed, texts);
        (self.extra.feeding, self.extra.taking, self.condition) = before;
        self.extra.fed = Some(fed);
        self.fed_texts = Some(texts);
    }
}
