//! Every field of a message as lists, for records that show all of them.

use crate::Dictionary;
use crate::message::fields::Fields;
use crate::message::groups::Places;
use crate::record::secrets::{MASK, is_secret, type_of};
use flowpin_record::Value;
use std::io::Write;
use std::ops::Range;

/// The lists of one message's fields; made once, used for every message.
#[derive(Debug, Default)]
pub(crate) struct AllFields {
    places: Places,
    /// Where each field stands among repeating groups, one behind the other, and where each ends.
    groups: Vec<u8>,
    ends: Vec<Range<usize>>,
    values: [Vec<Value<'static>>; LISTS],
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
        let message_type = type_of(fields, message);
        let [mut tags, mut names, mut values, mut meanings, mut groups] =
            core::mem::take(&mut self.values).map(emptied);
        for (field, end) in fields.list().iter().zip(&self.ends) {
            let info = dictionary.field(field.tag);
            let secret = is_secret(field.tag, message_type);
            let value = if secret { MASK } else { field.value(message) };
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
        self.values = [tags, names, values, meanings, groups].map(emptied);
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

/// The same memory for values that live otherwise: collecting an emptied vector of the same
/// layout takes its allocation over (a test holds the whole program to it).
pub(crate) fn emptied<'to>(mut list: Vec<Value<'_>>) -> Vec<Value<'to>> {
    list.clear();
    list.into_iter().map(|_| Value::Unset).collect()
}

#[cfg(test)]
mod tests {
    use super::emptied;
    use flowpin_record::Value;

    /// A list's memory is used again.
    #[test]
    fn an_emptied_list_keeps_its_memory() {
        let mut list = Vec::with_capacity(100);
        list.push(Value::Bytes(b"x"));
        let list = emptied(list);
        assert!(list.is_empty() && list.capacity() == 100);
    }
}
