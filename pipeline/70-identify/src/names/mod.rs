//! The names of protocols and rules for records, and which protocols belong together.
//!
//! Made once, before the first packet, and only read afterwards.

mod related;

use crate::{Identifier, LOADED_FIRST, ProtocolId, RuleId};
use flowpin_record::{App, Confidence, ToolNames, lasting};

/// The names of protocols and rules, by number; the numbers of the user's patterns follow those of
/// the built-in rules.
#[derive(Debug)]
pub struct Names {
    protocols: Vec<&'static str>,
    /// By protocol: its names in other tools.
    in_tools: Vec<&'static ToolNames>,
    rules: Vec<&'static str>,
    /// By built-in rule: its protocol.
    of_rules: Vec<ProtocolId>,
    /// By rule: what a record shows of it.
    apps: Vec<App>,
    /// By pattern of the user: protocol and rule.
    loaded: Vec<(&'static str, &'static str)>,
    /// By protocol: the protocols that it may turn into.
    becomes: Vec<Vec<ProtocolId>>,
    /// By protocol: its family.
    families: Vec<Option<u8>>,
    /// The first rules of protocols that HTTP may turn into.
    websocket: Option<RuleId>,
    http2: Option<RuleId>,
    ssh: Option<ProtocolId>,
}

impl Names {
    /// The names of an identifier's protocols. `files`: by pattern of the user, its file's name.
    pub fn of(identifier: &Identifier, files: &[String]) -> Self {
        let all = identifier.protocols();
        let rules = || {
            let numbered = all.iter().zip(0u16..);
            numbered.flat_map(|(one, number)| one.rules.iter().map(move |rule| (rule, number)))
        };
        let first_rule = |name: &str| {
            let id = identifier.find(name)?;
            let place = rules().position(|(_, number)| number == id.0)?;
            u16::try_from(place).ok().map(RuleId)
        };
        // The rule of an expression in a grammar is called `grammar`.
        let files = files
            .iter()
            .map(String::as_str)
            .chain(core::iter::repeat("grammar"));
        let mut names = Self {
            apps: Vec::new(),
            in_tools: Vec::new(),
            protocols: all.iter().map(|protocol| protocol.name).collect(),
            rules: rules().map(|(rule, _)| rule.name).collect(),
            of_rules: rules().map(|(_, number)| ProtocolId(number)).collect(),
            loaded: identifier
                .loaded_names()
                .zip(files)
                .map(|(name, file)| (lasting(name), lasting(&plain(file))))
                .collect(),
            becomes: all
                .iter()
                .map(|protocol| related::becomes(protocol.name).iter())
                .map(|names| names.filter_map(|name| identifier.find(name)).collect())
                .collect(),
            families: all
                .iter()
                .map(|protocol| related::family(protocol.name))
                .collect(),
            websocket: first_rule("websocket"),
            http2: first_rule("http2"),
            ssh: identifier.find("ssh"),
        };
        names.in_tools = names.all().into_iter().map(ToolNames::of).collect();
        let built_in = (0u16..).take(names.of_rules.len());
        let loaded = (LOADED_FIRST..).take(names.loaded.len());
        let apps = built_in
            .chain(loaded)
            .map(|rule| names.app_of(RuleId(rule)));
        names.apps = apps.collect();
        names
    }

    fn app_of(&self, rule: RuleId) -> App {
        let protocol = self.protocol_of(rule);
        App {
            name: self.protocol(protocol),
            in_tools: self.in_tools(protocol),
            original: None,
            original_in_tools: ToolNames::NONE,
            rule: self.rule(rule),
            confidence: Confidence::Sure,
            by_client: true,
            number: self.number(protocol),
        }
    }

    /// What a record shows of a rule's verdict that is sure and came from the client's bytes.
    #[inline]
    pub fn app(&self, rule: RuleId) -> Option<&App> {
        let place = match rule.0.checked_sub(LOADED_FIRST) {
            Some(place) => self.of_rules.len().saturating_add(place.into()),
            None => rule.0.into(),
        };
        self.apps.get(place)
    }

    /// The names of all protocols, the user's included.
    pub fn all(&self) -> Vec<&'static str> {
        let loaded = self.loaded.iter().map(|&(name, _)| name);
        self.protocols.iter().copied().chain(loaded).collect()
    }

    /// The name of a protocol.
    pub fn protocol(&self, id: ProtocolId) -> &'static str {
        let own = self.protocols.get(usize::from(id.0)).copied();
        own.or_else(|| Some(self.loaded(id.0)?.0))
            .unwrap_or_default()
    }

    /// The names of a protocol in other tools.
    pub fn in_tools(&self, id: ProtocolId) -> &'static ToolNames {
        let known = self.in_tools.get(usize::from(self.number(id)));
        known.copied().unwrap_or(ToolNames::NONE)
    }

    /// The name of a rule.
    pub fn rule(&self, id: RuleId) -> &'static str {
        let own = self.rules.get(usize::from(id.0)).copied();
        own.or_else(|| Some(self.loaded(id.0)?.1))
            .unwrap_or_default()
    }

    /// The protocol that a rule identifies.
    pub fn protocol_of(&self, rule: RuleId) -> ProtocolId {
        let own = self.of_rules.get(usize::from(rule.0)).copied();
        own.unwrap_or(ProtocolId(rule.0))
    }

    /// The first rule of a built-in protocol.
    pub fn rule_of(&self, id: ProtocolId) -> Option<RuleId> {
        let place = self.of_rules.iter().position(|&one| one == id)?;
        u16::try_from(place).ok().map(RuleId)
    }

    /// A protocol's number, without gaps.
    pub fn number(&self, id: ProtocolId) -> u16 {
        match id.0.checked_sub(LOADED_FIRST) {
            Some(place) => u16::try_from(self.protocols.len())
                .unwrap_or(0)
                .saturating_add(place),
            None => id.0,
        }
    }

    fn loaded(&self, number: u16) -> Option<(&'static str, &'static str)> {
        let place = usize::from(number.checked_sub(LOADED_FIRST)?);
        self.loaded.get(place).copied()
    }

    /// The protocols that a connection of this protocol may turn into.
    pub fn becomes(&self, id: ProtocolId) -> &[ProtocolId] {
        self.becomes
            .get(usize::from(id.0))
            .map_or(&[], Vec::as_slice)
    }

    /// Whether two verdicts about a connection do not contradict each other.
    pub fn agree(&self, one: ProtocolId, other: ProtocolId) -> bool {
        self.are_one(one, other)
            || self.becomes(one).contains(&other)
            || self.becomes(other).contains(&one)
    }

    /// Whether the two sides of a stream may begin with these: nothing turns into another protocol
    /// before the other side has agreed to it.
    pub fn are_one(&self, one: ProtocolId, other: ProtocolId) -> bool {
        let family = |id: ProtocolId| self.families.get(usize::from(id.0)).copied().flatten();
        one == other || family(one).is_some_and(|first| family(other) == Some(first))
    }

    /// Whether a server may send other lines first (RFC 4253 §4.2).
    pub fn may_begin_after_lines(&self, id: ProtocolId) -> bool {
        self.ssh == Some(id)
    }

    /// Whether a protocol is built in, and not the user's.
    pub fn is_built_in(&self, id: ProtocolId) -> bool {
        usize::from(id.0) < self.protocols.len()
    }

    /// The first rule of WebSocket.
    pub const fn websocket(&self) -> Option<RuleId> {
        self.websocket
    }

    /// The first rule of HTTP/2.
    pub const fn http2(&self) -> Option<RuleId> {
        self.http2
    }
}

/// A file's name without characters that some format would have to escape.
fn plain(name: &str) -> String {
    let letter = |one: char| match one {
        '"' | '\\' | ',' => '_',
        one if one.is_ascii_graphic() => one,
        _ => '_',
    };
    name.chars().map(letter).take(NAME_LEN_MAX).collect()
}

/// The longest name of a file in records.
const NAME_LEN_MAX: usize = 48;

#[cfg(test)]
mod tests {
    use super::Names;
    use super::related::TO_TLS;
    use crate::{Identifier, RuleId};
    use flowpin_record::ToolNames;

    /// Each protocol has a row of names in Zeek and Suricata.
    #[test]
    fn every_protocol_has_names_in_other_tools() {
        let identifier = Identifier::new().unwrap();
        for name in Names::of(&identifier, &[]).all() {
            assert!(ToolNames::known(name).is_some(), "{name} has no row");
        }
    }

    /// Records name rules and protocols as identification does; all that may become TLS exist.
    #[test]
    fn names_are_those_of_the_identifier() {
        let identifier = Identifier::new().unwrap();
        let names = Names::of(&identifier, &[]);
        for number in 0..u16::try_from(names.rules.len()).unwrap() {
            let rule = RuleId(number);
            assert_eq!(names.rule(rule), identifier.rule_name(rule));
            let protocol = names.protocol_of(rule);
            let known = identifier.protocol(protocol).unwrap();
            assert!(known.rules.iter().any(|one| one.name == names.rule(rule)));
        }
        for name in TO_TLS {
            let id = identifier.find(name).expect(name);
            assert_eq!(names.becomes(id), identifier.find("tls").as_slice());
            assert_eq!(names.protocol(id), *name);
        }
        let stun = identifier.find("stun").unwrap();
        let both = ["dtls", "rtp"].map(|name| identifier.find(name).unwrap());
        assert_eq!(names.becomes(stun), both);
        assert_eq!(names.becomes(identifier.find("tls").unwrap()), []);
    }
}
