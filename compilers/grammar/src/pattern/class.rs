//! Character classes: `[a-z]`, `[^"]`, `[[:alpha:]_]`, `[a-z]{-}[aeiou]`; and escapes.

use super::parse::Parser;
use super::set::Set;
use crate::diagnostic::Failure;

impl Parser<'_> {
    /// A class, from its `[` on, and what is added to it or taken away.
    pub(super) fn class(&mut self) -> Result<Set, Failure> {
        let mut set = self.one_class()?;
        loop {
            let is_sum = match self.rest() {
                [b'{', b'+', b'}', ..] => true,
                [b'{', b'-', b'}', ..] => false,
                _ => return Ok(set),
            };
            self.at += 3;
            let other = match self.peek() {
                Some(b'[') => self.one_class()?,
                _ => {
                    return Err(Failure::new(
                        self.place(),
                        "a class is expected behind {+} and {-}",
                    ));
                }
            };
            set = match is_sum {
                true => set.union(other),
                false => set.minus(other),
            };
        }
    }

    fn one_class(&mut self) -> Result<Set, Failure> {
        let opening = self.place();
        self.at += 1;
        let is_negated = self.peek() == Some(b'^');
        self.at += usize::from(is_negated);
        let mut set = Set::default();
        let mut is_first = true;
        loop {
            match self.rest() {
                [] | [b'\n', ..] => {
                    return Err(Failure::new(opening, "a class without its ]"));
                }
                [b']', ..] if !is_first => {
                    self.at += 1;
                    break;
                }
                [b'[', b':', ..] => {
                    set = set.union(self.named_class()?);
                    is_first = false;
                }
                _ => {
                    set = set.union(self.range()?);
                    is_first = false;
                }
            }
        }
        Ok(match is_negated {
            true => set.complement(),
            false => set,
        })
    }

    /// A byte, or from one byte to another.
    fn range(&mut self) -> Result<Set, Failure> {
        let from_place = self.place();
        let from = self.class_byte()?;
        let is_range = matches!(self.rest(), [b'-', next, ..] if *next != b']' && *next != b'\n');
        if !is_range {
            let set = Set::of([from]);
            return Ok(match self.flags.ignores_case {
                true => set.in_both_cases(),
                false => set,
            });
        }
        self.at += 1;
        let to = self.class_byte()?;
        if from > to {
            return Err(Failure::new(
                from_place,
                "a range whose end comes before its beginning",
            ));
        }
        let mut set = Set::of(from..=to);
        // flex adds the other case only where both ends are letters.
        if self.flags.ignores_case && from.is_ascii_alphabetic() && to.is_ascii_alphabetic() {
            set = set.union(Set::of(other_case(from)..=other_case(to)));
        }
        Ok(set)
    }

    fn class_byte(&mut self) -> Result<u8, Failure> {
        match self.peek() {
            Some(b'\\') => self.escape(),
            Some(byte) if byte != b'\n' => {
                self.at += 1;
                Ok(byte)
            }
            _ => Err(Failure::new(self.place(), "a class without its ]")),
        }
    }

    /// `[:alpha:]` or `[:^alpha:]`.
    fn named_class(&mut self) -> Result<Set, Failure> {
        let place = self.place();
        let rest = self.rest();
        let end = rest.windows(2).skip(2).position(|pair| pair == b":]");
        let name = end.and_then(|end| rest.get(2..end + 2));
        let Some(name) = name else {
            return Err(Failure::new(place, "a named class without its :]"));
        };
        self.at += name.len() + 4;
        let (is_negated, name) = match name.split_first() {
            Some((b'^', name)) => (true, name),
            _ => (false, name),
        };
        let Some(holds) = predicate(name) else {
            let name = String::from_utf8_lossy(name);
            return Err(Failure::new(place, format!("no class is named [:{name}:]")));
        };
        let mut set = Set::of((0..=255u8).filter(holds));
        if self.flags.ignores_case && (name == b"upper" || name == b"lower") {
            set = set.in_both_cases();
        }
        Ok(match is_negated {
            true => set.complement(),
            false => set,
        })
    }

    /// A byte written with a backslash.
    pub(super) fn escape(&mut self) -> Result<u8, Failure> {
        let place = self.place();
        self.at += 1;
        let Some(byte) = self.peek().filter(|&byte| byte != b'\n') else {
            return Err(Failure::new(place, "a backslash with nothing behind it"));
        };
        self.at += 1;
        Ok(match byte {
            b'a' => 7,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 11,
            b'x' => self.digits(16, 2).unwrap_or(b'x'),
            b'0'..=b'7' => {
                self.at -= 1;
                self.digits(8, 3)
                    .ok_or_else(|| Failure::new(place, "an octal escape beyond \\377 is no byte"))?
            }
            other => other,
        })
    }

    fn digits(&mut self, base: u32, count_max: usize) -> Option<u8> {
        let mut value = None;
        for _ in 0..count_max {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(base)) else {
                break;
            };
            self.at += 1;
            value = Some(value.unwrap_or(0) * base + digit);
        }
        u8::try_from(value?).ok()
    }
}

const fn other_case(byte: u8) -> u8 {
    byte ^ 0x20
}

fn predicate(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |byte| matches!(byte, b' '..=b'~'),
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |byte| matches!(byte, b' ' | 9..=13),
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}
