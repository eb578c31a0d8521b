//! What is read of the messages of application protocols.

use crate::{ByteSize, ParseSettings};
use flowpin_lexer::Grammar;
use std::path::PathBuf;
use std::sync::Arc;

/// Messages of application protocols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePlan {
    /// Whether messages are read at all.
    pub enabled: bool,
    /// Of which protocols; none named: of all that have a parser.
    pub protocols: Vec<String>,
    /// Memory of all parsers, over all workers; none: a share of all.
    pub memory_bytes: Option<u64>,
    /// Records have every field of a message, not only the common ones.
    pub all_fields: bool,
    /// Files with grammars.
    pub grammars: Vec<PathBuf>,
    /// What is in them: whoever makes the plan compiles them.
    pub loaded: Vec<Arc<Grammar>>,
    /// Files with QuickFIX data dictionaries; later ones win.
    pub fix_dictionaries: Vec<PathBuf>,
}

impl Default for ParsePlan {
    fn default() -> Self {
        Self {
            enabled: true,
            protocols: Vec::new(),
            memory_bytes: None,
            all_fields: false,
            grammars: Vec::new(),
            loaded: Vec::new(),
            fix_dictionaries: Vec::new(),
        }
    }
}

impl From<ParseSettings> for ParsePlan {
    fn from(settings: ParseSettings) -> Self {
        let defaults = Self::default();
        Self {
            enabled: settings.enabled.unwrap_or(defaults.enabled),
            protocols: settings.protocols.unwrap_or(defaults.protocols),
            memory_bytes: settings.memory.map(|size| size.0),
            all_fields: settings.all_fields.unwrap_or(defaults.all_fields),
            grammars: settings.grammars.unwrap_or(defaults.grammars),
            loaded: defaults.loaded,
            fix_dictionaries: settings
                .fix_dictionaries
                .unwrap_or(defaults.fix_dictionaries),
        }
    }
}

impl From<&ParsePlan> for ParseSettings {
    fn from(plan: &ParsePlan) -> Self {
        Self {
            enabled: Some(plan.enabled),
            protocols: Some(plan.protocols.clone()),
            memory: plan.memory_bytes.map(ByteSize),
            all_fields: Some(plan.all_fields),
            grammars: Some(plan.grammars.clone()),
            fix_dictionaries: Some(plan.fix_dictionaries.clone()),
        }
    }
}
