//! A message as an event of EVE JSON: its schema's tree, of which what is unset is left out.

use super::Message;
use super::shapes::put_shaped;
use super::values::put_json_value;
use crate::format::eve::{put_addresses, put_peers, put_queue, put_vlans};
use crate::format::schemas::{Columns, Members, Node};
use crate::text::{DateCache, Key, TextBuffer};
use flowpin_record::{NO_TRANSACTION, Uid, Value};

/// Appends a record as an event of EVE JSON.
pub(super) fn eve(text: &mut TextBuffer, dates: &mut DateCache, message: &Message<'_>) {
    let place = message.place;
    let (source, destination) = if message.from_server {
        (place.server, place.client_as_shown())
    } else {
        (place.client_as_shown(), place.server)
    };
    text.line(|line| {
        line.put(b"{\"timestamp\":\"");
        line.put_eve_time(dates, place.time);
        line.put(b"\"");
        if place.uid != Uid(0) {
            line.put(b",\"flow_id\":");
            line.put_u64(place.uid.flow_id());
        }
        if let Some(interface) = message.interface {
            line.put_str(&interface.member);
        }
        if let Some(number) = place.packet_number {
            line.put(b",\"pcap_cnt\":");
            line.put_u64(number);
        }
        line.put(b",\"event_type\":\"");
    });
    text.extend(message.ready.schema.name.as_bytes());
    text.line(|line| {
        line.put(b"\"");
        put_vlans(line, place.vlans);
        // A packet that belongs to no connection has no ports, and perhaps no addresses.
        if place.uid != Uid(0) {
            put_peers(line, place.protocol, source, destination);
        } else if !source.address.is_unspecified() || !destination.address.is_unspecified() {
            put_addresses(line, source.address, destination.address);
        }
        if place.transaction != NO_TRANSACTION {
            line.put(b",\"tx_id\":");
            line.put_u64(u64::from(place.transaction));
        }
        if !place.app.is_empty() {
            line.put(b",\"app_proto\":\"");
            line.put_str(place.in_tools.suricata(place.protocol));
            line.put(b"\"");
        }
        if let Some(id) = message.community_id {
            line.put(b",\"community_id\":\"");
            line.put_community_id(&id);
            line.put(b"\"");
        }
    });
    let set = Columns::of(
        message
            .values
            .iter()
            .map(|value| !matches!(value, Value::Unset)),
    );
    let object = Object {
        message,
        set,
        at: None,
    };
    object.put_members(text, dates, &message.ready.tree);
    text.line(|line| {
        line.put(b",\"flowpin\":{\"uid\":\"");
        line.put(&place.uid.text());
        line.put(b"\"");
        put_queue(line, message.interface);
    });
    object.put_members(text, dates, &message.ready.under_own);
    text.put_first(b"}}\n", 3);
}

/// Where members of a message get their values.
#[derive(Clone, Copy)]
struct Object<'a> {
    message: &'a Message<'a>,
    /// The columns that are set.
    set: Columns,
    /// In an array: of which of its objects.
    at: Option<usize>,
}

impl Object<'_> {
    /// Appends the members that are set, a comma before each.
    fn put_members(&self, text: &mut TextBuffer, dates: &mut DateCache, members: &Members) {
        for node in members.in_message(self.set) {
            self.put_member(text, dates, node);
        }
    }

    #[inline]
    fn put_member(&self, text: &mut TextBuffer, dates: &mut DateCache, node: &Node) {
        match node {
            Node::Leaf { key, column } => {
                let value = self.message.values.get(*column).unwrap_or(&Value::Unset);
                let value = self.at.map_or(value, |at| member(value, at));
                put_leaf(text, dates, key, value);
            }
            Node::Shaped { key, column, shape } => {
                let value = self.message.values.get(*column).unwrap_or(&Value::Unset);
                put_shaped(text, dates, key, value, *shape);
            }
            Node::Object {
                key,
                members,
                columns,
            } => self.put_object(text, dates, (key, members, columns)),
            Node::Array { key, members, .. } => {
                put_array(text, dates, self, key, members);
            }
        }
    }

    #[inline(never)]
    fn put_object(
        &self,
        text: &mut TextBuffer,
        dates: &mut DateCache,
        (key, members, columns): (&Key, &Members, &[usize]),
    ) {
        if columns.iter().any(|&column| self.message.rows(column) > 0) {
            let start = text.len();
            text.put_key(key);
            if !put_braced(text, |text| self.put_members(text, dates, members)) {
                text.truncate(start);
            }
        }
    }
}

/// Appends a member and its value, if it is set.
// PERF: what nearly all values are is written in one go, where there is room for all of it.
#[inline]
pub(super) fn put_leaf(text: &mut TextBuffer, dates: &mut DateCache, key: &Key, value: &Value<'_>) {
    if matches!(value, Value::Unset) {
        return;
    }
    let mut is_whole = true;
    let before = text.len();
    text.line(|line| {
        line.put_key(key);
        match *value {
            Value::Count(count) => line.put_u64(count),
            Value::Bool(value) => line.put_bool(value),
            Value::Bytes(bytes) => is_whole = line.put_quoted(bytes),
            Value::Text(word) => is_whole = line.put_quoted(word.as_bytes()),
            Value::Address(address) => {
                line.put(b"\"");
                line.put_address_in_full(address);
                line.put(b"\"");
            }
            _ => is_whole = false,
        }
    });
    if !is_whole {
        text.truncate(before);
        text.put_key(key);
        put_json_value(text, Some(dates), value);
    }
}

/// Appends the objects of an array, if there are any.
// PERF: most members of arrays are set in few messages: those that are not are left out once, not
// once for each object.
#[inline(never)]
fn put_array(
    text: &mut TextBuffer,
    dates: &mut DateCache,
    object: &Object<'_>,
    key: &Key,
    members: &Members,
) {
    let message = object.message;
    let rows = |node: &Node| match node {
        Node::Leaf { column, .. } | Node::Shaped { column, .. } => message.rows(*column),
        Node::Object { columns, .. } | Node::Array { columns, .. } => {
            let rows = columns.iter().map(|&column| message.rows(column));
            rows.max().unwrap_or(0)
        }
    };
    let mut known = [None; MEMBERS_KNOWN];
    let mut known_len = 0;
    let mut count = 0;
    for node in members.in_message(object.set) {
        let rows = rows(node);
        count = rows.max(count);
        if rows > 0 {
            if let Some(place) = known.get_mut(known_len) {
                *place = Some(node);
            }
            known_len += 1;
        }
    }
    if count == 0 {
        return;
    }
    let known = known.get(..known_len);
    text.put_key(key);
    for index in 0..count {
        text.put_first(if index == 0 { b"[" } else { b"," }, 1);
        let object = Object {
            at: Some(index),
            ..*object
        };
        let is_any = put_braced(text, |text| match known {
            Some(known) => {
                for node in known.iter().flatten() {
                    object.put_member(text, dates, node);
                }
            }
            None => object.put_members(text, dates, members),
        });
        if !is_any {
            text.put_first(b"{}", 2);
        }
    }
    text.put_first(b"]", 1);
}

/// Of arrays with more members that are set, all are looked at in each object.
const MEMBERS_KNOWN: usize = 32;

/// Appends an object with its braces; nothing, and returns false, if no member is set.
fn put_braced(text: &mut TextBuffer, put: impl FnOnce(&mut TextBuffer)) -> bool {
    let start = text.len();
    put(text);
    if text.len() == start {
        return false;
    }
    // In the place of the first member's comma.
    text.set(start, b'{');
    text.put_first(b"}", 1);
    true
}

/// What stands at a place of a list; anything else is a list of itself.
#[inline]
fn member<'v>(value: &'v Value<'v>, at: usize) -> &'v Value<'v> {
    match value {
        Value::List(values) => values.get(at).unwrap_or(&Value::Unset),
        value if at == 0 => value,
        _ => &Value::Unset,
    }
}
