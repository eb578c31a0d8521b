//! Where a record goes: its topic, and its key.

use flowpin_config::PeerAddress;
use std::collections::HashMap;

/// The topic, or topics by kind.
pub(super) struct Places {
    topic: String,
    /// Names of topics by kind; empty if there is one topic.
    by_kind: HashMap<Vec<u8>, String>,
    is_by_kind: bool,
}

/// How many kinds are told apart; there are as many as parsers and grammars have.
const KINDS_MAX: usize = 1024;

impl Places {
    pub(super) fn new(topic: &str) -> Self {
        Self {
            topic: topic.to_owned(),
            by_kind: HashMap::new(),
            is_by_kind: topic.contains(PeerAddress::KIND),
        }
    }

    /// The topic that is asked for first: that of connections.
    pub(super) fn first(topic: &str) -> String {
        name(topic, b"flow")
    }

    /// The topic and the key of an event. The key is the Community ID, so that a connection's
    /// records are in one partition, in order; events of no connection have none.
    pub(super) fn of<'a>(&'a mut self, line: &'a [u8]) -> (&'a str, Option<&'a [u8]>) {
        let [kind, id] = fields(line, ["event_type", "community_id"]);
        if !self.is_by_kind {
            return (&self.topic, id);
        }
        let kind = kind.unwrap_or(b"other");
        if !self.by_kind.contains_key(kind) {
            if self.by_kind.len() >= KINDS_MAX {
                self.by_kind.clear();
            }
            self.by_kind.insert(kind.to_vec(), name(&self.topic, kind));
        }
        (self.by_kind.get(kind).unwrap_or(&self.topic), id)
    }
}

/// A topic's name for a kind, of letters that Kafka takes.
fn name(topic: &str, kind: &[u8]) -> String {
    let kind = kind.iter().map(|&byte| match byte {
        byte if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) => char::from(byte),
        _ => '_',
    });
    let mut name = topic.replacen(PeerAddress::KIND, &kind.collect::<String>(), 1);
    name.truncate(PeerAddress::TOPIC_LEN_MAX);
    name
}

/// The texts of some fields of an object, those on its top level: what hosts have sent stands
/// deeper, or in texts, and names no topic and no key. A text with escapes is none of ours.
fn fields<'a>(line: &'a [u8], names: [&str; 2]) -> [Option<&'a [u8]>; 2] {
    let mut found = [None; 2];
    let (mut at, mut depth) = (0_usize, 0_usize);
    let mut name: Option<&[u8]> = None;
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let Some((text, is_plain)) = text(line, at) else {
                    return found;
                };
                at += text.len() + 1;
                let is_name = line.get(at) == Some(&b':');
                let value = name.take().filter(|_| depth == 1 && is_plain && !is_name);
                if let Some(name) = value {
                    for (slot, wanted) in found.iter_mut().zip(names) {
                        if wanted.as_bytes() == name && slot.is_none() {
                            *slot = Some(text);
                        }
                    }
                    if found.iter().all(Option::is_some) {
                        return found;
                    }
                }
                name = (is_name && depth == 1).then_some(text);
            }
            b',' => name = None,
            _ => {}
        }
    }
    found
}

/// A text whose first letter is at `at`, and whether it has no escapes.
fn text(line: &[u8], at: usize) -> Option<(&[u8], bool)> {
    let rest = line.get(at..)?;
    let (mut end, mut is_plain) = (0, true);
    loop {
        end += memchr::memchr2(b'"', b'\\', rest.get(end..)?)?;
        match rest.get(end) {
            Some(b'"') => return Some((rest.get(..end)?, is_plain)),
            _ => (end, is_plain) = (end + 2, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, fields};

    /// A header's name that a host has sent is deeper; its text has its quotation marks escaped.
    #[test]
    fn only_the_top_level_names_topic_and_key() {
        let line = concat!(
            r#"{"record_id":"1-2-3","n":[1,{"event_type":"no"}],"event_type":"http","#,
            r#""http":{"community_id":"evil","url":"\",\"community_id\":\"evil\""},"#,
            r#""x":"\\","community_id":"1:abc="}"#
        );
        let line = line.as_bytes();
        let mut places = Places::new("net.{kind}");
        let got = places.of(line);
        assert_eq!(got, ("net.http", Some(&b"1:abc="[..])));
        let none = br#"{"event_type":"a/b","o":{"community_id":"evil"},"community_id":null}"#;
        let got = places.of(none);
        assert_eq!(got, ("net.a_b", None));
        assert_eq!(Places::new("one").of(line), ("one", Some(&b"1:abc="[..])));
    }

    /// Half a line ends the search and nothing else.
    #[test]
    fn no_cut_of_a_line_is_read_past_its_end() {
        let line = br#"{"event_type":"a\\\"b","community_id":"1:x","o":{"p":["q"]}}"#;
        for end in 0..line.len() {
            fields(&line[..end], ["event_type", "community_id"]);
        }
    }
}
