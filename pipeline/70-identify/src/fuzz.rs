//! Fuzzing: any bytes in any turns, and what must hold whatever they are.

use crate::{Identifier, On, Search, SearchOptions, Searches, Step, Whose};
use flowpin_packet::Shard;
use std::sync::{Arc, OnceLock};

fn identifier() -> Option<Arc<Identifier>> {
    static ONE: OnceLock<Option<Arc<Identifier>>> = OnceLock::new();
    ONE.get_or_init(|| Identifier::new().ok().map(Arc::new))
        .clone()
}

/// Reads turns from `data` and searches them: as they are and byte by byte the verdict is the same,
/// and nothing stays behind. The same turns as datagrams, and as hellos, must not panic.
#[doc(hidden)]
pub fn fuzz_identify(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let Some(identifier) = identifier() else {
        return;
    };
    let turns: Vec<&[u8]> = data.split(|&byte| byte == 0xa5).collect();
    let ports = match settings & 3 {
        0 => (40_000, 50_000),
        1 => (40_000, u16::from(settings) << 2),
        2 => (40_000, u16::from(settings)),
        _ => (123, 53),
    };
    let options = SearchOptions {
        shard_bytes_max: 16 << 10,
        keeps_datagrams: true,
    };
    let Ok(mut searches) = Searches::new(Arc::clone(&identifier), options) else {
        return;
    };
    let whole = stream(&mut searches, &turns, ports, usize::MAX);
    let pieces = stream(&mut searches, &turns, ports, usize::from(settings >> 6) + 1);
    if whole != pieces {
        let name = |rule: Option<crate::RuleId>| rule.map(|rule| identifier.rule_name(rule));
        panic!(
            "whole {:?}, in pieces {:?}: {turns:02x?}",
            name(whole),
            name(pieces)
        );
    }
    let mut search = Search::default();
    for (index, turn) in turns.iter().enumerate() {
        let whose = whose(On::Udp, ports, index % 2 == 0);
        if searches.datagram(&mut search, whose, turn, turn.len()) != Step::Undecided {
            break;
        }
    }
    searches.release(&mut search);
    assert_eq!(searches.live(), 0);
}

fn whose(on: On, ports: (u16, u16), to_server: bool) -> Whose<'static> {
    Whose {
        shard: Shard(0),
        ports,
        on,
        to_server,
        connection: 0,
        lives: None,
        offset: 0,
        again: None,
    }
}

/// The verdict's rule, if there is one.
fn stream(
    searches: &mut Searches,
    turns: &[&[u8]],
    ports: (u16, u16),
    piece: usize,
) -> Option<crate::RuleId> {
    let mut search = Search::default();
    let mut rule = None;
    'turns: for (index, turn) in turns.iter().enumerate() {
        let whose = whose(On::Tcp, ports, index % 2 == 0);
        for part in turn.chunks(piece.min(turn.len().max(1))) {
            match searches.stream_bytes(&mut search, whose, part) {
                Step::Undecided => {}
                Step::Verdict(verdict) => {
                    rule = Some(verdict.rule);
                    break 'turns;
                }
                Step::GaveUp(_) => break 'turns,
            }
        }
    }
    for to_server in [true, false] {
        if rule.is_none() {
            let step = searches.stream_ended(&mut search, whose(On::Tcp, ports, to_server));
            if let Step::Verdict(verdict) = step {
                rule = Some(verdict.rule);
            }
        }
    }
    searches.release(&mut search);
    rule
}

#[cfg(test)]
mod tests {
    use crate::candidates::Set;
    use crate::testing::{client, datagram, identifier};
    use crate::{How, On};
    use proptest::prelude::*;

    /// What some protocols begin with, to be changed here and there.
    const BEGINNINGS: &[&[u8]] = &[
        b"\x16\x03\x01\x00\x40\x01\x00\x00\x3c\x03\x03",
        b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        b"POST /a HTTP/1.1\r\nContent-Type: text/xml\r\nSOAPAction: x\r\n\r\n",
        b"220 mail.example.org ESMTP\r\n",
        b"USER me\r\n",
        b"+OK ready\r\n",
        b"\x05\x01\x00",
        b"\x05\x00",
        b"\x68\x04\x07\x00\x00\x00\x68\x04\x01\x00\x02\x00",
        b"\x00\x01\x00\x00\x00\x06\x01\x03\x00\x00\x00\x0a",
        b"\xc0\x00\xd0\x00",
        b"\x03\x00\x00\x16\x11\xe0\x00\x00\x00\x01\x00\xc1\x02\x01\x00\xc2\x02\x01\x02\xc0\x01\x0a",
        b"\0\x1d\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x07example\x03org\0\0\x01\0\x01",
        b"SSH-2.0-x\r\n",
        b"\xff\xfd\x18\xff\xfd\x20\xff\xfd\x23",
        b"\x10\x11\x00\x04MQTT\x04\x02\x00\x3c\x00\x05abcde",
        b"{\"id\":1,\"method\":\"mining.subscribe\"}\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Verdicts depend on turns, never on segments; nothing panics, nothing stays behind.
        #[test]
        fn any_turns_are_searched_the_same_in_any_segments(
            settings in any::<u8>(),
            turns in prop::collection::vec(
                (
                    prop::sample::select(BEGINNINGS),
                    0usize..60,
                    any::<u8>(),
                    prop::collection::vec(any::<u8>(), 0..20),
                ),
                1..4,
            ),
        ) {
            let mut data = vec![settings];
            for (begin, at, byte, tail) in turns {
                let mut turn = begin.to_vec();
                if let Some(slot) = turn.get_mut(at) {
                    *slot = byte;
                }
                turn.extend(tail);
                data.extend(turn.into_iter().filter(|&byte| byte != 0xa5));
                data.push(0xa5);
            }
            super::fuzz_identify(&data);
        }

        /// Bytes without a structure are nobody's.
        #[test]
        fn random_bytes_have_no_name(data in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(datagram(&data), None);
            prop_assert_eq!(client(&data), None);
        }
    }

    /// One bit stands for each lead of a check: there is room for some more.
    #[test]
    fn there_are_not_too_many_leads() {
        let identifier = identifier();
        for on in [On::Tcp, On::Udp, On::Sctp] {
            let count = identifier.on(on).candidates.len();
            assert!(count + 32 < Set::LEN, "{count} leads over {on:?}");
        }
    }

    /// Names and rules are told in records: each means one thing.
    #[test]
    fn names_are_unique_and_in_lower_case() {
        let identifier = identifier();
        let mut names: Vec<&str> = identifier.protocols().iter().map(|one| one.name).collect();
        assert!(
            names
                .iter()
                .all(|name| !name.chars().any(char::is_uppercase))
        );
        let mut rules: Vec<&str> = identifier
            .protocols()
            .iter()
            .flat_map(|one| one.rules)
            .map(|rule| rule.name)
            .collect();
        for list in [&mut names, &mut rules] {
            list.sort_unstable();
            assert!(list.windows(2).all(|pair| pair[0] != pair[1]), "{list:?}");
        }
        let checks = identifier.protocols().iter().flat_map(|one| one.rules);
        for rule in checks {
            if let How::Check(leads, _) = rule.how {
                assert!(!leads.is_empty(), "{} is never asked", rule.name);
            }
        }
    }
}
