//! What is nothing must have no name: random bytes (also encrypted ones), packed ones, text, base
//! 64.

use crate::testing::{searches, whose};
use crate::{On, Search, Step};
use flowpin_testkit::noise::{KINDS, Numbers, noise};
use std::collections::BTreeMap;

/// What has a name though it is nothing, by rule: how often, and once what it was.
type Named = BTreeMap<String, (u32, Vec<u8>)>;

/// Sends `rounds` datagrams and as many streams of each kind, to ports where `port` says.
fn named(rounds: u32, seed: u64, port: impl Fn(&mut Numbers) -> u16) -> Named {
    let mut searches = searches();
    let mut numbers = Numbers(seed);
    let mut named = Named::new();
    for _ in 0..rounds {
        for (kind, on) in KINDS
            .into_iter()
            .flat_map(|kind| [(kind, On::Udp), (kind, On::Tcp)])
        {
            let bytes = noise(&mut numbers, kind);
            let whose = whose(on, numbers.below(2) == 0, (50_000, port(&mut numbers)));
            let mut search = Search::default();
            let mut step = match on {
                On::Tcp => searches.stream_bytes(&mut search, whose, &bytes),
                _ => searches.datagram(&mut search, whose, &bytes, bytes.len()),
            };
            if step == Step::Undecided && on == On::Tcp {
                step = searches.stream_ended(&mut search, whose);
            }
            if let Step::Verdict(verdict) = step {
                let rule = searches.identifier().rule_name(verdict.rule);
                let name = format!("{rule} of {kind:?} over {on:?} at {}", whose.ports.1);
                let one = named.entry(name).or_default();
                *one = (one.0 + 1, bytes.get(..32).unwrap_or(&bytes).to_vec());
            }
            searches.release(&mut search);
        }
    }
    named
}

fn count(named: &Named) -> u32 {
    for (name, (count, bytes)) in named {
        println!("{count} {name}: {bytes:02x?}");
    }
    named.values().map(|&(count, _)| count).sum()
}

fn any_port(numbers: &mut Numbers) -> u16 {
    10_000 + u16::try_from(numbers.below(40_000)).unwrap()
}

/// One that some protocol is often on.
fn known_port(numbers: &mut Numbers) -> u16 {
    let identifier = crate::testing::identifier();
    let protocols = identifier.protocols();
    loop {
        let ports = protocols[numbers.below(protocols.len())].ports;
        if !ports.is_empty() {
            return ports[numbers.below(ports.len())];
        }
    }
}

const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// At most one in 100,000: here one in all, as these are that many.
#[test]
fn noise_has_no_name() {
    assert!(count(&named(12_500, SEED, any_port)) <= 1);
}

/// A port stands for eight bits of evidence at most (`docs/decisions/0011-ports-are-evidence.md`):
/// on the ports of protocols, where it counts, noise has a name less often than once in 65,536.
#[test]
fn a_port_alone_names_nothing() {
    assert!(count(&named(50_000, SEED, known_port)) <= 6);
}

/// Ten million datagrams and as many streams of each kind: at most 100 false verdicts in all, by
/// the upper end of a 95 % interval. Takes minutes:
/// `cargo test --release -p flowpin-identify ten_million -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes"]
fn ten_million_of_each_have_hardly_a_name() {
    let found = f64::from(count(&named(10_000_000, !SEED, any_port)));
    // Of a Poisson distribution, by the normal approximation with continuity.
    let upper = (found + 1.0) + 1.96 * (found + 1.0).sqrt();
    println!("{found} false verdicts in 80 million, at most {upper:.0} with 95 % confidence");
    assert!(upper <= 100.0);
}
