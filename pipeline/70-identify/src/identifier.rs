//! All rules, compiled: shared by all workers, never written after the start.

use crate::candidates::{self, Candidate, Candidates};
use crate::directed::{Directed, Expression};
use crate::protocols;
use crate::table::{LOADED_FIRST, ProtocolId, RuleId};
use crate::{How, On, Protocol};
use flowpin_pattern::{Automaton, Group, Limits, PatternSet, Rating, Refusal, Rewrite, cache, own};
use std::path::Path;

/// A rule's expression that could not be compiled: a mistake in the table.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("rule {rule}: {refusal}")]
pub struct BadRule {
    /// The rule.
    pub rule: &'static str,
    /// Why.
    pub refusal: Refusal,
}

/// A rule with the protocol that it tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) protocol: ProtocolId,
}

/// What the rules over one transport come to.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) automaton: Automaton,
    /// By pattern of the automaton: its rule.
    pub(crate) pattern_rules: Vec<RuleId>,
    pub(crate) candidates: Candidates,
    /// By rule: its protocol.
    protocols: Vec<ProtocolId>,
}

impl Compiled {
    pub(crate) fn protocol_of(&self, rule: RuleId) -> ProtocolId {
        let protocol = self.protocols.get(usize::from(rule.0)).copied();
        protocol.unwrap_or(ProtocolId(u16::MAX))
    }
}

/// Knows all protocols.
///
/// ```
/// let identifier = flowpin_identify::Identifier::new().unwrap();
/// let ssh = identifier.find("ssh").unwrap();
/// assert_eq!(identifier.protocol(ssh).map(|p| p.ports), Some(&[22][..]));
/// ```
#[derive(Debug)]
pub struct Identifier {
    protocols: Vec<&'static Protocol>,
    rules: Vec<Known>,
    tcp: Compiled,
    udp: Compiled,
    sctp: Compiled,
    loaded: Option<Loaded>,
}

/// What the user brought.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) set: PatternSet,
    /// Numbered behind those of the set.
    pub(crate) directed: Directed,
}

impl Loaded {
    /// The protocols, by number.
    fn names(&self) -> impl Iterator<Item = &str> {
        let patterns = self.set.patterns.iter().map(|one| one.name.as_str());
        patterns.chain(self.directed.protocols.iter().map(String::as_str))
    }
}

impl Identifier {
    /// Compiles the project's own table.
    ///
    /// # Errors
    /// A rule whose expression is not one.
    pub fn new() -> Result<Self, BadRule> {
        Self::with(&[])
    }

    /// Compiles the project's own table with protocols beside it: those that parsers bring.
    ///
    /// # Errors
    /// A rule whose expression is not one.
    pub fn with(more: &[&'static Protocol]) -> Result<Self, BadRule> {
        Self::of(together(more))
    }

    /// As [`Identifier::with`], with the automata from `path` if it holds those of this very set;
    /// otherwise they are compiled and written there, if that is possible.
    ///
    /// # Errors
    /// A rule whose expression is not one.
    pub fn cached(path: &Path, more: &[&'static Protocol]) -> Result<Self, BadRule> {
        let protocols = together(more);
        // The text of the rules, not what they parse to: a start need not parse them.
        let mut text = String::new();
        let mut names = Vec::new();
        for rule in protocols.iter().flat_map(|one| one.rules) {
            if let How::Pattern(expression) = rule.how {
                let name = format!("{:?} {}", rule.on, rule.name);
                text.extend([name.as_str(), "\n", expression, "\n"]);
                names.push(name);
            }
        }
        let key = cache::text_key(&text, Rewrite::Exact, &Limits::default());
        let stored = PatternSet::load(path, key).map(|set| set.groups);
        if let Some([tcp, udp, sctp]) = stored.as_deref() {
            let automata = [tcp, udp, sctp].map(|group| Some(group.automaton.clone()));
            return Self::with_automata(protocols, automata);
        }
        let fresh = Self::of(protocols)?;
        let patterns = names.into_iter().map(named).collect();
        let groups = fresh.automata().map(group).into();
        let set = PatternSet::of_parts(patterns, groups);
        // Without a cache the next start takes longer, no more.
        let _ = set.store(path, key);
        Ok(fresh)
    }

    /// Compiles a part of it.
    pub(crate) fn of(protocols: Vec<&'static Protocol>) -> Result<Self, BadRule> {
        Self::with_automata(protocols, [None, None, None])
    }

    fn with_automata(
        protocols: Vec<&'static Protocol>,
        automata: [Option<Automaton>; 3],
    ) -> Result<Self, BadRule> {
        let [tcp, udp, sctp] = automata;
        let mut rules = Vec::new();
        for (index, protocol) in protocols.iter().enumerate() {
            let id = ProtocolId(u16::try_from(index).unwrap_or(u16::MAX));
            rules.extend(protocol.rules.iter().map(|rule| Known {
                name: rule.name,
                protocol: id,
            }));
        }
        Ok(Self {
            tcp: compile(&protocols, &rules, On::Tcp, tcp)?,
            udp: compile(&protocols, &rules, On::Udp, udp)?,
            sctp: compile(&protocols, &rules, On::Sctp, sctp)?,
            protocols,
            rules,
            loaded: None,
        })
    }

    /// Also looks for these patterns, where the project's own rules find nothing. Those that match
    /// much by chance have their say where no other does, and are not sure.
    #[must_use]
    pub fn with_patterns(self, patterns: PatternSet) -> Self {
        let Self { loaded, .. } = self;
        let loaded = Loaded {
            set: patterns,
            ..loaded.unwrap_or_default()
        };
        Self {
            loaded: Some(loaded),
            ..self
        }
    }

    /// Also looks for these expressions, where the project's own rules find nothing.
    ///
    /// # Errors
    /// All of one direction together are too much.
    pub fn with_expressions(self, all: &[Expression]) -> Result<Self, Refusal> {
        let Self { loaded, .. } = self;
        let loaded = Loaded {
            directed: Directed::new(all, &Limits::default())?,
            ..loaded.unwrap_or_default()
        };
        Ok(Self {
            loaded: Some(loaded),
            ..self
        })
    }

    /// The name of a protocol, also of one that was loaded.
    pub fn name(&self, id: ProtocolId) -> &str {
        let own = self.protocol(id).map(|one| one.name);
        own.or_else(|| self.loaded_name(id.0)).unwrap_or_default()
    }

    /// The patterns that were loaded.
    pub fn loaded(&self) -> Option<&PatternSet> {
        self.loaded.as_ref().map(|loaded| &loaded.set)
    }

    /// The protocols of patterns and expressions that were loaded, by number.
    pub fn loaded_names(&self) -> impl Iterator<Item = &str> {
        self.loaded.iter().flat_map(Loaded::names)
    }

    pub(crate) fn brought(&self) -> Option<&Loaded> {
        self.loaded.as_ref()
    }

    fn loaded_name(&self, number: u16) -> Option<&str> {
        let place = usize::from(number.checked_sub(LOADED_FIRST)?);
        self.loaded.as_ref()?.names().nth(place)
    }

    /// All protocols; a [`ProtocolId`] is an index.
    pub fn protocols(&self) -> &[&'static Protocol] {
        &self.protocols
    }

    /// A protocol.
    pub fn protocol(&self, id: ProtocolId) -> Option<&'static Protocol> {
        self.protocols.get(usize::from(id.0)).copied()
    }

    /// A protocol by name.
    pub fn find(&self, name: &str) -> Option<ProtocolId> {
        let index = self.protocols.iter().position(|one| one.name == name)?;
        u16::try_from(index).ok().map(ProtocolId)
    }

    /// A rule's name.
    pub fn rule_name(&self, rule: RuleId) -> &str {
        let own = self.rules.get(usize::from(rule.0)).map(|rule| rule.name);
        own.or_else(|| self.loaded_name(rule.0)).unwrap_or_default()
    }

    /// The protocol that is often on this port. A hint, no more.
    pub fn hint(&self, on: On, port: u16) -> Option<ProtocolId> {
        let is_it = |one: &&Protocol| {
            one.ports.contains(&port) && one.rules.iter().any(|rule| rule.on == on)
        };
        let index = self.protocols.iter().position(is_it)?;
        u16::try_from(index).ok().map(ProtocolId)
    }

    /// The automata of the project's patterns, for TCP, UDP and SCTP.
    pub fn automata(&self) -> [&Automaton; 3] {
        [
            &self.tcp.automaton,
            &self.udp.automaton,
            &self.sctp.automaton,
        ]
    }

    pub(crate) fn on(&self, on: On) -> &Compiled {
        match on {
            On::Tcp => &self.tcp,
            On::Udp => &self.udp,
            On::Sctp => &self.sctp,
        }
    }
}

/// The project's own table, and these.
fn together(more: &[&'static Protocol]) -> Vec<&'static Protocol> {
    protocols::all().chain(more.iter().copied()).collect()
}

/// For the cache: rules are not rated, and always decide.
fn named(name: String) -> flowpin_pattern::Compiled {
    flowpin_pattern::Compiled {
        name,
        source: 0,
        rating: Rating {
            random: 0.0,
            english: 0.0,
        },
        states: 0,
        anchored: true,
    }
}

fn group(automaton: &Automaton) -> Group {
    let patterns = (0..automaton.pattern_count()).collect();
    Group::new(automaton.clone(), patterns, false)
}

fn compile(
    protocols: &[&'static Protocol],
    rules: &[Known],
    on: On,
    ready: Option<Automaton>,
) -> Result<Compiled, BadRule> {
    let mut patterns = Vec::new();
    let mut pattern_rules = Vec::new();
    let mut checks: Vec<(u8, bool, Candidate)> = Vec::new();
    let numbered = protocols.iter().flat_map(|one| one.rules).zip(0u16..);
    for (rule, number) in numbered.filter(|(rule, _)| rule.on == on) {
        let name = rule.name;
        match rule.how {
            How::Pattern(expression) => {
                let refused = |refusal| BadRule {
                    rule: name,
                    refusal,
                };
                if ready.is_none() {
                    patterns.push(own(expression).map_err(refused)?);
                }
                pattern_rules.push(RuleId(number));
            }
            How::Check(leads, check) => checks.extend(leads.iter().map(|&lead| {
                let candidate = Candidate {
                    lead,
                    rule: RuleId(number),
                    check,
                };
                // Where the first byte may be any, special leads come before those of others.
                (rule.rank, lead.mask & 0xff == 0, candidate)
            })),
        }
    }
    let automaton = match ready {
        Some(automaton) => automaton,
        None => {
            let refused = |refusal| BadRule {
                rule: "all patterns together",
                refusal,
            };
            Automaton::build(&patterns, true, &Limits::default()).map_err(refused)?
        }
    };
    checks.sort_by_key(|&(rank, any, one)| (rank, any, one.rule));
    let candidates = Candidates::new(checks.into_iter().map(|(.., one)| one).collect());
    let candidates = candidates.ok_or(BadRule {
        rule: "all checks together",
        refusal: Refusal::Groups(candidates::Set::LEN),
    })?;
    Ok(Compiled {
        automaton,
        pattern_rules,
        candidates,
        protocols: rules.iter().map(|rule| rule.protocol).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::Identifier;

    /// The second start finds what the first one left, and it is the same.
    #[test]
    fn a_cached_set_is_the_compiled_set() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("own-patterns");
        let first = Identifier::cached(&path, &[]).unwrap();
        assert!(path.is_file());
        let second = Identifier::cached(&path, &[]).unwrap();
        assert_eq!(first.automata(), second.automata());
        std::fs::write(&path, b"flowpat\nonsense").unwrap();
        let third = Identifier::cached(&path, &[]).unwrap();
        assert_eq!(first.automata(), third.automata());
    }
}
