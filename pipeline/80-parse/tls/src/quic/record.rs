//! The record of a QUIC connection.

use super::{Id, Session};
use crate::facts::{OFFERED_MAX, list, when};
use crate::names;
use crate::pages::Page;
use crate::schema::{QUIC, hex};
use crate::short::Short;
use core::hint::black_box;
use flowpin_record::{MessageSink, Value};

impl Session {
    /// Reports the record of the connection.
    pub(super) fn report(&self, page: &Page, sink: &mut impl MessageSink) {
        let facts = &self.facts;
        if !sink.reads(&QUIC) {
            black_box(facts);
            return sink.message(&QUIC, facts.time, &[]);
        }
        let version = version_name(self.version);
        let mut offered = [Value::Unset; OFFERED_MAX];
        let mut count = 0usize;
        for (place, name) in offered.iter_mut().zip(facts.offered(page)) {
            *place = Value::Bytes(name);
            count = count.saturating_add(1);
        }
        let offered = offered.get(..count).unwrap_or_default();
        let ids = [self.initial_to, self.client_from, self.server_from].map(in_hex);
        let [initial_to, client_from, server_from] = &ids;
        let word = |name: Option<&'static str>| name.map_or(Value::Unset, Value::Text);
        let server = facts.has_server;
        sink.message(
            &QUIC,
            facts.time,
            &[
                Value::bytes(version.get()),
                Value::bytes(initial_to.get()),
                Value::bytes(client_from.get()),
                Value::bytes(server_from.get()),
                Value::bytes(facts.server_name.of(page)),
                offered.first().copied().unwrap_or(Value::Unset),
                list(offered),
                Value::bytes(facts.ja4.of(page)),
                word(crate::cipher_suites::name(facts.cipher).filter(|_| server)),
                word(facts.group.and_then(names::group).filter(|_| server)),
                when(server, Value::Bool(facts.is_resumed)),
            ],
        );
    }
}

/// Returns `1`, `2`, Google's letters, or hexadecimal digits.
fn version_name(version: u32) -> Short<10> {
    let letters = version.to_be_bytes();
    let mut out = Short::default();
    match (version, letters) {
        (1, _) => out.push(b"1"),
        (0x6b33_43cf, _) => out.push(b"2"),
        (_, [b'Q' | b'T', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9']) => out.push(&letters),
        _ => {
            out.push(b"0x");
            letters.iter().for_each(|&byte| out.push(&hex(byte)));
        }
    }
    out
}

fn in_hex(id: Id) -> Short<40> {
    let mut out = Short::default();
    id.get().iter().for_each(|&byte| out.push(&hex(byte)));
    out
}
