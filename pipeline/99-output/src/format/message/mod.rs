//! Records of messages as text, by their schema.

mod columns;
mod eve;
mod shapes;
mod values;

use super::Formats;
use super::interfaces::Shown;
use super::schemas::{Field, Ready, Source};
use crate::batch::TextFormat;
use crate::text::{DateCache, TextBuffer};
use columns::{csv, zeek_json, zeek_tsv};
use eve::eve;
use flowpin_record::{
    CommunityId, FileId, Kind, MessagePlace, MessageSchema, NO_TRANSACTION, Uid, Value,
};

pub(crate) use shapes::comma_parts;

/// A record before it is text.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) ready: &'a Ready,
    pub(super) place: &'a MessagePlace,
    pub(super) values: &'a [Value<'a>],
    pub(super) community_id: Option<CommunityId>,
    /// The interface, if it has a name.
    pub(super) interface: Option<&'a Shown>,
    /// As in its schema.
    pub(super) from_server: bool,
}

impl<'a> Message<'a> {
    /// The value of a column.
    pub(super) fn value(&self, field: &Field) -> Value<'a> {
        let place = self.place;
        match field.source {
            Source::Time => Value::Time(place.time),
            // Of no connection.
            Source::Uid if place.uid == Uid(0) => Value::Unset,
            Source::Uid => Value::Uid(place.uid),
            Source::ClientAddress => Value::Address(place.client_as_shown().address),
            Source::ClientPort => Value::Port(place.client.port),
            Source::ServerAddress => Value::Address(place.server.address),
            Source::ServerPort => Value::Port(place.server.port),
            Source::Own(number) => match (field.kind, self.own(number)) {
                (Kind::FileId | Kind::FileIds, Value::Count(file)) => {
                    Value::File(FileId::of(place.uid, file))
                }
                (_, value) => value,
            },
            Source::CommunityId => self.community_id.map_or(Value::Unset, Value::CommunityId),
            Source::Transaction if place.transaction == NO_TRANSACTION => Value::Unset,
            Source::Transaction => Value::Count(u64::from(place.transaction)),
            Source::PacketNumber => Value::count(place.packet_number),
        }
    }

    /// How many values a column has in an array.
    #[inline]
    fn rows(&self, column: usize) -> usize {
        match self.values.get(column) {
            None | Some(Value::Unset) => 0,
            Some(Value::List(values)) => values.len(),
            _ => 1,
        }
    }

    fn own(&self, number: usize) -> Value<'a> {
        self.values.get(number).copied().unwrap_or(Value::Unset)
    }
}

/// The lists of files in a message, by column: with identifiers in the place of numbers.
pub(super) fn file_lists(
    schema: &MessageSchema,
    values: &[Value<'_>],
    uid: Uid,
) -> Vec<(usize, Vec<Value<'static>>)> {
    let columns = schema.columns.iter().zip(values).enumerate();
    let lists = columns.filter_map(|(at, (column, value))| match value {
        Value::List(files) if column.kind == Kind::FileIds => Some((at, files)),
        _ => None,
    });
    let named = lists.map(|(at, files)| {
        let files = files.iter().map(|file| match file {
            Value::Count(file) => Value::File(FileId::of(uid, *file)),
            _ => Value::Unset,
        });
        (at, files.collect())
    });
    named.collect()
}

/// Appends a record in all formats that are text, and returns how long it is in each.
pub(super) fn put_all(
    text: &mut TextBuffer,
    dates: &mut DateCache,
    formats: Formats,
    message: &Message<'_>,
) -> [u32; TextFormat::COUNT] {
    let mut lens = [0; TextFormat::COUNT];
    let [in_eve, tsv, json, in_csv] = &mut lens;
    let mut at = text.len();
    let mut since = |text: &TextBuffer| {
        let len = text.len() - core::mem::replace(&mut at, text.len());
        u32::try_from(len).unwrap_or(u32::MAX)
    };
    if formats.eve {
        eve(text, dates, message);
        *in_eve = since(text);
    }
    if formats.zeek_tsv {
        zeek_tsv(text, message);
        *tsv = since(text);
    }
    if formats.zeek_json {
        zeek_json(text, message);
        *json = since(text);
    }
    if formats.csv {
        csv(text, dates, message, formats.csv_safe);
        *in_csv = since(text);
    }
    lens
}

#[cfg(test)]
mod tests {
    use super::file_lists;
    use flowpin_record::{FileId, Kind, MessageColumn, MessageSchema, Uid, Value};

    /// Parsers number files; records have their identifiers, in lists as alone.
    #[test]
    fn files_in_lists_have_identifiers() {
        const COLUMNS: &[MessageColumn] = &[
            MessageColumn::new("counts", "", Kind::CountList, ""),
            MessageColumn::new("fuids", "", Kind::FileIds, ""),
        ];
        static SCHEMA: MessageSchema = MessageSchema::new("m", "", COLUMNS);
        let list = Value::List(&[Value::Count(3), Value::Count(5)]);
        let named = |number| Value::File(FileId::of(Uid(7), number));
        let lists = file_lists(&SCHEMA, &[list, list], Uid(7));
        assert_eq!(lists, [(1, vec![named(3), named(5)])]);
        assert!(file_lists(&SCHEMA, &[list, Value::Count(3)], Uid(7)).is_empty());
    }
}
