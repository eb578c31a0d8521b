//! l7-filter's expressions: POSIX extended ones with `\xHH`.
//!
//! Brackets are POSIX's: a backslash in them is a backslash (but `\xHH` was decoded before, as the
//! filter does), a `]` or `-` in front is itself. `\xHH` is always the byte, never an operator.

use crate::{Limits, Refusal};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, Look, Repetition};

/// Reads an expression; letters stand for both cases.
///
/// # Errors
/// What is wrong and where, or which limit it breaks.
pub fn parse(expression: &str, limits: &Limits) -> Result<Hir, Refusal> {
    if expression.len() > limits.expression_len {
        return Err(Refusal::TooLong(limits.expression_len));
    }
    let mut reader = Reader {
        units: decode(expression),
        at: 0,
        depth: 0,
        limits: *limits,
    };
    let hir = reader.alternation()?;
    if reader.at < reader.units.len() {
        return Err(reader.wrong("a bracket that was not opened"));
    }
    if hir.properties().minimum_len() == Some(0) && hir.properties().look_set().is_empty() {
        return Err(Refusal::Empty);
    }
    Ok(hir)
}

/// A byte of the expression. Those that were `\xHH` are never operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unit {
    byte: u8,
    plain: bool,
}

fn decode(expression: &str) -> Vec<Unit> {
    let bytes: Vec<u8> = expression
        .chars()
        .map(|letter| u8::try_from(u32::from(letter)).unwrap_or(b'?'))
        .collect();
    let digit = |at: usize| {
        let digit = char::from(bytes.get(at).copied()?).to_digit(16)?;
        u8::try_from(digit).ok()
    };
    let mut units = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let is_hex = byte == b'\\' && bytes.get(at + 1) == Some(&b'x');
        match (is_hex, digit(at + 2), digit(at + 3)) {
            (true, Some(high), Some(low)) => {
                let byte = high << 4 | low;
                units.push(Unit { byte, plain: true });
                at += 4;
            }
            _ => {
                units.push(Unit { byte, plain: false });
                at += 1;
            }
        }
    }
    units
}

struct Reader {
    units: Vec<Unit>,
    at: usize,
    depth: usize,
    limits: Limits,
}

impl Reader {
    fn wrong(&self, what: &'static str) -> Refusal {
        Refusal::Syntax { what, at: self.at }
    }

    /// The next byte if it is an operator or letter as written.
    fn peek(&self) -> Option<u8> {
        self.units
            .get(self.at)
            .filter(|unit| !unit.plain)
            .map(|unit| unit.byte)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn alternation(&mut self) -> Result<Hir, Refusal> {
        self.depth += 1;
        if self.depth > self.limits.depth {
            return Err(Refusal::Depth(self.limits.depth));
        }
        let mut branches = vec![self.sequence()?];
        while self.eat(b'|') {
            branches.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(Hir::alternation(branches))
    }

    fn sequence(&mut self) -> Result<Hir, Refusal> {
        let mut parts = Vec::new();
        while self.at < self.units.len() && !matches!(self.peek(), Some(b'|' | b')')) {
            let atom = self.atom()?;
            parts.push(self.repeated(atom)?);
        }
        Ok(Hir::concat(parts))
    }

    fn atom(&mut self) -> Result<Hir, Refusal> {
        let Some(&unit) = self.units.get(self.at) else {
            return Err(self.wrong("an end"));
        };
        self.at += 1;
        if unit.plain {
            return Ok(letter(unit.byte));
        }
        match unit.byte {
            b'(' => {
                let inner = self.alternation()?;
                if !self.eat(b')') {
                    return Err(self.wrong("a group without its end"));
                }
                Ok(inner)
            }
            b'[' => self.bracket(),
            b'.' => Ok(class(vec![ClassBytesRange::new(0, 255)])),
            b'^' => Ok(Hir::look(Look::Start)),
            b'$' => Ok(Hir::look(Look::End)),
            b'*' | b'+' | b'?' => Err(self.wrong("a repetition of nothing")),
            b'\\' => match self.units.get(self.at) {
                Some(&next) => {
                    self.at += 1;
                    Ok(letter(next.byte))
                }
                None => Err(self.wrong("a backslash at the end")),
            },
            byte => Ok(letter(byte)),
        }
    }

    fn repeated(&mut self, mut atom: Hir) -> Result<Hir, Refusal> {
        loop {
            let (min, max) = match self.peek() {
                Some(b'*') => (0, None),
                Some(b'+') => (1, None),
                Some(b'?') => (0, Some(1)),
                Some(b'{') => match self.counts()? {
                    Some(counts) => counts,
                    None => return Ok(atom),
                },
                _ => return Ok(atom),
            };
            self.at += 1;
            let most = max.unwrap_or(min);
            if most > self.limits.repeats || max.is_some_and(|max| max < min) {
                return Err(Refusal::Repeats(self.limits.repeats));
            }
            atom = Hir::repetition(Repetition {
                min,
                max,
                greedy: true,
                sub: Box::new(atom),
            });
        }
    }

    /// `{m}`, `{m,}` or `{m,n}`, up to its last byte; none if the brace is just a brace.
    fn counts(&mut self) -> Result<Option<(u32, Option<u32>)>, Refusal> {
        let rest = self.units.get(self.at..).unwrap_or_default();
        let Some(len) = rest.iter().position(|unit| unit.byte == b'}') else {
            return Ok(None);
        };
        let inner: String = rest
            .iter()
            .take(len)
            .skip(1)
            .map(|unit| char::from(unit.byte))
            .collect();
        let is_count = inner.starts_with(|first: char| first.is_ascii_digit())
            && inner.chars().all(|one| one.is_ascii_digit() || one == ',');
        if !is_count {
            return Ok(None);
        }
        let number = |text: &str| {
            text.parse()
                .map_err(|_| Refusal::Repeats(self.limits.repeats))
        };
        let counts = match inner.split_once(',') {
            None => (number(&inner)?, Some(number(&inner)?)),
            Some((min, "")) => (number(min)?, None),
            Some((min, max)) => (number(min)?, Some(number(max)?)),
        };
        self.at += len;
        Ok(Some(counts))
    }

    /// POSIX 2018 §9.3.5.
    fn bracket(&mut self) -> Result<Hir, Refusal> {
        let is_negated = self.eat(b'^');
        let mut ranges = Vec::new();
        let mut first = true;
        loop {
            let Some(&unit) = self.units.get(self.at) else {
                return Err(self.wrong("a bracket without its end"));
            };
            self.at += 1;
            if unit.byte == b']' && !unit.plain && !first {
                break;
            }
            first = false;
            let dash = self
                .units
                .get(self.at)
                .is_some_and(|next| next.byte == b'-' && !next.plain);
            let end = self.units.get(self.at + 1).copied();
            match end {
                Some(end) if dash && (end.plain || end.byte != b']') => {
                    self.at += 2;
                    if end.byte < unit.byte {
                        return Err(self.wrong("a range that ends before it begins"));
                    }
                    ranges.push(ClassBytesRange::new(unit.byte, end.byte));
                }
                _ => ranges.push(ClassBytesRange::new(unit.byte, unit.byte)),
            }
        }
        let mut set = ClassBytes::new(ranges);
        set.case_fold_simple();
        if is_negated {
            set.negate();
        }
        Ok(Hir::class(Class::Bytes(set)))
    }
}

fn letter(byte: u8) -> Hir {
    let mut set = ClassBytes::new([ClassBytesRange::new(byte, byte)]);
    set.case_fold_simple();
    Hir::class(Class::Bytes(set))
}

fn class(ranges: Vec<ClassBytesRange>) -> Hir {
    Hir::class(Class::Bytes(ClassBytes::new(ranges)))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::{Automaton, Fed, Limits, Refusal};

    fn matches(expression: &str, bytes: &[u8]) -> bool {
        let limits = Limits::default();
        let hir = parse(expression, &limits).unwrap();
        let automaton = Automaton::build(&[hir], false, &limits).unwrap();
        let mut state = automaton.start();
        match automaton.feed_without_nuls(&mut state, bytes) {
            Fed::Match(..) => true,
            Fed::Dead => false,
            Fed::More => automaton.at_end(state).is_some(),
        }
    }

    /// The kernel's filter lowered both letters and data.
    #[test]
    fn letters_match_in_either_case_and_zeros_are_not_there() {
        assert!(matches("^SSH-[12]\\.", b"s\0sh-2.0"));
        assert!(matches("\\x41b", b"xaBy"));
    }

    /// POSIX 2018 §9.3.5: in brackets a backslash is itself, and so is a leading `]`.
    #[test]
    fn brackets_are_those_of_posix() {
        assert!(matches("^[]Z]$", b"]") && matches("^[]Z]$", b"z"));
        assert!(matches("^[a\\-_]$", b"]") && !matches("^[a\\-_]$", b"-"));
        assert!(matches("^[^a-c]$", b"d") && !matches("^[^a-c]$", b"B"));
        assert!(matches("^[\\x01-\\x03]$", b"\x02"));
    }

    /// A byte written in hexadecimal is never an operator.
    #[test]
    fn a_hexadecimal_byte_is_only_a_byte() {
        assert!(matches("^a\\x2ab$", b"a*b") && !matches("^a\\x2ab$", b"aab"));
        assert!(matches("^\\x24x", b"$x"));
    }

    #[test]
    fn a_dollar_matches_only_at_the_end() {
        assert!(matches("ab$", b"xab") && !matches("ab$", b"abx"));
    }

    /// Names the limit that is broken.
    #[test]
    fn what_would_grow_without_end_is_refused() {
        let limits = Limits::default();
        assert_eq!(parse("a{100000}", &limits), Err(Refusal::Repeats(1000)));
        assert_eq!(parse(&"(".repeat(100), &limits), Err(Refusal::Depth(64)));
        assert_eq!(
            parse(&"a".repeat(20_000), &limits),
            Err(Refusal::TooLong(16_384))
        );
        assert_eq!(parse("a*", &limits), Err(Refusal::Empty));
        let nested = parse("((a{1000}){1000}){1000}", &limits).unwrap();
        assert!(matches!(
            Automaton::build(&[nested], true, &limits),
            Err(Refusal::Expanded(_))
        ));
        let wide = parse("^.*a.............................b", &limits).unwrap();
        assert!(matches!(
            Automaton::build(&[wide], true, &limits),
            Err(Refusal::Working(_) | Refusal::States(_))
        ));
    }

    #[test]
    fn nonsense_is_refused_where_it_stands() {
        for wrong in ["(a", "a)", "[a", "*a", "a\\"] {
            assert!(
                matches!(
                    parse(wrong, &Limits::default()),
                    Err(Refusal::Syntax { .. })
                ),
                "{wrong}"
            );
        }
    }
}
