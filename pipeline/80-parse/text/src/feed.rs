//! Streams within a stream: a body in parts, each with its length before it, read as one.
//!
//! ```text
//!  BDAT 40\r\n│forty bytes│BDAT 9 LAST\r\n│nine bytes│QUIT\r\n
//!              └─────┬─────┘               └────┬─────┘
//!                    └── a stream of its own ───┴─ <<EOF>>
//! ```
//!
//! A token may begin in one part and end in the next. How long a part is says the stream around it,
//! so what is in it never changes where that goes on.

use crate::actions::Actor;
use flowpin_lexer::{Condition, Saved};
use flowpin_record::MessageSink;

/// What the bytes that are skipped are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Feeding {
    /// No part of a stream.
    #[default]
    No,
    /// A part of one.
    Part,
    /// Its last part.
    Last,
}

impl<S: MessageSink> Actor<'_, S> {
    /// What is skipped from now on is a part of a stream.
    pub(crate) fn begin_feed(&mut self, condition: Condition, is_last: bool) {
        // A stream within one of these is passed over.
        if self.fed_texts.is_some() {
            self.extra.fed.get_or_insert(Saved::new(condition));
            self.extra.feeding = if is_last {
                Feeding::Last
            } else {
                Feeding::Part
            };
        }
    }

    /// The next bytes of a part.
    #[cold]
    #[inline(never)]
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.within(|actor, fed, texts| {
            actor.scanner.scan(fed, texts, actor.shard, bytes, actor);
        });
    }

    /// A part is over.
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

    /// Bytes of a part are missing.
    pub(crate) fn feed_gap(&mut self, len: u64) {
        self.within(|actor, fed, texts| {
            let to = fed.resync(&actor.grammar.resync);
            fed.gap_to(to, texts, len);
        });
    }

    /// Nothing more comes of the stream.
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
