//! Missing bytes of bodies, and their end.

use crate::anomaly::Anomaly;
use crate::parser::turn::Turn;
use crate::state::{NONE, Phase, Side};
use flowpin_content::media_number;
use flowpin_counters::Loss;
use flowpin_record::{FilePart, MessageSink};

impl<S: MessageSink> Turn<'_, S> {
    /// The number of the current body's file: the transaction may be gone.
    fn file(&self) -> u64 {
        let number = self.pools.bodies.number(self.mine.body);
        number.unwrap_or_default()
    }

    #[cold]
    pub(crate) fn wanted_body_gap(&mut self, len: u64) {
        let file = self.file();
        let zeros = self.pools.bodies.gap(self.mine.body, len, self.sink);
        if self.options.bodies.are_handed_on() && zeros > 0 {
            self.sink.file(FilePart::Missing(file, zeros));
        }
        self.write_parts();
    }

    /// A body is over, complete or not.
    #[cold]
    pub(crate) fn body_over(&mut self) {
        let file = self.file();
        let body = self.pools.bodies.end(self.mine.body, self.sink);
        self.mine.body = NONE;
        let Some(mut body) = body else {
            return;
        };
        if body.no_room {
            self.pools.losses.count(Loss::HttpBodies, 1);
        }
        let wire_len = self.mine.body_len;
        if self.options.bodies.decode {
            let transaction = self.pools.transactions.get_mut(self.mine.transaction);
            if let Some(transaction) = transaction.filter(|_| !self.to_server) {
                transaction.response_wire_len = wire_len;
            }
            // Records have the length after decoding.
            self.mine.body_len = body.len.saturating_add(body.missing);
        }
        if !self.options.bodies.any() {
            // For rules alone: no record shows anything of it.
            self.mine.clear(Side::BODY_CUT);
            return self.sink.file(FilePart::End(file, false));
        }
        let is_short = self.mine.has(Side::BODY_CUT) || body.missing > 0;
        if body.is_inside && !is_short && !body.is_broken {
            // A body without a length may have been cut together with its stream.
            if self.mine.phase != Phase::UntilClose {
                body.anomalies.add(Anomaly::EncodingCut);
            }
            body.is_broken = true;
        }
        for anomaly in body.anomalies.iter() {
            self.report(anomaly);
        }
        let is_whole = !is_short && !body.is_broken && body.left_out == 0;
        self.pools.losses.count(Loss::HttpFileBytes, body.left_out);
        self.mine.clear(Side::BODY_CUT);
        if self.options.bodies.are_handed_on() {
            self.sink.file(FilePart::End(file, is_whole));
        }
        let form = body.form.take();
        let has_parts = form.as_ref().is_some_and(|form| form.has_files());
        if let Some(mut form) = form {
            let left_out = form.take_left_out();
            self.write_form_files(form.take_over(), left_out);
        }
        // The files of a form stand for its body, unless that was written, too.
        if wire_len > 0 && (!has_parts || body.is_stored()) {
            let transaction = self.pools.transactions.get_mut(self.mine.transaction);
            if let Some(transaction) = transaction {
                let [client, server] = &mut transaction.media;
                let media = if self.to_server { client } else { server };
                *media = media_number(body.media_type()).saturating_add(1);
            }
            self.write_file_record(&mut body, is_whole, wire_len);
        }
    }

    /// Ends the other side's body, because the connection changes to another protocol.
    pub(crate) fn their_body_over(&mut self) {
        core::mem::swap(self.mine, self.theirs);
        self.to_server = !self.to_server;
        self.mine.set(Side::BODY_CUT);
        self.body_over();
        self.to_server = !self.to_server;
        core::mem::swap(self.mine, self.theirs);
    }
}
