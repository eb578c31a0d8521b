//! What a packet finds as an earlier one left it, and what counts packets in other ways than by a
//! variable at file scope, is told or refused, in whatever way the program writes it.

use crate::tools::{has_libclang, skipped};
use flowpin_cc::{Backend, Sources, collect, model::Texts, transform};
use std::fs;

/// What is told of a program with these declarations, or refused.
fn told(text: &str) -> Result<Vec<String>, Vec<String>> {
    let temporary = tempfile::tempdir().unwrap();
    let source = temporary.path().join("small.c");
    let text = format!(
        "#include <pcap.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
         #define OPEN char error[PCAP_ERRBUF_SIZE]; \
         pcap_t *capture = pcap_open_offline(argv[argc - 1], error);\n\
         #define PACKET unsigned char *user, const struct pcap_pkthdr *header, \
         const unsigned char *data\n{text}\n"
    );
    fs::write(&source, text).unwrap();
    let flags = ["-w".to_owned()];
    let sources = Sources::of_files(temporary.path(), &[source], &flags).unwrap();
    let model = collect(&sources).unwrap();
    let texts = Texts::read(&model.files).unwrap();
    match transform(&model, &texts, Backend::Context) {
        Ok(output) => Ok(output.warnings),
        Err(refusals) => Err(refusals.iter().map(ToString::to_string).collect()),
    }
}

/// A callback with this text, and what follows the packets.
fn with_callback(before: &str, text: &str, after: &str) -> Result<Vec<String>, Vec<String>> {
    told(&format!(
        "{before}\nstatic void handle(unsigned char *user, \
         const struct pcap_pkthdr *header, const unsigned char *data) {{ {text} }}\n\
         int main(int argc, char **argv) {{ OPEN pcap_loop(capture, -1, handle, 0); {after} }}"
    ))
}

/// A `main` with this text, which asks for packets itself.
fn with_loop(before: &str, text: &str) -> Result<Vec<String>, Vec<String>> {
    told(&format!(
        "{before}\nint main(int argc, char **argv) {{ OPEN struct pcap_pkthdr *header, one; \
         const unsigned char *data; {text} }}"
    ))
}

fn is_one(said: &Result<Vec<String>, Vec<String>>, words: &str) -> bool {
    let lines = said.as_deref().unwrap_or_default();
    lines.len() == 1 && lines[0].contains(words)
}

/// Every form of loop that numbers its packets is refused where it says the number.
#[test]
fn loops_that_number_packets_are_refused() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let helper = "struct input { pcap_t *from; unsigned long number; };\n\
        static int get(struct input *it, struct pcap_pkthdr **header, const unsigned char **data) \
        { int found = pcap_next_ex(it->from, header, data); if (found == 1) it->number++; \
        return found == 1; }";
    let refused = [
        (
            "",
            "for (int n = 1; pcap_next_ex(capture, &header, &data) == 1; n++) printf(\"%d\", n);",
        ),
        (
            "",
            "int n; for (n = 1; pcap_next(capture, &one); n++) printf(\"%d\", n);",
        ),
        (
            "",
            "int n = 0; do { data = pcap_next(capture, &one); if (data) { printf(\"%d\", n); \
              n = n + 1; } } while (data);",
        ),
        (
            helper,
            "struct input it = {capture, 0}; while (get(&it, &header, &data)) \
              printf(\"%lu\", it.number);",
        ),
    ];
    for (before, text) in refused {
        let said = with_loop(before, text).unwrap_err();
        let is_it = |one: &String| one.contains("is counted by all packets, and said here");
        assert!(said.iter().any(is_it), "{text}: {said:?}");
    }
    let limit = "int n; for (n = 0; n < 50 && pcap_next(capture, &one); n++) puts(\"one\");";
    let said = with_loop("", limit);
    assert!(
        is_one(
            &said,
            "`n` of its function is counted by all packets, and used"
        ),
        "{said:?}"
    );
    // A number of files, and one that begins again with each packet, are none of packets.
    let files = "for (int n = 1; n < argc; n++) { printf(\"%d %s\", n, argv[n]); \
        pcap_loop(pcap_open_offline(argv[n], error), -1, handle, 0); }";
    let said = with_loop("static void handle(PACKET) { }", files);
    assert!(said.is_ok(), "{said:?}");
    let inner = "while (pcap_next_ex(capture, &header, &data) == 1) \
        for (int n = 0; n < 3; n++) printf(\"%d\", n);";
    assert_eq!(with_loop("", inner), Ok(vec![]));
}

/// A number that begins again with each file is each core's, wherever it is set back.
#[test]
fn numbers_of_each_file_are_told() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let before = "static int n;\nstatic void handle(PACKET) { n++; }";
    let each = "for (int at = 1; at < argc; at++) { n = 0; \
        pcap_loop(pcap_open_offline(argv[at], error), -1, handle, 0); printf(\"%d\", n); }";
    assert!(is_one(
        &with_loop(before, each),
        "`n` is counted while packets come and used here"
    ));
    let own = "for (int at = 1; at < argc; at++) { int n = 0; \
        pcap_t *from = pcap_open_offline(argv[at], error); \
        while (pcap_next_ex(from, &header, &data) == 1) n++; printf(\"%d\", n); }";
    let said = with_loop("", own);
    assert!(
        is_one(
            &said,
            "`n` of its function is counted by all packets, and used"
        ),
        "{said:?}"
    );
}

/// What a packet reads before it sets it is an earlier one's.
#[test]
fn what_earlier_packets_left_is_told() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let name = "char name[20]; snprintf(name, 20, \"%02x\", data[0]);";
    let cases = [
        (
            "static char last[20];",
            format!(
                "{name} if (strcmp(name, last)) puts(name); \
            strcpy(last, name);"
            ),
            "`last`",
        ),
        (
            "struct one { const char *text; int length; };\nstatic struct one last;",
            "struct one now = {0, header->len}; if (last.length == now.length) puts(\"same\"); \
             last = now;"
                .to_owned(),
            "`last`",
        ),
        (
            "static double mean;",
            "mean = 0.9 * mean + 0.1 * header->len; \
            if (header->len > 3 * mean) puts(\"long\");"
                .to_owned(),
            "`mean`",
        ),
        (
            "static const char *mode = \"none\";",
            "if (data[0] == 1) mode = \"one\"; \
            else if (data[0] == 2) mode = \"two\"; puts(mode);"
                .to_owned(),
            "`mode`",
        ),
        (
            "struct state { int started; struct timeval first; };",
            "struct state *state = (struct state *)user; if (!state->started) { \
             state->first = header->ts; state->started = 1; } \
             printf(\"%ld\", header->ts.tv_sec - state->first.tv_sec);"
                .to_owned(),
            "`state->started`",
        ),
    ];
    for (before, text, words) in cases {
        let said = with_callback(before, &text, "");
        let expected = format!("{words} is used here as an earlier packet left it");
        assert!(is_one(&said, &expected), "{text}: {said:?}");
    }
    let gap = "struct timeval last = {0}; while (pcap_next_ex(capture, &header, &data) == 1) { \
        long gap = header->ts.tv_sec - last.tv_sec; last = header->ts; printf(\"%ld\", gap); }";
    let said = with_loop("", gap);
    assert!(
        is_one(&said, "`last` of its function is used here as an earlier"),
        "{said:?}"
    );
    // What is set for each packet first, turns, and heads of lists.
    let fine = [
        (
            "static char text[20];",
            "snprintf(text, 20, \"%u\", header->len); puts(text);",
        ),
        (
            "static int which;\nstatic char text[2][9];",
            "which = !which; snprintf(text[which], 9, \"%u\", header->len); puts(text[which]);",
        ),
        (
            "struct node { struct node *next; };\nstruct list { struct node *head; };",
            "struct list *list = (struct list *)user; struct node *node = malloc(sizeof *node); \
             node->next = list->head; list->head = node;",
        ),
        (
            "static const char *kind;",
            "if (data[0]) kind = \"a\"; else kind = \"b\"; puts(kind);",
        ),
    ];
    for (before, text) in fine {
        assert_eq!(with_callback(before, text, ""), Ok(vec![]), "{text}");
    }
}

/// What is said after the packets may depend on what they left by a condition, by a function, or by
/// a variable.
#[test]
fn what_depends_on_what_packets_left_is_told() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let flag = with_callback(
        "static int seen;",
        "if (data[0]) seen = 1;",
        "if (seen) puts(\"x\");",
    );
    assert!(
        is_one(&flag, "`seen` changes while packets come"),
        "{flag:?}"
    );
    let tree = "struct tree { struct tree *left; unsigned key; };\nstatic struct tree *root;\n\
        static int size(struct tree *it) { return it ? 1 + size(it->left) : 0; }\n\
        static int all(void) { return size(root); }";
    let fill = "struct tree *it = malloc(sizeof *it); it->left = root; root = it;";
    for after in ["printf(\"%d\", size(root));", "printf(\"%d\", all());"] {
        let said = with_callback(tree, fill, after);
        assert!(
            is_one(&said, "what packets left in `root` is said here"),
            "{after}: {said:?}"
        );
    }
    let table = "static unsigned long table[256];\n\
        static int by(const void *a, const void *b) { return memcmp(a, b, 8); }";
    let sorted = "qsort(table, 256, 8, by); unsigned long *at = table; printf(\"%lu\", *at);";
    let said = with_callback(table, "table[data[0]] = header->len;", sorted);
    assert!(is_one(&said, "`table`"), "{said:?}");
    // What is only given back says nothing.
    let said = with_callback(tree, fill, "free(root); puts(\"end\");");
    assert_eq!(said, Ok(vec![]));
}
