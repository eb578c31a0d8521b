//! Expressions as flex writes them.

use regex_syntax::hir::{Class, ClassBytes, Hir, HirKind, Look, Repetition};
use std::fmt::Write;

/// Why flex cannot have an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unfit {
    #[error(
        "`$` cannot be seen by a scanner of a stream; --drop-ends leaves it out, and matches more"
    )]
    End,
    #[error("`^` behind other bytes never matches; write it first")]
    Start,
    #[error("it is too large for flex once its repetitions are written out; divide it")]
    Large,
    #[error("it uses something that flex does not have")]
    Other,
    #[error("it matches nothing at all, too; let it have a byte")]
    Empty,
}

/// An expression in parentheses, each byte that is no letter or digit by its number.
pub(super) fn print(hir: &Hir, drops_ends: bool) -> Result<String, Unfit> {
    if hir.properties().minimum_len().unwrap_or(0) == 0 {
        return Err(Unfit::Empty);
    }
    if places(hir) > PLACES_MAX {
        return Err(Unfit::Large);
    }
    let mut printer = Printer {
        out: String::new(),
        drops_ends,
    };
    printer.put(hir, true)?;
    Ok(printer.out)
}

/// How many bytes an expression has places for, its repetitions written out.
fn places(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 0,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(_) => 1,
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            places(&repetition.sub).saturating_mul(times.into())
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(places).fold(0, u64::saturating_add)
        }
    }
}

/// Flex has 32,000 states for all patterns, and some for each place.
const PLACES_MAX: u64 = 4_000;

struct Printer {
    out: String,
    drops_ends: bool,
}

impl Printer {
    /// `at_start`: nothing was matched before.
    fn put(&mut self, hir: &Hir, at_start: bool) -> Result<(), Unfit> {
        match hir.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => literal.0.iter().for_each(|&byte| self.byte(byte)),
            HirKind::Class(Class::Bytes(class)) => self.class(class),
            HirKind::Class(Class::Unicode(class)) => {
                let bytes = class.to_byte_class().ok_or(Unfit::Other)?;
                self.class(&bytes);
            }
            // The rule's state says that.
            HirKind::Look(Look::Start) if at_start => {}
            HirKind::Look(Look::Start) => return Err(Unfit::Start),
            HirKind::Look(Look::End) if self.drops_ends => {}
            HirKind::Look(Look::End) => return Err(Unfit::End),
            HirKind::Look(_) => return Err(Unfit::Other),
            HirKind::Capture(capture) => self.put(&capture.sub, at_start)?,
            HirKind::Repetition(repetition) => self.repeated(repetition, at_start)?,
            HirKind::Concat(parts) => {
                let mut at_start = at_start;
                for part in parts {
                    self.put(part, at_start)?;
                    at_start &= part.properties().maximum_len() == Some(0);
                }
            }
            HirKind::Alternation(branches) => {
                self.out.push('(');
                for (number, branch) in branches.iter().enumerate() {
                    if number > 0 {
                        self.out.push('|');
                    }
                    self.something(branch, at_start)?;
                }
                self.out.push(')');
            }
        }
        Ok(())
    }

    /// Where flex wants something, though it may match nothing.
    fn something(&mut self, hir: &Hir, at_start: bool) -> Result<(), Unfit> {
        let before = self.out.len();
        self.put(hir, at_start)?;
        if self.out.len() == before {
            self.out.push_str("\"\"");
        }
        Ok(())
    }

    fn repeated(&mut self, repetition: &Repetition, at_start: bool) -> Result<(), Unfit> {
        // Flex has no {0,n}.
        let (open, close) = match (repetition.min, repetition.max) {
            (0, None) => ("(", ")*".to_owned()),
            (1, None) => ("(", ")+".to_owned()),
            (0, Some(1)) => ("(", ")?".to_owned()),
            (0, Some(max)) => ("((", format!("){{1,{max}}})?")),
            (min, None) => ("(", format!("){{{min},}}")),
            (min, Some(max)) if min == max => ("(", format!("){{{min}}}")),
            (min, Some(max)) => ("(", format!("){{{min},{max}}}")),
        };
        self.out.push_str(open);
        // What is repeated has something before it, the second time.
        self.something(&repetition.sub, at_start && repetition.max == Some(1))?;
        self.out.push_str(&close);
        Ok(())
    }

    fn class(&mut self, class: &ClassBytes) {
        self.out.push('[');
        for range in class.ranges() {
            self.byte(range.start());
            if range.end() > range.start() {
                self.out.push('-');
                self.byte(range.end());
            }
        }
        self.out.push(']');
    }

    fn byte(&mut self, byte: u8) {
        if byte.is_ascii_alphanumeric() {
            self.out.push(byte.into());
        } else {
            let _ = write!(self.out, "\\x{byte:02x}");
        }
    }
}
