//! Segments that their receiver drops: they change nothing.

use crate::support::{ACK, FIN, Out, RST, SYN, SYN_ACK, World, client, options, server};
use crate::{begun, go_on};
use flowpin_config::{Named, SegmentOverlap};
use flowpin_reassembly::{Anomaly, Closed};
use proptest::prelude::*;

/// Segments that close nothing, whoever the receiver is, and the anomalies reported for them.
fn ignored_by_all() -> Vec<(&'static str, Out<'static>, Option<Anomaly>)> {
    let rst = |seq| Out {
        flags: RST,
        ..client(seq, "")
    };
    let fin = |seq, bytes| Out {
        flags: FIN,
        ..client(seq, bytes)
    };
    let bare_fin = Out {
        flags: flowpin_packet::TcpFlags::FIN,
        ..client(107, "")
    };
    let bad = |out| Out {
        bad_checksum: true,
        ..out
    };
    vec![
        (
            "RST before the window",
            rst(106),
            Some(Anomaly::InvalidReset),
        ),
        ("RST of old", rst(7), Some(Anomaly::InvalidReset)),
        ("RST with a bad checksum", bad(rst(107)), None),
        ("FIN with a bad checksum", bad(fin(107, "")), None),
        ("FIN without ACK", bare_fin, Some(Anomaly::MissingAck)),
        ("FIN of old", fin(101, ""), Some(Anomaly::InvalidFin)),
        (
            "FIN behind the window",
            fin(5000, ""),
            Some(Anomaly::InvalidFin),
        ),
        (
            "SYN inside",
            Out {
                flags: SYN,
                ..client(90_000, "")
            },
            Some(Anomaly::SynInConnection),
        ),
        (
            "SYN-ACK from the client",
            Out {
                flags: SYN_ACK,
                ..client(107, "")
            },
            Some(Anomaly::SynInConnection),
        ),
    ]
}

/// RFC 9293 §3.10.7.4, RFC 5961: segments that the receiver drops do not change the stream.
#[test]
fn what_no_receiver_believes_changes_nothing() {
    for &(policy, ..) in SegmentOverlap::ALL {
        for (name, out, told) in ignored_by_all() {
            let mut world = begun(policy);
            world.send(&out);
            assert_eq!(world.log.anomalies, Vec::from_iter(told), "{name}");
            go_on(&mut world);
            assert_eq!(world.text(true), "GET /evil\r\n", "{policy:?} {name}");
            assert_eq!(world.text(false), "200 OK");
            assert_eq!((&world.log.went_on, &world.log.closed), (&vec![], &vec![]));
            assert_eq!(world.log.anomalies, Vec::from_iter(told), "{name}");
        }
    }
}

/// RFC 5961 §5.2: data whose acknowledgement is more than a window old is not read; nor is data
/// that acknowledges what comes before the first byte, if its receiver does not acknowledge it.
#[test]
fn data_with_a_very_old_acknowledgement_is_not_read() {
    for (ack, read) in [
        (500u32.wrapping_sub(900_000), false),
        (499, false),
        (500, true),
    ] {
        let mut world = begun(SegmentOverlap::Linux);
        world.send(&Out {
            ack,
            ..client(107, "XX\r\n")
        });
        go_on(&mut world);
        let text = if read {
            "GET /evXX\r\n"
        } else {
            "GET /evil\r\n"
        };
        assert_eq!(world.text(true), text);
        assert_eq!(world.log.anomalies.contains(&Anomaly::InvalidAck), !read);
    }
}

/// RFC 7323 §5: a FIN with an old time stamp is dropped; for a RST it does not matter (§5.2).
#[test]
fn an_old_time_stamp_refuses_a_fin_and_no_reset() {
    let stamp = |value: u8| [1, 1, 8, 10, 0, 0, 0, value, 0, 0, 0, 0];
    for (flags, refused) in [(FIN, true), (RST, false)] {
        let mut world = World::new(&options(SegmentOverlap::Linux));
        let (now, old) = (stamp(9), stamp(3));
        for out in [
            Out {
                flags: SYN,
                begins: true,
                options: &now,
                ..client(99, "")
            },
            Out {
                flags: SYN_ACK,
                options: &now,
                ..server(499, 100, "")
            },
            Out {
                options: &now,
                ..client(100, "a")
            },
            Out {
                flags,
                options: &old,
                ..client(101, "")
            },
        ] {
            world.send(&out);
        }
        assert_eq!(
            world.log.anomalies.contains(&Anomaly::OldTimestamp),
            refused
        );
        world.end(3);
        let how = if refused {
            Closed::Ended
        } else {
            Closed::Reset
        };
        assert_eq!(world.log.closed.first(), Some(&(3, true, how)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// However many segments their receiver ignores, and wherever: the same bytes are read.
    #[test]
    fn ignored_segments_change_nothing(
        policy in prop::sample::select(SegmentOverlap::ALL),
        strays in prop::collection::vec((0usize..5, 0usize..9, any::<bool>(), 1u32..90), 0..12),
    ) {
        let script = [
            (true, "GET / HTTP/1.1\r\n"), (false, ""), (true, "\r\n"), (false, "200 OK"),
            (true, "GET /more"),
        ];
        let mut world = World::new(&options(policy.0));
        world.handshake(100, 500, 1000);
        world.send(&client(100, ""));
        let mut next = [100u32, 500];
        for (nth, (to_server, bytes)) in script.into_iter().enumerate() {
            for &(_, kind, up, by) in strays.iter().filter(|stray| stray.0 == nth) {
                let (mine, other) = if up { (next[0], next[1]) } else { (next[1], next[0]) };
                let out = |flags, seq: u32| Out {
                    to_server: up, flags, seq, ack: other, window: 1000, ..Out::default()
                };
                world.send(&match kind {
                    0 => out(RST, mine.wrapping_sub(by)),
                    1 => out(RST.with(ACK), mine.wrapping_sub(by)),
                    2 => Out { bad_checksum: true, ..out(RST, mine) },
                    3 => Out { bad_checksum: true, ..out(FIN, mine) },
                    4 => out(flowpin_packet::TcpFlags::FIN, mine),
                    5 => out(FIN, mine.wrapping_sub(by)),
                    // If both sides sent them, each would confirm the other.
                    6 if up => Out {
                        bytes: b"forged",
                        ack: other.wrapping_add(by),
                        ..out(ACK, mine)
                    },
                    7 if up => Out {
                        ack: other.wrapping_add(by),
                        ..out(ACK, mine)
                    },
                    _ => out(SYN, mine.wrapping_add(by)),
                });
            }
            let out = if to_server {
                Out { ack: next[1], window: 1000, ..client(next[0], bytes) }
            } else {
                server(next[1], next[0], bytes)
            };
            world.send(&out);
            next[usize::from(!to_server)] += u32::try_from(bytes.len()).unwrap();
        }
        prop_assert_eq!(world.text(true), "GET / HTTP/1.1\r\n\r\nGET /more");
        prop_assert_eq!(world.text(false), "200 OK");
        prop_assert_eq!(&world.log.closed, &vec![]);
        prop_assert_eq!(&world.log.went_on, &vec![]);
    }
}
