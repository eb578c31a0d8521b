//! Redis: commands and replies.

use crate::support::{Turns, check, messages, whole};

/// Requests are answered in order; values of any content are skipped by their length.
#[test]
fn redis_pairs_commands_with_replies() {
    check(
        "redis",
        &[
            (
                true,
                b"*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$6\r\na\r\n$b*\r\n*2\r\n$3\r\nGET\r\n$3\
              \r\nkey\r\nPING\r\n",
            ),
            (false, b"+OK\r\n$6\r\na\r\n$b*\r\n+PONG\r\n"),
            (
                true,
                b"*1\r\n$4\r\nKEYS\r\n*2\r\n$4\r\nLLEN\r\n$1\r\n\r\r\n*2\r\n$1\r\nX\r\n$0\
              \r\n\r\n",
            ),
            (
                false,
                b"*3\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n+x\r\n>2\r\n+message\r\n$1\r\n-\r\n\
              :4\r\n-ERR no\r\n",
            ),
        ],
        &[
            "redis @0 command=SET key=key arguments=3 reply=OK",
            "redis @0 command=GET key=key arguments=2 reply=a\\r\\n$b*",
            "redis @0 command=PING reply=PONG",
            "redis @2 command=KEYS arguments=1 reply=3",
            "redis @2 command=LLEN key=\\r arguments=2 reply=4",
            "redis @2 command=X key= arguments=2 error=ERR no",
        ],
    );
}

/// Long lists, and attributes inside lists, are one reply; a replica's stream is not a reply.
#[test]
fn redis_replies_have_their_announced_length() {
    let mut list = b"*1048577\r\n".to_vec();
    list.extend(b":1\r\n".repeat(1_048_577));
    list.extend(b"+PONG\r\n");
    let turns: Turns<'_> = &[(true, b"KEYS *\r\n\nPING\r\n"), (false, &list)];
    let expected = [
        "redis @0 command=KEYS key=* reply=1048577",
        "redis @0 command=PING reply=PONG",
    ];
    assert_eq!(messages("redis", turns, whole), expected);
    check(
        "redis",
        &[
            (true, b"X4\r\nPING\r\nPSYNC ? -1\r\n"),
            (
                false,
                b"*2\r\n|1\r\n+k\r\n*1\r\n+v\r\n:1\r\n:2\r\n+PONG\r\n\
              +FULLRESYNC 8371b4fb 0\r\n$12\r\nREDIS0009abc*1\r\n$4\r\nPING\r\n",
            ),
        ],
        &[
            "redis @0 command=X4 reply=2",
            "redis @0 command=PING reply=PONG",
            "redis @0 command=PSYNC key=? reply=FULLRESYNC 8371b4fb 0",
        ],
    );
}

/// Passwords are in no record. Subscriptions are answered by pushes, which answer no other request.
#[test]
fn passwords_are_not_emitted_and_subscriptions_do_not_wait() {
    check(
        "redis",
        &[
            (
                true,
                b"*3\r\n$4\r\nAuth\r\n$4\r\nname\r\n$6\r\n\
              secret\r\nAUTH secret\r\n \"auth\" secret\n*2\r\n$4\r\nAUTO\r\n$1\
              \r\nk\r\n",
            ),
            (false, b"+OK\r\n-ERR no\r\n+OK\r\n:1\r\n"),
            (
                true,
                b"*3\r\n$9\r\nSUBSCRIBE\r\n$2\r\nch\r\n$1\r\nd\r\n\
              Unsubscribe\r\nGET a\r\n",
            ),
            (
                false,
                b">3\r\n$9\r\nsubscribe\r\n$2\r\nch\r\n:1\r\n\
              *3\r\n$9\r\nsubscribe\r\n$1\r\nd\r\n:2\r\n\
              *3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n$1\r\nx\r\n\
              >3\r\n$7\r\nmessage\r\n$2\r\nch\r\n$2\r\nhi\r\n",
            ),
            (true, b"PING\r\n"),
            (false, b"+PONG\r\n"),
        ],
        &[
            "redis @0 command=Auth arguments=3 reply=OK",
            "redis @0 command=AUTH error=ERR no",
            "redis @0 command=\\\"auth\\\" reply=OK",
            "redis @0 command=AUTO key=k arguments=2 reply=1",
            "redis @2 command=SUBSCRIBE key=ch arguments=3",
            "redis @2 command=Unsubscribe",
            "redis @2 command=GET key=a reply=x",
            "redis @4 command=PING reply=PONG",
        ],
    );
}
