//! System logs. RFC 3164 §4.1.1, RFC 5424 §6.2.1: a priority from 0 to 191 in angle brackets.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "syslog",
    groups: &[Group::Management],
    ports: &[514, 601],
    rules: &[
        Rule::pattern("syslog-time", On::Udp, TIME),
        Rule::pattern("syslog-time-tcp", On::Tcp, TIME),
        Rule::check(
            "syslog-priority",
            On::Udp,
            &[Lead::start(b"<").len_min(8)],
            plain,
        ),
        Rule::check("syslog-priority-tcp", On::Tcp, &[Lead::start(b"<")], plain),
    ],
};

const TIME: &str = concat!(
    r"([0-9]{1,4} )?<([0-9]{1,2}|1[0-8][0-9]|19[01])>(1 (-|[0-9]{4}-)|(Jan|Feb|Mar|Apr",
    r"|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ 0-9][0-9] [0-9]{2}:",
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ])",
);

/// A priority and text, without a time: half of the evidence is the port.
fn plain(look: &Look<'_>) -> Option<Answer> {
    let end = look.bytes.iter().take(6).position(|&byte| byte == b'>');
    let Some(end) = end else {
        return if look.bytes.len() >= 6 {
            Some(Answer::No)
        } else {
            None
        };
    };
    let digits = look.range(1, end.saturating_sub(1))?;
    let text = look.range(end.saturating_add(1), 8)?;
    let is_priority = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let is_text = text.iter().all(|byte| (b' '..=b'~').contains(byte));
    Some(if is_priority && is_text && look.on_port(&[514]) {
        Answer::Yes
    } else if is_priority && is_text && !matches!(look.on, On::Tcp) {
        Answer::Likely
    } else {
        Answer::No
    })
}
