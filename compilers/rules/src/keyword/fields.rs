//! Conditions on fields of packets that not all packets have: options, VLAN tags, checksums.

use super::{numbers, value};
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{ChecksumOf, Condition, HeaderNumber};

/// Reads an option of these; none if it is another one.
pub(super) fn read(option: &RuleOption<'_>) -> Option<Result<Condition, Fault>> {
    let name = option.name.text;
    let number = |which| {
        let word = value(option)?;
        Ok(Condition::Header(which, numbers::check(word)?))
    };
    Some(match name {
        "tcp.mss" => number(HeaderNumber::Mss),
        "tcp.wscale" => number(HeaderNumber::WindowScale),
        "icmpv6.mtu" => number(HeaderNumber::Mtu),
        "vlan.layers" => number(HeaderNumber::VlanLayers),
        "vlan.id" => vlan(option),
        "ipopts" => ip_option(option),
        "l3_proto" => version(option),
        _ => {
            let (_, of) = CHECKSUMS.iter().find(|(known, _)| *known == name)?;
            checksum(option, *of)
        }
    })
}

/// `vlan.id:NUMBER[,LAYER]`: without a layer, any tag.
fn vlan(option: &RuleOption<'_>) -> Result<Condition, Fault> {
    let word = value(option)?;
    let (number, layer) = match word.split_once(',') {
        None => (word, None),
        Some((number, layer)) => {
            let depth = match layer.text {
                "any" => None,
                digits => {
                    let depth = digits.parse().ok().filter(|depth| DEPTHS.contains(depth));
                    let why = "a layer is any, or from -3 to 2";
                    Some(depth.ok_or_else(|| layer.fault(why))?)
                }
            };
            (number, depth)
        }
    };
    let check = numbers::check(number)?;
    if check.only().is_some_and(|id| id > VLAN_MAX) {
        return Err(number.fault("the identifier of a VLAN is at most 4095"));
    }
    Ok(Condition::Header(HeaderNumber::Vlan(layer), check))
}

/// `ipopts:rr` and the like.
fn ip_option(option: &RuleOption<'_>) -> Result<Condition, Fault> {
    let word = value(option)?.unquoted();
    let known = IP_OPTIONS.iter().find(|(name, _)| *name == word.text);
    let Some((_, kind)) = known else {
        return Err(one_of(word, IP_OPTIONS.iter().map(|one| one.0)));
    };
    Ok(Condition::IpOption(*kind))
}

/// `l3_proto:ipv4`.
fn version(option: &RuleOption<'_>) -> Result<Condition, Fault> {
    let word = value(option)?.unquoted();
    match word.text.to_ascii_lowercase().as_str() {
        "ipv4" | "ip4" | "ip" => Ok(Condition::IpVersion(4)),
        "ipv6" | "ip6" => Ok(Condition::IpVersion(6)),
        _ => Err(one_of(word, ["ipv4", "ipv6"].into_iter())),
    }
}

/// `tcpv4-csum:valid|invalid`.
fn checksum(option: &RuleOption<'_>, of: ChecksumOf) -> Result<Condition, Fault> {
    let word = value(option)?.unquoted();
    match word.text {
        "valid" => Ok(Condition::Checksum(of, true)),
        "invalid" => Ok(Condition::Checksum(of, false)),
        _ => Err(one_of(word, ["valid", "invalid"].into_iter())),
    }
}

fn one_of<'a>(word: Word<'_>, known: impl Iterator<Item = &'a str>) -> Fault {
    word.fault(format!("one of {}", known.collect::<Vec<_>>().join(", ")))
}

const VLAN_MAX: u64 = 4095;
/// Tags from the outside, and from the inside.
const DEPTHS: core::ops::RangeInclusive<i8> = -3..=2;

/// Kinds of IPv4 options (RFC 791 §3.1, RFC 1108).
const IP_OPTIONS: [(&str, Option<u8>); 10] = [
    ("any", None),
    ("eol", Some(0)),
    ("nop", Some(1)),
    ("rr", Some(7)),
    ("ts", Some(68)),
    ("sec", Some(130)),
    ("lsrr", Some(131)),
    ("esec", Some(133)),
    ("satid", Some(136)),
    ("ssrr", Some(137)),
];

const CHECKSUMS: [(&str, ChecksumOf); 7] = [
    ("ipv4-csum", ChecksumOf::Ipv4),
    ("tcpv4-csum", ChecksumOf::OverIpv4(6)),
    ("udpv4-csum", ChecksumOf::OverIpv4(17)),
    ("icmpv4-csum", ChecksumOf::OverIpv4(1)),
    ("tcpv6-csum", ChecksumOf::OverIpv6(6)),
    ("udpv6-csum", ChecksumOf::OverIpv6(17)),
    ("icmpv6-csum", ChecksumOf::OverIpv6(58)),
];
