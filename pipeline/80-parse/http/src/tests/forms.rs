//! Files in forms (RFC 7578): what is told of them, however the body is cut.

use super::{C, S, split_value};
use crate::fuzz::{Step, feed, parser};
use crate::{BodyOptions, HttpOptions};

const RESPONSE: Step<'_> = Step::Data(S, b"HTTP/1.1 204 No Content\r\n\r\n");

fn options(files: bool) -> HttpOptions {
    HttpOptions {
        bodies: BodyOptions {
            decode: true,
            md5: true,
            files,
            ..BodyOptions::default()
        },
        ..HttpOptions::default()
    }
}

fn head(media_type: &str, len: usize) -> String {
    format!(
        "POST /up?x HTTP/1.1\r\nHost: h\r\nContent-Type: {media_type}\r\n\
         Content-Length: {len}\r\n\r\n"
    )
}

/// What is told, the same for every cut, of what was sent before and behind missing bytes.
fn told(options: HttpOptions, steps: &[Step<'_>]) -> Vec<String> {
    let mut http = parser(options, 32 << 20).unwrap();
    let whole = feed(&mut http, steps, usize::MAX);
    for piece in [1, 2, 3, 7, 64] {
        assert_eq!(feed(&mut http, steps, piece), whole, "in pieces of {piece}");
    }
    assert!(http.parser.is_empty());
    whole
}

fn of_body(files: bool, media_type: &str, body: &str) -> Vec<String> {
    let request = [head(media_type, body.len()), body.to_owned()].concat();
    told(
        options(files),
        &[Step::Data(C, request.as_bytes()), RESPONSE],
    )
}

/// These columns of each record of a file, by their names in EVE or Zeek.
fn files(told: &[String], names: &[&str]) -> Vec<String> {
    let of_files = told.iter().filter(|line| line.contains("Text(\"HTTP\")"));
    let shown = of_files.map(|line| {
        let (_, values) = line.split_once(" [").unwrap();
        let mut rest = values.strip_suffix(']').unwrap();
        let mut shown = Vec::new();
        for column in flowpin_content::FILES.columns.iter() {
            let (value, later) = split_value(rest);
            rest = later;
            if names
                .iter()
                .any(|name| *name == column.name || *name == column.eve)
            {
                shown.push(value.trim_matches('"').to_owned());
            }
        }
        shown.join(" ")
    });
    shown.collect()
}

const TYPE: &str = "multipart/form-data; boundary=\"b c\"";
const FORM: &str = "--b c\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nfield\r\n--b c\r\n\
    content-disposition: form-data; name=\"f\";\r\n filename=\"x;y.txt\"\r\n\
    Content-Type: text/plain\r\n\r\nhello\r\n--b c\r\n\
    Content-Disposition: form-data; name=g; filename*=UTF-8''%e2%82%ac.html\r\n\r\n\
    <html>\r\n--b c--\r\n";

/// Each part that names a file is one; the body and the other parts are none.
#[test]
fn parts_with_a_name_are_files() {
    let told = of_body(false, TYPE, FORM);
    let names = [
        "filename",
        "mime_type",
        "fileinfo.size",
        "md5",
        "fileinfo.state",
    ];
    assert_eq!(
        files(&told, &names),
        [
            "text/plain x;y.txt 5 5d41402abc4b2a76b9719d911017c592 CLOSED",
            "text/html \u{e2}\u{82}\u{ac}.html 6 166248a6129a1e4370d20adc2d4c23f3 CLOSED",
        ]
    );
    assert_eq!(files(&told, &["trans_depth", "is_orig"]), ["1 true"; 2]);
    // The transaction lists both, with their numbers.
    let numbers: Vec<String> = [1u64, 2]
        .map(|nth| format!("Count({})", 2 | nth << 40))
        .to_vec();
    let lists = format!("List([{}]), List([Bytes([120, ", numbers.join(", "));
    assert!(told.last().unwrap().contains(&lists), "{told:?}");
}

/// Where bodies are written, so are the parts: each is a file of its own.
#[test]
fn parts_are_written_beside_the_body() {
    let told = of_body(true, TYPE, FORM);
    let written: Vec<&str> = told
        .iter()
        .filter_map(|line| line.strip_prefix("file "))
        .collect();
    let [one, two] = [1u64, 2].map(|nth| 2 | nth << 40);
    assert_eq!(
        written[..2],
        [format!("{one} true hello"), format!("{two} true <html>")]
    );
    assert!(written[2].starts_with("2 true --b c"), "{written:?}");
    assert_eq!(files(&told, &["fileinfo.stored"]), ["true"; 3]);
}

/// What only looks like a form is a body like any other: nothing is hidden by a wrong boundary.
#[test]
fn a_body_without_files_is_a_file() {
    for (media_type, body) in [
        ("multipart/form-data", FORM),
        ("multipart/form-data; boundary=other", FORM),
        ("text/plain; boundary=b", FORM),
        (
            TYPE,
            "--b c\r\nContent-Disposition: form-data; name=filename\r\n\r\nx\r\n--b c--",
        ),
        (
            TYPE,
            "--b c\r\nContent-Disposition: form-data; filename=\"\"\r\n\r\n\r\n--b c--",
        ),
    ] {
        let told = of_body(false, media_type, body);
        let size = body.len().to_string();
        assert_eq!(
            files(&told, &["fileinfo.filename", "fileinfo.size"]),
            [format!("/up {size}")]
        );
    }
}

/// A part that its body ends, or that has a gap, is not whole.
#[test]
fn parts_that_are_cut_are_told_as_far_as_they_go() {
    let names = [
        "filename",
        "fileinfo.size",
        "missing_bytes",
        "fileinfo.state",
    ];
    let cut = FORM.strip_suffix("l>\r\n--b c--\r\n").unwrap();
    let told_of_cut = of_body(false, TYPE, cut);
    let expected = [
        "x;y.txt 5 0 CLOSED",
        "\u{e2}\u{82}\u{ac}.html 4 0 TRUNCATED",
    ];
    assert_eq!(files(&told_of_cut, &names), expected);
    let (before, behind) = FORM.split_once("ell").unwrap();
    let before = [&head(TYPE, FORM.len()), before].concat();
    let steps = [
        Step::Data(C, before.as_bytes()),
        Step::Gap(C, 3),
        Step::Data(C, behind.as_bytes()),
        RESPONSE,
    ];
    for is_written in [false, true] {
        let told = told(options(is_written), &steps);
        let expected = [
            "x;y.txt 5 3 TRUNCATED",
            "\u{e2}\u{82}\u{ac}.html 6 0 CLOSED",
        ];
        assert_eq!(files(&told, &names)[..2], expected);
        let file = format!("file {} false h<3>o", 2 | 1u64 << 40);
        assert_eq!(told.contains(&file), is_written);
    }
}

/// A form has at most 64 files; the others are counted.
#[test]
fn files_of_a_form_are_bounded() {
    use flowpin_counters::Loss;
    use flowpin_parser::Parser;
    let part = "--b\r\nContent-Disposition: form-data; filename=x\r\n\r\ny\r\n";
    let body = [&part.repeat(70), "--b--"].concat();
    let request = [head("multipart/form-data; boundary=b", body.len()), body].concat();
    let mut http = parser(options(false), 32 << 20).unwrap();
    let told = feed(
        &mut http,
        &[Step::Data(C, request.as_bytes()), RESPONSE],
        usize::MAX,
    );
    assert_eq!(files(&told, &["filename"]), ["x"; 64]);
    assert_eq!(http.parser.losses().of(Loss::HttpFormFiles), 6);
}
