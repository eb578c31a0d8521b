//! Every field of a message, as lists, for records that show all fields.

use crate::Dictionary;
use crate::message::fields::Fields;
use crate::message::groups::GroupTracker;
use crate::record::secrets::{MASK, Secrets, type_of};
use flowpin_record::{Value, ValueLists};
use std::io::Write;
use std::ops::Range;

/// The lists of one message's fields; allocated once and reused for every message.
#[derive(Debug, Default)]
pub(crate) struct AllFields {
    places: GroupTracker,
    /// The position of each field among repeating groups, concatenated, and where each ends.
    groups: Vec<u8>,
    ends: Vec<Range<usize>>,
    lists: ValueLists<LISTS>,
}

/// Tags, names, values, meanings, groups.
pub(crate) const LISTS: usize = 5;

impl AllFields {
    /// Calls `with` with the lists.
    pub(crate) fn with<'m>(
        &mut self,
        fields: &'m Fields,
        message: &'m [u8],
        dictionary: &'m Dictionary,
        with: impl FnOnce([Value<'_>; LISTS]),
    ) {
        self.find_groups(fields, message, dictionary);
        let mut secrets = Secrets::of(type_of(fields, message));
        let [mut tags, mut names, mut values, mut meanings, mut groups] = self.lists.lend();
        for (field, end) in fields.list().iter().zip(&self.ends) {
            let info = dictionary.field(field.tag);
            let value = match secrets.next(field.tag) {
                true => MASK,
                false => field.value(message),
            };
            tags.push(Value::Count(field.tag.into()));
            names.push(Value::text(info.map_or("", |info| info.name())));
            values.push(Value::Bytes(value));
            let meaning = info.and_then(|info| info.meaning(value));
            meanings.push(Value::text(meaning.unwrap_or_default()));
            groups.push(Value::bytes(
                self.groups.get(end.clone()).unwrap_or_default(),
            ));
        }
        with([
            Value::List(&tags),
            Value::List(&names),
            Value::List(&values),
            Value::List(&meanings),
            Value::List(&groups),
        ]);
        self.lists
            .take_back([tags, names, values, meanings, groups]);
    }

    fn find_groups(&mut self, fields: &Fields, message: &[u8], dictionary: &Dictionary) {
        self.places.restart();
        self.groups.clear();
        self.ends.clear();
        for field in fields.list() {
            let from = self.groups.len();
            let places = self.places.next(dictionary, message, field);
            for (at, place) in places.iter().enumerate() {
                let dot = if at == 0 { "" } else { "." };
                // Writing to a vector does not fail.
                let _ = write!(self.groups, "{dot}{}[{}]", place.group, place.entry);
            }
            self.ends.push(from..self.groups.len());
        }
    }
}
