//! Keywords about what outlasts a packet: bits, numbers, counted alerts.

use super::{bytes, value};
use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{BitAction, Condition, Count, CountKind, IntOp, Track, Variant};

/// Reads an option of these.
pub(super) fn read(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    match option.name.text {
        "flowbits" => flowbits(builder, option),
        "flowint" => flowint(builder, option),
        "xbits" | "hostbits" => host_bits(builder, option),
        name => {
            let word = value(option)?;
            let filter = (name == "detection_filter").then_some(CountKind::DetectionFilter);
            let count = count(word, filter)?;
            builder.rule.counts.push(count);
            Ok(())
        }
    }
}

fn action(word: Word<'_>) -> Result<BitAction, Fault> {
    Ok(match word.text {
        "set" => BitAction::Set,
        "unset" => BitAction::Unset,
        "toggle" => BitAction::Toggle,
        "isset" => BitAction::IsSet,
        "isnotset" => BitAction::IsNotSet,
        _ => return Err(word.fault("one of set, unset, toggle, isset, isnotset, noalert")),
    })
}

fn flowbits(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    if word.text == "noalert" {
        builder.rule.noalert = true;
        return Ok(());
    }
    // Snort puts a group's name behind the bit's: it is of no use here.
    let words = word.split_commas();
    let [what, names, ..] = words.as_slice() else {
        return Err(word.fault("the form is flowbits:ACTION,NAME"));
    };
    let action = action(*what)?;
    // `a|b` is one or the other, `a&b` is both.
    for all in names.text.split('&') {
        let mut bits = Vec::new();
        for name in all.split('|').map(str::trim) {
            if name.is_empty() || name.contains(char::is_whitespace) {
                return Err(names.fault("a bit has a name without blanks"));
            }
            let number = builder.names.bits.number(name);
            bits.push(number.ok_or_else(|| names.fault("more than 65,536 bits"))?);
        }
        if bits.len() > 1 && !action.asks() {
            return Err(names.fault("only isset and isnotset take several bits"));
        }
        builder
            .rule
            .conditions
            .push(Condition::FlowBit(action, bits));
    }
    Ok(())
}

fn flowint(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    let words = word.split_commas();
    let form = || word.fault("the form is flowint:NAME,OPERATION[,VALUE]");
    let (name, operation, argument) = match words.as_slice() {
        [name, operation] => (name, operation, None),
        [name, operation, argument] => (name, operation, Some(*argument)),
        _ => return Err(form()),
    };
    let number = |builder: &mut Builder<'_>, name: &str| {
        let number = builder.names.bits.number(&format!("int:{name}"));
        number.ok_or_else(|| word.fault("more than 65,536 names"))
    };
    let operation = match operation.text {
        "=" => IntOp::Set,
        "+" => IntOp::Add,
        "-" => IntOp::Subtract,
        "isset" => IntOp::IsSet,
        "notset" | "isnotset" => IntOp::IsNotSet,
        "!=" => IntOp::Compare(flowpin_rule::Comparison::Equal, true),
        _ => IntOp::Compare(bytes::comparison(*operation)?, false),
    };
    let value = match (argument, operation) {
        (None, IntOp::IsSet | IntOp::IsNotSet) => Variant::Value(0),
        (None, _) => return Err(form()),
        (Some(argument), _) => match argument.text.parse() {
            Ok(value) => Variant::Value(value),
            Err(_) => Variant::Name(number(builder, argument.text)?),
        },
    };
    let name = number(builder, name.text)?;
    builder.rule.conditions.push(Condition::FlowInt {
        name,
        operation,
        value,
    });
    Ok(())
}

/// `xbits:ACTION,NAME,track ip_src|ip_dst|ip_pair[,expire SECONDS]`, and hostbits, whose third
/// part is a direction.
fn host_bits(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    if word.text == "noalert" {
        builder.rule.noalert = true;
        return Ok(());
    }
    let words = word.split_commas();
    let [what, name, more @ ..] = words.as_slice() else {
        return Err(word.fault("the form is ACTION,NAME,track ip_src|ip_dst|ip_pair"));
    };
    let action = action(*what)?;
    let is_host = option.name.text == "hostbits";
    let mut track = is_host.then_some(Track::Source);
    let mut expire_s = if is_host { HOST_BIT_S } else { X_BIT_S };
    for part in more {
        let mut parts = part.text.split_whitespace();
        match (parts.next(), parts.next()) {
            (Some("track"), Some("ip_src")) | (Some("src"), None) => track = Some(Track::Source),
            (Some("track"), Some("ip_dst")) | (Some("dst"), None) => {
                track = Some(Track::Destination);
            }
            (Some("track"), Some("ip_pair")) | (Some("both"), None) => track = Some(Track::Both),
            (Some("expire"), Some(seconds)) => {
                let seconds = seconds.parse().ok().filter(|&seconds| seconds > 0);
                expire_s = seconds.ok_or_else(|| part.fault("a bit lasts seconds"))?;
            }
            _ => return Err(part.fault("not known here")),
        }
    }
    let track = track.ok_or_else(|| word.fault("\"track\" is missing"))?;
    let kept = format!("{}:{}", if is_host { "host" } else { "x" }, name.text);
    let number = builder.names.host_bits.number(&kept);
    let number = number.ok_or_else(|| name.fault("more than 65,536 bits"))?;
    builder.rule.conditions.push(Condition::HostBit {
        action,
        name: number,
        track,
        expire_s,
    });
    Ok(())
}

/// Reads `type T, track T, count N, seconds N`, whose type may be known.
pub(crate) fn count(word: Word<'_>, kind: Option<CountKind>) -> Result<Count, Fault> {
    let (mut kind, mut track, mut count, mut seconds) = (kind, None, None, None);
    for part in word.split_commas() {
        let (name, argument) = part.split_once(' ').unwrap_or((part, part));
        match name.text {
            "type" => {
                kind = Some(match argument.text {
                    "limit" => CountKind::Limit,
                    "threshold" => CountKind::Threshold,
                    "both" => CountKind::Both,
                    "backoff" => return Err(argument.fault("backoff is not supported")),
                    _ => return Err(argument.fault("limit, threshold or both")),
                });
            }
            "track" => {
                track = Some(match argument.text {
                    "by_src" => Track::Source,
                    "by_dst" => Track::Destination,
                    "by_both" => Track::Both,
                    "by_rule" => Track::Rule,
                    "by_flow" => Track::Flow,
                    _ => return Err(argument.fault("by_src, by_dst, by_both, by_rule, by_flow")),
                });
            }
            "count" => count = Some(argument.number()?),
            "seconds" => seconds = Some(argument.number()?),
            "unique_on" => return Err(argument.fault("unique_on is not supported")),
            _ => return Err(part.fault("not known here")),
        }
    }
    match (kind, track, count, seconds) {
        (Some(kind), Some(track), Some(count), Some(seconds)) if count > 0 && seconds > 0 => {
            Ok(Count {
                kind,
                track,
                count,
                seconds,
            })
        }
        _ => Err(word.fault("type, track, count and seconds are needed, above 0")),
    }
}

/// As in Suricata.
const X_BIT_S: u32 = 30;
const HOST_BIT_S: u32 = 300;
