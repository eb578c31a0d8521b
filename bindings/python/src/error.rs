//! From the engine's errors to Python's exceptions, which `flowpin/_errors.py` defines.

use flowpin_engine::{OutputError, RunError};
use pyo3::prelude::*;
use std::fmt::Display;
use std::io;
use std::path::Path;

/// What an exception is made of; it can be raised by several readers of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    kind: Kind,
    /// One line: what, where, what to do.
    text: String,
    /// What it is about: a file, or an option.
    place: Option<String>,
    /// More of it, in lines: where a grammar's text is wrong.
    detail: Option<String>,
}

/// Its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An option, a name, a filter.
    Option,
    /// A capture.
    Input,
    /// A stream that was read before.
    Consumed,
    /// A grammar.
    Grammar,
    /// Anything else.
    Other,
}

impl Kind {
    const fn class(self) -> &'static str {
        match self {
            Self::Option => "OptionError",
            Self::Input => "InputError",
            Self::Consumed => "ConsumedError",
            Self::Grammar => "GrammarError",
            Self::Other => "FlowpinError",
        }
    }
}

impl Failure {
    /// An option is wrong.
    pub(crate) fn option(place: &str, text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Option,
            text: text.into(),
            place: Some(place.to_owned()),
            detail: None,
        }
    }

    /// A grammar is refused: in a line, and as its author wants to see it.
    pub(crate) fn grammar(place: &str, text: impl Into<String>, detail: &str) -> Self {
        Self {
            kind: Kind::Grammar,
            detail: Some(detail.to_owned()),
            ..Self::option(place, text)
        }
    }

    /// The options contradict each other.
    pub(crate) fn options(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Option,
            text: text.into(),
            place: None,
            detail: None,
        }
    }

    /// A table's rows were read before.
    pub(crate) fn consumed(table: &str) -> Self {
        Self {
            kind: Kind::Consumed,
            text: format!(
                "the {table} records were read before, and a stream can be read once; read() again"
            ),
            place: Some(table.to_owned()),
            detail: None,
        }
    }

    /// A panic: a defect.
    pub(crate) fn defect(what: &str) -> Self {
        Self::other(format!("{what} stopped unexpectedly; please report it"))
    }

    /// A file cannot be written.
    pub(crate) fn output(path: &Path, why: &dyn Display) -> Self {
        let place = path.display().to_string();
        Self {
            kind: Kind::Other,
            text: format!("cannot write {place}: {why}; check the disk and the folder's rights"),
            place: Some(place),
            detail: None,
        }
    }

    /// Anything else.
    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Other,
            text: text.into(),
            place: None,
            detail: None,
        }
    }

    /// Of a run.
    pub(crate) fn of_run(error: &RunError) -> Self {
        let (kind, place) = match error {
            RunError::Capture(error) if error.is_output() => (Kind::Other, None),
            RunError::Capture(error) if error.is_usage() => (Kind::Option, Some("filter")),
            RunError::Capture(_) => (Kind::Input, None),
            RunError::Output(OutputError::Refused(_)) | RunError::Refused(_) => {
                (Kind::Option, None)
            }
            RunError::Patterns { .. } | RunError::PatternRefused(_) => {
                (Kind::Option, Some("patterns"))
            }
            RunError::Parser(error) => (Kind::Option, Some(error.key)),
            RunError::NoSuchProtocol(_) | RunError::NoSuchParser { .. } => {
                (Kind::Option, Some("parse"))
            }
            RunError::NoSuchCpu { .. } => (Kind::Option, Some("cpus")),
            RunError::NotExplained(_) => (Kind::Option, None),
            _ => (Kind::Other, None),
        };
        Self {
            kind,
            text: error.to_string(),
            place: place.map(str::to_owned),
            detail: None,
        }
    }

    /// With other names for some paths: those of what has no path.
    pub(crate) fn renamed(mut self, names: &Names) -> Self {
        self.text = names.put(&self.text);
        self.place = self.place.or_else(|| names.found_in(&self.text));
        self
    }

    /// As an exception.
    pub(crate) fn raise(&self, py: Python<'_>) -> PyErr {
        let made = py
            .import("flowpin._errors")
            .and_then(|errors| errors.getattr(self.kind.class()))
            .and_then(|class| class.call1((self.text.as_str(), self.place.as_deref())));
        let made = made.and_then(|exception| {
            if let Some(detail) = &self.detail {
                exception.setattr("detail", detail)?;
            }
            Ok(exception)
        });
        match made {
            Ok(exception) => PyErr::from_value(exception),
            Err(error) => error,
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::other(error.to_string())
    }
}

/// What the inputs of a run are called in messages, by their paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names(pub(crate) Vec<(String, String)>);

impl Names {
    /// The text, with the names that the caller knows.
    pub(crate) fn put(&self, text: &str) -> String {
        let pairs = self.0.iter().filter(|(path, name)| path != name);
        pairs.fold(text.to_owned(), |text, (path, name)| {
            text.replace(path, name)
        })
    }

    fn found_in(&self, text: &str) -> Option<String> {
        let mut pairs = self.0.iter();
        let found = pairs.find(|(_, name)| text.contains(name.as_str()));
        found.map(|(_, name)| name.clone())
    }
}
