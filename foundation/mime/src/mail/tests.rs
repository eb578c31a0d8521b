//! Mails whole and in pieces: what is told of them is the same.

use super::{Mail, MailFlaw, MailParts};
use proptest::prelude::*;

/// What a mail has told, contents joined.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told(Vec<String>);

impl Told {
    fn add(&mut self, text: &str) {
        self.0.push(text.to_owned());
    }
}

impl MailParts for Told {
    fn begin(&mut self, nth: u64, name: Option<&[u8]>) {
        let name = name.unwrap_or(b"-").escape_ascii().to_string();
        self.0.push(format!("{nth} {name}:"));
    }
    fn content(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        let text = bytes.escape_ascii().to_string();
        match self.0.last_mut() {
            Some(last) if last.contains(':') => last.push_str(&text),
            _ => self.0.push(format!(":{text}")),
        }
    }
    fn missing(&mut self, len: u64) {
        self.add(&format!("missing {len}"));
    }
    fn over(&mut self, is_whole: bool) {
        self.add(if is_whole { "whole" } else { "cut" });
    }
    fn odd(&mut self, flaw: MailFlaw) {
        self.add(&format!("! {flaw:?}"));
    }
}

fn told(mail: &[u8], lens: impl IntoIterator<Item = usize>) -> Vec<String> {
    let (mut state, mut told) = (Mail::default(), Told::default());
    let mut rest = mail;
    let mut lens = lens.into_iter();
    while !rest.is_empty() {
        let len = lens.next().unwrap_or(rest.len()).clamp(1, rest.len());
        let (now, later) = rest.split_at(len);
        state.feed(now, &mut told);
        assert!(state.boundaries.len() <= super::NESTED_MAX);
        rest = later;
    }
    state.finish(true, &mut told);
    told.0
}

/// The same whole and in pieces of each length.
fn check(mail: &str, expected: &[&str]) {
    let mail = mail.replace('\n', "\r\n");
    assert_eq!(told(mail.as_bytes(), []), expected, "whole");
    for len in 1..40 {
        let pieces = std::iter::repeat_n(len, mail.len());
        assert_eq!(told(mail.as_bytes(), pieces), expected, "pieces of {len}");
    }
}

/// RFC 2046 §5.1.1: the line end before a delimiter belongs to it; what stands before the first and
/// behind the last is of no part.
#[test]
fn parts_are_decoded_and_told() {
    check(
        "Subject: x\nContent-Type: multipart/mixed;\n boundary=\"b c\"\n\nnobody\n--b c\n\
         Content-Type: text/plain\n\n--b d\none\n\ntwo\n--b c  \n\
         Content-Disposition: attachment;\n\tfilename=\"a.bin\"\n\
         content-transfer-encoding: BASE64\n\nAAEC\nAwQ=\n--b c\n\
         Content-Type: application/x; name=b\nContent-Transfer-Encoding: quoted-printable\n\n\
         a=3Db  \nso=\nft=20\n--b c--\nnobody\n--b c\n",
        &[
            "2 -:--b d\\r\\none\\r\\n\\r\\ntwo",
            "whole",
            "3 a.bin:\\x00\\x01\\x02\\x03\\x04",
            "whole",
            "4 b:a=b\\r\\nsoft ",
            "whole",
        ],
    );
    // Without parts the mail is one, with its last line end.
    check("Subject: x\n\na\n--b\n", &["1 -:a\\r\\n--b\\r\\n", "whole"]);
    check(
        "X: content-type: multipart/x; boundary=b\n\n\n",
        &["1 -:\\r\\n", "whole"],
    );
}

/// RFC 2046 §5.1.2 and §5.2.1: multiparts and messages within others; an outer delimiter ends what
/// is inside.
#[test]
fn entities_are_nested() {
    check(
        "Content-Type: multipart/mixed; boundary=o\n\n--o\n\
         Content-Type: multipart/alternative; boundary=o-i\n\n--o-i\n\ntext\n--o-i\n\nhtml\n\
         --o-i--\n\n--o\nContent-Type: message/rfc822\nContent-Disposition: inline; filename=m\n\n\
         Subject: inner\nContent-Type: multipart/mixed; boundary=\"i\"\n\n--i\n\nin\n--o\n\
         Content-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: of a digest\n\nlast\n--d--\n\
         --o--\n",
        &[
            "3 -:text",
            "whole",
            "4 -:html",
            "whole",
            "7 -:in",
            "whole",
            "10 -:last",
            "whole",
        ],
    );
}

/// RFC 2045 §6.4: a message is not coded, whatever its head says; what is coded all the same is a
/// file. Groups behind a padded one are decoded, as receivers do.
#[test]
fn coded_messages_are_told_apart() {
    let head = "Content-Type: message/rfc822; name=m\nContent-Transfer-Encoding: base64\n\n";
    let inner = "Content-Disposition: attachment; filename=in\n\nplain\n";
    check(&format!("{head}{inner}"), &["2 in:plain\\r\\n", "whole"]);
    check(&format!("{head}TkE6\n"), &["1 m:NA:", "whole"]);
    check(&format!("{head}\n"), &["1 m:", "whole"]);
    let long = "YWJj".repeat(30);
    let expected = format!("1 m:{}", "abc".repeat(30));
    check(
        &format!("{head}{long}:\n"),
        &[&expected, "! Base64", "whole"],
    );
    check(
        "Content-Transfer-Encoding: base64\n\nNA=\n=Mg\n==\n",
        &["1 -:42", "! Base64", "whole"],
    );
}

/// What goes on without end has a limit, and is named.
#[test]
fn what_is_odd_is_told_once() {
    check(
        "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Transfer-Encoding: base64\n\n\
         YWJj*\nZG*Vm\n--b\nContent-Transfer-Encoding: base64\n\nYWI=YWI=\n--b\n\
         Content-Transfer-Encoding: base64\n\nYWJjZ\n--b\n\
         Content-Transfer-Encoding: quoted-printable\n\n=zz =4 =\n",
        &[
            "2 -:abcdef",
            "! Base64",
            "whole",
            "3 -:abab",
            "! Base64",
            "whole",
            "4 -:abc",
            "! Base64",
            "whole",
            "5 -:=zz =4 ",
            "! QuotedPrintable",
            "whole",
            "! BoundaryOpen",
        ],
    );
    let deep: String = (0..12)
        .map(|nth| format!("Content-Type: multipart/x; boundary=b{nth}x\n\n--b{nth}x\n"))
        .collect();
    let found = told(deep.as_bytes(), []);
    assert_eq!(found.first().map(String::as_str), Some("! Nested"));
    assert_eq!(found.iter().filter(|one| one.contains(':')).count(), 1);
    let long = format!("Content-Type: a; x={}\n\nb", "y".repeat(super::FIELDS_MAX));
    assert_eq!(told(long.as_bytes(), []), ["! Head", "1 -:b", "whole"]);
    let long = format!(
        "Content-Type: multipart/x; boundary={}\n\nb",
        "y".repeat(300)
    );
    assert_eq!(told(long.as_bytes(), []), ["! Boundary", "1 -:b", "whole"]);
}

/// A million parts cost no memory.
#[test]
fn many_parts_keep_nothing() {
    let mut mail = Mail::default();
    let mut told = Told::default();
    mail.feed(b"Content-Type: multipart/x; boundary=b\n\n", &mut told);
    for _ in 0..100_000 {
        mail.feed(b"--b\n\nx\n", &mut told);
        told.0.clear();
    }
    assert_eq!(mail.entity_count(), 100_001);
    assert!(mail.line.capacity() <= 2 * super::LINE_MAX);
}

/// After missing bytes a delimiter is looked for, and base64 begins anew with a line.
#[test]
fn missing_bytes_are_counted() {
    let (mut mail, mut told) = (Mail::default(), Told::default());
    let head =
        b"Content-Type: multipart/x; boundary=b\n\n--b\nContent-Transfer-Encoding: base64\n\n";
    mail.feed(head, &mut told);
    mail.feed(b"YWJj\nYW", &mut told);
    mail.gap(40, &mut told);
    mail.feed(b"Wx*y\nZGVm\n--b\nContent-Type: te", &mut told);
    mail.gap(10, &mut told);
    mail.feed(b"x/y\n\nlost\n--b\n\nfound", &mut told);
    mail.finish(false, &mut told);
    assert_eq!(
        told.0,
        ["2 -:abc", "missing 30", ":def", "whole", "4 -:found", "cut"]
    );
}

/// Lines of mails, to be put together at random.
const LINES: &[&str] = &[
    "Content-Type: multipart/mixed; boundary=b",
    "Content-Type: multipart/mixed; boundary=\"b--\"",
    "Content-Type: message/rfc822",
    "Content-Type: message/rfc822; name=m",
    "Content-Transfer-Encoding: base64",
    "Content-Transfer-Encoding: quoted-printable",
    "Content-Disposition: attachment; filename=a",
    " folded",
    "",
    "",
    "",
    "--b",
    "--b  ",
    "--b--",
    "--b----",
    "--",
    "-",
    "-a",
    "YWJjZGVm",
    "YW",
    "YQ==",
    "a=3D=",
    "a=",
    "= ",
    "\r",
    "text  ",
    ".",
];

proptest! {
    /// However a mail is cut, the same is told.
    #[test]
    fn pieces_change_nothing(
        lines in prop::collection::vec((0..LINES.len(), any::<bool>()), 0..60),
        lens in prop::collection::vec(1usize..30, 0..60),
    ) {
        let mut mail = Vec::new();
        for (line, has_return) in lines {
            mail.extend_from_slice(LINES[line].as_bytes());
            mail.extend_from_slice(if has_return { b"\r\n" } else { b"\n" });
        }
        prop_assert_eq!(told(&mail, []), told(&mail, lens));
    }

    /// Nor do any bytes.
    #[test]
    fn any_bytes_are_read(
        noise in prop::collection::vec(any::<u8>(), 0..300),
        base64 in any::<bool>(),
        lens in prop::collection::vec(1usize..40, 0..40),
    ) {
        let encoding = if base64 { "base64" } else { "quoted-printable" };
        let head = format!("Content-Transfer-Encoding: {encoding}\n\n");
        let mail = [head.as_bytes(), &noise].concat();
        prop_assert_eq!(told(&mail, []), told(&mail, lens));
    }
}
