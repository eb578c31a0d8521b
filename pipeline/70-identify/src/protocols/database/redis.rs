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
                // Empty lines and empty arrays are no commands: servers pass them over.
                r"((\r?\n|\*(0|-[0-9]+)\r\n)*\*[1-9][0-9]?[0-9]?\r\n\$[1-9][0-9]?\r\n[A-Za-z]",
                r"|-NOAUTH Authentication required|\+PONG\r\n|-ERR [a-z ]+(command|AUTH",
                r"|password))",
            ),
        ),
        Rule::check(
            "redis-inline",
            On::Tcp,
            &[
                Lead::start(b"+"),
                Lead::start(b"-"),
                Lead::start(b"%"),
                Lead::start(b":"),
                Lead::start(b"$"),
                Lead::start(b"*"),
            ],
            answer,
        ),
    ],
};

/// Commands that people type, and no other protocol knows together with such answers.
const COMMANDS: [&[u8]; 46] = [
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
    b"PSUBSCRIBE",
    b"LPUSH",
    b"RPUSH",
    b"LRANGE",
    b"LLEN",
    b"HSET",
    b"HGET",
    b"HGETALL",
    b"MGET",
    b"MSET",
    b"SADD",
    b"SMEMBERS",
    b"ZADD",
    b"ZRANGE",
    b"TTL",
    b"EXPIRE",
    b"TYPE",
    b"SCAN",
    b"FLUSHALL",
    b"FLUSHDB",
    b"DBSIZE",
    b"HELLO",
    b"CLIENT",
    b"CONFIG",
    b"COMMAND",
    b"MULTI",
    b"EXEC",
    b"DISCARD",
    b"WATCH",
    b"EVAL",
    b"ROLE",
    b"REPLCONF",
    b"MONITOR",
    b"CLUSTER",
    b"SLOWLOG",
];

/// What answers a command on a line, or an array that follows such lines.
fn answer(look: &Look<'_>) -> Option<Answer> {
    if look.to_server || look.reply.is_empty() {
        return Some(Answer::No);
    }
    let mut words = look.reply.split(|byte| byte.is_ascii_whitespace());
    let word = words.next().unwrap_or_default();
    let is_command = COMMANDS.iter().any(|one| one.eq_ignore_ascii_case(word));
    // A request of HTTP begins so as well.
    if is_command && look.reply.get(4) != Some(&b'/') {
        return Answer::when(is_reply(look)?);
    }
    if is_login_or_end(look)? {
        return Some(Answer::Yes);
    }
    // Whatever was said on a line, an array may follow it.
    if has_array_amid(look.reply) {
        return Answer::when(is_reply(look)?);
    }
    look.ended.then_some(Answer::No)
}

/// Whether the answer begins as one: a word, an error with its code in capitals, or a number up to
/// the line's end.
fn is_reply(look: &Look<'_>) -> Option<bool> {
    let rest = look.from(1);
    let is_of = |byte: &u8| match look.bytes.first() {
        Some(b'+') => byte.is_ascii_alphanumeric(),
        Some(b'-') => byte.is_ascii_uppercase(),
        _ => byte.is_ascii_digit(),
    };
    let rest = match look.bytes.first() {
        Some(b'+' | b'-') => rest,
        _ => rest.strip_prefix(b"-").unwrap_or(rest),
    };
    let end = rest.iter().position(|byte| !is_of(byte));
    let is_ended_by = |byte: u8| match look.bytes.first() {
        Some(b'-') => matches!(byte, b' ' | b'\r'),
        _ => byte == b'\r',
    };
    match end {
        Some(end @ 1..=10) => Some(rest.get(end).is_some_and(|byte| is_ended_by(*byte))),
        None if rest.len() <= 10 && !look.ended => None,
        _ => Some(false),
    }
}

/// Whether an answer of `+OK` alone is to a password or an end on a line: mailboxes have such
/// commands too (RFC 1939 §4, RFC 5034), with text behind the answer, the name of a mechanism, or
/// on their ports.
pub(in crate::protocols) fn is_login_or_end(look: &Look<'_>) -> Option<bool> {
    let (asked, answered) = match look.to_server {
        true => (look.bytes, look.reply),
        false => (look.reply, look.bytes),
    };
    if look.on_port(&[110, 995]) || !answered.starts_with(b"+OK") {
        return Some(false);
    }
    let line = asked
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    let mut words = line.trim_ascii().split(|&byte| byte == b' ');
    let command = words.next().unwrap_or_default();
    let is_one = match words.next() {
        None => command.eq_ignore_ascii_case(b"QUIT"),
        Some(word) => command.eq_ignore_ascii_case(b"AUTH") && !is_mechanism(word),
    };
    if !is_one {
        return Some(false);
    }
    match answered.get(3) {
        None if !look.ended => None,
        next => Some(next == Some(&b'\r')),
    }
}

/// Mechanisms of SASL, as IANA registers them.
fn is_mechanism(word: &[u8]) -> bool {
    let known: [&[u8]; 14] = [
        b"PLAIN",
        b"LOGIN",
        b"CRAM-",
        b"DIGEST-",
        b"SCRAM-",
        b"NTLM",
        b"GSSAPI",
        b"GSS-",
        b"GS2-",
        b"EXTERNAL",
        b"ANONYMOUS",
        b"XOAUTH",
        b"OAUTHBEARER",
        b"KERBEROS_V",
    ];
    let begins = |known: &[u8]| {
        let begin = word.get(..known.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(known))
    };
    known.into_iter().any(begins)
}

/// Whether a command as an array begins after some line.
fn has_array_amid(asked: &[u8]) -> bool {
    let lines = memchr::memchr_iter(b'\n', asked);
    let mut after = lines.filter_map(|end| asked.get(end.checked_add(1)?..));
    after.any(|rest| is_array(rest).unwrap_or(false))
}

fn is_array(bytes: &[u8]) -> Option<bool> {
    let rest = after_count(bytes.strip_prefix(b"*")?)?;
    let rest = after_count(rest.strip_prefix(b"$")?)?;
    Some(rest.first()?.is_ascii_alphabetic())
}

/// What follows a number from 1 on and the end of its line.
fn after_count(bytes: &[u8]) -> Option<&[u8]> {
    let len = bytes.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = bytes.split_at_checked(len)?;
    let is_one = (1..=7).contains(&len) && digits.first() != Some(&b'0');
    rest.strip_prefix(b"\r\n").filter(|_| is_one)
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
        assert_eq!(client(b"*-1\r\n*0\r\n*1\r\n$4\r\nPING\r\n"), Some("redis"));
        assert_eq!(client(b"\r\n*1\r\n$x\r\nPING\r\n"), None);
    }

    /// Whatever a client says on a line first, arrays that follow and their answers tell.
    #[test]
    fn lines_may_come_before_arrays() {
        let get: (bool, &[u8]) = (true, b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
        let answers: [(&[u8], &[u8], &[u8]); 4] = [
            (
                b"hello there\r\n",
                b"-ERR Protocol version is not an integer\r\n",
                b"$-1\r\n",
            ),
            (b"MULTI\r\n", b"+OK\r\n", b"+QUEUED\r\n"),
            (b"what is this\r\n", b"-ERR unknown\r\n", b"$-1\r\n"),
            (b"TIME\n", b"*2\r\n$1\r\n1\r\n$1\r\n2\r\n", b"$-1\r\n"),
        ];
        for (line, answer, then) in answers {
            let turns = [(true, line), (false, answer), get, (false, then)];
            assert_eq!(stream(&turns, (50_000, 50_001)), Some("redis"), "{turns:?}");
        }
        let turns: [(bool, &[u8]); 4] = [
            (true, b"a line\r\n"),
            (false, b"-ERR no\r\n"),
            (true, b"*another\r\n"),
            (false, b"-ERR no\r\n"),
        ];
        assert_eq!(stream(&turns, (50_000, 50_001)), None);
    }

    /// A password and an end on a line, answered as Redis does; mailboxes answer otherwise.
    #[test]
    fn a_password_on_a_line_is_no_mailbox() {
        for command in [
            b"AUTH secret\r\n".as_slice(),
            b"auth user secret\r\n",
            b"QUIT\r\n",
        ] {
            assert_eq!(said(command, b"+OK\r\n"), Some("redis"));
            assert_eq!(said(command, b"+OK bye\r\n"), Some("pop3"));
            let turns = [(true, command), (false, b"+OK\r\n")];
            assert_eq!(stream(&turns, (50_000, 110)), Some("pop3"));
        }
        assert_eq!(said(b"AUTH PLAIN AHUAcA==\r\n", b"+OK\r\n"), Some("pop3"));
        let greeted: [(bool, &[u8]); 3] = [
            (false, b"+OK ready\r\n"),
            (true, b"QUIT\r\n"),
            (false, b"+OK\r\n"),
        ];
        assert_eq!(stream(&greeted, (50_000, 50_001)), Some("pop3"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_eq!(said(b"PUBLISH Foo x\r\n", b":2x\n"), None);
        assert_eq!(said(b"PUBLIC Foo x\r\n", b":2\r\n"), None);
        assert_eq!(said(b"PUBLISH Foo x\r\n", b"+OK then\r\n"), None);
    }
}
