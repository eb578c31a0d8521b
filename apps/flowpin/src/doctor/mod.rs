//! `flowpin doctor`: what on this system costs packets, and what to type against it.
//!
//! Changes nothing. What cannot be found out is left out.

mod interface;
mod system;

use crate::summary::page::{Cell, Page};
use serde::Serialize;

pub(crate) use interface::interface;
pub(crate) use system::system;

/// How good something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Good,
    /// It works, and could work better.
    Advice,
    /// It does not work, or packets are lost.
    Problem,
}

/// One thing that was examined.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) subject: &'static str,
    pub(crate) state: State,
    pub(crate) what: String,
    /// What to type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) todo: Option<String>,
}

impl Finding {
    fn good(subject: &'static str, what: impl Into<String>) -> Self {
        Self {
            subject,
            state: State::Good,
            what: what.into(),
            todo: None,
        }
    }

    fn advice(subject: &'static str, what: impl Into<String>, todo: impl Into<String>) -> Self {
        Self {
            state: State::Advice,
            todo: Some(todo.into()),
            ..Self::good(subject, what)
        }
    }

    fn problem(subject: &'static str, what: impl Into<String>, todo: impl Into<String>) -> Self {
        Self {
            state: State::Problem,
            ..Self::advice(subject, what, todo)
        }
    }
}

/// What was found about the system, or about one interface.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) findings: Vec<Finding>,
}

/// Whether something does not work.
pub(crate) fn has_problem(parts: &[Part]) -> bool {
    let mut findings = parts.iter().flat_map(|part| &part.findings);
    findings.any(|finding| finding.state == State::Problem)
}

/// All of it as text.
pub(crate) fn text(parts: &[Part], width: usize) -> String {
    let mut page = Page::new(width);
    for part in parts {
        page.title(&part.name, "");
        let rows: Vec<_> = part.findings.iter().map(row).collect();
        page.rows(&rows);
    }
    page.into_text()
}

fn row(finding: &Finding) -> Vec<Cell> {
    let Finding {
        subject,
        state,
        what,
        todo,
    } = finding;
    let whole = match todo {
        Some(todo) => format!("{what}: {todo}"),
        None => what.clone(),
    };
    let (mark, whole) = match state {
        State::Good => (Cell::dim("good"), Cell::dim(whole)),
        State::Advice => (Cell::left("better"), Cell::left(whole)),
        State::Problem => (Cell::alert("problem"), Cell::alert(whole)),
    };
    vec![Cell::left(*subject), mark, whole]
}
