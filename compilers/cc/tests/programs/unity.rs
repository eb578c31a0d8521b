//! One source of many: what goes together says the same; what would not stays apart, with a reason.

use crate::tools::{compilers, has_libclang, run, skipped, write};
use flowpin_cc::{Choices, Sources, Unity, collect, model::Texts, transform, unite};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes sources, transforms them, and makes one of them; the program must say what the
/// sequential one says.
fn united(sources: &[(&str, &str)]) -> Unity {
    let given = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, text) in sources {
        fs::write(given.path().join(name), text).unwrap();
        paths.extend(name.ends_with(".c").then(|| given.path().join(name)));
    }
    let named = Sources::of_files(given.path(), &paths, &[]).unwrap();
    let model = collect(&named).unwrap();
    let texts = Texts::read(&model.files).unwrap();
    let choices = Choices {
        unity: true,
        ..Choices::default()
    };
    let output = transform(&model, &texts, choices).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    fs::create_dir_all(&folder).unwrap();
    write(&output, &folder);
    let unity = unite(&model, &folder).unwrap();
    for file in &unity.files {
        fs::write(folder.join(&file.path), &file.text).unwrap();
    }
    assert_eq!(folder.join("flowpin_unity.c").exists(), unity.together > 0);
    // What stays apart is not about compilers: one is enough.
    let count = if unity.apart.is_empty() { 2 } else { 1 };
    says_the_same(&folder, &paths, count);
    unity
}

fn says_the_same(folder: &Path, sources: &[PathBuf], count: usize) {
    for compiler in compilers().into_iter().take(count) {
        let sequential = folder.join("sequential");
        let mut compile = Command::new(compiler);
        compile.args(sources).arg("-w").arg("-o").arg(&sequential);
        run(&mut compile, compiler);
        let expected = run(&mut Command::new(&sequential), "sequential");
        for unity in ["1", "0"].into_iter().take(count) {
            let mut make = Command::new("make");
            make.arg("-sBC").arg(folder);
            make.args([format!("CC={compiler}"), format!("UNITY={unity}")]);
            run(make.arg("CFLAGS=-O1 -Wall -Werror"), compiler);
            let mut program = Command::new(folder.join("program"));
            let said = run(program.env("FLOWPIN_WAYS", "1"), compiler);
            assert_eq!(said, expected, "{compiler}, UNITY={unity}");
        }
    }
}

const MAIN: &str = "#include <stdio.h>\n#include \"shared.h\"\n\
    static int count;\nstatic int next(void) { return ++count; }\n\
    int main(void) { next(); printf(\"%d %d\\n\", next(), other()); return 0; }\n";
const SHARED: &str = "#ifndef SHARED\n#define SHARED\nint other(void);\n#endif\n";

/// Statics, types and macros of the same names belong to their own sources.
#[test]
fn names_of_two_sources_are_told_apart() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let main = format!("#define BY 1\nstruct entry {{ int a; }};\n{MAIN}");
    let other = "#include \"shared.h\"\n#define BY 5\n\
        struct entry { char text[9]; };\nenum { FIRST };\ntypedef long number;\n\
        static number count = 40;\nstatic void next(void) { count += BY; }\n\
        int other(void) { next(); return (int)count + (int)sizeof(struct entry) + FIRST; }\n";
    let unity = united(&[("main.c", &main), ("other.c", other), ("shared.h", SHARED)]);
    assert_eq!((unity.together, unity.apart.len()), (2, 0), "{unity:?}");
}

/// What would mean something else beside the others is compiled by itself.
#[test]
fn what_would_change_stays_apart() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let third = "int third(void);\nstatic int calls;\nint third(void) { return ++calls; }\n";
    for (why, header, other) in [
        // The name that is changed is in a text.
        (
            "`other` would mean something else",
            "",
            "#include \"shared.h\"\n#define TEXT(a) #a\n#define NAME(a) TEXT(a)\n\
             static int count;\n\
             int other(void) { return count++ + (int)sizeof NAME(count); }\n",
        ),
        // A header that says another thing the second time is not read a second time.
        (
            "`size` would mean something else",
            "#ifndef SIZE\n#define SIZE 4\n#endif\n\
             static inline int size(void) { return SIZE; }\n",
            "#define SIZE 9\n#include \"shared.h\"\nstatic int calls;\n\
             int other(void) { return calls++ + size(); }\n",
        ),
        // Beside `main.c`, whose function of that name is another one.
        (
            "names something in a string (`alias`)",
            "",
            "#include \"shared.h\"\nstatic int seven(void) { return 7; }\nstatic int calls;\n\
             int said(void) __attribute__((alias(\"seven\")));\n\
             int other(void) { return calls++ + said(); }\n",
        ),
        (
            "has a #pragma",
            "",
            "#include \"shared.h\"\n#pragma pack(1)\nstruct two { char a; int b; };\n\
             static int calls;\nint other(void) { return calls++ + (int)sizeof(struct two); }\n",
        ),
    ] {
        let shared = SHARED.replace("#endif\n", &format!("{header}#endif\n"));
        let unity = united(&[
            ("main.c", MAIN),
            ("other.c", other),
            ("shared.h", &shared),
            ("third.c", third),
        ]);
        let [(name, told)] = unity.apart.as_slice() else {
            panic!("{why}: {unity:?}");
        };
        assert!(name == "other.c" && told.contains(why), "{name}: {told}");
        assert_eq!(unity.together, 2);
    }
}
