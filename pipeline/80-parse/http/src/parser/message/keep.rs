//! Texts and fields of heads that are kept for records.

use crate::parser::forwarded::ARROW;
use crate::parser::turn::Turn;
use crate::state::{Part, Text};
use crate::syntax::{password, trimmed};
use core::ops::Range;
use flowpin_counters::Loss;
use flowpin_record::MessageSink;
use memchr::memchr;

impl<S: MessageSink> Turn<'_, S> {
    /// Keeps a text for the record, if records are read; the first of a kind counts.
    #[inline]
    pub(crate) fn keep(&mut self, text: Text, value: &[u8]) {
        if !self.sink.reads(self.pools.schema) {
            return;
        }
        let is_url = matches!(text, Text::Uri | Text::Referrer | Text::Redirect);
        match if is_url { password(value) } else { None } {
            Some(range) => self.keep_hidden(text, value, range),
            None => self.keep_always(text, value),
        }
    }

    /// Keeps a URL without the password in it.
    #[cold]
    fn keep_hidden(&mut self, text: Text, url: &[u8], range: Range<usize>) {
        let before = url.get(..range.start).unwrap_or_default();
        let behind = url.get(range.end..).unwrap_or_default();
        self.keep_always(text, &[before, HIDDEN, behind].concat());
    }

    /// Keeps a text, whether records are read or not.
    pub(crate) fn keep_always(&mut self, text: Text, value: &[u8]) {
        let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) else {
            return;
        };
        if value.is_empty() || !transaction.part(text).is_empty() {
            return;
        }
        let kept = value
            .get(..usize::from(self.options.value_bytes_max))
            .unwrap_or(value);
        let start = transaction.texts.len();
        let room = usize::from(u16::MAX).saturating_sub(start as usize);
        let kept = kept.get(..room).unwrap_or(kept);
        let count = self
            .pools
            .texts
            .append(&mut transaction.texts, self.queue.shard, kept);
        if let (Some(part), Some(place)) = (
            Part::new(start, count),
            transaction.parts.get_mut(text as usize),
        ) {
            *place = part;
        }
        if count < value.len() {
            self.pools.losses.count(Loss::HttpTexts, 1);
        }
    }

    /// Adds a field that a proxy added; false if there is no room for it.
    pub(super) fn keep_proxied(&mut self, name: &[u8], value: &[u8]) -> bool {
        if !self.sink.reads(self.pools.schema) {
            return true;
        }
        let shard = self.queue.shard;
        let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) else {
            return false;
        };
        let parts = [name, ARROW, value];
        let texts = &mut self.pools.texts;
        let is_kept = texts.append_item(&mut transaction.proxied, shard, &parts);
        if !is_kept {
            self.pools.losses.count(Loss::HttpTexts, 1);
        }
        is_kept
    }

    /// Adds a field to the list of all fields.
    pub(super) fn keep_field(&mut self, name: &[u8], value: &[u8]) {
        let shard = self.queue.shard;
        if let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) {
            let [request, response] = &mut transaction.fields;
            let list = if self.to_server { request } else { response };
            // Rules see what was sent, records do not: where both have it, neither does.
            let is_shown = self.options.all_fields;
            let value = if is_shown { trimmed(value) } else { value };
            let secret = if is_shown { secret(name, value) } else { None };
            let [before, hidden, behind] = match secret {
                Some(range) => [
                    value.get(..range.start).unwrap_or_default(),
                    HIDDEN,
                    value.get(range.end..).unwrap_or_default(),
                ],
                None => [value, &[], &[]],
            };
            for parts in [&[name][..], &[before, hidden, behind]] {
                if !self.pools.texts.append_item(list, shard, parts) {
                    self.pools.losses.count(Loss::HttpTexts, 1);
                }
            }
        }
    }
}

/// Where in a field's value a password stands, or may stand: credentials behind their scheme (RFC
/// 9110 §11.4), or a URL's user.
fn secret(name: &[u8], value: &[u8]) -> Option<Range<usize>> {
    let is_credentials = name.len() >= CREDENTIALS.len()
        && name
            .get(name.len().wrapping_sub(CREDENTIALS.len())..)
            .is_some_and(|end| end.eq_ignore_ascii_case(CREDENTIALS));
    if is_credentials {
        let scheme = memchr(b' ', value).map_or(0, |at| at.wrapping_add(1));
        return Some(scheme..value.len());
    }
    password(value)
}

/// The end of `Authorization` and `Proxy-Authorization`.
const CREDENTIALS: &[u8] = b"authorization";
/// In the place of a password.
const HIDDEN: &[u8] = b"***";

#[cfg(test)]
mod tests {
    use super::secret;

    /// What a field may hold that is not for records.
    #[test]
    fn secrets_are_found_in_fields() {
        for (name, value, expected) in [
            ("Authorization", "Basic abc=", Some("abc=")),
            ("proxy-authorization", "abc", Some("abc")),
            ("X-Authorization", "Bearer x y", Some("x y")),
            ("Referer", "http://a:b@c/", Some("b")),
            ("Accept", "a/b", None),
        ] {
            let found = secret(name.as_bytes(), value.as_bytes()).map(|range| &value[range]);
            assert_eq!(found, expected, "{name}");
        }
    }
}
