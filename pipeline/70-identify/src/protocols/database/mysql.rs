//! MySQL's protocol 10: the server greets with its version, or refuses at once.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mysql",
    groups: &[Group::Database],
    ports: &[3306],
    rules: &[
        Rule::check(
            "mysql-greeting",
            On::Tcp,
            &[Lead::at(2, &[0, 0, 10])],
            check,
        ),
        Rule::check(
            "mysql-refusal",
            On::Tcp,
            &[Lead::at(2, &[0, 0, 0xff]).len_min(7)],
            refusal,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.le16(0)?);
    let rest = look.from(5);
    let Some(end) = rest.iter().position(|&byte| byte == 0) else {
        return if rest.len() > 60 {
            Some(Answer::No)
        } else {
            None
        };
    };
    let version = rest.get(..end)?;
    let is_version = matches!(version, [b'0'..=b'9', ..])
        && version.iter().all(|byte| (b' '..=b'~').contains(byte));
    Answer::when(is_version && (LEN_MIN..=200).contains(&len) && version.contains(&b'.'))
}

/// Version 3.23's greeting, which has 13 bytes that are not in use and nothing behind them.
const LEN_MIN: usize = 36;

/// Error messages of the server have numbers from 1000 on, and are text to the packet's end.
fn refusal(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.le16(0)?);
    let code = look.le16(5)?;
    if look.to_server || !(12..=512).contains(&len) || !(1000..5000).contains(&code) {
        return Some(Answer::No);
    }
    let text = look.from(7);
    let text = text.get(..len.saturating_sub(3)).unwrap_or(text);
    if !text.iter().all(|byte| (b' '..=b'~').contains(byte)) {
        return Some(Answer::No);
    }
    let end = len.saturating_add(4);
    match look.bytes.len() {
        there if there < end && !look.ended => None,
        there => Answer::when(there == end),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    const REFUSED: &[u8] = b"\x17\0\0\0\xff\x10\x04Too many connections";

    #[test]
    fn a_refusal_tells() {
        assert_eq!(server(REFUSED), Some("mysql"));
        let old =
            b"\x28\0\0\0\x0a3.23.54\0\x02\0\0\x0070+&zXf\0,\0\x08\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(server(old), Some("mysql"));
    }

    #[test]
    fn a_near_miss_of_a_refusal_does_not() {
        let mut bytes = REFUSED.to_vec();
        bytes[6] = 1;
        assert_eq!(server(&bytes), None);
        bytes = REFUSED.to_vec();
        bytes.push(b's');
        assert_eq!(server(&bytes), None);
        assert_eq!(client(REFUSED), None);
    }
}
