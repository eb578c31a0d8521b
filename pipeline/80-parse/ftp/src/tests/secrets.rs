//! Passwords are in no record, and TLS is not read.

use super::{all, events, run, trial};
use crate::options::FtpOptions;
use flowpin_parser::testing::Records;

/// Passwords are in no record, in whatever way they are sent; those of guests are.
#[test]
fn passwords_are_not_reported() {
    let secrets = [
        &[
            "<220 x",
            ">USER bob",
            "<331 x",
            ">PASS s3cret",
            "<230 x",
            ">STOR f",
            "<226 x",
        ][..],
        &[">PASS s3cret", "<230 x"],
        &[">uSER bob", ">pass  s3cret"],
        &["<220 x", ">USER bob", ">…", ">S s3cret", "<230 x"],
        &[
            ">USER ftp",
            ">PASS x@y",
            ">USER bob",
            ">PASS s3cret",
            "<230 x",
            ">PASV",
            "<227 x",
        ],
        &[">USER bob", ">ACCT s3cret", ">ADAT s3cret"],
        &[">\u{7f}PASS s3cret", "<500 ?"],
    ];
    for conversation in secrets {
        let found = all(conversation).records;
        assert!(found.iter().all(|one| !one.contains("s3cret")), "{found:?}");
    }
    assert_eq!(events(&[">USER ftp", ">PASS a@b"])[1], "PASS a@b ->");
}

/// Nonstandard commands with passwords: subcommands of SITE, and others.
#[test]
fn passwords_of_nonstandard_commands_are_not_reported() {
    for (line, shown) in [
        ("SITE PSWD s3cret s3cret", "SITE PSWD <hidden>"),
        ("site  chpass  bob s3cret", "SITE  chpass <hidden>"),
        ("SITE PASSWD\ts3cret", "SITE PASSWD\t<hidden>"),
        ("SITE CPWD s3cret", "SITE CPWD <hidden>"),
        ("SITE GPASS s3cret", "SITE GPASS <hidden>"),
        ("SITE ADDUSER bob s3cret", "SITE ADDUSER <hidden>"),
        ("SITE GAddUser staff bob s3cret", "SITE GAddUser <hidden>"),
        ("XPAS s3cret", "XPAS <hidden>"),
        ("password s3cret", "PASSWORD <hidden>"),
        ("SITE CHMOD 644 s3cret", "SITE CHMOD 644 s3cret"),
        ("SITE PSWD", "SITE PSWD"),
        ("SITE", "SITE"),
        ("XSHA1 s3cret", "XSHA1 s3cret"),
        ("XCWD s3cret", "XCWD s3cret"),
    ] {
        let conversation = [
            "<220 x",
            ">USER anonymous",
            "<331 x",
            &format!(">{line}"),
            "<200 x",
        ];
        let found = events(&conversation);
        assert_eq!(
            found[2].replace("  ", " "),
            format!("{shown} -> 200").replace("  ", " ")
        );
        let mut log = Records::default();
        let all_commands = FtpOptions {
            all_commands: true,
            ..FtpOptions::default()
        };
        run(&mut trial(all_commands), &conversation, &mut log);
        let is_reported = log.records.iter().any(|one| one.contains("s3cret"));
        assert_eq!(is_reported, shown.contains("s3cret"), "{line}");
    }
}

/// Servers repeat commands that they do not understand.
#[test]
fn a_password_in_a_reply_is_not_reported() {
    for reply in [
        "<500 'PASS s3cret': what?",
        "<530 pass s3cret is wrong",
        "<500 PASS s3cret",
    ] {
        let found = all(&["<220 x", ">USER a", "<331 x", ">PASS s3cret", reply]).records;
        let has = |text: &str| found.iter().any(|one| one.contains(text));
        assert!(!has("s3cret") && has("<hidden>"), "{found:?}");
    }
}

/// Clear text after an accepted AUTH is read and reported.
#[test]
fn clear_text_after_auth_is_read() {
    for turns in [
        ["<220 x", ">AUTH TLS", "<234 Go", ">USER a", "<331 x"],
        ["<220 x", ">AUTH", "<234 Go", ">USER a", "<331 x"],
    ] {
        let found = all(&turns);
        assert!(
            found.records.contains(&"ftp_no_tls".into()),
            "{:?}",
            found.records
        );
        let last = events(&turns).pop();
        assert_eq!(last.as_deref(), Some("USER a -> 331"));
    }
}

/// RFC 4217 §4: after the server accepts AUTH, nothing is read.
#[test]
fn nothing_is_read_after_auth() {
    let found = events(&[
        "<220 x",
        ">AUTH TLS",
        "<234 Go",
        ">\u{16}\u{3}\u{1}",
        ">USER a",
        "<331 x",
    ]);
    assert_eq!(found, ["-> 220", "AUTH TLS -> 234"]);
    let found = events(&["<220 x", ">AUTH TLS", "<530 No", ">USER a", "<331 x"]);
    assert_eq!(found, ["-> 220", "AUTH TLS -> 530", "USER a -> 331"]);
}
