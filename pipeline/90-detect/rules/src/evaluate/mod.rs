//! Evaluates what a rule asks of one buffer.
//!
//! Terms are taken in order. Where a term is relative to the match before, and fails, the match
//! before is looked for further on: as in Suricata, only from the term right before. The number of
//! steps for one buffer is bounded.

mod asn1;
mod buffer;
mod compiled;
pub(crate) mod transform;

pub(crate) use buffer::{Variables, base64};
pub(crate) use compiled::{CompiledTerm, Expression, compile};

use buffer::{find_nocase, number};
use compiled::CompiledContent;
use flowpin_rule::{ByteJump, ByteMath, ByteTest, Comparison, Extract, MathOp, seconds_of};

/// What one evaluation may take, and what it took.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    left: u32,
    /// The time of the capture, in seconds since 1970.
    now_s: u64,
    /// It was given up.
    pub(crate) is_exceeded: bool,
    /// PCRE's own limit was reached.
    pub(crate) is_pcre_exceeded: bool,
    /// The entropy that was computed last.
    pub(crate) entropy: Option<f64>,
}

impl Steps {
    #[cfg(test)]
    pub(crate) const fn new() -> Self {
        Self::at(0)
    }

    /// At a time of the capture, in seconds since 1970.
    pub(crate) const fn at(now_s: u64) -> Self {
        Self {
            left: STEPS_MAX,
            now_s,
            is_exceeded: false,
            is_pcre_exceeded: false,
            entropy: None,
        }
    }

    fn take(&mut self) -> bool {
        match self.left.checked_sub(1) {
            Some(left) => self.left = left,
            None => self.is_exceeded = true,
        }
        !self.is_exceeded
    }

    /// Takes more for what looks at so many bytes: behind each match of a content again.
    fn take_bytes(&mut self, count: usize) -> bool {
        let more = u32::try_from(count / BYTES_A_STEP).unwrap_or(u32::MAX);
        match self.left.checked_sub(more) {
            Some(left) => self.left = left,
            None => self.is_exceeded = true,
        }
        !self.is_exceeded
    }
}

/// Bytes that are decoded or counted in a step.
const BYTES_A_STEP: usize = 1024;

/// As Suricata's limit of recursions.
const STEPS_MAX: u32 = 3000;

/// Whether all terms hold for a buffer.
pub(crate) fn holds(
    terms: &[CompiledTerm],
    bytes: &[u8],
    variables: &mut Variables,
    steps: &mut Steps,
) -> bool {
    from(terms, bytes, 0, variables, steps)
}

fn from(
    terms: &[CompiledTerm],
    bytes: &[u8],
    at: usize,
    variables: &mut Variables,
    steps: &mut Steps,
) -> bool {
    let Some((term, rest)) = terms.split_first() else {
        return true;
    };
    if !steps.take() {
        return false;
    }
    let next = match term {
        CompiledTerm::Content(content) => {
            return from_content(content, rest, bytes, at, variables, steps);
        }
        CompiledTerm::Pcre(pcre) => return from_pcre(pcre, rest, bytes, at, variables, steps),
        CompiledTerm::ByteTest(test) => byte_test(test, bytes, at, variables).then_some(at),
        CompiledTerm::ByteJump(jump) => byte_jump(jump, bytes, at, variables),
        CompiledTerm::Extract(extract) => byte_extract(extract, bytes, at, variables),
        CompiledTerm::Math(math) => byte_math(math, bytes, at, variables),
        CompiledTerm::IsDataAt(check) => {
            let place = base(at, check.relative).checked_add(variables.get(check.offset));
            let place = place.and_then(|place| usize::try_from(place).ok());
            // A relative place counts bytes that follow, an absolute one is an index.
            let is_there = place.is_some_and(|place| match check.relative {
                true => place <= bytes.len(),
                false => place < bytes.len(),
            });
            (is_there != check.negated).then_some(at)
        }
        CompiledTerm::Number(check) => {
            // `7+`: that or more, which is all that is known.
            let (digits, is_least) = match bytes.strip_suffix(b"+") {
                Some(digits) => (digits, true),
                None => (bytes, false),
            };
            let number = core::str::from_utf8(digits).ok();
            let number = number.and_then(|digits| digits.parse().ok());
            let holds = |&number: &u64| match is_least {
                true => check.holds_from(number),
                false => check.holds(number),
            };
            number.filter(holds).map(|_| at)
        }
        CompiledTerm::In(lookup) => lookup.holds(bytes).then_some(at),
        CompiledTerm::Asn1(check) => asn1::holds(check, bytes, at, steps).then_some(at),
        CompiledTerm::Time(check) => {
            let text = core::str::from_utf8(bytes).ok();
            let time = text.and_then(seconds_of);
            time.filter(|&time| check.holds(time, steps.now_s))
                .map(|_| at)
        }
        // Decided in the order of keys.
        CompiledTerm::Written(..) => Some(at),
        CompiledTerm::Entropy(check) => {
            let part = bytes.get(check.offset as usize..).unwrap_or_default();
            let most = match check.bytes {
                0 => part.len(),
                bytes => bytes as usize,
            };
            let part = part.get(..most).unwrap_or(part);
            if !steps.take_bytes(part.len()) {
                return false;
            }
            let found = entropy(part);
            steps.entropy = Some(found);
            check.holds(found).then_some(at)
        }
        CompiledTerm::Size(check) => check.holds(bytes.len() as u64).then_some(at),
        CompiledTerm::Base64(decode) => {
            let place = if decode.relative { at } else { 0 };
            let begin = place.saturating_add(decode.offset as usize);
            let encoded = bytes.get(begin..).unwrap_or_default();
            let most = decode.bytes.map_or(encoded.len(), |most| most as usize);
            let encoded = encoded.get(..most).unwrap_or(encoded);
            if !steps.take_bytes(encoded.len()) {
                return false;
            }
            let mut decoded = Vec::new();
            base64(encoded, &mut decoded);
            let is_right =
                !decoded.is_empty() && from(&decode.terms, &decoded, 0, variables, steps);
            is_right.then_some(at)
        }
    };
    next.is_some_and(|at| from(rest, bytes, at, variables, steps))
}

/// How evenly bytes are distributed: Shannon's entropy, in bits a byte.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u64; 256];
    for &byte in bytes {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let all = bytes.len() as f64;
    let parts = counts.iter().filter(|&&count| count > 0);
    parts
        .map(|&count| {
            let share = count as f64 / all;
            -share * share.log2()
        })
        .sum()
}

fn from_content(
    content: &CompiledContent,
    rest: &[CompiledTerm],
    bytes: &[u8],
    at: usize,
    variables: &mut Variables,
    steps: &mut Steps,
) -> bool {
    let Some((mut begin, end)) = content.window(bytes.len(), at, variables) else {
        return content.negated && from(rest, bytes, at, variables, steps);
    };
    let window = bytes.get(..end).unwrap_or_default();
    loop {
        let found = content.find(window, begin, bytes.len());
        if content.negated {
            return found.is_none() && from(rest, bytes, at, variables, steps);
        }
        let Some(found) = found else { return false };
        if from(rest, bytes, found + content.pattern.len(), variables, steps) {
            return true;
        }
        if !content.is_followed || !steps.take() {
            return false;
        }
        begin = found + 1;
    }
}

impl CompiledContent {
    /// Where the content may lie: none if there is no such place.
    fn window(&self, len: usize, at: usize, variables: &Variables) -> Option<(usize, usize)> {
        let value = |operand: Option<_>| operand.map(|operand| variables.get(operand));
        let (begin, end) = if self.is_relative {
            let begin = (at as i64).checked_add(value(self.distance).unwrap_or(0))?;
            let end = match value(self.within) {
                Some(within) => begin.checked_add(within)?,
                None => i64::MAX,
            };
            (begin.max(0), end)
        } else {
            let begin = value(self.offset).unwrap_or(0).max(0);
            let end = match value(self.depth) {
                Some(depth) => begin.checked_add(depth)?,
                None => i64::MAX,
            };
            (begin, end)
        };
        let end = usize::try_from(end.max(0)).unwrap_or(usize::MAX).min(len);
        let begin = usize::try_from(begin).ok()?;
        let end = match self.startswith {
            true => end.min(self.pattern.len()),
            false => end,
        };
        (begin.checked_add(self.pattern.len())? <= end).then_some((begin, end))
    }

    /// The first place from `begin` on, within the window; at the end of `len` bytes if it has to.
    fn find(&self, window: &[u8], begin: usize, len: usize) -> Option<usize> {
        if self.endswith {
            let last = len.checked_sub(self.pattern.len())?;
            let there = window.get(last..)?;
            let is_it = match self.nocase {
                true => there.eq_ignore_ascii_case(&self.pattern),
                false => there == self.pattern,
            };
            return (last >= begin && is_it).then_some(last);
        }
        match &self.finder {
            Some(finder) => finder.find(window.get(begin..)?).map(|at| at + begin),
            None => find_nocase(&self.pattern, window, begin),
        }
    }
}

fn from_pcre(
    pcre: &Expression,
    rest: &[CompiledTerm],
    bytes: &[u8],
    at: usize,
    variables: &mut Variables,
    steps: &mut Steps,
) -> bool {
    let mut begin = if pcre.relative {
        at.min(bytes.len())
    } else {
        0
    };
    loop {
        let subject = bytes.get(begin..).unwrap_or_default();
        let found = pcre.find(subject).unwrap_or_else(|| {
            steps.is_pcre_exceeded = true;
            None
        });
        if pcre.negated {
            return found.is_none() && from(rest, bytes, at, variables, steps);
        }
        let Some((start, end)) = found else {
            return false;
        };
        if from(rest, bytes, begin + end, variables, steps) {
            return true;
        }
        if !pcre.is_followed || !steps.take() {
            return false;
        }
        begin += start + 1;
        if begin > bytes.len() {
            return false;
        }
    }
}

const fn base(at: usize, relative: bool) -> i64 {
    if relative { at as i64 } else { 0 }
}

/// Where a number stands; none if before the buffer.
fn place(at: usize, relative: bool, offset: i64) -> Option<usize> {
    usize::try_from(base(at, relative).checked_add(offset)?).ok()
}

fn count(operand: flowpin_rule::Operand, variables: &Variables) -> Option<usize> {
    usize::try_from(variables.get(operand))
        .ok()
        .filter(|&count| count <= 23)
}

fn byte_test(test: &ByteTest, bytes: &[u8], at: usize, variables: &Variables) -> bool {
    let place = place(at, test.width.relative, variables.get(test.offset));
    let read =
        place.and_then(|place| number(bytes, place, &test.width, count(test.count, variables)?));
    let Some((found, _)) = read else { return false };
    let value = variables.get(test.value) as u64;
    compare(found, test.comparison, value) != test.negated
}

/// Whether two numbers compare so.
pub(crate) fn compare(found: u64, comparison: Comparison, value: u64) -> bool {
    match comparison {
        Comparison::Less => found < value,
        Comparison::Greater => found > value,
        Comparison::Equal => found == value,
        Comparison::LessOrEqual => found <= value,
        Comparison::GreaterOrEqual => found >= value,
        Comparison::And => found & value != 0,
        Comparison::Or => found ^ value != 0,
    }
}

fn byte_jump(jump: &ByteJump, bytes: &[u8], at: usize, variables: &Variables) -> Option<usize> {
    let place = place(at, jump.width.relative, variables.get(jump.offset))?;
    let read = count(jump.count, variables)?;
    let (found, end) = match read {
        // Nothing is read: only the offsets count.
        0 => (0, place),
        read => number(bytes, place, &jump.width, read)?,
    };
    let mut distance = found.checked_mul(jump.multiplier.into())?;
    if jump.align {
        distance = distance.checked_next_multiple_of(4)?;
    }
    let from = match (jump.from_beginning, jump.from_end) {
        (true, _) => 0,
        (_, true) => bytes.len() as i64,
        _ => end as i64,
    };
    let post = variables.get(jump.post_offset);
    let to = from.checked_add_unsigned(distance)?.checked_add(post)?;
    usize::try_from(to).ok().filter(|&to| to <= bytes.len())
}

fn byte_extract(
    extract: &Extract,
    bytes: &[u8],
    at: usize,
    variables: &mut Variables,
) -> Option<usize> {
    let place = place(at, extract.width.relative, variables.get(extract.offset))?;
    let (found, end) = number(bytes, place, &extract.width, extract.width.bytes.into())?;
    let mut value = found.checked_mul(extract.multiplier.into())?;
    if extract.align > 0 {
        value = value.checked_next_multiple_of(extract.align.into())?;
    }
    variables.set(extract.to, i64::try_from(value).unwrap_or(i64::MAX));
    Some(end)
}

fn byte_math(math: &ByteMath, bytes: &[u8], at: usize, variables: &mut Variables) -> Option<usize> {
    let place = place(at, math.width.relative, variables.get(math.offset))?;
    let (found, end) = number(bytes, place, &math.width, count(math.count, variables)?)?;
    let value = variables.get(math.value) as u64;
    let result = match math.operation {
        MathOp::Add => found.wrapping_add(value),
        MathOp::Subtract => found.wrapping_sub(value),
        MathOp::Multiply => found.wrapping_mul(value),
        MathOp::Divide => found.checked_div(value)?,
        MathOp::ShiftLeft if value < 64 => found << value,
        MathOp::ShiftRight if value < 64 => found >> value,
        MathOp::ShiftLeft | MathOp::ShiftRight => 0,
    };
    variables.set(math.to, result as i64);
    Some(end)
}

#[cfg(test)]
mod tests;
