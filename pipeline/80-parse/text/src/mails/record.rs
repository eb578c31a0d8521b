//! The record of a part of a mail.

use crate::actions::{Actor, capture_context};
use crate::fields::Values;
use flowpin_content::{CarriedFile, FILES, FileRecord, hash_value};
use flowpin_lexer::{FieldId, FieldKind, Grammar, GrammarMessage};
use flowpin_record::{MessageSink, Value};

/// Columns of a file's record that its message has, too: the file's, the message's field.
pub(crate) type Shared = Vec<(usize, FieldId, FieldKind)>;

/// The message that lists its files, and the field that does.
pub(crate) fn carrier(grammar: &Grammar) -> Option<(&GrammarMessage, FieldId)> {
    let program = &grammar.program;
    let is_files = |id: &FieldId| {
        let field = program.fields.get(usize::from(*id));
        field.is_some_and(|field| field.kind == FieldKind::Files)
    };
    let mut messages = program.messages.iter();
    messages.find_map(|message| {
        let field = message.fields.iter().copied().find(is_files)?;
        Some((message, field))
    })
}

/// The columns of files that events have of this grammar's mails.
pub(crate) fn shared(grammar: &Grammar) -> Shared {
    let Some((message, _)) = carrier(grammar) else {
        return Vec::new();
    };
    let mut shared = Vec::new();
    for (at, column) in FILES.columns.iter().enumerate() {
        let own = message.schema.columns.iter();
        let own = own.zip(message.fields.iter());
        let mut own = own.filter(|(own, _)| !own.eve.is_empty() && own.eve == column.eve);
        let Some((_, &id)) = own.next() else {
            continue;
        };
        if let Some(field) = grammar.program.fields.get(usize::from(id)) {
            shared.push((at, id, field.kind));
        }
    }
    shared
}

impl<S: MessageSink> Actor<'_, S> {
    /// Tells of a file that is over. `depth`: which entity of all mails it is.
    pub(super) fn tell_file(&mut self, mut file: CarriedFile, depth: u64) {
        let name = Value::bytes(&file.name);
        let size = file.len.saturating_add(file.missing);
        if self.mails.options.rules {
            self.sink
                .carried_file(self.to_server, file.number, &name, size);
        }
        if !self.mails.options.records {
            return;
        }
        if let Some((_, field)) = carrier(self.grammar).filter(|_| self.is_read) {
            let mut context = capture_context(self.at, self.shard, self.options, self.memory);
            self.extra
                .fields
                .add_count(field, file.number, &mut context);
        }
        let hashes = file.hashers.finish();
        let is_stored = self.mails.options.files && file.is_stored();
        let analyzers = self.mails.options.hashes.analyzers(is_stored);
        let [first, last] = file.times;
        let source = self.grammar.protocol.to_ascii_uppercase();
        let told = u64::from(self.extra.told);
        let record = FileRecord {
            fuid: Value::Count(file.number),
            source: Value::Bytes(source.as_bytes()),
            depth: Value::Count(depth),
            trans_depth: Value::Count(told.saturating_add(1)),
            analyzers: match analyzers.as_slice() {
                [] => Value::Unset,
                analyzers => Value::List(analyzers),
            },
            mime_type: file.media_type().map_or(Value::Unset, Value::Text),
            filename: name,
            filename_or_path: name,
            duration: Value::Interval(last.nanos_since(first)),
            is_orig: Value::Bool(self.to_server),
            seen_bytes: Value::Count(file.len),
            size: Value::Count(size),
            missing_bytes: Value::Count(file.missing),
            overflow_bytes: Value::Count(file.left_out),
            timedout: Value::Bool(false),
            md5: hash_value(hashes.md5.as_ref()),
            sha1: hash_value(hashes.sha1.as_ref()),
            sha256: hash_value(hashes.sha256.as_ref()),
            state: Value::Text(if file.is_whole { "CLOSED" } else { "TRUNCATED" }),
            gaps: Value::Bool(file.missing > 0),
            stored: Value::Bool(is_stored),
            tx_id: Value::Count(told),
            ..FileRecord::UNSET
        };
        let mut values = record.values();
        let fields = self.extra.fields.values(self.memory);
        let mut members = [Value::Unset; MEMBERS_MAX];
        fill(self.shared_columns, fields, &mut values, &mut members);
        let time = self.extra.fields.begun.unwrap_or(first);
        self.sink.message(&FILES, time, &values);
    }
}

/// Puts what the mail's own record will have into the file's.
fn fill<'v>(
    shared: &[(usize, FieldId, FieldKind)],
    fields: Values<'v>,
    values: &mut [Value<'v>],
    members: &'v mut [Value<'v>; MEMBERS_MAX],
) {
    let mut rest = members.as_mut_slice();
    for &(at, id, kind) in shared {
        let Some(value) = values.get_mut(at) else {
            continue;
        };
        if kind != FieldKind::List {
            *value = fields.value(id, kind).unwrap_or(Value::Unset);
            continue;
        }
        let mut count = 0usize;
        for (text, member) in fields.texts(id).zip(rest.iter_mut()) {
            *member = Value::Bytes(text);
            count = count.saturating_add(1);
        }
        let (own, later) = rest.split_at_mut_checked(count).unwrap_or_default();
        rest = later;
        if count > 0 {
            *value = Value::List(own);
        }
    }
}

/// Members of all lists.
const MEMBERS_MAX: usize = 128;
