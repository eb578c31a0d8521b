//! MySQL's protocol 10: the server greets with its version.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mysql",
    groups: &[Group::Database],
    ports: &[3306],
    rules: &[Rule::check(
        "mysql-greeting",
        On::Tcp,
        &[Lead::at(2, &[0, 0, 10])],
        check,
    )],
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
    Answer::when(is_version && (45..=200).contains(&len) && version.contains(&b'.'))
}
