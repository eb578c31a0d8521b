//! The record of a body that was decoded, hashed or written.

use super::state::BodyState;
use crate::parser::Pools;
use crate::parser::forwarded::forwarded;
use crate::parser::pairing::record;
use crate::parser::turn::Turn;
use crate::schema::HttpRecord;
use crate::state::Text;
use flowpin_content::{CarriedFile, FILES, FileRecord, Hashes, hash_value, media_number};
use flowpin_counters::Loss;
use flowpin_packet::Timestamp;
use flowpin_record::{FilePart, MessageSink, Value, file_of_part};

/// What a record tells of a file, beside the transaction that carried it.
struct Facts<'f> {
    number: u64,
    /// The name that a form gives it.
    name: Option<&'f [u8]>,
    media_type: Option<&'static str>,
    duration: Value<'static>,
    len: u64,
    /// Bytes that its message announces.
    total: Option<u64>,
    missing: u64,
    left_out: u64,
    hashes: Hashes,
    is_whole: bool,
    is_stored: bool,
    /// Bytes of its body as it was sent, so far.
    wire_len: u64,
}

impl<S: MessageSink> Turn<'_, S> {
    /// `wire_len`: bytes of the body as it was sent.
    pub(super) fn write_file_record(
        &mut self,
        body: &mut BodyState,
        is_whole: bool,
        wire_len: u64,
    ) {
        let framing = &self.mine.framing;
        self.write_facts(&Facts {
            number: body.number,
            name: None,
            media_type: body.media_type(),
            duration: body.times.map_or(Value::Unset, duration),
            len: body.len,
            total: framing.length.filter(|_| !framing.chunked),
            missing: body.missing,
            left_out: body.left_out,
            hashes: body.hashers.finish(),
            is_whole,
            is_stored: body.is_stored(),
            wire_len,
        });
    }

    /// Writes the records of the files of a form that are over.
    #[inline]
    pub(super) fn write_parts(&mut self) {
        let (files, left_out) = self.pools.bodies.parts_over(self.mine.body);
        self.write_form_files(files, left_out);
    }

    /// `left_out`: files beyond the limit of one form.
    pub(super) fn write_form_files(&mut self, files: Vec<CarriedFile>, left_out: u64) {
        self.pools.losses.count(Loss::HttpFormFiles, left_out);
        for mut file in files {
            let is_refused = self.options.bodies.files && !file.is_file;
            self.pools
                .losses
                .count(Loss::HttpFiles, u64::from(is_refused));
            self.pools.losses.count(Loss::HttpFileBytes, file.left_out);
            if file.is_file {
                self.sink.file(FilePart::End(file.number, file.is_whole));
            }
            self.keep_form_file(&file);
            self.write_facts(&Facts {
                number: file.number,
                name: Some(&file.name),
                media_type: file.media_type(),
                duration: duration(file.times),
                len: file.len,
                total: None,
                missing: file.missing,
                left_out: file.left_out,
                hashes: file.hashers.finish(),
                is_whole: file.is_whole,
                is_stored: file.is_stored(),
                wire_len: self.mine.body_len,
            });
        }
    }

    /// For the transaction's own record.
    fn keep_form_file(&mut self, file: &CarriedFile) {
        let shard = self.queue.shard;
        let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) else {
            return;
        };
        let (_, nth) = file_of_part(file.number);
        let nth = u8::try_from(nth).unwrap_or(u8::MAX);
        let begin = [nth, media_number(file.media_type())];
        let (texts, list) = (&mut self.pools.texts, &mut transaction.form_files);
        if !texts.append_item(list, shard, &[&begin, &file.name]) {
            self.pools.losses.count(Loss::HttpTexts, 1);
        }
    }

    fn write_facts(&mut self, facts: &Facts<'_>) {
        let hashes = &facts.hashes;
        let Pools {
            transactions,
            texts,
            gathered,
            ..
        } = &mut *self.pools;
        let transaction = transactions.get(self.mine.transaction);
        gathered.clear();
        let (mut filename, mut filename_or_path) = (Value::Unset, Value::Unset);
        let mut http = HttpRecord::UNSET;
        let (mut version, mut protocol) = ([0; 3], *b"HTTP/0.9");
        if let Some(transaction) = transaction {
            texts.gather(&transaction.texts, gathered);
            let begin = gathered.len();
            texts.gather(&transaction.proxied, gathered);
            let most = usize::from(self.options.value_bytes_max);
            let proxied = begin..gathered.len();
            let (forwarded, _) = forwarded(gathered, proxied, most, transaction.lacks_hops());
            let by_server = transaction.part(Text::FileName).of(gathered);
            let given = match facts.name {
                None if self.to_server => &[],
                name => name.unwrap_or(by_server),
            };
            let uri = transaction.part(Text::Uri).of(gathered);
            filename_or_path = Value::bytes(if given.is_empty() { path(uri) } else { given });
            if !given.is_empty() {
                filename = filename_or_path;
            }
            http = record(transaction, gathered, &mut version, &mut protocol);
            http.forwarded_for = Value::bytes(gathered.get(forwarded).unwrap_or_default());
            if !self.to_server {
                // The response is not over yet.
                http.response_wire_len = Value::Count(facts.wire_len);
            }
        }
        let analyzers = self.options.bodies.hashes().analyzers(facts.is_stored);
        let depth = transaction.map(|transaction| u64::from(transaction.depth));
        let state = if facts.is_whole {
            "CLOSED"
        } else {
            "TRUNCATED"
        };
        let record = FileRecord {
            fuid: Value::Count(facts.number),
            source: Value::Text("HTTP"),
            depth: Value::Count(0),
            trans_depth: Value::count(depth),
            analyzers: list(&analyzers),
            mime_type: facts.media_type.map_or(Value::Unset, Value::Text),
            filename,
            filename_or_path,
            duration: facts.duration,
            is_orig: Value::Bool(self.to_server),
            seen_bytes: Value::Count(facts.len),
            size: Value::Count(facts.len.saturating_add(facts.missing)),
            total_bytes: Value::count(facts.total),
            missing_bytes: Value::Count(facts.missing),
            overflow_bytes: Value::Count(facts.left_out),
            timedout: Value::Bool(false),
            parent_fuid: Value::Unset,
            md5: hash_value(hashes.md5.as_ref()),
            sha1: hash_value(hashes.sha1.as_ref()),
            sha256: hash_value(hashes.sha256.as_ref()),
            state: Value::Text(state),
            gaps: Value::Bool(facts.missing > 0),
            stored: Value::Bool(facts.is_stored),
            tx_id: Value::count(depth.map(|depth| depth.saturating_sub(1))),
            hostname: http.host,
            http_port: http.host_port,
            url: http.uri,
            http_user_agent: http.user_agent,
            xff: http.forwarded_for,
            http_content_type: http.content_type,
            content_range: http.content_range,
            http_refer: http.referrer,
            http_method: http.method,
            protocol: http.protocol,
            status: http.status_code,
            redirect: http.location,
            response_wire_len: http.response_wire_len,
            ..FileRecord::UNSET
        };
        let time = self.mine.began;
        self.sink.message(&FILES, time, &record.values());
    }
}

fn list<'v>(values: &'v [Value<'v>]) -> Value<'v> {
    if values.is_empty() {
        Value::Unset
    } else {
        Value::List(values)
    }
}

fn duration([first, last]: [Timestamp; 2]) -> Value<'static> {
    Value::Interval(last.nanos_since(first))
}

/// A target's path, without its query.
pub(crate) fn path(uri: &[u8]) -> &[u8] {
    let end = uri.iter().position(|&byte| byte == b'?' || byte == b'#');
    uri.get(..end.unwrap_or(uri.len())).unwrap_or_default()
}
