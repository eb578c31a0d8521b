//! `flowpin.Grammar`: a protocol of one's own, compiled.

use crate::error::Failure;
use flowpin_grammar::{Compiled, Limits, Others, Refused, compile};
use flowpin_lexer::{Saved, Scanner, Sink, Texts, Then, Token};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};

/// A grammar that was compiled: give it to `flowpin.read` and the like as `grammar`.
#[pyclass(frozen, module = "flowpin")]
pub(crate) struct Grammar {
    /// What messages call it.
    #[pyo3(get)]
    name: String,
    compiled: Compiled,
}

/// A token, and where its bytes are.
type Told = (Option<String>, usize, usize);

/// What the engine knows of its own parsers.
pub(crate) fn others() -> Others {
    Others {
        records: flowpin_engine::record_names(),
        refuses: flowpin_engine::refused_expression,
        finds: flowpin_engine::finds,
    }
}

impl Grammar {
    fn of(name: String, text: &[u8]) -> Result<Self, Failure> {
        let compiled = compile(&name, text, &Limits::default());
        let compiled = compiled.map_err(|why| refused(&name, &why))?;
        Ok(Self { name, compiled })
    }

    /// From a file.
    ///
    /// # Errors
    /// It cannot be read; it is refused.
    pub(crate) fn of_file(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let text = flowpin_disk::read_given(path);
        let text = text.map_err(|error| Failure::grammar(&name, format!("{name}: {error}"), ""))?;
        Self::of(name, &text)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) const fn compiled(&self) -> &Compiled {
        &self.compiled
    }
}

#[pymethods]
impl Grammar {
    #[new]
    #[pyo3(signature = (text, name = "grammar".to_owned()))]
    fn new(py: Python<'_>, text: &str, name: String) -> PyResult<Self> {
        // Large ones take a second.
        py.detach(|| Self::of(name, text.as_bytes()))
            .map_err(|failure| failure.raise(py))
    }

    /// Reads a grammar's file.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::of_file(&path))
            .map_err(|failure| failure.raise(py))
    }

    /// The protocol that it parses; empty if it names none.
    #[getter]
    fn protocol(&self) -> &str {
        &self.compiled.grammar.protocol
    }

    /// The kinds of records that it tells, each with the names of its columns.
    #[getter]
    fn messages(&self) -> Vec<(String, Vec<String>)> {
        let messages = self.compiled.grammar.program.messages.iter();
        messages
            .map(|message| {
                let schema = &message.schema;
                let columns = schema.columns.iter().map(|column| column.name.to_string());
                (schema.file_stem.to_string(), columns.collect())
            })
            .collect()
    }

    /// What may not be meant, each in a line or more, as the command tells it.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        let warnings = self.compiled.warnings.iter();
        warnings.map(ToString::to_string).collect()
    }

    /// The tokens of some bytes: `(name, from, to)`, with no name where a rule returns none or none
    /// fits. `condition`: the start condition to begin in.
    #[pyo3(signature = (data, condition = None))]
    fn tokens(
        &self,
        py: Python<'_>,
        data: &Bound<'_, PyBytes>,
        condition: Option<&str>,
    ) -> PyResult<Vec<Told>> {
        let grammar = &self.compiled.grammar;
        let begin = match condition {
            None => Some(0),
            Some(name) => grammar.condition(name),
        };
        let Some(begin) = begin else {
            let all = grammar.conditions.join(", ");
            let text = format!(
                "there is no start condition `{}`; there are {all}",
                condition.unwrap_or_default()
            );
            return Err(Failure::option("condition", text).raise(py));
        };
        let data = data.as_bytes();
        let done = py.detach(|| {
            let scanner = Scanner::new(grammar.table.clone());
            let mut texts = Texts::with_shard_bytes(TEXT_BYTES)?;
            let (mut saved, mut all) = (Saved::new(begin), Tokens::default());
            scanner.scan(&mut saved, &mut texts, 0, data, &mut all);
            scanner.finish(&mut saved, &mut texts, 0, &mut all);
            Ok::<_, std::io::Error>(all.0)
        });
        let all = done.map_err(|error| Failure::from(error).raise(py))?;
        let named = |(token, from, to)| {
            let name = grammar.token_name(token).map(str::to_owned);
            (name, from, to)
        };
        Ok(all.into_iter().map(named).collect())
    }

    fn __repr__(&self) -> String {
        let protocol = match self.protocol() {
            "" => "no protocol",
            protocol => protocol,
        };
        format!("<flowpin.Grammar of {protocol}: {}>", self.name)
    }
}

/// Tokens as they are told: number, from where to where.
#[derive(Default)]
struct Tokens(Vec<(u16, usize, usize)>);

impl Sink for Tokens {
    fn token(&mut self, token: Token<'_>) -> Then {
        let from = self.0.last().map_or(0, |last| last.2);
        let len = usize::try_from(token.len).unwrap_or(usize::MAX);
        if len > 0 {
            self.0.push((token.token, from, from.saturating_add(len)));
        }
        Then::Go
    }
}

/// Memory for tokens' texts that pieces of a stream divide.
const TEXT_BYTES: u64 = 1 << 16;

/// The first error in a line, and all that was found.
fn refused(name: &str, why: &Refused) -> Failure {
    let first = why.diagnostics.first().map(|one| {
        let place = format!("{}:{}:{}", one.file, one.line, one.column);
        format!("{place}: {}", one.message)
    });
    let line = first.unwrap_or_else(|| format!("{name}: the grammar is refused"));
    Failure::grammar(name, line, &why.to_string())
}
