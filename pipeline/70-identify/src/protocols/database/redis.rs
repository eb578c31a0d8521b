//! Redis. RESP: commands as arrays of counted strings, or as a line to which an answer comes.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "redis",
    groups: &[Group::Database],
    ports: &[6379],
    rules: &[
        Rule::pattern(
            "redis-command",
            On::Tcp,
            concat!(
                // Empty lines are no commands: servers pass them over.
                r"((\r?\n){0,4}\*[1-9][0-9]?[0-9]?\r\n\$[1-9][0-9]?\r\n[A-Za-z]",
                r"|-NOAUTH Authentication required|\+PONG\r\n|-ERR [a-z ]+(command|AUTH",
                r"|password))",
            ),
        ),
        Rule::check(
            "redis-inline",
            On::Tcp,
            &[
                Lead::start(b"+OK\r\n"),
                Lead::start(b":"),
                Lead::start(b"$"),
                Lead::start(b"*"),
            ],
            answer,
        ),
    ],
};

/// Commands that people type, and no other protocol knows together with such answers.
const COMMANDS: [&[u8]; 16] = [
    b"GET",
    b"SET",
    b"DEL",
    b"EXISTS",
    b"INCR",
    b"DECR",
    b"KEYS",
    b"INFO",
    b"SELECT",
    b"PUBLISH",
    b"SUBSCRIBE",
    b"LPUSH",
    b"RPUSH",
    b"HSET",
    b"HGET",
    b"FLUSHALL",
];

/// What answers a command on a line: a number, or `OK`, up to the line's end.
fn answer(look: &Look<'_>) -> Option<Answer> {
    let word = look
        .reply
        .split(|&byte| byte == b' ' || byte == b'\r')
        .next();
    let is_command =
        word.is_some_and(|word| COMMANDS.iter().any(|one| one.eq_ignore_ascii_case(word)));
    // A request of HTTP begins so as well.
    if look.to_server || !is_command || look.reply.get(4) == Some(&b'/') {
        return Some(Answer::No);
    }
    if look.bytes.starts_with(b"+") {
        return Some(Answer::Yes);
    }
    let digits = look.from(1).strip_prefix(b"-").unwrap_or(look.from(1));
    let end = digits.iter().position(|byte| !byte.is_ascii_digit());
    match end {
        Some(end @ 1..=10) => Answer::when(digits.get(end) == Some(&b'\r')),
        None if digits.len() <= 10 && !look.ended => None,
        _ => Some(Answer::No),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, stream};

    fn said(command: &[u8], answer: &[u8]) -> Option<&'static str> {
        stream(&[(true, command), (false, answer)], (50_000, 50_001))
    }

    /// Commands on a line tell with their answers, and only with these.
    #[test]
    fn a_line_and_its_answer_tell() {
        assert_eq!(said(b"PUBLISH Foo x\r\n", b":2\r\n"), Some("redis"));
        assert_eq!(said(b"set key x\r\n", b"+OK\r\n"), Some("redis"));
    }

    /// Servers pass over empty lines before a command.
    #[test]
    fn empty_lines_may_come_first() {
        let ping = b"\r\n\n*1\r\n$4\r\nPING\r\n";
        assert_eq!(client(ping), Some("redis"));
        assert_eq!(client(b"\r\n*1\r\n$x\r\nPING\r\n"), None);
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_eq!(said(b"PUBLISH Foo x\r\n", b":2x\n"), None);
        assert_eq!(said(b"PUBLIC Foo x\r\n", b":2\r\n"), None);
        assert_eq!(said(b"PUBLISH Foo x\r\n", b"+OK then\r\n"), None);
    }
}
