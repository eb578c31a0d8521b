//! MMS, ISO 9506, over ISO transport, session and presentation.

use super::tpkt::{Shown, read};
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mms",
    groups: &[Group::Industrial],
    ports: &[102],
    rules: &[Rule::check(
        "mms-session",
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
    let first = look.u8(at)?;
    // X.225 §8.3: connect and accept carry MMS's context; data is "give tokens, data".
    if matches!(first, 0x0d | 0x0e) {
        let rest = look.from(at);
        // The object identifier 1.0.9506.2.1 of MMS's abstract syntax.
        let is_there = rest
            .windows(5)
            .take(300)
            .any(|part| part == [0x28, 0xca, 0x22, 0x02, 0x01]);
        return if is_there || rest.len() > 160 || look.ended {
            Answer::when(is_there)
        } else {
            None
        };
    }
    let is_data = look.array::<4>(at)? == [1, 0, 1, 0] && look.u8(at.checked_add(4)?)? == 0x61;
    Answer::when(is_data)
}
