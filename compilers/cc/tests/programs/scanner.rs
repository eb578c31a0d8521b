//! A scanner in push mode gives the tokens of the whole stream, wherever its pieces end.

use crate::tools::{run, skipped};
use flowpin_cc::push_scanner;
use std::fs;
use std::path::Path;
use std::process::Command;

fn is_there(name: &str) -> bool {
    Command::new(name).arg("--version").output().is_ok()
}

/// Every kind of table that flex makes; the tokens are those that the scanner of flex itself gives.
#[test]
fn pieces_do_not_change_tokens() {
    if let Some(missing) = ["flex", "cc"].into_iter().find(|name| !is_there(name)) {
        return skipped(missing);
    }
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scanner");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let pull = "int yylex(void); int printf(const char *, ...);\n\
                int main(void) { for (int t; (t = yylex());) printf(\"%d \", t); \
                printf(\"\\n\"); return 0; }\n";
    fs::write(at("pull.c"), pull).unwrap();
    for tables in ["-Cem", "-Cf", "-CF", "-Ca", "-C"] {
        run(
            Command::new("flex")
                .arg(tables)
                .arg("-o")
                .arg(at("heads.c"))
                .arg(sources.join("heads.l")),
            "flex",
        );
        let text = fs::read_to_string(at("heads.c")).unwrap();
        let pushed = push_scanner(&text, "push.h").unwrap_or_else(|why| panic!("{tables}: {why}"));
        assert_eq!(pushed.variables, ["content_length", "header_count"]);
        fs::write(at("push.c"), &pushed.source).unwrap();
        fs::write(at("push.h"), &pushed.header).unwrap();
        run(
            Command::new("cc")
                .args([
                    "-g",
                    "-w",
                    "-fsanitize=address,undefined",
                    "-fno-sanitize-recover",
                    "-o",
                ])
                .args([at("push"), at("push.c"), sources.join("pieces.c")])
                .arg("-I")
                .arg(folder.path()),
            tables,
        );
        run(
            Command::new("cc")
                .args(["-w", "-o"])
                .args([at("pull"), at("heads.c"), at("pull.c")]),
            tables,
        );
        let stream = sources.join("heads.txt");
        let pushed = run(Command::new(at("push")).arg(&stream), tables);
        let input = fs::File::open(&stream).unwrap();
        let pulled = run(Command::new(at("pull")).stdin(input), tables);
        assert_eq!(pushed.trim(), pulled.trim(), "{tables}");
        let again = push_scanner(&fs::read_to_string(at("push.c")).unwrap(), "push.h");
        assert!(again.is_err(), "{tables}");
    }
}
