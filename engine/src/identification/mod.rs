//! What all workers know about protocols: the compiled rules, and the names for records.
//!
//! Made once, before the first packet, and only read afterwards.

mod upgrades;

use crate::RunError;
use flowpin_config::IdentifyPlan;
use flowpin_identify::{Identifier, ProtocolId, RuleId};
use std::path::Path;
use std::sync::Arc;

/// The rules and their names.
#[derive(Clone, Debug)]
pub(crate) struct Identification {
    pub(crate) identifier: Arc<Identifier>,
    pub(crate) names: Arc<Names>,
}

impl Identification {
    /// As the plan wants it; none if it wants none.
    ///
    /// # Errors
    /// A rule that does not compile: a defect.
    pub(crate) fn of(plan: &IdentifyPlan) -> Result<Option<Self>, RunError> {
        if !plan.enabled {
            return Ok(None);
        }
        let cache = plan.cache.as_deref().filter(|path| path != &Path::new(""));
        let identifier = match cache {
            Some(folder) => {
                // Without the folder nothing is kept, no more.
                let _ = std::fs::create_dir_all(folder);
                Identifier::cached(&folder.join(CACHE_FILE))
            }
            None => Identifier::new(),
        };
        let identifier = identifier.map_err(RunError::Rule)?;
        let names = Arc::new(Names::of(&identifier));
        let identifier = Arc::new(identifier);
        Ok(Some(Self { identifier, names }))
    }
}

/// The names of protocols and rules, by number.
#[derive(Debug)]
pub(crate) struct Names {
    protocols: Vec<&'static str>,
    rules: Vec<&'static str>,
    /// By protocol: whether it may turn into TLS.
    upgrades: Vec<bool>,
    tls: Option<ProtocolId>,
}

impl Names {
    fn of(identifier: &Identifier) -> Self {
        let all = identifier.protocols();
        let rules = all.iter().flat_map(|protocol| protocol.rules);
        Self {
            protocols: all.iter().map(|protocol| protocol.name).collect(),
            rules: rules.map(|rule| rule.name).collect(),
            upgrades: all
                .iter()
                .map(|protocol| upgrades::TO_TLS.contains(&protocol.name))
                .collect(),
            tls: identifier.find("tls"),
        }
    }

    pub(crate) fn protocol(&self, id: ProtocolId) -> &'static str {
        let name = self.protocols.get(usize::from(id.0)).copied();
        name.unwrap_or_default()
    }

    pub(crate) fn rule(&self, id: RuleId) -> &'static str {
        let name = self.rules.get(usize::from(id.0)).copied();
        name.unwrap_or_default()
    }

    /// Whether a connection of this protocol may turn into TLS.
    pub(crate) fn may_become_tls(&self, id: ProtocolId) -> bool {
        self.upgrades.get(usize::from(id.0)).copied() == Some(true)
    }

    pub(crate) fn is_tls(&self, id: ProtocolId) -> bool {
        self.tls == Some(id)
    }
}

/// What the compiled rules are called in the cache folder.
const CACHE_FILE: &str = "protocols";

#[cfg(test)]
mod tests {
    use super::Names;
    use super::upgrades::TO_TLS;
    use flowpin_identify::{Identifier, RuleId};

    /// Records name rules and protocols as identification does; who may become TLS exists.
    #[test]
    fn names_are_those_of_the_identifier() {
        let identifier = Identifier::new().unwrap();
        let names = Names::of(&identifier);
        for number in 0..u16::try_from(names.rules.len()).unwrap() {
            let rule = RuleId(number);
            assert_eq!(names.rule(rule), identifier.rule_name(rule));
        }
        for name in TO_TLS {
            let id = identifier.find(name).expect(name);
            assert!(names.may_become_tls(id));
            assert_eq!(names.protocol(id), *name);
        }
        assert!(names.is_tls(identifier.find("tls").unwrap()));
    }
}
