//! What is looked for in connections' first bytes.

use crate::IdentifySettings;
use std::path::PathBuf;

/// Which protocol a connection speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentifyPlan {
    /// Whether it is asked at all.
    pub enabled: bool,
    /// Where the compiled patterns are kept from one run to the next; none: nowhere.
    pub cache: Option<PathBuf>,
    /// Files and folders with l7-filter patterns, asked where no built-in rule decides.
    pub patterns: Vec<PathBuf>,
    /// What grammars say of their protocols' first bytes.
    pub expressions: Vec<PlannedExpression>,
}

/// A regular expression over the first bytes of a direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedExpression {
    /// The protocol that begins so.
    pub protocol: String,
    /// The expression.
    pub expression: String,
    /// Whether the client's bytes are asked, and the server's.
    pub sides: [bool; 2],
}

impl Default for IdentifyPlan {
    fn default() -> Self {
        Self {
            enabled: true,
            cache: None,
            patterns: Vec::new(),
            expressions: Vec::new(),
        }
    }
}

impl From<IdentifySettings> for IdentifyPlan {
    fn from(settings: IdentifySettings) -> Self {
        let defaults = Self::default();
        Self {
            enabled: settings.enabled.unwrap_or(defaults.enabled),
            cache: settings.cache.or(defaults.cache),
            patterns: settings.patterns.unwrap_or(defaults.patterns),
            expressions: defaults.expressions,
        }
    }
}

impl From<&IdentifyPlan> for IdentifySettings {
    fn from(plan: &IdentifyPlan) -> Self {
        Self {
            enabled: Some(plan.enabled),
            cache: plan.cache.clone(),
            patterns: Some(plan.patterns.clone()),
        }
    }
}
