//! What all workers know about protocols: the compiled rules, and the names for records.
//!
//! Made once, before the first packet, and only read afterwards.

mod patterns;
mod upgrades;

use crate::output::messages;
use crate::run::memory;
use crate::worker::parse::registry;
use crate::{ProgressSink, RunError};
use flowpin_config::{IdentifyPlan, Plan};
use flowpin_identify::{Identifier, LOADED_FIRST, ProtocolId, RuleId};
use flowpin_parser::ParserSetup;
use flowpin_pattern::l7::PatternFileError;
use flowpin_record::{App, Confidence, ToolNames};
use std::path::Path;
use std::sync::Arc;

/// The rules and their names.
#[derive(Clone, Debug)]
pub(crate) struct Identification {
    pub(crate) identifier: Arc<Identifier>,
    pub(crate) names: Arc<Names>,
    /// The user's patterns that were refused: each with file, line, reason and advice.
    pub(crate) refused: Vec<String>,
    /// What parsers are made from.
    pub(crate) parsers: Arc<ParserSetup>,
}

impl Identification {
    /// As the plan wants it; none if it wants none.
    ///
    /// # Errors
    /// A built-in rule that does not compile: a defect. A path to patterns or a dictionary that
    /// cannot be read.
    pub(crate) fn of(plan: &Plan) -> Result<Option<Self>, RunError> {
        messages::check(plan)?;
        let mut parsers = memory::parsers(plan);
        registry::prepare(&mut parsers)?;
        let plan = &plan.identify;
        if !plan.enabled {
            return Ok(None);
        }
        let cache = plan.cache.as_deref().filter(|path| path != &Path::new(""));
        if let Some(folder) = cache {
            // Without the folder nothing is kept, no more.
            let _ = std::fs::create_dir_all(folder);
        }
        let mut identifier = match cache {
            Some(folder) => Identifier::cached(&folder.join(CACHE_FILE), &registry::protocols()),
            None => Identifier::with(&registry::protocols()),
        }
        .map_err(RunError::Rule)?;
        let (mut files, mut refused) = (Vec::new(), Vec::new());
        if !plan.patterns.is_empty() {
            let kept = cache.map(|folder| folder.join(PATTERNS_FILE));
            let brought = patterns::bring(plan, kept.as_deref())?;
            identifier = identifier.with_patterns(brought.set);
            files = brought.files;
            refused = brought.refused.iter().map(told).collect();
        }
        if !plan.expressions.is_empty() {
            identifier = with_expressions(identifier, plan)?;
        }
        let names = Arc::new(Names::of(&identifier, &files));
        let identifier = Arc::new(identifier);
        Ok(Some(Self {
            identifier,
            names,
            refused,
            parsers: Arc::new(parsers),
        }))
    }

    /// Names the patterns that cannot be honoured.
    pub(crate) fn tell_refused(&self, to: &dyn ProgressSink) {
        for refused in &self.refused {
            to.note(&format!("pattern left out: {refused}"));
        }
    }
}

/// Also looks for what grammars say of their protocols' first bytes.
fn with_expressions(identifier: Identifier, plan: &IdentifyPlan) -> Result<Identifier, RunError> {
    let refused = |why: String| RunError::PatternRefused(why);
    let read = patterns::expressions(plan);
    let all = read.map_err(|(protocol, error)| refused(format!("{protocol}: {}", told(&error))))?;
    let found = identifier.with_expressions(&all);
    found.map_err(|refusal| refused(format!("%identify: {refusal}; {}", refusal.advice())))
}

/// Why an expression that a grammar brings is refused, if it is.
pub(crate) fn refused_expression(name: &str, expression: &str) -> Option<String> {
    patterns::refused(name, expression)
}

/// A refused pattern, as the user is told of it.
pub(crate) fn told(error: &PatternFileError) -> String {
    format!("{error}; {}", error.advice())
}

/// The names of protocols and rules, by number.
#[derive(Debug)]
pub(crate) struct Names {
    protocols: Vec<&'static str>,
    /// What other tools call protocols, by number: those of the user's patterns follow.
    in_tools: Vec<&'static ToolNames>,
    rules: Vec<&'static str>,
    /// By rule: its protocol.
    of_rules: Vec<ProtocolId>,
    /// By rule, the user's behind the built-in ones: what a record says of it.
    apps: Vec<App>,
    /// By pattern of the user's: protocol and rule.
    loaded: Vec<(&'static str, &'static str)>,
    /// By protocol: what it may turn into.
    becomes: Vec<Vec<ProtocolId>>,
    /// By protocol: which family it is of.
    families: Vec<Option<u8>>,
    /// Rules of what HTTP may go on as.
    websocket: Option<RuleId>,
    http2: Option<RuleId>,
    ssh: Option<ProtocolId>,
}

impl Names {
    /// `files`: those of the user's patterns.
    fn of(identifier: &Identifier, files: &[String]) -> Self {
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
        // Of a rule that a grammar brings the record says `grammar`.
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
                .map(|protocol| upgrades::becomes(protocol.name).iter())
                .map(|names| names.filter_map(|name| identifier.find(name)).collect())
                .collect(),
            families: all
                .iter()
                .map(|protocol| upgrades::family(protocol.name))
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

    /// What a record says of a rule's verdict: a sure one, by the client, at once.
    #[inline]
    pub(crate) fn app(&self, rule: RuleId) -> Option<&App> {
        let place = match rule.0.checked_sub(LOADED_FIRST) {
            Some(place) => self.of_rules.len().saturating_add(place.into()),
            None => rule.0.into(),
        };
        self.apps.get(place)
    }

    /// Those of all protocols, the user's included.
    pub(crate) fn all(&self) -> Vec<&'static str> {
        let loaded = self.loaded.iter().map(|&(name, _)| name);
        self.protocols.iter().copied().chain(loaded).collect()
    }

    pub(crate) fn protocol(&self, id: ProtocolId) -> &'static str {
        let own = self.protocols.get(usize::from(id.0)).copied();
        own.or_else(|| Some(self.loaded(id.0)?.0))
            .unwrap_or_default()
    }

    /// What other tools call a protocol.
    pub(crate) fn in_tools(&self, id: ProtocolId) -> &'static ToolNames {
        let known = self.in_tools.get(usize::from(self.number(id)));
        known.copied().unwrap_or(ToolNames::NONE)
    }

    pub(crate) fn rule(&self, id: RuleId) -> &'static str {
        let own = self.rules.get(usize::from(id.0)).copied();
        own.or_else(|| Some(self.loaded(id.0)?.1))
            .unwrap_or_default()
    }

    /// The protocol that a rule tells.
    pub(crate) fn protocol_of(&self, rule: RuleId) -> ProtocolId {
        let own = self.of_rules.get(usize::from(rule.0)).copied();
        own.unwrap_or(ProtocolId(rule.0))
    }

    /// A rule of a built-in protocol.
    pub(crate) fn rule_of(&self, id: ProtocolId) -> Option<RuleId> {
        let place = self.of_rules.iter().position(|&one| one == id)?;
        u16::try_from(place).ok().map(RuleId)
    }

    /// A protocol's number for sums: those of the user's patterns follow the built-in ones.
    pub(crate) fn number(&self, id: ProtocolId) -> u16 {
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

    /// What a connection of this protocol may turn into.
    pub(crate) fn becomes(&self, id: ProtocolId) -> &[ProtocolId] {
        self.becomes
            .get(usize::from(id.0))
            .map_or(&[], Vec::as_slice)
    }

    /// Whether what says the one thing of a connection does not contradict what says the other.
    pub(crate) fn agree(&self, one: ProtocolId, other: ProtocolId) -> bool {
        self.are_one(one, other)
            || self.becomes(one).contains(&other)
            || self.becomes(other).contains(&one)
    }

    /// Whether two sides of one stream may begin so: nothing turns into another protocol before
    /// the other side has agreed to it.
    pub(crate) fn are_one(&self, one: ProtocolId, other: ProtocolId) -> bool {
        let family = |id: ProtocolId| self.families.get(usize::from(id.0)).copied().flatten();
        one == other || family(one).is_some_and(|first| family(other) == Some(first))
    }

    /// Whether a server may say other lines first (RFC 4253 §4.2).
    pub(crate) fn begins_behind_lines(&self, id: ProtocolId) -> bool {
        self.ssh == Some(id)
    }

    /// Whether it is built in, and not the user's.
    pub(crate) fn is_own(&self, id: ProtocolId) -> bool {
        usize::from(id.0) < self.protocols.len()
    }

    /// A rule of WebSocket's.
    pub(crate) const fn websocket(&self) -> Option<RuleId> {
        self.websocket
    }

    /// A rule of HTTP/2's.
    pub(crate) const fn http2(&self) -> Option<RuleId> {
        self.http2
    }
}

/// A name for as long as the process lives. Records hold names without owning them, and go through
/// threads and files by copy; there are as many as the user has patterns.
fn lasting(name: &str) -> &'static str {
    Box::leak(name.to_owned().into_boxed_str())
}

/// A file's name as records can hold it.
fn plain(name: &str) -> String {
    let letter = |one: char| match one {
        '"' | '\\' | ',' => '_',
        one if one.is_ascii_graphic() => one,
        _ => '_',
    };
    name.chars().map(letter).take(NAME_LEN_MAX).collect()
}

/// Letters of a file's name in records.
const NAME_LEN_MAX: usize = 48;

/// What the compiled rules are called in the cache folder.
const CACHE_FILE: &str = "protocols";

/// And the user's patterns.
const PATTERNS_FILE: &str = "patterns";

#[cfg(test)]
mod tests {
    use super::Names;
    use super::upgrades::TO_TLS;
    use flowpin_identify::{Identifier, RuleId};
    use flowpin_record::ToolNames;

    /// What Zeek and Suricata call a protocol was decided for each.
    #[test]
    fn every_protocol_has_names_in_other_tools() {
        let identifier = Identifier::new().unwrap();
        for name in Names::of(&identifier, &[]).all() {
            assert!(ToolNames::known(name).is_some(), "{name} has no row");
        }
    }

    /// Records name rules and protocols as identification does; who may become TLS exists.
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
