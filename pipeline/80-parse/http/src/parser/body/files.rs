//! Bodies that somebody asked for: their bytes go on, and a record tells of each.

use crate::anomaly::Anomaly;
use crate::body::Work;
use crate::parser::Pools;
use crate::parser::pairing::beside_file;
use crate::parser::turn::Turn;
use crate::schema::{FILES, OF_FILE, OF_TRANSACTION};
use crate::state::{NONE, Phase, Side, Text};
use flowpin_counters::Loss;
use flowpin_record::{FilePart, MessageSink, Value};

impl<S: MessageSink> Turn<'_, S> {
    #[cold]
    pub(in crate::parser) fn wanted_body_begins(&mut self) {
        let encodings = self.mine.framing.encodings;
        if self.options.bodies.decode {
            let has_too_many = encodings.has_too_many();
            if has_too_many {
                self.pools.losses.count(Loss::HttpEncodings, 1);
            }
            if has_too_many || encodings.has_unknown() {
                self.tell(Anomaly::EncodingUnknown);
            }
        }
        if self.mine.transaction == NONE {
            // What has no record has no file.
            return self.pools.losses.count(Loss::HttpBodies, 1);
        }
        let number = self.file_number();
        self.mine.body = self.pools.bodies.begin(encodings, number, self.queue.shard);
        if self.mine.body == NONE {
            self.pools.losses.count(Loss::HttpBodies, 1);
        } else if self.options.bodies.files {
            if self.pools.bodies.begin_file(self.mine.body) {
                self.sink.file(FilePart::Begin(number));
            } else {
                self.pools.losses.count(Loss::HttpFiles, 1);
            }
        }
    }

    /// The number of the file of the body at hand: the transaction may be gone.
    fn file(&self) -> u64 {
        let number = self.pools.bodies.number(self.mine.body);
        number.unwrap_or_default()
    }

    /// Each transaction has at most two.
    fn file_number(&self) -> u64 {
        let transaction = self.pools.transactions.get(self.mine.transaction);
        let depth = transaction.map_or(0, |transaction| transaction.depth);
        u64::from(depth)
            .wrapping_mul(2)
            .wrapping_add(u64::from(!self.to_server))
    }

    #[cold]
    pub(in crate::parser) fn wanted_body(&mut self, bytes: &[u8]) {
        let file = self.file();
        let sink = &mut *self.sink;
        self.pools.bodies.feed(self.mine.body, bytes, &mut |bytes| {
            sink.file(FilePart::Data(file, bytes));
        });
    }

    #[cold]
    pub(in crate::parser) fn wanted_body_gap(&mut self, len: u64) {
        let file = self.file();
        let sink = &mut *self.sink;
        let zeros = self.pools.bodies.gap(self.mine.body, len, &mut |bytes| {
            sink.file(FilePart::Data(file, bytes));
        });
        if self.options.bodies.files && zeros > 0 {
            self.sink.file(FilePart::Missing(file, zeros));
        }
    }

    /// A body is over, complete or not.
    #[cold]
    pub(in crate::parser) fn body_over(&mut self) {
        let file = self.file();
        let sink = &mut *self.sink;
        let work = self.pools.bodies.end(self.mine.body, &mut |bytes| {
            sink.file(FilePart::Data(file, bytes));
        });
        self.mine.body = NONE;
        let Some(mut work) = work else {
            return;
        };
        if work.no_room {
            self.pools.losses.count(Loss::HttpBodies, 1);
        }
        let wire_len = self.mine.body_len;
        if self.options.bodies.decode {
            let transaction = self.pools.transactions.get_mut(self.mine.transaction);
            if let Some(transaction) = transaction.filter(|_| !self.to_server) {
                transaction.response_wire_len = wire_len;
            }
            // Who asks for decoded bodies is told how long they are.
            self.mine.body_len = work.len.saturating_add(work.missing);
        }
        let is_short = self.mine.has(Side::BODY_CUT) || work.missing > 0;
        if work.is_inside && !is_short && !work.is_broken {
            // Whether a stream that gives its body's length came to its end, nobody knows.
            if self.mine.phase != Phase::UntilClose {
                work.told.add(Anomaly::EncodingCut);
            }
            work.is_broken = true;
        }
        for anomaly in work.told.iter() {
            self.tell(anomaly);
        }
        let is_whole = !is_short && !work.is_broken && work.left_out == 0;
        self.pools.losses.count(Loss::HttpFileBytes, work.left_out);
        self.mine.clear(Side::BODY_CUT);
        if self.options.bodies.files {
            self.sink.file(FilePart::End(file, is_whole));
        }
        if wire_len > 0 {
            self.write_file(&mut work, is_whole, wire_len);
        }
    }

    /// The other side's body ends where the connection goes on as something else.
    pub(in crate::parser) fn their_body_over(&mut self) {
        core::mem::swap(self.mine, self.theirs);
        self.to_server = !self.to_server;
        self.mine.set(Side::BODY_CUT);
        self.body_over();
        self.to_server = !self.to_server;
        core::mem::swap(self.mine, self.theirs);
    }

    fn write_file(&mut self, work: &mut Work, is_whole: bool, wire_len: u64) {
        let hashes = work.hashes();
        let Pools {
            transactions,
            texts,
            gathered,
            stats,
            ..
        } = &mut *self.pools;
        let transaction = transactions.get(self.mine.transaction);
        gathered.clear();
        let mut name = Value::Unset;
        let mut beside = [Value::Unset; OF_TRANSACTION.len()];
        let (mut version, mut protocol) = ([0; 3], *b"HTTP/0.9");
        if let Some(transaction) = transaction {
            texts.gather(&transaction.texts, gathered);
            let given = transaction.part(Text::FileName).of(gathered);
            let is_given = !self.to_server && !given.is_empty();
            let uri = transaction.part(Text::Uri).of(gathered);
            name = Value::bytes(if is_given { given } else { path(uri) });
            // The response is not over yet.
            let len = (!self.to_server).then_some(wire_len);
            beside = beside_file(transaction, gathered, (&mut version, &mut protocol), len);
        }
        let depth = transaction.map(|transaction| u64::from(transaction.depth));
        let [md5, sha1, sha256] = hashes.values();
        let own = [
            Value::Text("HTTP"),
            Value::count(depth),
            work.media_type().map_or(Value::Unset, Value::Text),
            name,
            Value::Bool(self.to_server),
            Value::Count(work.len),
            Value::count(
                self.mine
                    .framing
                    .length
                    .filter(|_| !self.mine.framing.chunked),
            ),
            Value::Count(work.missing),
            md5,
            sha1,
            sha256,
            Value::Text(if is_whole { "CLOSED" } else { "TRUNCATED" }),
            Value::Bool(work.missing > 0),
            Value::Bool(work.is_stored()),
            Value::count(depth.map(|depth| depth.saturating_sub(1))),
        ];
        let mut values = [Value::Unset; OF_FILE + OF_TRANSACTION.len()];
        for (place, value) in values.iter_mut().zip(own.into_iter().chain(beside)) {
            *place = value;
        }
        stats.files = stats.files.wrapping_add(1);
        let time = self.mine.began;
        self.sink.message(&FILES, time, &values);
    }
}

/// A target's path, without its query.
fn path(uri: &[u8]) -> &[u8] {
    let end = uri.iter().position(|&byte| byte == b'?' || byte == b'#');
    uri.get(..end.unwrap_or(uri.len())).unwrap_or_default()
}
