//! l7-filter's patterns as one scanner of flex: the first half of the platform paper's chain
//! (section 3.7), of which [`push_scanner`](crate::push_scanner) is the other.
//!
//! ```text
//!  *.pat ─► rewrite leading wildcards ─► rules of flex ─► flex ─► C ─► push_scanner, transform
//! ```
//!
//! A stream's protocol is the one whose pattern matches first: at the earliest place; of those that
//! match there, the one that matches the most bytes; of equals, the first.

mod expression;

use expression::{Unfit, print};
use flowpin_pattern::l7::L7Pattern;
use flowpin_pattern::{Hir, Rewrite, rewrite};
use regex_syntax::hir::HirKind;
use std::fmt::Write;
use std::path::PathBuf;

/// What flex is given.
#[derive(Clone, Debug)]
pub struct FlexFile {
    /// The text of the file.
    pub text: String,
    /// The protocols, in the order of their tokens, from 1.
    pub names: Vec<String>,
    /// What is not in it, and why: file, line, reason.
    pub left_out: Vec<(PathBuf, usize, String)>,
}

/// How patterns become rules.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlexOptions {
    /// What becomes of leading wildcards.
    pub rewrite: Rewrite,
    /// Leaves `$` out, which no scanner of a stream can see: such patterns match more then.
    pub drops_ends: bool,
}

/// Rules of flex for patterns. Those that flex cannot express are left out, each with the reason.
///
/// ```
/// use flowpin_cc::{FlexOptions, flex_file};
/// use flowpin_pattern::Limits;
/// use flowpin_pattern::l7::parse_file;
///
/// let pattern = parse_file("ssh.pat".as_ref(), b"ssh\n^ssh-[12]\\.", &Limits::default());
/// let file = flex_file(&[pattern.unwrap()], FlexOptions::default());
/// assert_eq!(file.names, ["ssh"]);
/// assert!(file.text.contains("<INITIAL>[Ss][Ss][Hh]\\x2d[1-2]\\x2e"), "{}", file.text);
/// ```
pub fn flex_file(patterns: &[L7Pattern], options: FlexOptions) -> FlexFile {
    let (mut names, mut left_out, mut rules) = (Vec::new(), Vec::new(), String::new());
    for pattern in patterns {
        let token = names.len() + 1;
        match rules_of(&pattern.hir, options) {
            Ok(found) => {
                for (states, expression) in found {
                    // Writing to a string does not fail.
                    let _ = writeln!(rules, "<{states}>{expression} FOUND({token})");
                }
                names.push(pattern.name.clone());
            }
            Err(why) => left_out.push((pattern.path.clone(), pattern.line, why.to_string())),
        }
    }
    FlexFile {
        text: text(&names, &rules),
        names,
        left_out,
    }
}

/// The rules of a pattern: in which states, and what. Branches that begin with the first byte are
/// cheaper by themselves.
fn rules_of(hir: &Hir, options: FlexOptions) -> Result<Vec<(&'static str, String)>, Unfit> {
    let branches = match hir.kind() {
        HirKind::Alternation(branches) => branches.clone(),
        _ => vec![hir.clone()],
    };
    let (mut first, mut anywhere) = (Vec::new(), Vec::new());
    for branch in branches {
        let rewritten = rewrite(&branch, options.rewrite);
        let place = match rewritten.anchored {
            true => &mut first,
            false => &mut anywhere,
        };
        place.push(print(&rewritten.hir, options.drops_ends)?);
    }
    let parts = [("INITIAL", first), ("INITIAL,OTHER", anywhere)];
    let rules = parts
        .into_iter()
        .filter(|(_, branches)| !branches.is_empty());
    Ok(rules
        .map(|(states, branches)| (states, branches.join("|")))
        .collect())
}

fn text(names: &[String], rules: &str) -> String {
    let quoted = names.iter().map(|name| format!("    \"{name}\",\n"));
    let head = HEAD.trim_start();
    head.replace("@RULES@", rules)
        .replace("@NAMES@", &quoted.collect::<String>())
}

const HEAD: &str = r#"
/* Protocols by l7-filter's patterns: a stream's first token is its protocol's number, and there is
 * no other. Made by `flowpin cc patterns`. */
%{
#include <stddef.h>
#pragma flowpin perflow examined
static int examined;
/* Where a pattern may begin: among so many bytes of a stream. */
#ifndef PATTERN_BYTES_MAX
#define PATTERN_BYTES_MAX 2048
#endif
#define FOUND(token) { BEGIN(DONE); return token; }
%}
%option 8bit noyywrap nounput noinput never-interactive
%x OTHER DONE
%%
@RULES@<INITIAL,OTHER>.|\n {
    if (++examined < PATTERN_BYTES_MAX)
        BEGIN(OTHER);
    else
        BEGIN(DONE);
}
<DONE>(.|\n){1,64} ;
%%
/* A token's protocol; NULL if it is none. */
const char *pattern_name(int token)
{
    static const char *const names[] = {
@NAMES@        NULL
    };
    int count = (int)(sizeof names / sizeof *names) - 1;
    return token >= 1 && token <= count ? names[token - 1] : NULL;
}

/* l7-filter leaves zero bytes out of what it searches: copies the others, returns how many. */
size_t pattern_bytes(char *to, const char *from, size_t count)
{
    size_t kept = 0;
    for (size_t at = 0; at < count; at++)
        if (from[at])
            to[kept++] = from[at];
    return kept;
}
"#;
