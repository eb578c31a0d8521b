//! Zoom's media: what its clients measure the way with, and frames around RTP.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "zoom",
    groups: &[Group::Chat, Group::Media],
    ports: &[8801, 8802, 8803, 8804, 8805, 8810],
    rules: &[
        Rule::check(
            "zoom-probe",
            On::Udp,
            &[
                Lead::start(&[1, 0, 2]).len_min(37),
                Lead::start(&[1, 0, 3]).len_min(37),
            ],
            probe,
        ),
        Rule::check(
            "zoom-media",
            On::Udp,
            &[Lead::start(&[5]).len_min(44)],
            media,
        ),
    ],
};

/// A number of the connection (16 bytes), 2 in eight bytes, a time twice.
fn probe(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be64(19)? == 2 && look.array::<4>(27)? == look.array::<4>(31)?)
}

/// Eight bytes of the server's frame, the kind of media, RTP at a place that depends on it.
fn media(look: &Look<'_>) -> Option<Answer> {
    let place = match look.u8(8)? {
        13 => 35usize,
        15 => 27,
        16 => 32,
        _ => return Some(Answer::No),
    };
    let [first, second] = look.array(place)?;
    // RFC 3550 §5.1: version 2; the types of video, audio, screen and their repair.
    let is_rtp = first & 0xc0 == 0x80 && matches!(second & 0x7f, 98 | 99 | 110 | 112 | 113);
    Some(if is_rtp && look.on_port(PROTOCOL.ports) {
        Answer::Yes
    } else if is_rtp {
        Answer::Likely
    } else {
        Answer::No
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn probe_of(again: [u8; 4]) -> Vec<u8> {
        let mut bytes = vec![1, 0, 3];
        bytes.extend([0xc8; 16]);
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 2, 0, 0x6f, 0x61, 0x3f]);
        bytes.extend(again);
        bytes.extend([0, 0, 0, 0x40]);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&probe_of([0, 0x6f, 0x61, 0x3f])), Some("zoom"));
    }

    /// A probe repeats its time.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&probe_of([0, 0x6f, 0x61, 0x40])), Some("zoom"));
    }
}
