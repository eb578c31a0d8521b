//! Grammars that come along, as generated Rust: written, or checked for being of today.

use crate::finding::Finding;
use anyhow::{Context, Result, bail};
use flowpin_grammar::{Limits, as_rust, compile};
use std::path::Path;

/// Writes all generated grammars.
pub(crate) fn write(root: &Path) -> Result<()> {
    for grammar in GRAMMARS {
        std::fs::write(root.join(grammar.generated), generated(root, grammar)?)?;
        println!("{}", grammar.generated);
    }
    Ok(())
}

/// Generated grammars that their sources would not make.
pub(crate) fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for grammar in GRAMMARS {
        let is_today = std::fs::read_to_string(root.join(grammar.generated))
            .is_ok_and(|text| generated(root, grammar).is_ok_and(|made| made == text));
        if !is_today {
            let text = format!("is not what {} makes: cargo xtask grammars", grammar.source);
            findings.push(Finding::error(grammar.generated, text));
        }
    }
    Ok(findings)
}

fn generated(root: &Path, grammar: &Generated) -> Result<String> {
    let text = std::fs::read(root.join(grammar.source)).context(grammar.source)?;
    match compile(grammar.source, &text, &Limits::default()) {
        Ok(compiled) => {
            let (from, has_straight) = (grammar.source, grammar.has_straight);
            Ok(as_rust(&compiled.grammar, "GRAMMAR", from, has_straight))
        }
        Err(refused) => bail!("{refused}"),
    }
}

struct Generated {
    source: &'static str,
    generated: &'static str,
    /// With its straight tokens as instructions. Worth it where what comes can be guessed: a line
    /// that may begin with any of many keywords goes by the table as fast.
    has_straight: bool,
}

const GRAMMARS: &[Generated] = &[
    Generated {
        source: "pipeline/80-parse/grammars/http.l",
        generated: "compilers/grammar/examples/http_speed/http.rs",
        has_straight: true,
    },
    Generated {
        source: "pipeline/80-parse/grammars/redis.l",
        generated: "pipeline/80-parse/text/src/built_in/redis.rs",
        has_straight: false,
    },
    Generated {
        source: "pipeline/80-parse/grammars/sip.l",
        generated: "pipeline/80-parse/text/src/built_in/sip.rs",
        has_straight: false,
    },
    Generated {
        source: "pipeline/80-parse/grammars/smtp.l",
        generated: "pipeline/80-parse/text/src/built_in/smtp.rs",
        has_straight: false,
    },
];
