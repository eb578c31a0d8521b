//! The end of a stream, inside or after a message.

use super::start::NEXT_RESPONSE;
use super::turn::Turn;
use crate::anomaly::Anomaly;
use crate::state::{NONE, Phase, Side};
use flowpin_record::MessageSink;

impl<S: MessageSink> Turn<'_, S> {
    /// The stream of this side has ended.
    pub(super) fn closed(&mut self) {
        if self.mine.has(Side::LINE_ENDS) {
            // The line is complete: it is not folded.
            self.kept_line();
        }
        if self.mine.phase == Phase::MaybeOver {
            self.over_here();
        }
        if self.mine.phase == Phase::MaybeOmitted {
            self.closed_before_omitted();
        }
        if self.mine.phase == Phase::FirstLine {
            self.last_line();
        }
        match self.mine.phase {
            Phase::Closed => return,
            Phase::HandedOver | Phase::Between | Phase::Lost | Phase::LostInLine => {}
            Phase::MaybeFields => self.closed_behind_line(),
            Phase::Begin => {
                let read = self.take_line();
                self.not_a_response(&read);
                self.pools.line = read;
            }
            Phase::FirstLine | Phase::Fields | Phase::MaybeOver => self.report(Anomaly::HeadCut),
            Phase::MaybeBody => self.closed_before_body(),
            Phase::MaybeChunked => self.no_chunks(),
            Phase::UntilClose | Phase::MaybeOmitted => {}
            Phase::Counted
            | Phase::ChunkLine
            | Phase::ChunkData
            | Phase::ChunkEnd
            | Phase::Trailer => self.body_cut(),
        }
        if self.mine.transaction != NONE || self.mine.body != NONE {
            self.message_over();
        }
        self.pools
            .texts
            .release(&mut self.mine.line, self.queue.shard);
        self.mine.phase = Phase::Closed;
    }

    /// A request without a version may also lack its line end.
    fn last_line(&mut self) {
        if self.to_server && !self.mine.line.is_empty() {
            self.kept_line();
        }
    }

    /// The stream ended where a body may start.
    fn closed_before_body(&mut self) {
        let framing = self.mine.framing;
        let read = usize::from(self.mine.matched);
        if read > 0 {
            self.is_body(NEXT_RESPONSE.get(..read).unwrap_or_default());
        }
        // Without any byte, either the request was HEAD or the body is missing.
        if framing.length.is_some() && read > 0 && self.mine.left > 0 {
            self.body_cut();
        }
    }

    fn body_cut(&mut self) {
        if !self.is_not_awaited() {
            self.report(Anomaly::BodyCut);
        }
        self.mine.set(Side::BODY_CUT);
    }
}
