//! Transactions to records.

use crate::body::path;
use crate::parser::forwarded::forwarded;
use crate::parser::turn::Turn;
use crate::schema::{HttpRecord, WITHOUT_FIELDS};
use crate::state::{Text, Transaction};
use crate::syntax::Version;
use core::hint::black_box;
use flowpin_content::media_name;
use flowpin_counters::Loss;
use flowpin_record::{MessageSink, Value, part_number};

impl<S: MessageSink> Turn<'_, S> {
    /// Writes the record of a transaction, complete or not.
    pub(crate) fn write(&mut self, handle: u32) {
        let pools = &mut *self.pools;
        let Some(transaction) = pools.transactions.get(handle) else {
            return;
        };
        let time = if transaction.has(Transaction::HAS_REQUEST) {
            transaction.request_at
        } else {
            transaction.response_at
        };
        if !self.sink.reads(pools.schema) {
            // The transaction was parsed; no format needs its texts.
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
            &transaction.form_files,
        ];
        let begins = lists.map(|list| {
            let begin = pools.gathered.len();
            texts.gather(list, &mut pools.gathered);
            begin..pools.gathered.len()
        });
        let [proxied, ..] = &begins;
        let most = usize::from(self.options.value_bytes_max);
        let is_cut = transaction.lacks_hops();
        let (forwarded, is_long) = forwarded(&mut pools.gathered, proxied.clone(), most, is_cut);
        pools.losses.count(Loss::HttpTexts, u64::from(is_long));
        let gathered = pools.gathered.as_slice();
        let forwarded = gathered.get(forwarded).unwrap_or_default();
        let [proxied, request, response, form_files] =
            begins.map(|range| gathered.get(range).unwrap_or_default());
        let words = in_one.unwrap_or(gathered);
        let mut version = [0; 3];
        let mut protocol = *b"HTTP/0.9";
        let mut record = record(transaction, words, &mut version, &mut protocol);
        record.forwarded_for = Value::bytes(forwarded);
        let mut list;
        if !proxied.is_empty() {
            list = [Value::Unset; LIST_MAX];
            record.proxied = Value::List(items(proxied, &mut list, 1, 0));
        }
        let media = transaction.media;
        let names = media.map(|media| media_name(media.saturating_sub(1)).map(Value::Text));
        let filename = [record.resp_filenames];
        let [client, server] = names.map(|name| [name.unwrap_or(Value::Unset)]);
        record.resp_filenames = Value::Unset;
        if media != [0; 2] {
            let file = |side: u64| Value::Count(file_number(transaction.depth, side));
            if media[0] > 0 {
                record.orig_fuids = file(0);
                record.orig_mime_types = if_any(&client);
            }
            if media[1] > 0 {
                record.resp_fuids = file(1);
                record.resp_mime_types = if_any(&server);
                record.resp_filenames = if_any(&filename);
            }
        }
        let mut form;
        if !form_files.is_empty() {
            form = FormFiles::default();
            form.show(form_files, file_number(transaction.depth, 0), &mut record);
        }
        if self.options.rules {
            let target = path(transaction.part(Text::Uri).of(words));
            let given = transaction.part(Text::FileName).of(words);
            for (of_request, len) in [
                (true, transaction.request_len),
                (false, transaction.response_len),
            ] {
                let is_given = !of_request && !given.is_empty();
                let name = Value::bytes(if is_given { given } else { target });
                if len > 0 {
                    self.sink.named_file(of_request, &name, len);
                }
            }
            for (of_request, bytes) in [(true, request), (false, response)] {
                let mut lists = [[Value::Unset; LIST_MAX]; 2];
                let [names, values] = &mut lists;
                let (names, values) = (items(bytes, names, 2, 0), items(bytes, values, 2, 1));
                self.sink.fields(of_request, names, values);
            }
        }
        if !self.options.all_fields {
            let values = record.values();
            let values = values.first_chunk::<WITHOUT_FIELDS>();
            let values = values.map_or(&[] as &[_], |values| values);
            return self.sink.message(pools.schema, time, values);
        }
        let mut lists = [[Value::Unset; LIST_MAX]; 4];
        let [names, values, response_names, response_values] = &mut lists;
        record.client_header_names = Value::List(items(request, names, 2, 0));
        record.client_header_values = Value::List(items(request, values, 2, 1));
        record.server_header_names = Value::List(items(response, response_names, 2, 0));
        record.server_header_values = Value::List(items(response, response_values, 2, 1));
        self.sink.message(pools.schema, time, &record.values());
    }
}

/// A list of one value, if that is set.
fn if_any<'v>(one: &'v [Value<'v>; 1]) -> Value<'v> {
    if matches!(one, [Value::Unset]) {
        Value::Unset
    } else {
        Value::List(one)
    }
}

/// The number of a body's file: a transaction has at most two, of the request and the response.
pub(crate) fn file_number(depth: u32, side: u64) -> u64 {
    u64::from(depth).wrapping_mul(2).wrapping_add(side)
}

/// The files of a form as a record lists them, in the place of the body's own.
#[derive(Debug)]
struct FormFiles<'v>([[Value<'v>; LIST_MAX]; 3]);

impl Default for FormFiles<'_> {
    fn default() -> Self {
        Self([[Value::Unset; LIST_MAX]; 3])
    }
}

impl<'v> FormFiles<'v> {
    /// `body`: the number of the body's file.
    fn show(&'v mut self, list: &'v [u8], body: u64, record: &mut HttpRecord<'v>) {
        let mut places = [Value::Unset; LIST_MAX];
        let [fuids, names, types] = &mut self.0;
        let (mut count, mut type_count) = (0usize, 0usize);
        for item in items(list, &mut places, 1, 0) {
            let Value::Bytes([nth, media, name @ ..]) = item else {
                continue;
            };
            let (Some(fuid), Some(shown)) = (fuids.get_mut(count), names.get_mut(count)) else {
                break;
            };
            *fuid = Value::Count(part_number(body, u64::from(*nth)));
            *shown = Value::Bytes(name);
            count = count.wrapping_add(1);
            let media = media_name(*media);
            if let Some((place, media)) = types.get_mut(type_count).zip(media) {
                *place = Value::Text(media);
                type_count = type_count.wrapping_add(1);
            }
        }
        let list = |values: &'v [Value<'v>], count: usize| match values.get(..count) {
            Some(values) if count > 0 => Value::List(values),
            _ => Value::Unset,
        };
        record.orig_fuids = list(fuids, count);
        record.orig_filenames = list(names, count);
        record.orig_mime_types = list(types, type_count);
    }
}

/// Items of a list in a record.
const LIST_MAX: usize = 100;

/// Every `each`-th item, starting with item `from`.
fn items<'l, 'v>(
    mut bytes: &'v [u8],
    list: &'l mut [Value<'v>; LIST_MAX],
    each: usize,
    from: usize,
) -> &'l [Value<'v>] {
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

/// A transaction's record, without its lists. `version` and `protocol` hold texts of it.
#[inline]
pub(crate) fn record<'v>(
    transaction: &'v Transaction,
    words: &'v [u8],
    version: &'v mut [u8; 3],
    protocol: &'v mut [u8; 8],
) -> HttpRecord<'v> {
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
    HttpRecord {
        trans_depth: Value::Count(u64::from(transaction.depth)),
        method,
        host: text(Text::Host),
        uri: text(Text::Uri),
        referrer: text(Text::Referrer),
        version: Value::Bytes(version),
        user_agent: text(Text::UserAgent),
        origin: text(Text::Origin),
        request_body_len: Value::Count(transaction.request_len),
        response_body_len: Value::Count(transaction.response_len),
        response_wire_len: Value::Count(transaction.response_wire_len),
        status_code: count(transaction.status),
        status_msg: text(Text::Reason),
        info_code: count(transaction.info),
        info_msg: text(Text::InfoReason),
        username: text(Text::User),
        proxied: Value::Unset,
        protocol: Value::Bytes(protocol),
        host_port: Value::count(transaction.port.map(u64::from)),
        content_type: Value::bytes(without_parameters(
            transaction.part(Text::ContentType).of(words),
        )),
        location: text(Text::Redirect),
        content_range: text(Text::ContentRange),
        forwarded_for: Value::Unset,
        upgrade: text(Text::Upgrade),
        orig_fuids: Value::Unset,
        orig_filenames: Value::Unset,
        orig_mime_types: Value::Unset,
        resp_fuids: Value::Unset,
        resp_filenames: text(Text::FileName),
        resp_mime_types: Value::Unset,
        client_header_names: Value::Unset,
        client_header_values: Value::Unset,
        server_header_names: Value::Unset,
        server_header_values: Value::Unset,
    }
}

/// A version as text: `1.1`.
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
