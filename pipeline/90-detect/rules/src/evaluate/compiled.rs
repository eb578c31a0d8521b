//! Terms in the form in which they are evaluated.

use flowpin_record::SetAction;
use flowpin_rule::{
    Asn1Check, ByteJump, ByteMath, ByteTest, Content, EntropyCheck, Extract, IsDataAt, Lookup,
    NumberCheck, Operand, Pcre, Term, TimeCheck,
};
use memchr::memmem::Finder;
use pcre2::bytes::{Regex, RegexBuilder};

/// A term as it is evaluated.
#[derive(Debug)]
pub(crate) enum CompiledTerm {
    Content(Box<CompiledContent>),
    Pcre(Expression),
    ByteTest(ByteTest),
    ByteJump(ByteJump),
    Extract(Extract),
    Math(ByteMath),
    IsDataAt(IsDataAt),
    Size(NumberCheck),
    Number(NumberCheck),
    In(Lookup),
    Written(u16, SetAction),
    Entropy(EntropyCheck),
    Time(TimeCheck),
    Asn1(Asn1Check),
    Base64(CompiledBase64),
}

/// A pattern, and how to find it.
#[derive(Debug)]
pub(crate) struct CompiledContent {
    /// In small letters where case does not count.
    pub(crate) pattern: Vec<u8>,
    /// None where case does not count.
    pub(super) finder: Option<Finder<'static>>,
    pub(super) nocase: bool,
    pub(super) negated: bool,
    pub(super) is_relative: bool,
    pub(super) offset: Option<Operand>,
    pub(super) depth: Option<Operand>,
    pub(super) distance: Option<Operand>,
    pub(super) within: Option<Operand>,
    pub(super) startswith: bool,
    pub(super) endswith: bool,
    /// What follows is relative to it, and nearer than anywhere: if that fails, it is looked for
    /// further on.
    pub(super) is_followed: bool,
}

/// A regular expression.
#[derive(Debug)]
pub(crate) struct Expression {
    regex: Regex,
    pub(super) relative: bool,
    pub(super) negated: bool,
    pub(super) is_followed: bool,
}

impl Expression {
    /// Where it fits first: begin and end. None if it was given up.
    pub(super) fn find(&self, subject: &[u8]) -> Option<Option<(usize, usize)>> {
        let found = self.regex.find_at(subject, 0).ok()?;
        Some(found.map(|found| (found.start(), found.end())))
    }
}

/// Decoding, and the terms of what was decoded.
#[derive(Debug)]
pub(crate) struct CompiledBase64 {
    pub(super) bytes: Option<u32>,
    pub(super) offset: u32,
    pub(super) relative: bool,
    pub(super) terms: Vec<CompiledTerm>,
}

/// Prepares the terms of a buffer.
///
/// # Errors
/// An expression that PCRE2 refuses, and why.
pub(crate) fn compile(terms: &[Term]) -> Result<Vec<CompiledTerm>, String> {
    let mut compiled = Vec::with_capacity(terms.len());
    for (nth, term) in terms.iter().enumerate() {
        let is_followed = terms.get(nth + 1).is_some_and(is_relative);
        compiled.push(match term {
            Term::Content(content) => {
                // PERF: whatever follows anywhere behind a place follows behind no later one that
                // does not: `a`, then `b`, then an expression were all pairs of them.
                let rest = terms.get(nth + 1..).unwrap_or_default();
                let is_followed = is_followed && !is_anywhere(rest);
                CompiledTerm::Content(Box::new(pattern(content, is_followed)))
            }
            Term::Pcre(pcre) => CompiledTerm::Pcre(expression(pcre, is_followed)?),
            Term::ByteTest(test) => CompiledTerm::ByteTest(*test),
            Term::ByteJump(jump) => CompiledTerm::ByteJump(*jump),
            Term::Extract(extract) => CompiledTerm::Extract(*extract),
            Term::Math(math) => CompiledTerm::Math(*math),
            Term::IsDataAt(check) => CompiledTerm::IsDataAt(*check),
            Term::Size(check) => CompiledTerm::Size(*check),
            Term::Number(check) => CompiledTerm::Number(*check),
            Term::In(lookup) => CompiledTerm::In(lookup.clone()),
            Term::Written(set, action) => CompiledTerm::Written(*set, *action),
            Term::Entropy(check) => CompiledTerm::Entropy(*check),
            Term::Time(check) => CompiledTerm::Time(*check),
            Term::Asn1(check) => CompiledTerm::Asn1(*check),
            Term::Base64(decode) => CompiledTerm::Base64(CompiledBase64 {
                bytes: decode.bytes,
                offset: decode.offset,
                relative: decode.relative,
                terms: compile(&decode.terms)?,
            }),
        });
    }
    Ok(compiled)
}

/// Whether a term is relative to the match before it.
fn is_relative(term: &Term) -> bool {
    match term {
        Term::Content(content) => content.is_relative(),
        Term::Pcre(pcre) => pcre.relative,
        Term::ByteTest(test) => test.width.relative,
        Term::ByteJump(jump) => jump.width.relative,
        Term::Extract(extract) => extract.width.relative,
        Term::Math(math) => math.width.relative,
        Term::IsDataAt(check) => check.relative,
        Term::Size(_)
        | Term::Number(_)
        | Term::In(_)
        | Term::Written(..)
        | Term::Entropy(_)
        | Term::Time(_) => false,
        Term::Base64(decode) => decode.relative,
        Term::Asn1(check) => check.relative,
    }
}

/// Whether terms begin with one that stands anywhere behind the match before: where they hold
/// behind a place, they hold behind all places before that.
fn is_anywhere(terms: &[Term]) -> bool {
    let [Term::Content(content), rest @ ..] = terms else {
        return false;
    };
    let is_open = content.is_relative()
        && !content.negated
        && !content.startswith
        && content.within.is_none();
    // All its places are tried, or what follows does not depend on them.
    let is_left = match rest.first() {
        None => true,
        Some(Term::Content(next)) if !next.negated => true,
        Some(Term::Pcre(next)) if !next.negated => true,
        Some(next) => is_relative(next),
    };
    is_open && is_left
}

fn pattern(content: &Content, is_followed: bool) -> CompiledContent {
    let pattern = match content.nocase {
        true => content.pattern.to_ascii_lowercase(),
        false => content.pattern.clone(),
    };
    let finder = (!content.nocase).then(|| Finder::new(&pattern).into_owned());
    CompiledContent {
        finder,
        nocase: content.nocase,
        negated: content.negated,
        is_relative: content.is_relative(),
        offset: content.offset,
        depth: content.depth,
        distance: content.distance,
        within: content.within,
        startswith: content.startswith,
        endswith: content.endswith,
        is_followed,
        pattern,
    }
}

fn expression(pcre: &Pcre, is_followed: bool) -> Result<Expression, String> {
    let mut text = limits();
    if pcre.ungreedy {
        text.push_str("(?U)");
    }
    if pcre.anchored {
        text.push_str("\\A(?:");
    }
    let before = text.len();
    text.push_str(&pcre.pattern);
    if pcre.anchored {
        text.push(')');
    }
    let mut builder = RegexBuilder::new();
    builder
        .caseless(pcre.caseless)
        .dotall(pcre.dotall)
        .multi_line(pcre.multiline)
        .extended(pcre.extended)
        .jit_if_available(true);
    let built = builder.build(&text);
    let regex = built.map_err(|error| refused(&error, before, pcre.pattern.len()))?;
    Ok(Expression {
        regex,
        relative: pcre.relative,
        negated: pcre.negated,
        is_followed,
    })
}

/// Why PCRE2 refuses an expression, and where: `before` is what was put before it.
fn refused(error: &pcre2::Error, before: usize, len: usize) -> String {
    let text = error.to_string();
    let Some(offset) = error.offset() else {
        return text;
    };
    let why = text.rsplit_once(": ").map_or(text.as_str(), |both| both.1);
    let at = offset.saturating_sub(before).min(len);
    format!("{why}, at byte {at} of the expression")
}

/// The first group of an expression is to be captured.
pub(super) fn capturing(pattern: &str) -> Result<Regex, String> {
    let mut builder = RegexBuilder::new();
    builder.jit_if_available(true);
    let built = builder.build(&(limits() + pattern));
    let before = limits().len();
    let regex = built.map_err(|error| refused(&error, before, pattern.len()))?;
    match regex.captures_len() {
        0 | 1 => Err("the expression of pcrexform captures nothing".to_owned()),
        _ => Ok(regex),
    }
}

/// An expression's own limits, so that no rule stalls (pcre2pattern(3), "Setting match resource
/// limits").
fn limits() -> String {
    format!("(*LIMIT_MATCH={MATCH_MAX})(*LIMIT_DEPTH={DEPTH_MAX})")
}

/// As Suricata's limits.
const MATCH_MAX: u32 = 3500;
const DEPTH_MAX: u32 = 1500;
