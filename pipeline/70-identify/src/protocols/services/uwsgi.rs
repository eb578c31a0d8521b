//! uwsgi: a length, and the environment of a request.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "uwsgi",
    groups: &[Group::Web],
    ports: &[3031],
    rules: &[Rule::check(
        "uwsgi-environment",
        On::Tcp,
        &[Lead::start(&[0]).and(3, &[0]).and(5, &[0]).len_min(14)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.le16(1)?;
    let name = look.le16(4)?;
    if !(8..=40).contains(&name) || name >= len {
        return Some(Answer::No);
    }
    let name = look.range(6, usize::from(name))?;
    Answer::when(
        name.iter()
            .all(|&byte| byte.is_ascii_uppercase() || byte == b'_'),
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\0\x40\x01\0\x0c\0QUERY_STRING\0\0\x0e\0REQUEST_METHOD"),
            Some("uwsgi")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\0\x40\x01\0\x0c\0QUERY-STRING\0\0"), Some("uwsgi"));
    }
}
