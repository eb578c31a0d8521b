//! Parsers whose memory is short: what is cut is the same for every shape, and what is closed
//! makes room.

use crate::talk::{Turns, run_with, talk_of};
use flowpin_config::{Format, Plan};
use flowpin_counters::Loss;

/// Connections of each parser, several in a shard: with hardly any memory most are cut short, and
/// what is left is the same for every shape.
#[test]
fn messages_are_the_same_for_every_shape_where_caps_are_met() {
    let hello = {
        let mut hello = vec![22, 3, 1, 8, 4, 1, 0, 8, 0, 3, 3];
        hello.resize(5 + 0x804, 0);
        hello
    };
    let long = [b'v'; 3000];
    let mail = [
        b"MAIL FROM:<a>\r\nDATA\r\nSubject: ".as_slice(),
        &long,
        b"\r\n",
    ]
    .concat();
    let set = [b"*2\r\n$3\r\nGET\r\n$3000\r\n".as_slice(), &long, b"\r\n"].concat();
    let invite = [
        b"INVITE sip:a SIP/2.0\r\nSubject: ".as_slice(),
        &long,
        b"\r\n\r\n",
    ]
    .concat();
    let order = b"8=FIX.4.4\x019=3019\x0135=D\x0111=a\x0158=";
    let order = [order.as_slice(), &long, b"\x01"].concat();
    let query = b"\0\x11\0\x07\x01\0\0\x01\0\0\0\0\0\0\0\0\x01\0\x01";
    let query = [query.as_slice(), b"\x0b\xb8\0\x08\x01\0\0\x01", &long].concat();
    let get = [
        b"GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: ".as_slice(),
        &long,
        b"\r\n\r\n",
    ]
    .concat();
    let talks: [Turns<'_>; 7] = [
        &[
            (true, &get),
            (true, &get),
            (true, &get),
            (false, b"HTTP/1.1 200 OK\r\n\r\nx"),
        ],
        &[
            (true, &hello),
            (false, b"\x16\x03\x03\x08\x04\x02\0\x08\0\x03\x03abc"),
        ],
        &[(true, &order), (true, &order[..2000])],
        &[(true, &query), (false, &query[..1000])],
        &[
            (false, b"220 a ESMTP\r\n"),
            (true, b"EHLO a\r\n"),
            (false, b"250 a\r\n"),
            (true, &mail),
        ],
        &[(true, &set), (true, &set), (false, b"+OK\r\n")],
        &[
            (true, &invite),
            (false, b"SIP/2.0 200 OK\r\n\r\n"),
            (true, &invite),
        ],
    ];
    let mut frames: Vec<std::vec::IntoIter<Vec<u8>>> = (0..4200u16)
        .map(|nth| talk_of(talks[usize::from(nth) % 7], 700, nth).into_iter())
        .collect();
    let mut mixed = Vec::new();
    loop {
        let before = mixed.len();
        mixed.extend(frames.iter_mut().filter_map(Iterator::next));
        if mixed.len() == before {
            break;
        }
    }
    let written = |pipeline: &str| {
        let folder = tempfile::tempdir().unwrap();
        let change = |plan: &mut Plan| plan.memory_bytes = 1 << 20;
        let report = run_with(&mixed, pipeline, &[Format::Eve], folder.path(), change);
        let met: Vec<Loss> = report.losses.iter().map(|(loss, _)| loss).collect();
        (met, std::fs::read(folder.path().join("eve.json")).unwrap())
    };
    let reference = written("1x1");
    let evicted = Loss::ConnectionsEvicted;
    assert!(reference.0.contains(&evicted), "{:?}", reference.0);
    for pipeline in ["2x1", "2x3"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
}

/// Connections one after the other, so many of them open at a time.
fn in_turn(turns: Turns<'_>, count: u16, open: usize) -> Vec<Vec<u8>> {
    let mut waiting = (0..count).map(|nth| talk_of(turns, 1400, nth).into_iter());
    let mut talking: Vec<_> = waiting.by_ref().take(open).collect();
    let mut frames = Vec::new();
    while !talking.is_empty() {
        talking.retain_mut(|one| match one.next() {
            Some(frame) => {
                frames.push(frame);
                true
            }
            None => match waiting.next() {
                Some(next) => {
                    *one = next;
                    true
                }
                None => false,
            },
        });
        // Not all in step: those in front are ahead.
        let ahead = talking.len() / 2;
        talking.rotate_left(ahead);
    }
    frames
}

/// What is no loss of a parser: all of them are one session of FIX, whose numbers begin anew again
/// and again; and so many addresses are more than the summary's rows with little memory.
const ELSEWHERE: [Loss; 3] = [
    Loss::AnomaliesSuppressed,
    Loss::AddressesSummed,
    Loss::HostPairsSummed,
];

/// What a parser has of a connection is free for others as soon as both sides have closed it, not
/// only when the connection table lets go of it: of short connections, however many, none is left
/// out. What was begun and not answered is told there and then.
#[test]
fn a_closed_connection_makes_room_for_others_at_once() {
    let fix = b"8=FIX.4.2\x019=41\x0135=0\x0149=A\x0156=B\x0134=1\x0152=20260101-00:00:00\x0110=";
    let sum = fix[..fix.len() - 3].iter().map(|&byte| u32::from(byte));
    let sum = format!("{:03}\x01", sum.sum::<u32>() % 256);
    let heartbeat = [fix.as_slice(), sum.as_bytes()].concat();
    let query = b"\0\x11\0\x07\x01\0\0\x01\0\0\0\0\0\0\0\0\x01\0\x01";
    let talks: [(&str, Turns<'_>, usize); 5] = [
        ("fix", &[(true, &heartbeat), (false, &heartbeat)], 2),
        (
            "smtp",
            &[
                (false, b"220 mx.example ESMTP\r\n"),
                (true, b"EHLO a\r\n"),
                (false, b"250 ok\r\n"),
                (true, b"MAIL FROM:<a@b>\r\n"),
            ],
            1,
        ),
        ("redis", &[(true, b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n")], 1),
        ("dns", &[(true, query)], 1),
        (
            "sip",
            &[(true, b"OPTIONS sip:a SIP/2.0\r\nCall-ID: 1\r\n\r\n")],
            1,
        ),
    ];
    for (name, turns, records) in talks {
        let count = 20_000;
        let frames = in_turn(turns, count, 101);
        let lines = |pipeline: &str| {
            let folder = tempfile::tempdir().unwrap();
            let report = run_with(&frames, pipeline, &[Format::Eve], folder.path(), |plan| {
                plan.memory_bytes = 32 << 20;
                plan.scans.enabled = false;
            });
            let lost = report.losses.iter().map(|(loss, _)| loss);
            let lost: Vec<Loss> = lost.filter(|loss| !ELSEWHERE.contains(loss)).collect();
            assert_eq!(lost, [], "{name}");
            assert_eq!(report.parse.connections, u64::from(count), "{name}");
            std::fs::read_to_string(folder.path().join("eve.json")).unwrap()
        };
        let written = lines("1x1");
        let kind = format!("\"event_type\":\"{name}\"");
        let told = written.lines().filter(|line| line.contains(&kind)).count();
        assert_eq!(told, usize::from(count) * records, "{name}");
        assert!(lines("2x3") == written, "{name}");
    }
}
