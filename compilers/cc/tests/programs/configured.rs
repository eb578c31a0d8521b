//! What needs no line: options that are set before packets come are one for all cores, events that
//! are counted become sums, and numbers of packets are refused or told.

use crate::captures::{build, capture, folder, has_sanitizer, transformed_file};
use crate::tools::{compilers, has_libclang, run, skipped};
use flowpin_cc::{Backend, Decision, Sources, Verdict, collect, decide, model::Texts, transform};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Verdicts of a program's variables, by name.
fn verdicts(source: &Path) -> Vec<(String, Verdict)> {
    let named = |(name, one): (String, Decision)| (name, one.verdict);
    decisions(source).into_iter().map(named).collect()
}

/// What becomes of a program's variables, and why, by name.
fn decisions(source: &Path) -> Vec<(String, Decision)> {
    let sources = Sources::of_files(&folder(), &[source.to_owned()], &[]).unwrap();
    let model = collect(&sources).unwrap();
    let named = |(id, one): (usize, Decision)| (model.global_name(id), one);
    decide(&model).into_iter().enumerate().map(named).collect()
}

/// Lines of a program, in order of their text; those of packets come in any order.
pub(crate) fn lines(program: &Path, ways: &str, arguments: &[&str]) -> Vec<String> {
    let mut command = Command::new(program);
    command.env("FLOWPIN_WAYS", ways);
    command.env("TSAN_OPTIONS", "exitcode=66");
    let said = run(command.args(arguments).arg(capture()), ways);
    let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Options are set once, events are summed; the lines are those of the sequential program, with
/// both backends, without a data race.
#[test]
fn options_are_shared_and_events_are_summed() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("configured.c");
    let found = verdicts(&source);
    for name in ["verbose", "port", "title", "wanted", "factor"] {
        assert!(
            found.contains(&(name.to_owned(), Verdict::SetOnce)),
            "{name}: {found:?}"
        );
    }
    for name in ["packets", "bytes", "by_protocol", "odd"] {
        assert!(
            found.contains(&(name.to_owned(), Verdict::Private)),
            "{name}: {found:?}"
        );
    }
    let temporary = tempfile::tempdir().unwrap();
    let sequential = temporary.path().join("sequential");
    let mut compile = Command::new("cc");
    compile.arg("-w").arg(&source).arg("-o").arg(&sequential);
    run(compile.arg("-lpcap"), "cc");
    let arguments = ["-vv", "-v", "-p", "18", "-t", "a title"];
    let expected = lines(&sequential, "1", &arguments);
    for backend in [Backend::Context, Backend::Thread] {
        let output = transformed_file(&source, backend);
        assert!(output.warnings.is_empty(), "{:?}", output.warnings);
        let mut kinds = vec!["-O1 -Wall -Werror"];
        if has_sanitizer("thread") {
            kinds.push("-g -O1 -fsanitize=thread");
        }
        for flags in kinds {
            let built = build("cc", flags, &output);
            for ways in ["1", "2", "3", "7"] {
                let said = lines(&built.path().join("program"), ways, &arguments);
                assert_eq!(said, expected, "{backend:?} {flags} {ways}");
            }
        }
    }
}

/// What the compiler takes for the same in all cores is compared when cores have started.
#[test]
fn a_core_that_sets_something_else_ends_the_run() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let source = folder().join("differs.c");
    assert!(verdicts(&source).contains(&("is_second".to_owned(), Verdict::SetOnce)));
    let text = fs::read_to_string(&source).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let other = temporary.path().join("differs.c");
    let run_it = |text: &str, ways: &str| {
        fs::write(&other, text).unwrap();
        let built = build("cc", "-O1", &transformed_file(&other, Backend::Context));
        let mut program = Command::new(built.path().join("program"));
        program.env("FLOWPIN_WAYS", ways).arg(capture());
        program.arg(built.path().join("mark")).output().unwrap()
    };
    assert!(run_it(&text, "1").status.success());
    let failed = run_it(&text, "2");
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert!(
        !failed.status.success() && failed.stdout.is_empty(),
        "{failed:?}"
    );
    assert!(
        said.contains("core 1 sets `is_second` to another value"),
        "{said}"
    );
    let private = format!("#pragma flowpin private is_second\n{text}");
    assert!(run_it(&private, "2").status.success());
}

/// What is refused, or told, of a small program whose packet handler has this body, and whose main
/// function ends so.
pub(crate) fn told(
    globals: &str,
    handler: &str,
    start: &str,
    end: &str,
) -> Result<Vec<String>, Vec<String>> {
    let temporary = tempfile::tempdir().unwrap();
    let source = temporary.path().join("small.c");
    let text = format!(
        "#include <pcap.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         {globals}\n\
         static void handle(unsigned char *user, const struct pcap_pkthdr *header, \
         const unsigned char *data) {{\n  (void)user, (void)header, (void)data;\n  {handler}\n}}\n\
         int main(int argc, char **argv) {{\n  char error[PCAP_ERRBUF_SIZE];\n  (void)argc;\n\
         {start}\n  pcap_t *capture = pcap_open_offline(argv[1], error);\n\
         pcap_loop(capture, -1, handle, 0);\n  {end}\n  return 0;\n}}\n"
    );
    fs::write(&source, text).unwrap();
    let sources = Sources::of_files(temporary.path(), std::slice::from_ref(&source), &[]).unwrap();
    let model = collect(&sources).unwrap();
    let texts = Texts::read(&model.files).unwrap();
    match transform(&model, &texts, Backend::Context) {
        Ok(output) => {
            build("cc", "-O1", &output);
            Ok(output.warnings)
        }
        Err(refusals) => Err(refusals.iter().map(ToString::to_string).collect()),
    }
}

/// A number that all packets share is refused where it is said, and told where it is used.
#[test]
fn numbers_of_packets_are_refused_or_told() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let count = "static int count;";
    let refused = [
        "printf(\"#%d\\n\", ++count);",
        "count++; printf(\"#%d\\n\", count);",
        "char text[20]; count += 1; snprintf(text, sizeof text, \"%d\", count); puts(text);",
    ];
    for handler in refused {
        let said = told(count, handler, "", "").unwrap_err();
        let is_it = |one: &String| {
            one.starts_with("small.c:8: `count` (small.c:5) is counted by all packets")
        };
        assert!(said.iter().any(is_it), "{handler}: {said:?}");
    }
    let used = [
        "if (++count > 9) exit(0);",
        "int mine = count++; if (mine % 2) puts(\"odd\");",
    ];
    for handler in used {
        let said = told(count, handler, "", "").unwrap();
        let is_it = |one: &String| one.starts_with("small.c:8: `count` is counted");
        assert!(
            said.len() == 1 && said.iter().all(is_it),
            "{handler}: {said:?}"
        );
        let meant = format!("{count}\n#pragma flowpin private count");
        assert_eq!(told(&meant, handler, "", ""), Ok(vec![]), "{handler}");
    }
    // What one function counts and another sets back is told where the program's own function says
    // it; so is what is said once packets have ended.
    let say = "#include <stdarg.h>\nstatic int count;\nstatic void say(const char *format, ...) { \
               va_list list; va_start(list, format); vprintf(format, list); va_end(list); }\n\
               static void show(void) { say(\"%d\\n\", count); }\n\
               static void reset(void) { count = 0; }";
    let said = told(say, "count++; if (count > 5) { show(); reset(); }", "", "").unwrap();
    assert!(
        said.len() == 1 && said[0].contains("`count` is counted while packets come and used here"),
        "{said:?}"
    );
    // Also where the function that says it sets it back afterwards; not where it sets it first.
    let count_one = "static int count;\nstatic void count_one(void) { count++; }";
    let late = "count_one(); printf(\"#%d\\n\", count); if (count > 5) count = 0;";
    let said = told(count_one, late, "", "").unwrap();
    assert!(
        said.len() == 1 && said[0].contains("`count` is counted while packets come and used here"),
        "{said:?}"
    );
    let first = "count = 0; count_one(); count_one(); printf(\"%d\\n\", count);";
    assert_eq!(told(count_one, first, "", ""), Ok(vec![]));
    // What is set while packets come is no number of packets.
    let plain = "for (count = 0; count < 2; count++) printf(\"%d\\n\", count);";
    assert_eq!(told(count, plain, "", ""), Ok(vec![]));
}

/// What a core says for the first time after packets is in the output, once for each core; what is
/// run once is there once.
#[test]
fn words_after_packets_are_kept() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let temporary = tempfile::tempdir().unwrap();
    let source = temporary.path().join("late.c");
    fs::write(&source, LATE).unwrap();
    let built = build(
        "cc",
        "-O1 -Wall -Werror",
        &transformed_file(&source, Backend::Context),
    );
    let alone = lines(&built.path().join("program"), "1", &[]);
    assert_eq!(alone.len(), 3, "{alone:?}");
    for ways in [2, 3, 4] {
        let said = lines(&built.path().join("program"), &ways.to_string(), &[]);
        let count = |line: &str| said.iter().filter(|one| *one == line).count();
        assert_eq!(count("each core"), ways, "{said:?}");
        assert_eq!((count(&alone[0]), count(&alone[2])), (1, 1), "{said:?}");
    }
}

const LATE: &str = "#include <pcap.h>\n#include <stdio.h>\n\
    static long packets, bytes;\n\
    static void handle(unsigned char *user, const struct pcap_pkthdr *header, \
    const unsigned char *data) { (void)user, (void)data, packets++, bytes += header->len; }\n\
    int main(int argc, char **argv) {\n  char error[PCAP_ERRBUF_SIZE];\n\
    pcap_loop(pcap_open_offline(argv[argc - 1], error), -1, handle, 0);\n\
    printf(\"%ld bytes\\n\", bytes);\n  printf(\"packets: %ld\\n\", packets);\n\
    puts(\"each core\");\n  return 0; }\n";

/// A counter is a sum only if nothing but a sum can be meant: all else is told, with the reason.
#[test]
fn what_is_no_sum_is_told() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let print = "printf(\"%d\\n\", count);";
    let summed = |globals: &str, start: &str, end: &str| told(globals, "count++;", start, end);
    assert_eq!(summed("static int count;", "", print), Ok(vec![]));
    assert_eq!(summed("static int count = 0;", "", print), Ok(vec![]));
    let cases = [
        ("static int count = 1;", "", print, "it does not begin at 0"),
        (
            "static int count;",
            "count = 3;",
            print,
            "uses it before packets come",
        ),
        (
            "static int count;",
            "",
            "count++; printf(\"%d\\n\", count);",
            "may change it",
        ),
        (
            "static int count;",
            "",
            "int all = count; printf(\"%d\\n\", all);",
            "not every core",
        ),
        (
            "static int count;",
            "",
            "return count;",
            "not every core runs a statement",
        ),
        (
            "static int count;",
            "",
            "if (rand()) printf(\"%d\\n\", count);",
            "calls `rand`",
        ),
        (
            "static int count;",
            "",
            "if (count) exit(1);",
            "calls `exit`",
        ),
        (
            "static int count;",
            "",
            "if (count) return 1;",
            "left by a jump",
        ),
        (
            "static int count;",
            "int own = 0;",
            "own = count; printf(\"%d\", own);",
            "of its function",
        ),
        (
            "static double count;",
            "",
            "printf(\"%f\\n\", count);",
            "order",
        ),
        ("static _Bool count;", "", print, "it is no number"),
        (
            "static int count; static int last;",
            "",
            "printf(\"%d %d\\n\", count, last);",
            "",
        ),
        (
            "static int count; static int (*say)(const char *, ...) = printf;",
            "",
            "say(\"%d\", count);",
            "through a pointer",
        ),
    ];
    for (globals, start, end, why) in cases {
        let said = summed(globals, start, end);
        match (why, &said) {
            ("", Ok(lines)) => assert!(lines.is_empty(), "{end}: {lines:?}"),
            (_, Ok(lines)) => {
                assert!(
                    lines.len() == 1 && lines[0].contains(why),
                    "{globals} {end}: {lines:?}"
                );
            }
            (_, Err(lines)) => panic!("{globals} {end}: {lines:?}"),
        }
    }
    let fields = "static struct { int a; char *b; } count;";
    let said = told(fields, "count.a++;", "", "printf(\"%d\\n\", count.a);").unwrap();
    assert!(said[0].contains("it is no number"), "{said:?}");
    let alias = "static int count, *at = &count;";
    let said = told(alias, "++*at;", "", print).unwrap();
    assert!(said[0].contains("its address is taken"), "{said:?}");
    let local = "int own = 0;";
    let loops = "pcap_loop(capture, -1, handle, (unsigned char *)&own); printf(\"%d\", own);";
    let said = told("", "++*(int *)user;", local, loops).unwrap();
    assert!(
        said.len() == 1 && said[0].contains("of a function's own"),
        "{said:?}"
    );
    let other = "static int count, last;";
    let said = told(
        other,
        "count++; last = header->len;",
        "",
        "printf(\"%d %d\", count, last);",
    );
    assert!(
        said.clone().unwrap()[0].contains("uses `last`, which each core has"),
        "{said:?}"
    );
}

/// What is set after packets have begun to come, from another value, or by way of its address, is
/// not shared.
#[test]
fn what_is_not_set_once_stays_private() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let cases = [
        // (declaration, in the handler, before packets, after them, is it shared?)
        ("static int x;", "", "x = atoi(argv[0]);", "", true),
        ("static int x;", "", "x = 1; x = 2;", "", true),
        (
            "static int x;",
            "",
            "sscanf(argv[0], \"%d\", &x);",
            "",
            true,
        ),
        ("static char x[8];", "", "strcpy(x, argv[0]);", "", true),
        (
            "static int x;",
            "",
            "for (int i = 0; i < argc; i++) x += i;",
            "",
            true,
        ),
        ("static int x;", "x = 1;", "x = 2;", "", false),
        ("static int x;", "", "x = 2;", "x = 3;", false),
        ("static int x;", "", "x = rand();", "", false),
        ("static int x;", "", "int y = rand(); x = y;", "", false),
        (
            "static int x;",
            "",
            "int y; y = rand(); x = y + 1;",
            "",
            false,
        ),
        (
            "static int x;",
            "",
            "FILE *f = fopen(\"x\", \"r\"); x = fgetc(f);",
            "",
            false,
        ),
        (
            "static int x, *p;",
            "if (p) *p = 1;",
            "p = &x; x = 2;",
            "",
            false,
        ),
        (
            "static int x; static void set(int *p) { *p = 1; }",
            "",
            "set(&x);",
            "",
            false,
        ),
        (
            "static int x;",
            "",
            "static int *p = &x; *p = 2; x = 1;",
            "",
            false,
        ),
        (
            "static char x[8];",
            "",
            "char *p = strcpy(x, \"a\"); *p = rand();",
            "",
            false,
        ),
        ("static char *x;", "", "x = argv[0];", "", false),
        ("static volatile int x;", "", "x = 1;", "", false),
        ("static struct { int *p; } x;", "", "x.p = 0;", "", false),
        (
            "static int x;",
            "",
            "again: x++; if (x < 3) goto again;",
            "",
            true,
        ),
        (
            "static int x;",
            "",
            "again: x++;",
            "if (x < 3) goto again;",
            false,
        ),
        (
            "static int x; static void set(void) { x = 1; }",
            "set();",
            "set();",
            "",
            false,
        ),
        (
            "static int x; static void set(int v) { x = v; }",
            "",
            "set(4);",
            "",
            true,
        ),
        (
            "static int x; static void set(int v) { x = v; }",
            "",
            "void (*call)(int) = set; call(4);",
            "",
            false,
        ),
        (
            "static int x; static int make(void) { return rand(); }",
            "",
            "x = make();",
            "",
            false,
        ),
        (
            "static int x; static void fill(int *p) { *p = rand(); }",
            "",
            "int y; fill(&y); x = y;",
            "",
            false,
        ),
    ];
    for (globals, handler, start, end, is_shared) in cases {
        let temporary = tempfile::tempdir().unwrap();
        let source = temporary.path().join("small.c");
        let text = format!(
            "#include <pcap.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
             {globals}\nstatic void handle(unsigned char *user, const struct pcap_pkthdr *header, \
             const unsigned char *data) {{\n {handler} }}\n\
             int main(int argc, char **argv) {{\n {start}\n\
             pcap_loop(pcap_open_offline(argv[1], 0), -1, handle, 0);\n {end}\n \
             return sizeof x == 99; }}\n"
        );
        fs::write(&source, text).unwrap();
        let found = decisions(&source);
        let (_, x) = found.iter().find(|(name, _)| name == "x").unwrap();
        let is_set_once = x.verdict == Verdict::SetOnce;
        let case = format!("{globals} | {handler} | {start} | {end}: {}", x.why);
        assert_eq!(is_set_once, is_shared, "{case}");
    }
}
