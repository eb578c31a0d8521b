//! Names, types and meanings: the bundled table, and the dictionaries loaded on top of it.
//!
//! Owns everything known about tags, message types and repeating groups. The bundled table is text
//! with one line per field. Loading it only finds where the lines start; a line is parsed on
//! lookup.

mod bounds;
mod quickfix;

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use quickfix::BadDictionary;

/// Everything known about fields, messages and groups.
///
/// ```
/// let dictionary = flowpin_fix::Dictionary::bundled();
/// let side = dictionary.field(54).unwrap();
/// assert_eq!((side.name(), side.kind()), ("Side", "CHAR"));
/// assert_eq!(side.meaning(b"1"), Some("BUY"));
/// assert_eq!(dictionary.message(b"D"), Some("NewOrderSingle"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    fields: BTreeMap<u32, Cow<'static, str>>,
    messages: BTreeMap<Cow<'static, [u8]>, Cow<'static, str>>,
    short_messages: Vec<Cow<'static, str>>,
    groups: BTreeMap<u32, Vec<u32>>,
    lengths: Vec<(u32, u32)>,
}

impl Dictionary {
    /// The table of FIX 4.0 to 5.0 SP2 and FIXT 1.1 that comes with the program.
    pub fn bundled() -> Self {
        let mut dictionary = Self::default();
        for (tag, line) in tagged_lines(include_str!("../../table/fields.tsv")) {
            dictionary.set_field(tag, Cow::Borrowed(line));
        }
        for line in lines(include_str!("../../table/messages.tsv")) {
            if let Some((kind, name)) = line.split_once('\t') {
                dictionary.set_message(Cow::Borrowed(kind.as_bytes()), Cow::Borrowed(name));
            }
        }
        for (tag, line) in tagged_lines(include_str!("../../table/groups.tsv")) {
            let ranges = line.split_once('\t').map_or("", |(_, ranges)| ranges);
            dictionary.add_members(tag, ranges.split(' ').flat_map(range));
        }
        dictionary
    }

    /// Adds the contents of a QuickFIX data dictionary (XML); they replace existing entries.
    ///
    /// # Errors
    ///
    /// If it is not such a dictionary: the error gives the problem and its line.
    ///
    /// ```
    /// let mut dictionary = flowpin_fix::Dictionary::bundled();
    /// dictionary.load_quickfix(
    ///     "<fix><fields><field number='9001' name='DeskCode' type='STRING'/></fields></fix>",
    /// )?;
    /// assert_eq!(dictionary.field(9001).unwrap().name(), "DeskCode");
    /// # Ok::<(), flowpin_fix::BadDictionary>(())
    /// ```
    pub fn load_quickfix(&mut self, xml: &str) -> Result<(), BadDictionary> {
        quickfix::load(self, xml)
    }

    /// Returns the entry of a field.
    pub fn field(&self, tag: u32) -> Option<FieldInfo<'_>> {
        let line = self.fields.get(&tag)?;
        Some(FieldInfo { line })
    }

    /// Returns the name of a message type.
    #[inline]
    pub fn message(&self, kind: &[u8]) -> Option<&str> {
        if let [one] = kind {
            let name = self.short_messages.get(usize::from(*one))?;
            return Some(name.as_ref()).filter(|name| !name.is_empty());
        }
        self.messages.get(kind).map(Cow::as_ref)
    }

    /// Returns the fields allowed in an entry of a repeating group, sorted; `None` if `tag` does
    /// not count a group.
    pub fn members(&self, tag: u32) -> Option<&[u32]> {
        self.groups.get(&tag).map(Vec::as_slice)
    }

    /// Returns the tags of fields that hold the length of the field after them.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        self.lengths.iter().map(|&(length, _)| length)
    }

    /// Returns the tag of the data field that a length field belongs to.
    pub(crate) fn data_of(&self, length: u32) -> Option<u32> {
        let at = self.lengths.binary_search_by_key(&length, |&(tag, _)| tag);
        at.ok()
            .and_then(|at| self.lengths.get(at))
            .map(|&(_, data)| data)
    }

    /// `line` has the same columns as the bundled table.
    fn set_field(&mut self, tag: u32, line: Cow<'static, str>) {
        let data = line.split('\t').nth(3).and_then(|data| data.parse().ok());
        if let Some(data) = data {
            self.set_length(tag, data);
        }
        self.fields.insert(tag, line);
    }

    fn set_length(&mut self, tag: u32, data: u32) {
        match self.lengths.binary_search_by_key(&tag, |&(tag, _)| tag) {
            Ok(at) => {
                if let Some(known) = self.lengths.get_mut(at) {
                    known.1 = data;
                }
            }
            Err(at) => self.lengths.insert(at, (tag, data)),
        }
    }

    fn set_message(&mut self, kind: Cow<'static, [u8]>, name: Cow<'static, str>) {
        if let [one] = *kind {
            self.short_messages.resize(256, Cow::Borrowed(""));
            if let Some(place) = self.short_messages.get_mut(usize::from(one)) {
                *place = name.clone();
            }
        }
        self.messages.insert(kind, name);
    }

    fn add_members(&mut self, tag: u32, more: impl Iterator<Item = u32>) {
        let members = self.groups.entry(tag).or_default();
        members.extend(more);
        members.sort_unstable();
        members.dedup();
    }
}

/// The entry of one field.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo<'d> {
    line: &'d str,
}

impl<'d> FieldInfo<'d> {
    /// Its name: `ClOrdID`.
    pub fn name(&self) -> &'d str {
        self.line.split('\t').nth(1).unwrap_or_default()
    }

    /// Its type: `PRICE`.
    pub fn kind(&self) -> &'d str {
        self.line.split('\t').nth(2).unwrap_or_default()
    }

    /// Returns the meaning of a value, if the field has a list of values.
    pub fn meaning(&self, value: &[u8]) -> Option<&'d str> {
        let mut values = self.line.split('\t').skip(4);
        values.find_map(|pair| {
            let (known, meaning) = pair.split_once('=')?;
            (known.as_bytes() == value).then_some(meaning)
        })
    }
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#'))
}

fn tagged_lines(table: &'static str) -> impl Iterator<Item = (u32, &'static str)> {
    lines(table).filter_map(|line| {
        let tag = line.split('\t').next()?.parse().ok()?;
        Some((tag, line))
    })
}

/// Parses `7` or `3-9`.
fn range(text: &str) -> core::ops::RangeInclusive<u32> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    first.parse().unwrap_or(1)..=last.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Dictionary;

    /// FIX 4.2, Appendix A: every data field has a length field before it, with a tag of its own.
    #[test]
    fn data_fields_are_found_by_their_length() {
        let dictionary = Dictionary::bundled();
        for (length, data) in [
            (90, 91),
            (93, 89),
            (95, 96),
            (212, 213),
            (1401, 1402),
            (1403, 1404),
        ] {
            assert_eq!(dictionary.data_of(length), Some(data));
        }
        assert_eq!(dictionary.data_of(9), None);
    }

    /// Every field of type data has its length field in the table.
    #[test]
    fn no_data_field_is_without_length() {
        let dictionary = Dictionary::bundled();
        for (&tag, line) in &dictionary.fields {
            let kind = line.split('\t').nth(2);
            if matches!(kind, Some("DATA" | "XMLDATA")) {
                let has = dictionary.lengths.iter().any(|&(_, data)| data == tag);
                assert!(has, "{line}");
            }
        }
        assert!(dictionary.fields.len() > 6000);
    }

    /// Repeating groups nest: parties have sub-identifiers.
    #[test]
    fn groups_have_their_members() {
        let dictionary = Dictionary::bundled();
        let parties = dictionary.members(453).unwrap();
        assert!(parties.contains(&448) && parties.contains(&802) && !parties.contains(&35));
        assert!(dictionary.members(802).unwrap().contains(&523));
        assert_eq!(dictionary.members(35), None);
    }
}
