//! The columns that a kind of messages has in the formats that go by columns.

use super::Shape;
use flowpin_record::{Kind, Logs, MessageSchema, Shown};

/// A column of the formats that go by columns.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// What Parquet's column holds: a list where EVE has one, too, and a time
    /// where text is one.
    pub(crate) in_parquet: Kind,
    /// Which formats have it.
    pub(crate) logs: Logs,
    pub(crate) doc: String,
    pub(crate) source: Source,
}

impl Field {
    /// The name where a dot would have to be quoted.
    pub(crate) fn flat_name(&self) -> String {
        self.name.replace('.', "_")
    }
}

/// Where a column's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Time,
    Uid,
    ClientAddress,
    ClientPort,
    ServerAddress,
    ServerPort,
    /// The schema's column with that number.
    Own(usize),
    CommunityId,
    Transaction,
    PacketNumber,
}

/// The columns of all messages, with the schema's own in between.
pub(super) fn fields(schema: &MessageSchema) -> Vec<Field> {
    let is_only_zeek = schema.shown == Shown::InZeek;
    let common = |&(name, kind, source, logs, doc): &Common| Field {
        name: String::from(name),
        kind,
        in_parquet: kind,
        logs: if is_only_zeek { Logs::OnlyZeek } else { logs },
        doc: String::from(doc),
        source,
    };
    let own = schema.columns.iter().enumerate();
    let own = own
        .filter(|(_, column)| !column.name.is_empty())
        .map(|(number, column)| Field {
            name: column.name.clone().into_owned(),
            kind: column.kind,
            in_parquet: match (column.kind, Shape::behind(&column.eve)) {
                (Kind::Text, (_, Shape::List)) => Kind::TextList,
                (Kind::Text, (_, Shape::Time)) => Kind::Time,
                (kind, _) => kind,
            },
            logs: if is_only_zeek {
                Logs::OnlyZeek
            } else {
                column.logs
            },
            doc: column.doc.clone().into_owned(),
            source: Source::Own(number),
        });
    let before = if schema.stands_alone {
        &BEFORE[..1]
    } else {
        BEFORE
    };
    let behind = if is_only_zeek { &[] } else { BEHIND };
    let before = before.iter().map(common);
    before.chain(own).chain(behind.iter().map(common)).collect()
}

type Common = (&'static str, Kind, Source, Logs, &'static str);

const BEFORE: &[Common] = &[
    (
        "ts",
        Kind::Time,
        Source::Time,
        Logs::All,
        "Capture time of what it tells of.",
    ),
    ("uid", Kind::Text, Source::Uid, Logs::All, "The connection."),
    (
        "id.orig_h",
        Kind::Address,
        Source::ClientAddress,
        Logs::All,
        "The client.",
    ),
    (
        "id.orig_p",
        Kind::Port,
        Source::ClientPort,
        Logs::All,
        "Its port.",
    ),
    (
        "id.resp_h",
        Kind::Address,
        Source::ServerAddress,
        Logs::All,
        "The server.",
    ),
    (
        "id.resp_p",
        Kind::Port,
        Source::ServerPort,
        Logs::All,
        "Its port.",
    ),
];

const BEHIND: &[Common] = &[
    (
        "community_id",
        Kind::Text,
        Source::CommunityId,
        Logs::NotZeek,
        "Community ID of the connection.",
    ),
    (
        "transaction",
        Kind::Count,
        Source::Transaction,
        Logs::NotZeek,
        "Which record of its connection it is, from 0; of an alert: which one it is about, if any.",
    ),
    (
        "packet_number",
        Kind::Count,
        Source::PacketNumber,
        Logs::NotZeek,
        "The packet that completed it; unset if the connection's end did.",
    ),
];

#[cfg(test)]
mod tests {
    use super::fields;
    use flowpin_record::{MESSAGE_COLUMNS, MessageSchema};

    /// What grammars may not name is what every message's record has.
    #[test]
    fn columns_of_all_messages_are_those_that_no_schema_may_have() {
        let names: Vec<String> = fields(&MessageSchema::new("none", "", &[]))
            .iter()
            .map(|field| field.flat_name())
            .collect();
        assert_eq!(names, MESSAGE_COLUMNS);
    }
}
