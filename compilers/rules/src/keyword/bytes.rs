//! Keywords that read numbers from a buffer, or ask for its length.

use super::{numbers, value};
use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{
    Base64, ByteJump, ByteMath, ByteTest, Comparison, Extract, IsDataAt, MathOp, Operand, Term,
    Width, buffer,
};

/// A number, or the name of a variable.
pub(super) fn operand(builder: &Builder<'_>, word: Word<'_>) -> Result<Operand, Fault> {
    let word = word.trim();
    let digits = word.text.trim_start_matches(['-', '+']);
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        return integer(word).map(Operand::Value);
    }
    builder.variable(word).map(Operand::Variable)
}

fn integer(word: Word<'_>) -> Result<i64, Fault> {
    let (sign, digits) = match word.text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word.text.trim_start_matches('+')),
    };
    let value = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(digits) => u64::from_str_radix(digits, 16)
            .ok()
            .map(|value| value as i64),
        None => digits.parse::<i64>().ok(),
    };
    let wrong = || word.fault(format!("\"{}\" is no number that fits here", word.text));
    value.map(|value| sign * value).ok_or_else(wrong)
}

/// What stands behind the places: how a number is read.
struct Rest {
    width: Width,
    multiplier: u16,
    align: u8,
    from_beginning: bool,
    from_end: bool,
    post_offset: Operand,
}

fn rest(
    builder: &Builder<'_>,
    words: &[Word<'_>],
    count: Operand,
    is_jump: bool,
) -> Result<Rest, Fault> {
    let mut rest = Rest {
        width: Width {
            bytes: match count {
                Operand::Value(count) => u8::try_from(count).unwrap_or(u8::MAX),
                Operand::Variable(_) => 0,
            },
            ..Width::default()
        },
        multiplier: 1,
        align: 0,
        from_beginning: false,
        from_end: false,
        post_offset: Operand::Value(0),
    };
    for &word in words {
        let (name, argument) = match word.text.split_once(char::is_whitespace) {
            Some((name, _)) => (name, word.part(name.len(), word.text.len()).trim()),
            None => (word.text, word.part(word.text.len(), word.text.len())),
        };
        match name {
            "relative" => rest.width.relative = true,
            "big" => rest.width.little = false,
            "little" => rest.width.little = true,
            "endian" if argument.text == "big" => rest.width.little = false,
            "endian" if argument.text == "little" => rest.width.little = true,
            "string" => {
                rest.width.base = Some(match argument.text {
                    "hex" => 16,
                    "oct" => 8,
                    "dec" => 10,
                    _ => rest.width.base.unwrap_or(10),
                });
            }
            "dec" => rest.width.base = Some(10),
            "hex" => rest.width.base = Some(16),
            "oct" => rest.width.base = Some(8),
            "align" if is_jump => rest.align = 4,
            "align" => rest.align = argument.number()?,
            "multiplier" => rest.multiplier = argument.number()?,
            "from_beginning" => rest.from_beginning = true,
            "from_end" => rest.from_end = true,
            "post_offset" => rest.post_offset = operand(builder, argument)?,
            "bitmask" => rest.width.mask = Some(integer(argument)? as u64),
            "dce" => return Err(word.fault("the byte order of DCE/RPC is not read")),
            _ => return Err(word.fault(format!("\"{}\" is not known here", word.text))),
        }
    }
    let most = match rest.width.base {
        Some(_) => 23,
        None => 8,
    };
    if rest.width.bytes > most {
        let why = format!("a number has at most {most} bytes here");
        return Err(words
            .first()
            .copied()
            .unwrap_or(Word { text: "", at: 0 })
            .fault(why));
    }
    Ok(rest)
}

fn needs(option: &RuleOption<'_>, form: &str) -> Fault {
    let why = format!("the form is {}:{form}", option.name.text);
    option.value.unwrap_or(option.name).fault(why)
}

/// `byte_test:COUNT, [!]OPERATOR, VALUE, OFFSET, ...`.
pub(super) fn test(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let words = value(option)?.split_commas();
    let [count, operator, value, offset, more @ ..] = words.as_slice() else {
        return Err(needs(option, "COUNT, OPERATOR, VALUE, OFFSET"));
    };
    let count = operand(builder, *count)?;
    let (word, negated) = match operator.strip_prefix('!') {
        Some(rest) if !rest.text.is_empty() => (rest.trim(), true),
        Some(rest) => (Word { text: "=", ..rest }, true),
        None => (*operator, false),
    };
    let rest = rest(builder, more, count, false)?;
    builder.push(Term::ByteTest(ByteTest {
        width: rest.width,
        count,
        comparison: comparison(word)?,
        negated,
        value: operand(builder, *value)?,
        offset: operand(builder, *offset)?,
    }));
    Ok(())
}

/// An operator of comparisons.
pub(super) fn comparison(word: Word<'_>) -> Result<Comparison, Fault> {
    Ok(match word.text {
        "<" => Comparison::Less,
        ">" => Comparison::Greater,
        "=" | "==" => Comparison::Equal,
        "<=" => Comparison::LessOrEqual,
        ">=" => Comparison::GreaterOrEqual,
        "&" => Comparison::And,
        "^" => Comparison::Or,
        _ => return Err(word.fault("an operator is < > = <= >= & or ^")),
    })
}

/// `byte_jump:COUNT, OFFSET, ...`.
pub(super) fn jump(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let words = value(option)?.split_commas();
    let [count, offset, more @ ..] = words.as_slice() else {
        return Err(needs(option, "COUNT, OFFSET"));
    };
    let count = operand(builder, *count)?;
    let rest = rest(builder, more, count, true)?;
    builder.push(Term::ByteJump(ByteJump {
        width: rest.width,
        count,
        offset: operand(builder, *offset)?,
        multiplier: rest.multiplier,
        align: rest.align != 0,
        from_beginning: rest.from_beginning,
        from_end: rest.from_end,
        post_offset: rest.post_offset,
    }));
    Ok(())
}

/// `byte_extract:COUNT, OFFSET, NAME, ...`.
pub(super) fn extract(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let words = value(option)?.split_commas();
    let [count, offset, name, more @ ..] = words.as_slice() else {
        return Err(needs(option, "COUNT, OFFSET, NAME"));
    };
    let rest = rest(builder, more, operand(builder, *count)?, false)?;
    let offset = operand(builder, *offset)?;
    let to = builder.new_variable(*name)?;
    builder.push(Term::Extract(Extract {
        width: rest.width,
        offset,
        multiplier: rest.multiplier,
        align: rest.align,
        to,
    }));
    Ok(())
}

/// `byte_math:bytes COUNT, offset OFFSET, oper OPERATOR, rvalue VALUE, result NAME, ...`.
pub(super) fn math(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let words = value(option)?.split_commas();
    let named = |name: &str| {
        words.iter().find_map(|word| {
            let rest = word.text.strip_prefix(name)?;
            let is_it = rest.starts_with(char::is_whitespace);
            is_it.then(|| word.part(name.len(), word.text.len()).trim())
        })
    };
    let need = |name: &str| {
        let form = "bytes COUNT, offset OFFSET, oper OPERATOR, rvalue VALUE, result NAME";
        named(name).ok_or_else(|| needs(option, form))
    };
    let operator = need("oper")?;
    let operation = match operator.text {
        "+" => MathOp::Add,
        "-" => MathOp::Subtract,
        "*" => MathOp::Multiply,
        "/" => MathOp::Divide,
        "<<" => MathOp::ShiftLeft,
        ">>" => MathOp::ShiftRight,
        _ => return Err(operator.fault("an operator is + - * / << or >>")),
    };
    let count = operand(builder, need("bytes")?)?;
    let own = ["bytes", "offset", "oper", "rvalue", "result"];
    let more = words.iter().filter(|word| {
        let first = word.text.split_whitespace().next();
        !own.contains(&first.unwrap_or_default())
    });
    let more: Vec<Word<'_>> = more.copied().collect();
    let rest = rest(builder, &more, count, false)?;
    let offset = operand(builder, need("offset")?)?;
    let value = operand(builder, need("rvalue")?)?;
    let to = builder.new_variable(need("result")?)?;
    builder.push(Term::Math(ByteMath {
        width: rest.width,
        count,
        offset,
        operation,
        value,
        to,
    }));
    Ok(())
}

/// `isdataat:[!]OFFSET[, relative]`.
pub(super) fn is_data_at(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let words = value(option)?.split_commas();
    let Some((&first, more)) = words.split_first() else {
        return Err(needs(option, "OFFSET"));
    };
    let (first, negated) = match first.strip_prefix('!') {
        Some(rest) => (rest, true),
        None => (first, false),
    };
    let mut relative = false;
    for word in more {
        match word.text {
            "relative" => relative = true,
            "rawbytes" => {}
            _ => return Err(word.fault("isdataat takes \"relative\" and \"rawbytes\"")),
        }
    }
    let offset = operand(builder, first)?;
    builder.push(Term::IsDataAt(IsDataAt {
        offset,
        relative,
        negated,
    }));
    Ok(())
}

/// `bsize`, and `urilen` with `norm` or `raw` behind it.
pub(super) fn size(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    if option.name.text == "bsize" {
        if !builder.is_in_buffer() {
            return Err(option
                .name
                .fault("\"bsize\" must follow the name of a buffer"));
        }
        builder.push(Term::Size(numbers::check(word)?));
        return Ok(());
    }
    let (check, of) = match word.split_once(',') {
        Some((check, form)) if form.text == "norm" => (check, "http.uri"),
        Some((check, form)) if form.text == "raw" => (check, "http.uri.raw"),
        Some((_, form)) => return Err(form.fault("urilen counts \"norm\" or \"raw\"")),
        None => (word, "http.uri.raw"),
    };
    if let Some((id, _)) = buffer(of) {
        builder.push_to(id, Term::Size(numbers::check(check)?));
    }
    Ok(())
}

/// `base64_decode[:bytes COUNT, offset OFFSET, relative]`.
pub(super) fn base64_decode(
    builder: &mut Builder<'_>,
    option: &RuleOption<'_>,
) -> Result<(), Fault> {
    let mut term = Base64 {
        bytes: None,
        offset: 0,
        relative: false,
        terms: Vec::new(),
    };
    let words = option.value.map(Word::split_commas).unwrap_or_default();
    for word in words {
        let mut parts = word.text.split_whitespace();
        let argument = |name: &str| word.part(name.len(), word.text.len()).trim();
        match parts.next() {
            Some("relative") => term.relative = true,
            Some("bytes") => term.bytes = Some(argument("bytes").number()?),
            Some("offset") => term.offset = argument("offset").number()?,
            _ => return Err(word.fault("base64_decode takes bytes, offset and relative")),
        }
    }
    builder.push(Term::Base64(term));
    Ok(())
}
