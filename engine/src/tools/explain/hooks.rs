//! The input stage's hooks: what it reports of each frame on its way.

use super::account::Fate;
use super::lane::{ExplainSink, Watched};
use super::packet::blank;
use crate::input::{Arrival, Lane};
use flowpin_defrag::Inserted;
use flowpin_dispatch::{Dispatched, headers, slow_reason};
use flowpin_output::Formatter;
use flowpin_packet::{FragmentRef, Frame, PacketMeta, Piece};

impl<K: ExplainSink> Lane for Watched<'_, K> {
    fn slot(&mut self) -> &mut PacketMeta {
        self.inner.slot()
    }

    fn commit(&mut self, piece: &Piece) {
        let number = self.inner.slot().number;
        if self.slow.as_ref().is_some_and(|slow| slow.number != number) {
            self.slow = None;
        }
        self.fragment = None;
        self.pass(piece, None);
    }

    fn input_records(&mut self, records: &mut Formatter) {
        let batch = records.take_all();
        self.keep_input(&batch);
        records.recycle(batch);
    }

    fn commit_datagram(&mut self, piece: &Piece, datagram: &[u8]) {
        self.fragment = None;
        self.pass(piece, Some(datagram));
    }

    fn fragment(&mut self, fragment: &FragmentRef, bytes: &[u8]) {
        let whole = self.fragments.add(fragment, bytes);
        self.complete(whole);
        self.fragment = Some(*fragment);
    }

    fn fragment_inserted(&mut self, inserted: &Inserted) {
        let Some(fragment) = self.fragment else {
            return;
        };
        match inserted {
            Inserted::Held => {
                self.waits |= self.numbers.contains(&fragment.number);
                self.fate(Fate::FragmentHeld {
                    offset: fragment.offset,
                    len: fragment.payload_len,
                    more: fragment.more,
                });
                self.end_frame();
            }
            Inserted::Complete(_) => {
                let whole = self.fragments.complete();
                self.complete(whole);
            }
            Inserted::Lone => self.fate(Fate::FragmentLone),
            Inserted::Refused(what) => {
                self.fate(Fate::Refused(*what));
                self.end_frame();
            }
        }
    }

    fn slow_path(&mut self, frame: &Frame, arrival: &Arrival, piece: &Piece) {
        self.last_number = self.last_number.max(arrival.number);
        self.fragment = None;
        let mut account = blank(arrival.number);
        account.time = arrival.time;
        account.stream_time = arrival.stream_time;
        (account.link, account.wire_len) = (frame.link, frame.wire_len);
        account.captured_len = frame.captured_len;
        if self.follows || self.numbers.contains(&arrival.number) {
            let end = frame.start.saturating_add(frame.captured_len) as usize;
            let bytes = piece.bytes.get(frame.start as usize..end);
            let bytes = bytes.unwrap_or_default();
            account.headers = headers(
                bytes,
                flowpin_dispatch::Seen {
                    link: frame.link,
                    wire_len: frame.wire_len,
                    again: false,
                    verify: self.verifies,
                },
            );
            account.slow_path = slow_reason(bytes, frame, self.verifies);
        }
        self.slow = Some(account);
    }

    fn dispatched(&mut self, dispatched: &Dispatched) {
        let fate = match dispatched {
            Dispatched::Packet | Dispatched::Fragment(_) => return,
            Dispatched::NonIp => Fate::NonIp,
            Dispatched::Malformed(what) => Fate::Refused(*what),
            Dispatched::Headless => Fate::Headless,
            Dispatched::UnsupportedLink => Fate::UnsupportedLink,
        };
        self.fate(fate);
        self.end_frame();
    }
}
