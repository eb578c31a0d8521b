//! Before the handshake is complete: what ends nothing, and which numbers count.

use crate::support::{ACK, FIN, Out, RST, SYN, SYN_ACK, World, client, options, server};
use flowpin_config::{Named, SegmentOverlap};

/// RFC 9293 §3.10.7.3 and §3.10.4: before the handshake is complete neither counts, unless the RST
/// acknowledges the SYN; nor does a RST that no host received.
#[test]
fn nothing_ends_before_the_handshake() {
    let syn = Out {
        flags: SYN,
        begins: true,
        ..client(99, "")
    };
    let early = [
        Out {
            flags: flowpin_packet::TcpFlags::FIN,
            ..client(100, "")
        },
        Out {
            flags: FIN,
            ack: 7,
            ..client(100, "")
        },
        Out {
            flags: RST.with(ACK),
            ..server(0, 99, "")
        },
        Out {
            flags: RST.with(ACK),
            ..server(0, 5000, "")
        },
        Out {
            flags: RST,
            ..server(500, 0, "")
        },
        Out {
            flags: RST.with(ACK),
            ..server(0, 100, "")
        },
        Out {
            flags: RST,
            ..client(100, "")
        },
    ];
    for &(policy, ..) in SegmentOverlap::ALL {
        for (nth, out) in early.iter().enumerate() {
            let mut world = World::new(&options(policy));
            world.send(&syn);
            world.send(out);
            world.send(&Out {
                flags: SYN_ACK,
                ..server(499, 100, "")
            });
            world.send(&client(100, ""));
            world.send(&client(100, "GET /evil"));
            world.send(&server(500, 109, "200 OK"));
            let read = (world.text(true), world.text(false));
            assert_eq!(
                read,
                ("GET /evil".into(), "200 OK".into()),
                "{policy:?} {nth}"
            );
        }
    }
}

/// RFC 9293 §3.5: the handshake's last segment shows which SYN and which SYN-ACK counted, in
/// whatever order forged ones came.
#[test]
fn the_last_segment_of_the_handshake_chooses_the_numbers() {
    let syn = |seq, begins| Out {
        flags: SYN,
        begins,
        ..client(seq, "")
    };
    let answer = |seq, ack| Out {
        flags: SYN_ACK,
        ..server(seq, ack, "")
    };
    let (mine, theirs) = (syn(99, true), answer(499, 100));
    let forged_syns = [7, 900_000, 0x8000_0000, 0xffff_0000];
    for (policy, ..) in SegmentOverlap::ALL {
        for forged in forged_syns {
            let other = answer(forged, 100);
            for (nth, opening) in [
                vec![syn(forged, true), theirs.clone()],
                vec![syn(forged, true), theirs.clone(), theirs.clone()],
                vec![syn(forged, true), theirs.clone(), answer(77, forged + 1)],
                vec![syn(forged, true), answer(77, forged + 1), theirs.clone()],
                vec![mine.clone(), theirs.clone(), other.clone()],
                vec![mine.clone(), other.clone(), theirs.clone()],
                vec![mine.clone(), other.clone(), theirs.clone(), other.clone()],
                vec![mine.clone(), answer(forged, 7000), theirs.clone()],
                vec![mine.clone(), theirs.clone(), answer(forged, 7000)],
            ]
            .into_iter()
            .enumerate()
            {
                let mut world = World::new(&options(*policy));
                for out in &opening {
                    world.send(out);
                }
                world.send(&client(100, ""));
                world.send(&client(100, "GET /evil"));
                world.send(&server(500, 109, "200 OK"));
                world.send(&client(109, ""));
                world.end(3);
                let read = (world.text(true), world.text(false));
                let whole = ("GET /evil".to_owned(), "200 OK".to_owned());
                assert_eq!(read, whole, "{policy:?} {forged} {nth}");
            }
        }
    }
}

/// RFC 9293 §3.10.7.3: a client that has only sent a SYN resets the sender of a SYN-ACK for another
/// one, and drops everything else until the true one comes.
#[test]
fn nothing_after_a_wrong_syn_ack_counts_before_the_true_one() {
    let plain = |flags, seq, ack, bytes| Out {
        flags,
        ..server(seq, ack, bytes)
    };
    let early = [
        plain(ACK, 123_456, 100, "junk"),
        plain(ACK, 500, 100, "FORGED"),
        plain(ACK, 77_001, 100, "junk"),
        plain(ACK, 123_456, 100, ""),
        plain(ACK, 123_456, 99_999, "junk"),
        plain(ACK, 500, 100, ""),
        plain(FIN, 123_456, 100, ""),
        plain(SYN_ACK, 449, 5000, ""),
    ];
    for &(policy, ..) in SegmentOverlap::ALL {
        for wrong in [77_000, 449, 499] {
            for (nth, out) in early.iter().enumerate() {
                let mut world = World::new(&options(policy));
                let syn = Out {
                    flags: SYN,
                    begins: true,
                    ..client(99, "")
                };
                let reset = Out {
                    flags: RST,
                    ..client(50, "")
                };
                let (no, yes) = (plain(SYN_ACK, wrong, 50, ""), plain(SYN_ACK, 499, 100, ""));
                for out in [
                    &syn,
                    &no,
                    &reset,
                    out,
                    &yes,
                    &client(100, ""),
                    &client(100, "GET /"),
                ] {
                    world.send(out);
                }
                world.send(&server(500, 105, "200 OK"));
                world.send(&Out {
                    ack: 506,
                    ..client(105, "")
                });
                assert_eq!(world.text(true), "GET /", "{policy:?} {wrong} {nth}");
                assert_eq!(world.text(false), "200 OK", "{policy:?} {wrong} {nth}");
            }
        }
    }
}

/// RFC 9293 §3.10.7.4: in SYN-RECEIVED a server resets whoever acknowledges anything but its SYN,
/// with the number that was acknowledged, and waits for the true client.
#[test]
fn data_before_the_handshake_is_complete_must_acknowledge_the_syn_ack() {
    for &(policy, ..) in SegmentOverlap::ALL {
        for ack in [499, 501, 5499, 0x9000_0000] {
            for challenged in [false, true] {
                let mut world = World::new(&options(policy));
                world.handshake(100, 500, 1000);
                if challenged {
                    world.send(&client(7, ""));
                    world.send(&server(500, 100, ""));
                }
                world.send(&Out {
                    ack,
                    ..client(100, "forged")
                });
                world.send(&Out {
                    flags: RST,
                    ..server(ack, 0, "")
                });
                for out in [
                    client(100, ""),
                    client(100, "GET /"),
                    server(500, 105, "200 OK"),
                ] {
                    world.send(&out);
                }
                world.send(&Out {
                    ack: 506,
                    ..client(105, "")
                });
                let read = (world.text(true), world.text(false));
                let whole = ("GET /".to_owned(), "200 OK".to_owned());
                assert_eq!(read, whole, "{policy:?} {ack} {challenged}");
            }
        }
    }
}
