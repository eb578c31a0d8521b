//! The record of a body that was decoded, hashed or written.

use super::hashes::value;
use super::state::BodyState;
use crate::options::BodyOptions;
use crate::parser::Pools;
use crate::parser::pairing::record;
use crate::parser::turn::Turn;
use crate::schema::{FILES, FileRecord, HttpRecord};
use crate::state::Text;
use flowpin_record::{MessageSink, Value};

impl<S: MessageSink> Turn<'_, S> {
    /// `wire_len`: bytes of the body as it was sent.
    pub(super) fn write_file_record(
        &mut self,
        body: &mut BodyState,
        is_whole: bool,
        wire_len: u64,
    ) {
        let hashes = body.hashers.finish();
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
            let given = transaction.part(Text::FileName).of(gathered);
            let is_given = !self.to_server && !given.is_empty();
            let uri = transaction.part(Text::Uri).of(gathered);
            filename_or_path = Value::bytes(if is_given { given } else { path(uri) });
            if is_given {
                filename = filename_or_path;
            }
            http = record(transaction, gathered, &mut version, &mut protocol);
            if !self.to_server {
                // The response is not over yet.
                http.response_wire_len = Value::Count(wire_len);
            }
        }
        let analyzers = analyzers(&self.options.bodies, body.is_stored());
        let depth = transaction.map(|transaction| u64::from(transaction.depth));
        let framing = &self.mine.framing;
        let record = FileRecord {
            fuid: Value::Count(body.number),
            source: Value::Text("HTTP"),
            depth: Value::Count(0),
            trans_depth: Value::count(depth),
            analyzers: list(&analyzers),
            mime_type: body.media_type().map_or(Value::Unset, Value::Text),
            filename,
            filename_or_path,
            duration: duration(body),
            is_orig: Value::Bool(self.to_server),
            seen_bytes: Value::Count(body.len),
            size: Value::Count(body.len.saturating_add(body.missing)),
            total_bytes: Value::count(framing.length.filter(|_| !framing.chunked)),
            missing_bytes: Value::Count(body.missing),
            overflow_bytes: Value::Count(body.left_out),
            timedout: Value::Bool(false),
            parent_fuid: Value::Unset,
            md5: value(hashes.md5.as_ref()),
            sha1: value(hashes.sha1.as_ref()),
            sha256: value(hashes.sha256.as_ref()),
            state: Value::Text(if is_whole { "CLOSED" } else { "TRUNCATED" }),
            gaps: Value::Bool(body.missing > 0),
            stored: Value::Bool(body.is_stored()),
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
        };
        let time = self.mine.began;
        self.sink.message(&FILES, time, &record.values());
    }
}

/// What was made of a body, by Zeek's names.
fn analyzers(options: &BodyOptions, is_stored: bool) -> Vec<Value<'static>> {
    let made = [
        (options.md5, "MD5"),
        (options.sha1, "SHA1"),
        (options.sha256, "SHA256"),
        (is_stored, "EXTRACT"),
    ];
    let made = made.into_iter().filter(|&(is_made, _)| is_made);
    made.map(|(_, name)| Value::Text(name)).collect()
}

fn list<'v>(values: &'v [Value<'v>]) -> Value<'v> {
    if values.is_empty() {
        Value::Unset
    } else {
        Value::List(values)
    }
}

fn duration(body: &BodyState) -> Value<'static> {
    body.times.map_or(Value::Unset, |[first, last]| {
        Value::Interval(last.nanos_since(first))
    })
}

/// A target's path, without its query.
pub(crate) fn path(uri: &[u8]) -> &[u8] {
    let end = uri.iter().position(|&byte| byte == b'?' || byte == b'#');
    uri.get(..end.unwrap_or(uri.len())).unwrap_or_default()
}
