//! From a grammar's text to its rules: flex's three sections.
//!
//! ```text
//!  definitions, %x, %s, %option, our own % lines
//!  %%
//!  <conditions>pattern   action
//!  %%
//!  (C, which is left out)
//! ```

mod action;
mod cursor;
mod declarations;
mod definitions;
mod rules;

pub(crate) use action::{Argument, Call};
pub(crate) use declarations::{Declarations, FieldDeclaration, MessageDeclaration, NAME_LEN_MAX};
pub(crate) use rules::{Conditions, RuleSource};

use crate::diagnostic::Failure;
use crate::limits::Limits;
use crate::pattern::Definition;
use cursor::Cursor;
use std::collections::HashMap;

/// A grammar as it was written.
#[derive(Debug, Default)]
pub(crate) struct GrammarSource {
    pub(crate) definitions: HashMap<Vec<u8>, Definition>,
    pub(crate) conditions: Vec<ConditionSource>,
    pub(crate) ignores_case: bool,
    pub(crate) declarations: Declarations,
    pub(crate) rules: Vec<RuleSource>,
}

/// A start condition.
#[derive(Debug)]
pub(crate) struct ConditionSource {
    pub(crate) name: String,
    /// Rules without conditions do not hold in it (`%x`).
    pub(crate) is_exclusive: bool,
    pub(crate) at: usize,
}

/// Reads a grammar.
pub(crate) fn read(text: &[u8], limits: &Limits) -> Result<GrammarSource, Failure> {
    if text.len() > limits.text_bytes_max {
        let message = format!(
            "a grammar of at most {} bytes is read",
            limits.text_bytes_max
        );
        return Err(Failure::new(0, message));
    }
    let mut source = GrammarSource::default();
    source.conditions.push(ConditionSource {
        name: "INITIAL".to_owned(),
        is_exclusive: false,
        at: 0,
    });
    let mut cursor = Cursor::new(text);
    definitions::read(&mut cursor, &mut source, limits)?;
    rules::read(&mut cursor, &mut source, limits)?;
    Ok(source)
}
