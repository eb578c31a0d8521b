//! TeamViewer: a magic number in front, or behind what its UDP variant begins with.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "teamviewer",
    groups: &[Group::Remote],
    ports: &[5938],
    rules: &[
        Rule::check(
            "teamviewer-tcp",
            On::Tcp,
            &[Lead::start(&[0x17, 0x24]), Lead::start(&[0x11, 0x30])],
            stream,
        ),
        Rule::check(
            "teamviewer-udp",
            On::Udp,
            &[Lead::start(&[0, 0, 0, 0, 0, 0, 0, 0]).len_min(16)],
            datagram,
        ),
    ],
};

/// A command, a length, and zeros.
fn stream(look: &Look<'_>) -> Option<Answer> {
    let command = look.u8(2)?;
    Some(
        if (10..=40).contains(&command) && look.be32(4)? >> 8 & 0xffff == 0 {
            if look.on_port(&[5938]) || look.be32(8)? == 0 {
                Answer::Yes
            } else {
                Answer::Likely
            }
        } else {
            Answer::No
        },
    )
}

fn datagram(look: &Look<'_>) -> Option<Answer> {
    Answer::when(
        look.be32(8)? == 0x0000_0003 && look.be16(12)? == 0x1724
            || look.range(11, 3)? == [3, 0x17, 0x24],
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    #[test]
    fn its_magic_numbers_tell() {
        let stream = [0x17, 0x24, 0x0a, 0x20, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(client(&stream), Some("teamviewer"));
        let sent = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0x17, 0x24, 5, 6];
        assert_eq!(datagram(&sent), Some("teamviewer"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let stream = [0x17, 0x24, 0x09, 0x20, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(client(&stream), None);
        let sent = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0x17, 0x25, 5, 6];
        assert_eq!(datagram(&sent), None);
    }
}
