//! Transactions to records.

use crate::parser::turn::Turn;
use crate::schema::{ALL, OF_TRANSACTION, PLAIN};
use crate::state::{Text, Transaction};
use crate::syntax::Version;
use core::hint::black_box;
use flowpin_record::{MessageSink, Value};

impl<S: MessageSink> Turn<'_, S> {
    /// A record of a transaction, complete or not.
    pub(in crate::parser) fn write(&mut self, handle: u32) {
        let pools = &mut *self.pools;
        let Some(transaction) = pools.transactions.get(handle) else {
            return;
        };
        pools.stats.records = pools.stats.records.wrapping_add(1);
        let time = if transaction.has(Transaction::HAS_REQUEST) {
            transaction.request_at
        } else {
            transaction.response_at
        };
        if !self.sink.reads(pools.schema) {
            // All of it is known; nobody asks how it is spelled.
            black_box(transaction);
            return self.sink.message(pools.schema, time, &[]);
        }
        let texts = &pools.texts;
        pools.gathered.clear();
        let in_one = texts.whole(&transaction.texts);
        if in_one.is_none() {
            texts.gather(&transaction.texts, &mut pools.gathered);
        }
        let lists = [
            &transaction.proxied,
            &transaction.fields[0],
            &transaction.fields[1],
        ];
        let begins = lists.map(|list| {
            let begin = pools.gathered.len();
            texts.gather(list, &mut pools.gathered);
            begin..pools.gathered.len()
        });
        let gathered = pools.gathered.as_slice();
        let [proxied, request, response] =
            begins.map(|range| gathered.get(range).unwrap_or_default());
        let words = in_one.unwrap_or(gathered);
        let mut version = [0; 3];
        let mut protocol = *b"HTTP/0.9";
        let mut values = [Value::Unset; ALL];
        fill(&mut values, transaction, words, &mut version, &mut protocol);
        let mut list;
        if !proxied.is_empty() {
            list = [Value::Unset; LIST_MAX];
            values[PROXIED] = Value::List(items(proxied, &mut list, 1, 0));
        }
        if !self.options.all_fields {
            let values = values.first_chunk::<PLAIN>().map_or(&[] as &[_], |v| v);
            self.sink.message(pools.schema, time, values);
            return;
        }
        let mut lists = [[Value::Unset; LIST_MAX]; 4];
        let fields = [request, request, response, response];
        let places = values.iter_mut().skip(PLAIN);
        for (nth, ((place, list), fields)) in places.zip(&mut lists).zip(fields).enumerate() {
            *place = Value::List(items(fields, list, 2, nth % 2));
        }
        self.sink.message(pools.schema, time, &values);
    }
}

/// Items of a list in a record.
const LIST_MAX: usize = 100;

/// Every `each`-th item from the `from`-th on.
fn items<'v>(
    mut bytes: &'v [u8],
    list: &'v mut [Value<'v>; LIST_MAX],
    each: usize,
    from: usize,
) -> &'v [Value<'v>] {
    let mut nth = 0usize;
    let mut count = 0usize;
    while let Some((len, rest)) = bytes.split_first_chunk::<2>() {
        let len = usize::from(u16::from_le_bytes(*len));
        let (item, rest) = rest.split_at_checked(len).unwrap_or((rest, &[]));
        bytes = rest;
        if nth.checked_rem(each) == Some(from) {
            let Some(place) = list.get_mut(count) else {
                break;
            };
            *place = Value::Bytes(item);
            count = count.wrapping_add(1);
        }
        nth = nth.wrapping_add(1);
    }
    list.get(..count).unwrap_or_default()
}

/// What of a transaction stands beside a file that it carried; `response_len`: so far, if
/// the response carries it.
pub(in crate::parser) fn beside_file<'v>(
    transaction: &'v Transaction,
    words: &'v [u8],
    (version, protocol): (&'v mut [u8; 3], &'v mut [u8; 8]),
    response_len: Option<u64>,
) -> [Value<'v>; OF_TRANSACTION.len()] {
    let mut values = [Value::Unset; ALL];
    fill(&mut values, transaction, words, version, protocol);
    values[RESPONSE_LEN] = Value::Count(response_len.unwrap_or(transaction.response_wire_len));
    OF_TRANSACTION.map(|column| values.get(column).copied().unwrap_or(Value::Unset))
}

/// The column with the fields that proxies add.
const PROXIED: usize = 16;
/// The column with the length of the response's body as it was sent.
const RESPONSE_LEN: usize = 10;

#[inline]
fn fill<'v>(
    values: &mut [Value<'v>; ALL],
    transaction: &'v Transaction,
    words: &'v [u8],
    version: &'v mut [u8; 3],
    protocol: &'v mut [u8; 8],
) {
    let text = |text: Text| Value::bytes(transaction.part(text).of(words));
    let count = |number: u16| {
        if number == 0 {
            Value::Unset
        } else {
            Value::Count(u64::from(number))
        }
    };
    let has_response = transaction.has(Transaction::HAS_RESPONSE) && transaction.status != 0;
    let has_request = transaction.has(Transaction::HAS_REQUEST);
    let (request, response) = (transaction.request_version, transaction.response_version);
    *version = digits(if has_response { response } else { request });
    let [major, _, minor] = digits(if has_request { request } else { response });
    protocol[5] = major;
    protocol[7] = minor;
    let method = match transaction.method.name() {
        Some(name) if has_request => Value::Bytes(name),
        _ => text(Text::Method),
    };
    *values = [
        Value::Count(u64::from(transaction.depth)),
        method,
        text(Text::Host),
        text(Text::Uri),
        text(Text::Referrer),
        Value::Bytes(version),
        text(Text::UserAgent),
        text(Text::Origin),
        Value::Count(transaction.request_len),
        Value::Count(transaction.response_len),
        Value::Count(transaction.response_wire_len),
        count(transaction.status),
        text(Text::Reason),
        count(transaction.info),
        text(Text::InfoReason),
        text(Text::User),
        Value::Unset,
        Value::Bytes(protocol),
        Value::count(transaction.port.map(u64::from)),
        Value::bytes(without_parameters(
            transaction.part(Text::ContentType).of(words),
        )),
        text(Text::Redirect),
        text(Text::ContentRange),
        text(Text::ForwardedFor),
        text(Text::Upgrade),
        Value::Unset,
        Value::Unset,
        Value::Unset,
        Value::Unset,
    ];
}

/// As in `1.1`.
fn digits(version: Version) -> [u8; 3] {
    match version {
        Version::Old => *b"0.9",
        Version::V10 => *b"1.0",
        Version::V11 => *b"1.1",
        Version::Other(major, minor) => {
            let digit = |number: u8| number.wrapping_add(b'0');
            [digit(major), b'.', digit(minor)]
        }
        Version::Odd => *b"?.?",
    }
}

/// `text/html` of `text/html; charset=utf-8`.
fn without_parameters(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|&byte| byte == b';' || byte == b',');
    value
        .get(..end.unwrap_or(value.len()))
        .unwrap_or_default()
        .trim_ascii_end()
}
