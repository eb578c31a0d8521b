//! Tencent QQ's OICQ: 2 in front, a version, a command, 3 at the end.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "qq",
    groups: &[Group::Chat],
    ports: &[8000],
    rules: &[Rule::check(
        "oicq-datagram",
        On::Udp,
        &[Lead::start(&[2]).masked(3, 0xfe, 0).len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let command = look.be16(3)?;
    let [major, minor] = look.array(1)?;
    let is_command = matches!(
        command,
        0x0001 | 0x0002 | 0x000a..=0x000e | 0x0016 | 0x0017 | 0x001d | 0x0026 | 0x0027 | 0x0030
            | 0x0058 | 0x0062 | 0x0067 | 0x0081 | 0x00cd..=0x00cf | 0x00ba..=0x00bc | 0x0115
    );
    let last = look.u8(look.len.checked_sub(1)?)?;
    Answer::when(is_command && last == 3 && major < 0x40 && minor != 0 && look.be32(7)? != 0)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    const ALIVE: [u8; 13] = [2, 0x37, 0x0b, 0, 0x17, 0, 1, 1, 2, 3, 4, 9, 3];

    #[test]
    fn both_ends_and_a_command_tell() {
        assert_eq!(datagram(&ALIVE), Some("qq"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let mut bytes = ALIVE;
        bytes[12] = 4;
        assert_eq!(datagram(&bytes), None);
    }
}
