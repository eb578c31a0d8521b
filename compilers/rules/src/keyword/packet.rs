//! Conditions on packets and connections.

use super::{numbers, value};
use crate::builder::Builder;
use crate::header::APPS;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_record::ToolNames;
use flowpin_rule::{BufferId, Condition, Content, FlagsCheck, FlowSide, NumberCheck, Spoken, Term};

/// Reads an option of these.
pub(super) fn read(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let name = option.name.text;
    if name == "flow" {
        return flow(builder, option);
    }
    if name == "sameip" {
        builder.rule.conditions.push(Condition::SameIp);
        return Ok(());
    }
    let word = value(option)?;
    let condition = match name {
        "flags" | "tcp.flags" => Condition::Flags(flags(word, &TCP_FLAGS)?),
        "fragbits" => Condition::Fragments(flags(word, &FRAGMENT_BITS)?),
        "dsize" => Condition::PayloadSize(numbers::check(word)?),
        "ttl" => Condition::Ttl(numbers::check(word)?),
        "tos" => Condition::Tos(tos(word)?),
        "id" => Condition::Id(numbers::check(word)?),
        "ip_proto" => Condition::IpProtocol(ip_protocol(word)?),
        "fragoffset" => Condition::FragmentOffset(numbers::check(word)?),
        "seq" | "tcp.seq" => Condition::Seq(numbers::check(word)?),
        "ack" | "tcp.ack" => Condition::Ack(numbers::check(word)?),
        "window" | "tcp.window" => Condition::Window(numbers::check(word)?),
        "itype" => Condition::IcmpType(icmp(word)?),
        "icode" => Condition::IcmpCode(icmp(word)?),
        "icmp_id" => Condition::IcmpId(numbers::check(word)?),
        "icmp_seq" => Condition::IcmpSeq(numbers::check(word)?),
        "stream_size" => stream_size(word)?,
        "flow.age" => Condition::FlowAge(numbers::check(word)?),
        "flow.pkts" => of_side(word, Condition::FlowPackets)?,
        "flow.bytes" => of_side(word, Condition::FlowBytes)?,
        "flow.pkts_toserver" => Condition::FlowPackets(FlowSide::Client, numbers::check(word)?),
        "flow.pkts_toclient" => Condition::FlowPackets(FlowSide::Server, numbers::check(word)?),
        "flow.bytes_toserver" => Condition::FlowBytes(FlowSide::Client, numbers::check(word)?),
        "flow.bytes_toclient" => Condition::FlowBytes(FlowSide::Server, numbers::check(word)?),
        "app-layer-protocol" => app_protocol(word, builder.names.has_other_protocols)?,
        _ => return Err(option.name.fault("it stands where it has no meaning")),
    };
    builder.rule.conditions.push(condition);
    Ok(())
}

fn flow(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let flow = &mut builder.rule.flow;
    for word in value(option)?.split_commas() {
        match word.text.to_ascii_lowercase().as_str() {
            "established" => flow.established = Some(true),
            "not_established" => flow.established = Some(false),
            "stateless" => flow.established = None,
            "to_server" | "from_client" => flow.to_server = Some(true),
            "to_client" | "from_server" => flow.to_server = Some(false),
            "only_stream" => flow.only_stream = Some(true),
            "no_stream" => flow.only_stream = Some(false),
            "only_frag" => flow.only_fragments = Some(true),
            "no_frag" => flow.only_fragments = Some(false),
            other => {
                let why = format!("\"{other}\" is no state or direction of connections");
                return Err(word.fault(why));
            }
        }
    }
    Ok(())
}

const TCP_FLAGS: [(char, u8); 12] = [
    ('F', 0x01),
    ('S', 0x02),
    ('R', 0x04),
    ('P', 0x08),
    ('A', 0x10),
    ('U', 0x20),
    ('E', 0x40),
    ('C', 0x80),
    ('1', 0x80),
    ('2', 0x40),
    ('0', 0),
    ('N', 0),
];
/// Of the three bits as a number: reserved, don't fragment, more fragments.
const FRAGMENT_BITS: [(char, u8); 3] = [('R', 4), ('D', 2), ('M', 1)];

/// `[!*+]BITS[,IGNORED]`.
fn flags(word: Word<'_>, known: &[(char, u8)]) -> Result<FlagsCheck, Fault> {
    let mut check = FlagsCheck::default();
    let (is, ignored) = match word.split_once(',') {
        Some((is, ignored)) => (is, Some(ignored)),
        None => (word, None),
    };
    let bit = |c: char| {
        let found = known.iter().find(|(one, _)| one.eq_ignore_ascii_case(&c));
        found.map(|&(_, bit)| bit)
    };
    for c in is.text.chars() {
        match (c, bit(c)) {
            (_, Some(bit)) => check.bits |= bit,
            ('+', _) => check.plus = true,
            ('*', _) => check.any = true,
            ('!', _) => check.negated = true,
            (c, _) if c.is_whitespace() => {}
            (c, _) => return Err(word.fault(format!("\"{c}\" is no flag"))),
        }
    }
    for c in ignored.map_or("", |word| word.text).chars() {
        match bit(c) {
            Some(bit) => check.ignored |= bit,
            None if c.is_whitespace() => {}
            None => return Err(word.fault(format!("\"{c}\" is no flag"))),
        }
    }
    Ok(check)
}

/// Snort writes ranges with both ends in them.
fn icmp(word: Word<'_>) -> Result<NumberCheck, Fault> {
    numbers::check(word)
}

fn tos(word: Word<'_>) -> Result<NumberCheck, Fault> {
    let (digits, negated) = match word.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (word, false),
    };
    let value = match digits.text.strip_prefix(['x', 'X']) {
        Some(hex) => u64::from_str_radix(hex, 16).map_err(|_| digits.fault("no number"))?,
        None => digits.number()?,
    };
    let check = NumberCheck::equal(value);
    Ok(if negated { check.negated() } else { check })
}

fn ip_protocol(word: Word<'_>) -> Result<NumberCheck, Fault> {
    let (name, negated) = match word.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (word, false),
    };
    let known = PROTOCOLS.iter();
    let mut known = known.filter(|(one, _)| one.eq_ignore_ascii_case(name.text));
    let check = match known.next() {
        Some(&(_, number)) => NumberCheck::equal(number),
        None => numbers::check(name)?,
    };
    Ok(if negated { check.negated() } else { check })
}

const PROTOCOLS: [(&str, u64); 16] = [
    ("icmp", 1),
    ("igmp", 2),
    ("ipip", 4),
    ("tcp", 6),
    ("egp", 8),
    ("udp", 17),
    ("dccp", 33),
    ("ipv6", 41),
    ("rsvp", 46),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("ipv6-icmp", 58),
    ("ospf", 89),
    ("pim", 103),
    ("sctp", 132),
];

/// `toserver|toclient|both|either, NUMBER`.
fn of_side(
    word: Word<'_>,
    make: fn(FlowSide, NumberCheck) -> Condition,
) -> Result<Condition, Fault> {
    let words = word.split_commas();
    let [side, number] = words.as_slice() else {
        return Err(word.fault("the form is DIRECTION,NUMBER"));
    };
    let side = match side.text {
        "toserver" => FlowSide::Client,
        "toclient" => FlowSide::Server,
        "both" => FlowSide::Both,
        "either" => FlowSide::Either,
        _ => return Err(side.fault("a direction is toserver, toclient, both or either")),
    };
    Ok(make(side, numbers::check(*number)?))
}

/// `client|server|both|either, OPERATOR, BYTES`.
fn stream_size(word: Word<'_>) -> Result<Condition, Fault> {
    let words = word.split_commas();
    let [side, operator, bytes] = words.as_slice() else {
        return Err(word.fault("the form is stream_size:SIDE, OPERATOR, BYTES"));
    };
    let side = match side.text {
        "client" => FlowSide::Client,
        "server" => FlowSide::Server,
        "both" => FlowSide::Both,
        "either" => FlowSide::Either,
        _ => return Err(side.fault("a side is client, server, both or either")),
    };
    let value: u64 = bytes.number()?;
    let check = match operator.text {
        "=" => NumberCheck::equal(value),
        "!=" | "!" => NumberCheck::equal(value).negated(),
        "<=" => NumberCheck::within(0, value),
        ">=" => NumberCheck::within(value, u64::MAX),
        "<" if value > 0 => NumberCheck::within(0, value - 1),
        ">" if value < u64::MAX => NumberCheck::within(value + 1, u64::MAX),
        _ => return Err(operator.fault("an operator is < > = != <= >=")),
    };
    Ok(Condition::StreamSize(side, check))
}

/// `tls.subject:"..."`: a content of that buffer.
pub(super) fn text(
    builder: &mut Builder<'_>,
    buffer: BufferId,
    word: Word<'_>,
) -> Result<(), Fault> {
    let (word, negated) = match word.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (word, false),
    };
    let content = Content {
        pattern: super::content::pattern(word)?,
        negated,
        ..Content::default()
    };
    builder.push_to(buffer, Term::Content(content));
    Ok(())
}

/// `has_others`: patterns or grammars of the user's may bring protocols of any name.
fn app_protocol(word: Word<'_>, has_others: bool) -> Result<Condition, Fault> {
    let (name, negated) = match word.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (word, false),
    };
    let (name, spoken) = match name.split_once(',') {
        Some((name, which)) => {
            let spoken = match which.trim().text {
                "either" => Spoken::Ever,
                "final" => Spoken::Last,
                "original" => Spoken::First,
                "to_server" | "toserver" => Spoken::ByClient,
                "to_client" | "toclient" => Spoken::ByServer,
                _ => {
                    let why = "it is original, final, either, to_server or to_client";
                    return Err(which.fault(why));
                }
            };
            (name.trim(), spoken)
        }
        None => (name, Spoken::Ever),
    };
    let lower = name.text.to_ascii_lowercase();
    let is_known = lower == "http1" || APPS.contains(&lower.as_str()) || ToolNames::is_name(&lower);
    if !is_known && !has_others {
        let why = match lower.as_str() {
            "unknown" | "failed" => "that no protocol is known is not evaluated".to_owned(),
            _ => format!(
                "\"{}\" is no protocol that is known here: {}, or another one of `flowpin \
                 patterns list`",
                name.text,
                APPS.join(", ")
            ),
        };
        return Err(name.fault(why));
    }
    Ok(Condition::AppProtocol {
        name: lower,
        spoken,
        negated,
    })
}
