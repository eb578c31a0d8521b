//! Siemens S7 over ISO transport: data begins with 0x32 (0x72 for newer plants).

use super::tpkt::{Shown, read};
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "s7comm",
    groups: &[Group::Industrial],
    ports: &[102],
    rules: &[Rule::check(
        "s7-header",
        On::Tcp,
        &[Lead::start(&[3, 0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let (shown, next) = read(look, 0)?;
    let at = match shown {
        Shown::Data(at) => at,
        Shown::Selectors(..) => match read(look, next)? {
            (Shown::Data(at), _) => at,
            _ => return Some(Answer::No),
        },
        Shown::Other => return Some(Answer::No),
    };
    let [id, kind] = look.array(at)?;
    // Job, acknowledgement, acknowledgement with data, user data; or a version of S7comm-plus.
    Answer::when(
        (id == 0x32 && matches!(kind, 1..=3 | 7)) || (id == 0x72 && (1..=3).contains(&kind)),
    )
}
