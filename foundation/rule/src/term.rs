//! What a rule asks of a buffer: one term after another, each from where the one before ended.

use crate::{BufferId, NumberCheck, TimeCheck, ValueSet};
use flowpin_record::SetAction;
use std::sync::Arc;

/// All that a rule asks of one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The buffer.
    pub buffer: BufferId,
    /// What is done to it first.
    pub transforms: Vec<Transform>,
    /// In the order of the rule.
    pub terms: Vec<Term>,
    /// Whether it also holds, or only holds, if there is no such buffer (`absent`).
    pub absent: Option<Absent>,
    /// Of a rule on both directions (`=>`): whether it is the client's buffer, or the server's.
    pub to_server: Option<bool>,
}

/// What the lack of a buffer means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// It has to be absent.
    Only,
    /// Absent, or as the terms say.
    OrElse,
}

/// One condition on a buffer's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A pattern stands there.
    Content(Content),
    /// A regular expression fits.
    Pcre(Pcre),
    /// A number compares.
    ByteTest(ByteTest),
    /// What follows is relative to a place that a number leads to.
    ByteJump(ByteJump),
    /// A number gets a name.
    Extract(Extract),
    /// A number is computed and gets a name.
    Math(ByteMath),
    /// There are bytes at a place.
    IsDataAt(IsDataAt),
    /// How long the buffer is.
    Size(NumberCheck),
    /// Decoded bytes have terms of their own.
    Base64(Base64),
    /// The buffer is a number in decimal digits, and compares.
    Number(NumberCheck),
    /// The buffer is in a set, or is not.
    In(Lookup),
    /// The buffer is in a set that rules write, or is not; or it is added, or taken out. By the
    /// set's number.
    Written(u16, SetAction),
    /// How evenly its bytes are distributed.
    Entropy(EntropyCheck),
    /// The buffer is a time, as records have it, and compares.
    Time(TimeCheck),
    /// An object in BER overflows decoders.
    Asn1(Asn1Check),
}

/// `asn1`: what is asked of the objects that stand at a place; one of them has to be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asn1Check {
    /// Where the first one begins.
    pub offset: i32,
    /// From the end of the match before.
    pub relative: bool,
    /// A bit string has more unused bits than bits.
    pub bitstring_overflow: bool,
    /// A number in decimal digits is longer than any.
    pub double_overflow: bool,
    /// An object is longer than this.
    pub oversize: Option<u32>,
}

/// `entropy`: bits a byte, by Shannon, of a part of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntropyCheck {
    /// Where the part begins.
    pub offset: u32,
    /// At most so many bytes; 0: all.
    pub bytes: u32,
    /// The bits of the least and the greatest value (`f64::to_bits`), and whether each is in it.
    pub range: [(u64, bool); 2],
    /// Not so.
    pub negated: bool,
}

impl EntropyCheck {
    /// Whether an entropy is as it should be.
    ///
    /// ```
    /// let above_four = flowpin_rule::EntropyCheck {
    ///     offset: 0,
    ///     bytes: 0,
    ///     range: [(4_f64.to_bits(), false), (8_f64.to_bits(), true)],
    ///     negated: false,
    /// };
    /// assert!(above_four.holds(4.5) && !above_four.holds(4.0));
    /// ```
    pub fn holds(&self, entropy: f64) -> bool {
        let [(low, with_low), (high, with_high)] = self.range;
        let (low, high) = (f64::from_bits(low), f64::from_bits(high));
        let is_within = (entropy > low || with_low && entropy >= low)
            && (entropy < high || with_high && entropy <= high);
        is_within != self.negated
    }
}

/// What is asked of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The values.
    pub set: Arc<ValueSet>,
    /// What has to be so.
    pub asks: Asks,
}

/// What is asked of a value and a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// It is in it.
    In,
    /// It is not.
    NotIn,
    /// The host is in it, or a domain that it lies in.
    Domain,
    /// It is in it, and its number compares.
    Number(NumberCheck),
}

impl Lookup {
    /// Whether it is so of a value.
    pub fn holds(&self, value: &[u8]) -> bool {
        match self.asks {
            Asks::In => self.set.contains(value),
            Asks::NotIn => !self.set.contains(value),
            Asks::Domain => self.set.contains_domain(value),
            Asks::Number(check) => {
                let number = self.set.number(value);
                number.is_some_and(|number| check.holds(number.into()))
            }
        }
    }
}

/// A number in a rule: written out, or one that a term before has read from the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// As written.
    Value(i64),
    /// The variable with this number.
    Variable(u8),
}

/// A pattern of bytes, and where it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Its bytes; never none.
    pub pattern: Vec<u8>,
    /// Letters of ASCII match in either case.
    pub nocase: bool,
    /// It must not stand there.
    pub negated: bool,
    /// From the buffer's beginning.
    pub offset: Option<Operand>,
    /// It lies within the first bytes from `offset` on.
    pub depth: Option<Operand>,
    /// From the end of the match before.
    pub distance: Option<Operand>,
    /// It lies within the first bytes from `distance` on.
    pub within: Option<Operand>,
    /// It begins the buffer.
    pub startswith: bool,
    /// It ends the buffer.
    pub endswith: bool,
    /// The rule asks for it as its fast pattern.
    pub fast_pattern: bool,
    /// Of the fast pattern: an offset and a length of the part to search for.
    pub fast_part: Option<(u16, u16)>,
    /// A fast pattern that need not be examined again.
    pub fast_only: bool,
}

impl Content {
    /// Whether its place depends on the match before.
    pub const fn is_relative(&self) -> bool {
        self.distance.is_some() || self.within.is_some()
    }
}

/// A regular expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pcre {
    /// As PCRE2 takes it.
    pub pattern: String,
    /// `i`.
    pub caseless: bool,
    /// `s`.
    pub dotall: bool,
    /// `m`.
    pub multiline: bool,
    /// `x`.
    pub extended: bool,
    /// `A`.
    pub anchored: bool,
    /// `E`.
    pub dollar_endonly: bool,
    /// `G`.
    pub ungreedy: bool,
    /// `R`: from the end of the match before.
    pub relative: bool,
    /// It must not match.
    pub negated: bool,
}

/// How a number stands in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Width {
    /// Bytes: 1 to 8 of a binary number, up to 23 of a text.
    pub bytes: u8,
    /// The least significant byte comes first.
    pub little: bool,
    /// Digits of this base, instead of a binary number.
    pub base: Option<u8>,
    /// From the end of the match before.
    pub relative: bool,
    /// The bits that count; all if none.
    pub mask: Option<u64>,
    /// Read in the byte order that the DCE/RPC header names: refused by the compiler.
    pub dce: bool,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`.
    Less,
    /// `>`.
    Greater,
    /// `=`.
    Equal,
    /// `<=`.
    LessOrEqual,
    /// `>=`.
    GreaterOrEqual,
    /// `&`: they have bits in common.
    And,
    /// `^`: they differ in bits, or have none in common.
    Or,
}

/// `byte_test`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteTest {
    /// How the number stands there.
    pub width: Width,
    /// Bytes to read; a variable may say how many.
    pub count: Operand,
    /// How it compares.
    pub comparison: Comparison,
    /// Whether it must not compare so.
    pub negated: bool,
    /// With what.
    pub value: Operand,
    /// Where it stands.
    pub offset: Operand,
}

/// `byte_jump`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteJump {
    /// How the number stands there.
    pub width: Width,
    /// Bytes to read; a variable may say how many.
    pub count: Operand,
    /// Where it stands.
    pub offset: Operand,
    /// It counts in units of so many bytes.
    pub multiplier: u16,
    /// Rounded up to four bytes.
    pub align: bool,
    /// From the buffer's beginning, not from the number's end.
    pub from_beginning: bool,
    /// From the buffer's end.
    pub from_end: bool,
    /// And so many bytes further.
    pub post_offset: Operand,
}

/// `byte_extract`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extract {
    /// How the number stands there.
    pub width: Width,
    /// Where it stands.
    pub offset: Operand,
    /// It counts in units of so many.
    pub multiplier: u16,
    /// Rounded up to a multiple of 2 or 4; 0: not.
    pub align: u8,
    /// The variable that it is called by.
    pub to: u8,
}

/// An operation of `byte_math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MathOp {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
}

/// `byte_math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteMath {
    /// How the number stands there.
    pub width: Width,
    /// Bytes to read; a variable may say how many.
    pub count: Operand,
    /// Where it stands.
    pub offset: Operand,
    /// What is done to it.
    pub operation: MathOp,
    /// With what.
    pub value: Operand,
    /// The variable that the result is called by.
    pub to: u8,
}

/// `isdataat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsDataAt {
    /// A byte this far on.
    pub offset: Operand,
    /// From the end of the match before.
    pub relative: bool,
    /// There must be none.
    pub negated: bool,
}

/// `base64_decode`, and what is asked of the decoded bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64 {
    /// At most so many encoded bytes.
    pub bytes: Option<u32>,
    /// Where they begin.
    pub offset: u32,
    /// From the end of the match before.
    pub relative: bool,
    /// What is asked of the decoded bytes.
    pub terms: Vec<Term>,
}

/// Which part of a buffer is decoded, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FromBase64 {
    /// Where it begins.
    pub offset: u32,
    /// At most so many encoded bytes; none: all.
    pub bytes: Option<u32>,
    /// What becomes of bytes that are no digits.
    pub mode: Base64Mode,
}

/// What becomes of bytes that are no digits of Base64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Base64Mode {
    /// White space is skipped, and anything else ends the digits (RFC 4648).
    #[default]
    Rfc4648,
    /// All of them are skipped (RFC 2045 §6.8).
    Rfc2045,
    /// There must be none.
    Strict,
}

/// What is done to a buffer before it is examined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Transform {
    /// A dot comes before it.
    Dotprefix,
    /// Without white space.
    StripWhitespace,
    /// Runs of white space become one blank.
    CompressWhitespace,
    /// Small letters.
    ToLowercase,
    /// Capital letters.
    ToUppercase,
    /// `%XX` and `+` decoded.
    UrlDecode,
    /// Each byte combined with those of a key.
    Xor(Vec<u8>),
    /// What Base64 decodes to.
    FromBase64(FromBase64),
    /// What gzip (RFC 1952) decodes to, up to so many bytes.
    Gunzip(u32),
    /// What zlib (RFC 1950) decodes to, up to so many bytes.
    Inflate(u32),
    /// The hash of it, in binary.
    Md5,
    /// Likewise.
    Sha1,
    /// Likewise.
    Sha256,
    /// What the first group of an expression captures; the buffer itself if it does not fit.
    Capture(String),
    /// Names of header lines in small letters.
    HeaderLowercase,
    /// Without the pseudo headers of HTTP/2.
    StripPseudoHeaders,
}
