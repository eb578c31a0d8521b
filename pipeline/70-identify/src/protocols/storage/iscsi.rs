//! iSCSI. RFC 7143 §11.12, §11.13: a login, whose keys say who it is.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "iscsi",
    groups: &[Group::Files],
    ports: &[3260],
    rules: &[
        Rule::check(
            "iscsi-login",
            On::Tcp,
            &[
                Lead::start(&[0x43]).and(4, &[0]).len_min(49),
                Lead::start(&[3]).and(2, &[0, 0, 0]).len_min(49),
            ],
            login,
        ),
        Rule::check(
            "iscsi-answer",
            On::Tcp,
            &[Lead::start(&[0x23]).and(2, &[0, 0, 0]).len_min(49)],
            answer,
        ),
    ],
};

fn login(look: &Look<'_>) -> Option<Answer> {
    keys(look)
}

fn answer(look: &Look<'_>) -> Option<Answer> {
    // The status's class: success, redirection, two errors.
    if look.u8(36)? > 3 {
        return Some(Answer::No);
    }
    keys(look)
}

/// RFC 7143 §6.1: names of letters, "=", a value; zero ends it.
fn keys(look: &Look<'_>) -> Option<Answer> {
    if look.be24(5)? > 8192 {
        return Some(Answer::No);
    }
    let name = look.from(48);
    for (count, byte) in name.iter().take(32).enumerate() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'-' => {}
            b'=' => return Answer::when(count >= 8),
            _ => return Some(Answer::No),
        }
    }
    if name.len() < 32 {
        None
    } else {
        Some(Answer::No)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    /// A header of 48 bytes, then keys.
    fn pdu(code: u8, keys: &[u8]) -> Vec<u8> {
        let mut bytes = vec![code, 0x87, 0, 0, 0, 0, 0, 40];
        bytes.resize(48, 0);
        bytes.extend(keys);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&pdu(0x43, b"InitiatorName=iqn.2001-04.a:b\0")),
            Some("iscsi")
        );
        assert_eq!(
            server(&pdu(0x23, b"TargetPortalGroupTag=1\0")),
            Some("iscsi")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(&pdu(0x44, b"InitiatorName=iqn.2001-04.a:b\0")),
            Some("iscsi")
        );
        assert_ne!(server(&pdu(0x23, b"Target Portal Group\0")), Some("iscsi"));
    }
}
