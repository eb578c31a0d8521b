//! Names of interfaces, as events say them.

use super::escape::put_json;
use crate::text::TextBuffer;
use flowpin_packet::{InterfaceId, InterfaceName, InterfaceNames};
use std::sync::Arc;

/// The interfaces of a run, and the texts of those that records had so far.
#[derive(Debug, Default)]
pub(super) struct Interfaces {
    names: InterfaceNames,
    /// By number.
    ready: Vec<Option<Shown>>,
}

/// An interface as events say it.
#[derive(Debug)]
pub(super) struct Shown {
    /// The member `in_iface`, with a comma before it.
    pub(super) member: String,
    pub(super) name: Arc<InterfaceName>,
}

impl Interfaces {
    /// Those with these names.
    pub(super) fn new(names: InterfaceNames) -> Self {
        Self {
            names,
            ready: Vec::new(),
        }
    }

    /// The interface with this number, if it has a name.
    #[inline]
    pub(super) fn get(&mut self, id: InterfaceId) -> Option<&Shown> {
        match id.is_named() {
            true => self.get_named(id),
            false => None,
        }
    }

    /// What rows keep of it.
    #[inline]
    pub(super) fn name(&mut self, id: InterfaceId) -> Option<Arc<InterfaceName>> {
        self.get(id).map(|shown| Arc::clone(&shown.name))
    }

    #[inline(never)]
    fn get_named(&mut self, id: InterfaceId) -> Option<&Shown> {
        let place = usize::from(id.0);
        if self.ready.len() <= place {
            self.ready.resize_with(place + 1, || None);
        }
        let ready = self.ready.get_mut(place)?;
        if ready.is_none() {
            *ready = self.names.get(id).map(Shown::of);
        }
        ready.as_ref()
    }
}

impl Shown {
    fn of(name: &Arc<InterfaceName>) -> Self {
        let mut text = TextBuffer::default();
        text.extend(b",\"in_iface\":");
        put_json(&mut text, name.name().as_bytes());
        Self {
            member: String::from_utf8_lossy(text.as_slice()).into_owned(),
            name: Arc::clone(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Interfaces;
    use flowpin_packet::{InterfaceId, InterfaceName, InterfaceNames};

    /// The longest and oddest name is a JSON string with room in a line.
    #[test]
    fn any_name_is_a_string() {
        let names = InterfaceNames::default();
        let odd = InterfaceName::new(&"\"\u{1}".repeat(40), None).unwrap();
        let id = names.number(odd).unwrap();
        let mut interfaces = Interfaces::new(names);
        let member = &interfaces.get(id).unwrap().member;
        let object = format!("{{\"x\":1{member}}}");
        let value: serde_json::Value = serde_json::from_str(&object).unwrap();
        assert_eq!(value["in_iface"], "\"\u{1}".repeat(32));
        assert!(member.len() < 512);
        assert!(interfaces.get(InterfaceId::NONE).is_none());
        assert!(interfaces.get(InterfaceId(9)).is_none());
    }
}
