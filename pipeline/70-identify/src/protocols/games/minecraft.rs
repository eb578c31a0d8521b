//! Minecraft, Java edition: a handshake whose lengths agree; the older ping.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "minecraft",
    groups: &[Group::Games],
    ports: &[25565],
    rules: &[
        Rule::check(
            "minecraft-handshake",
            On::Tcp,
            &[Lead::ANY.masked(0, 0xc0, 0).and(1, &[0]).len_min(8)],
            handshake,
        ),
        Rule::pattern(
            "minecraft-old-ping",
            On::Tcp,
            r"\xfe\x01\xfa\x00\x0b\x00M\x00C",
        ),
    ],
};

/// Length, 0, the protocol's version, a name with its length, a port, what comes next (1 to 3).
fn handshake(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let len = cursor.len8()?;
    cursor.skip(1)?;
    // A number in groups of seven bits, the lowest first: two groups at most.
    if cursor.u8()? & 0x80 != 0 && cursor.u8()? & 0xe0 != 0 {
        return Some(Answer::No);
    }
    let name = cursor.len8()?;
    let rest = len.checked_add(1)?.checked_sub(cursor.at());
    if name < 2 || rest != name.checked_add(3) {
        return Some(Answer::No);
    }
    let is_name = cursor
        .take(name)?
        .iter()
        .all(|byte| (b'-'..=b'z').contains(byte));
    cursor.skip(2)?;
    Answer::when(is_name && (1..=3).contains(&cursor.u8()?))
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x10\x00\xff\x05\x09localhost\x63\xdd\x01\x01\x00"),
            Some("minecraft")
        );
    }

    /// The length is that of all that follows.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\x11\x00\xff\x05\x09localhost\x63\xdd\x01\x01\x00"),
            Some("minecraft")
        );
        assert_ne!(
            client(b"\x10\x00\xff\x05\x09local\x00ost\x63\xdd\x01\x01\x00"),
            Some("minecraft")
        );
    }
}
