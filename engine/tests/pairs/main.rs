//! Pairs of connections: one as it is, one with a segment more that its receiver drops or never
//! gets. Both must be told the same.
#![allow(missing_docs, clippy::unwrap_used, reason = "test code")]

mod receiver;
mod run;
mod segment;

use receiver::{Effect, Receiver};
use run::{Flow, Told, run};
use segment::{ACK, Conversation, FIN, HTTP, ISS, RST, SMTP, SYN, Segment, conversation};

/// Where a segment is added, and which.
#[derive(Clone, Copy, Debug)]
struct Odd {
    before: usize,
    segment: Segment,
    effect: Effect,
}

const FLAGS: [u8; 12] = [
    SYN,
    SYN | ACK,
    ACK,
    0,
    FIN,
    FIN | ACK,
    RST,
    RST | ACK,
    SYN | FIN,
    SYN | RST,
    SYN | FIN | ACK,
    FIN | RST | ACK,
];

/// Distances from the number that is next.
const SEQS: [i32; 9] = [
    0,
    -1,
    1,
    40,
    70_000,
    -70_000,
    0x2000_0000,
    0x5000_0000,
    i32::MIN,
];
const ACKS: [i32; 8] = [0, -1, 1, 40, -200_000, 70_000, 0x2000_0000, i32::MIN];

const EVIL: [&[u8]; 2] = [
    b"GET /evil HTTP/1.1\r\nHost: e\r\n\r\n",
    b"HTTP/1.1 599 Evil\r\nContent-Length: 0\r\n\r\n",
];

/// What every segment can be that is added before one of a conversation's.
fn odd_ones(all: &Conversation, change: impl Fn(Segment) -> Segment) -> Vec<Odd> {
    let mut odd = Vec::new();
    for before in 0..=all.len() {
        let history = &all[..before];
        for (to_server, flags) in [true, false]
            .into_iter()
            .flat_map(|d| FLAGS.map(|f| (d, f)))
        {
            let next = |to_server: bool| {
                let own = history.iter().rev().find(|one| one.to_server == to_server);
                own.map_or(ISS[usize::from(!to_server)], Segment::end)
            };
            let receiver = Receiver::after(history, to_server);
            for seq in SEQS {
                let acks = if flags & ACK == 0 { &[0][..] } else { &ACKS };
                for &ack in acks {
                    for bytes in [b"", EVIL[usize::from(!to_server)]] {
                        let segment = change(Segment {
                            to_server,
                            flags,
                            seq: next(to_server).wrapping_add_signed(seq),
                            ack: next(!to_server).wrapping_add_signed(ack),
                            window: 64_240,
                            stamp: None,
                            bytes,
                            bad_checksum: false,
                        });
                        let effect = receiver.effect(&segment);
                        if may_begin_another(history, &segment) || opens_first(before, &segment) {
                            continue;
                        }
                        if effect == Effect::None || bytes.is_empty() {
                            odd.push(Odd {
                                before,
                                segment,
                                effect,
                            });
                        }
                    }
                }
            }
        }
    }
    odd
}

/// Once both sides have closed, a SYN may begin another connection (RFC 9293 §3.6.1).
fn may_begin_another(history: &[Segment], segment: &Segment) -> bool {
    let fins = history.iter().filter(|one| one.has(FIN)).count();
    fins == 2 && segment.has(SYN) && !segment.has(RST)
}

/// RFC 9293 §3.5: both open at once, and the one that was first is the client.
fn opens_first(before: usize, segment: &Segment) -> bool {
    before == 0 && !segment.to_server && segment.flags == SYN && segment.seq == ISS[1]
}

fn check(all: &Conversation, odd: &[Odd]) {
    let pairs = odd.iter().map(|odd| {
        let mut with = all.clone();
        with.insert(odd.before, odd.segment);
        with
    });
    let told = run([all.clone()].into_iter().chain(pairs));
    let (plain, rest) = told.split_first().unwrap();
    let plain = plain.flows.values().next().unwrap();
    assert!(!plain.messages.is_empty(), "{plain:?}");
    let differs = |odd: &Odd, told: &Told| {
        // Nothing shows whether a RST arrived that would have been accepted.
        let may_be_over = odd.effect == Effect::Some && odd.segment.has(RST);
        let is_same =
            |flow: &Flow| flow.messages == plain.messages && (may_be_over || flow.end == plain.end);
        !told.flows.values().any(is_same)
    };
    let bad: Vec<_> = odd
        .iter()
        .zip(rest)
        .filter(|(odd, told)| differs(odd, told))
        .collect();
    for (odd, told) in &bad {
        println!("{}", describe(odd, told, plain));
    }
    println!("{} of {} pairs differ", bad.len(), odd.len());
    assert!(bad.is_empty());
}

fn describe(odd: &Odd, told: &Told, plain: &Flow) -> String {
    let Segment {
        to_server,
        flags,
        seq,
        ack,
        bytes,
        ..
    } = odd.segment;
    let mut name = String::new();
    for (flag, letter) in [(SYN, 'S'), (FIN, 'F'), (RST, 'R'), (ACK, 'A')] {
        if flags & flag != 0 {
            name.push(letter);
        }
    }
    let is_told = told
        .flows
        .values()
        .any(|flow| flow.messages == plain.messages);
    let what = if is_told { "END" } else { "MSG" };
    let flows: Vec<_> = told
        .flows
        .values()
        .map(|flow| format!("{} {}", flow.messages.len(), flow.end))
        .collect();
    let number = |number: u32, side: bool| match number {
        0 => "0".to_owned(),
        _ => format!(
            "i{:+}",
            number.wrapping_sub(ISS[usize::from(!side)]).cast_signed()
        ),
    };
    format!(
        "{what} {:?} before {} {} {name:4} len {} {flows:?} told {:?}: seq {} ack {}",
        odd.effect,
        odd.before,
        if to_server { ">" } else { "<" },
        bytes.len(),
        told.anomalies,
        number(seq, to_server),
        number(ack, !to_server),
    )
}

#[test]
fn http() {
    let all = conversation(HTTP, true, false);
    check(&all, &odd_ones(&all, |one| one));
}

#[test]
fn http_without_a_lone_ack() {
    let all = conversation(HTTP, false, false);
    check(&all, &odd_ones(&all, |one| one));
}

#[test]
fn smtp() {
    let all = conversation(SMTP, true, false);
    check(&all, &odd_ones(&all, |one| one));
}

#[test]
fn stamps() {
    let all = conversation(HTTP, true, true);
    check(
        &all,
        &odd_ones(&all, |one| Segment {
            stamp: Some(5),
            ..one
        }),
    );
}

/// RFC 7323 §5.3: a segment that is dropped leaves its time stamp nowhere.
#[test]
fn stamps_of_the_future() {
    let all = conversation(HTTP, true, true);
    let mut odd = odd_ones(&all, |one| Segment {
        stamp: Some(900_000),
        ..one
    });
    // Whoever reads one refuses what follows.
    odd.retain(|odd| odd.effect == Effect::None);
    check(&all, &odd);
}

#[test]
fn checksums() {
    let all = conversation(HTTP, true, false);
    check(
        &all,
        &odd_ones(&all, |one| Segment {
            bad_checksum: true,
            ..one
        }),
    );
}
