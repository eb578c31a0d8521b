//! Commands and their replies: pairing, gaps, pipelining.

use super::events;

/// Each command has its own replies, including preliminary ones; the greeting is reported alone.
#[test]
fn commands_have_their_replies() {
    let found = events(&[
        "<220 (vsFTPd 3.0.3)",
        ">user anonymous",
        "<331 Please specify the password.",
        ">RETR a b",
        "<150 Opening",
        "<226 Done",
        ">QUIT",
        "<221 Goodbye.",
    ]);
    assert_eq!(
        found,
        [
            "-> 220",
            "USER anonymous -> 331",
            "RETR a b -> 150 226",
            "QUIT -> 221"
        ]
    );
}

/// RFC 959 §4.2: lines between the first and the last may begin with anything.
#[test]
fn a_reply_may_have_several_lines() {
    let found = events(&[
        "<220-Welcome",
        "<150 users are logged in",
        "< and so on",
        "<220 Ready",
        ">FEAT",
        "<211-Features:",
        "< EPRT",
        "<211 End",
    ]);
    assert_eq!(found, ["-> 220 220", "FEAT -> 211 211"]);
}

/// A reply that the server never ends is ended when the client continues.
#[test]
fn a_reply_without_end_does_not_take_later_replies() {
    let found = events(&[
        "<220 x",
        ">STOR a",
        "<150 Opening",
        "<230- WARNING! 4 bare linefeeds received in ASCII mode",
        "<   File may not have transferred correctly.",
        "<226 Transfer complete.",
        ">NOOP",
        "<200 ok",
    ]);
    assert_eq!(found, ["-> 220", "STOR a -> 150 230", "NOOP -> 200"]);
}

/// FTP clients may pipeline commands, as in RFC 2920; and the greeting may be late.
#[test]
fn commands_may_be_pipelined() {
    let found = events(&[
        ">USER a",
        ">PASS b",
        ">PWD",
        "<220 x",
        "<331 x",
        "<230 x",
        "<257 \"/\"",
    ]);
    let expected = [
        "-> 220",
        "USER a -> 331",
        "PASS <hidden> -> 230",
        "PWD -> 257",
    ];
    assert_eq!(found, expected);
}

/// Only the server's side was captured, or only the client's.
#[test]
fn a_single_side_is_reported() {
    let found = events(&["<220 x", "<331 x", "<227 x (192,0,2,2,1,1)"]);
    assert_eq!(found, ["-> 220", "-> 331", "-> 227"]);
    let many: Vec<String> = (0..200).map(|n| format!(">STOR {n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let found = events(&many);
    assert_eq!(found.len(), 200);
    assert_eq!(found[199], "STOR 199 ->");
}

/// After missing replies, commands are paired with theirs again.
#[test]
fn a_gap_costs_only_what_is_missing() {
    let found = events(&[
        "<220 x", ">CWD a", "<…", ">CWD b", "<250 b", ">…", "<250 c", ">CWD d", "<250 d",
    ]);
    let expected = [
        "-> 220",
        "CWD a ->",
        "CWD b -> 250",
        "-> 250",
        "CWD d -> 250",
    ];
    assert_eq!(found, expected);
    // A code that answers only one command corrects the pairing.
    let found = events(&[
        "<220 x",
        ">ABOR",
        ">PASV",
        "<227 (192,0,2,2,1,1)",
        ">QUIT",
        "<221 x",
    ]);
    assert_eq!(found, ["-> 220", "ABOR ->", "PASV -> 227", "QUIT -> 221"]);
}
