//! The end of a head, the start of a body, and the end of a message, for both sides.

use crate::anomaly::Anomaly;
use crate::handover;
use crate::parser::turn::Turn;
use crate::state::{NONE, Phase, Text, Transaction};
use crate::syntax::Version;
use flowpin_parser::Successor;
use flowpin_record::MessageSink;

impl<S: MessageSink> Turn<'_, S> {
    /// An empty line.
    #[inline]
    pub(crate) fn head_over(&mut self, is_bare: bool) {
        if is_bare {
            self.report(Anomaly::BareLineFeed);
        }
        if self.mine.phase == Phase::Trailer {
            return self.message_over();
        }
        if self.mine.framing.has_coding {
            self.check_coding();
        }
        if self.to_server {
            self.request_head_over();
        } else {
            self.response_head_over();
        }
    }

    #[cold]
    fn check_coding(&mut self) {
        if self.mine.framing.has_length {
            self.report(Anomaly::LengthAndChunked);
        }
        if self.mine.framing.unchunked {
            self.without_chunked();
        }
        let version = self
            .pools
            .transactions
            .get(self.mine.transaction)
            .map(|transaction| {
                if self.to_server {
                    transaction.request_version
                } else {
                    transaction.response_version
                }
            });
        if version == Some(Version::V10) {
            self.report(Anomaly::CodingInOld);
        }
    }

    /// RFC 9112 §6.3: Transfer-Encoding overrides Content-Length. If codings are listed in the
    /// wrong order, chunks are read where there are any.
    fn without_chunked(&mut self) {
        let is_by_length = self.mine.framing.has_length;
        if !self.to_server {
            // The body ends with the stream.
            self.mine.framing.length = None;
            return;
        }
        self.report(Anomaly::CodingUnchunked);
        // Receivers that accept this ignore the coding.
        self.mine.framing.chunked &= !is_by_length;
    }

    /// The message is complete.
    #[inline]
    pub(crate) fn message_over(&mut self) {
        if self.mine.body != NONE {
            self.body_over();
        }
        if self.to_server {
            self.request_over();
        } else {
            self.response_over();
        }
    }

    /// The protocol that Upgrade names.
    pub(crate) fn upgraded_to(&mut self) -> Successor {
        handover::successor(self.pools.text(self.mine.transaction, Text::Upgrade))
    }

    /// Both directions change to another protocol.
    pub(crate) fn hand_over(&mut self, successor: Successor) {
        let handle = self.mine.transaction;
        if let Some(transaction) = self.pools.transactions.get_mut(handle) {
            transaction.bits |= Transaction::REQUEST_DONE | Transaction::RESPONSE_DONE;
        }
        if self.theirs.body != NONE {
            self.their_body_over();
        }
        self.write_all_open();
        self.queue.asked = false;
        self.queue.successor = Some(successor);
        for side in [&mut *self.mine, &mut *self.theirs] {
            side.phase = Phase::HandedOver;
            side.transaction = NONE;
        }
    }

    /// The client uses another protocol, without a captured response.
    pub(crate) fn hand_over_unanswered(&mut self) {
        let last = self.pools.transactions.get(self.queue.last);
        let successor = match last {
            Some(transaction) if transaction.has(Transaction::UPGRADE) => {
                handover::successor(self.pools.text(self.queue.last, Text::Upgrade))
            }
            _ => Successor::Tunnel,
        };
        self.hand_over(successor);
    }
}
