//! What packets leave behind in more than a number: records of counters become sums, by field;
//! tables, lists and trees are each core's, and told where they are said.

use crate::captures::{build, folder, transformed_file};
use crate::configured::{lines, told};
use crate::tools::{compilers, has_libclang, run, skipped};
use flowpin_cc::Backend;
use std::process::Command;

/// A record of whole numbers, with records and arrays in it, is a sum as each of its numbers is.
#[test]
fn records_of_counters_are_summed() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    is_reduced("records.c");
    // What is more than numbers is no sum.
    for field in ["char *name", "union { int a; } one", "_Bool is"] {
        let record = format!("static struct {{ int a; {field}; }} count;");
        let said = told(&record, "count.a++;", "", "printf(\"%d\\n\", count.a);").unwrap();
        assert!(
            said.len() == 1 && said[0].contains("nor a record"),
            "{field}: {said:?}"
        );
    }
}

/// Statistics are more than counters: each field of a record becomes one by its own line.
#[test]
fn records_of_statistics_are_reduced_by_field() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    is_reduced("statistics.c");
}

/// The program says the same on any number of cores, without a warning.
fn is_reduced(file: &str) {
    let source = folder().join(file);
    let temporary = tempfile::tempdir().unwrap();
    let sequential = temporary.path().join("sequential");
    let mut compile = Command::new("cc");
    compile.arg("-w").arg(&source).arg("-o").arg(&sequential);
    run(compile.arg("-lpcap"), "cc");
    let expected = lines(&sequential, "1", &[]);
    for backend in [Backend::Context, Backend::Thread] {
        let output = transformed_file(&source, backend);
        assert!(output.warnings.is_empty(), "{:?}", output.warnings);
        let built = build("cc", "-O1 -Wall -Werror", &output);
        for ways in ["1", "2", "5"] {
            let said = lines(&built.path().join("program"), ways, &[]);
            assert_eq!(said, expected, "{backend:?} {ways}");
        }
    }
}

/// Tables, lists and trees that packets fill are each core's: a loop that says them afterwards is
/// told, unless it is meant; one that says nothing, or what was there before, is not.
#[test]
fn what_packets_leave_behind_is_told_where_it_is_said() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let hosts = "struct host { int packets; struct host *next; };\nstatic struct host *hosts;";
    let fill = "struct host *one = calloc(1, sizeof *one); one->next = hosts; hosts = one;";
    let each = "for (struct host *one = hosts; one; one = one->next)";
    let print = format!("{each} printf(\"%d\\n\", one->packets);");
    let told_once = |globals: &str, handler: &str, start: &str, end: &str| {
        let said = told(globals, handler, start, end).unwrap();
        let is_it = |one: &String| one.contains("what packets left in `hosts` is said here");
        assert!(said.len() == 1 && is_it(&said[0]), "{end}: {said:?}");
    };
    told_once(hosts, fill, "", &print);
    let show = "static void show(struct host *one) { printf(\"%d\\n\", one->packets); }";
    told_once(
        &format!("{hosts}\n{show}"),
        fill,
        "",
        &format!("{each} show(one);"),
    );
    // A table that is there before packets come, and that they fill.
    let table = "struct host { int packets; };\nstatic struct host *hosts;";
    let room = "hosts = calloc(9, sizeof *hosts);";
    let all = "for (int at = 0; at < 9; at++) { int n = hosts[at].packets; printf(\"%d\", n); }";
    told_once(table, "hosts[header->len % 9].packets++;", room, all);
    let meant = format!("{hosts}\n#pragma flowpin private hosts");
    assert_eq!(told(&meant, fill, "", &print), Ok(vec![]));
    let quiet = "while (hosts) { struct host *one = hosts; hosts = one->next; free(one); }";
    assert_eq!(told(hosts, fill, "", quiet), Ok(vec![]));
    assert_eq!(told(hosts, "", fill, &print), Ok(vec![]));
}

/// What belongs to a connection is not taken for a number of all packets: a pointer that packets
/// set leads to it, or a variable that is set for each packet.
#[test]
fn what_belongs_to_a_connection_is_no_number_of_all_packets() {
    if let Some(why) = has_libclang().or_else(|| compilers().is_empty().then_some("cc")) {
        return skipped(why);
    }
    let record = "struct flow { int packets; };\nstatic struct flow *flow;\n\
        static struct flow *find(unsigned at) { static struct flow all[9]; return &all[at % 9]; }";
    let say = "flow = find(header->len); flow->packets++; printf(\"%d\\n\", flow->packets);";
    assert_eq!(told(record, say, "", ""), Ok(vec![]));
    // The same, but for a pointer that stays where it is.
    let start = "flow = calloc(1, sizeof *flow);";
    let say = "if (++flow->packets > 9) exit(1);";
    let used = told(
        "struct flow { int packets; };\nstatic struct flow *flow;",
        say,
        start,
        "",
    );
    let used = used.unwrap();
    let is_it = |one: &String| one.contains("`flow->packets`") && one.contains("used here");
    assert!(used.iter().any(is_it), "{used:?}");
}

/// Statistics that go with each packet, or stand behind pointers, are each core's: where they are
/// said once packets have ended is told, and nothing else.
#[test]
fn what_packets_change_behind_pointers_is_told() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let source = folder().join("behind.c");
    let text = std::fs::read_to_string(&source).unwrap();
    let wanted = ["%s: %lu frames", "%lu bytes", "\"%lu frames", "largest %u"];
    let lines = text.lines().zip(1..);
    let wanted: Vec<String> = lines
        .filter(|(line, _)| wanted.iter().any(|part| line.contains(part)))
        .map(|(_, number)| format!("behind.c:{number}: what is said here"))
        .collect();
    let output = transformed_file(&source, Backend::Context);
    assert_eq!(wanted.len(), 4);
    assert_eq!(output.warnings.len(), 4, "{:?}", output.warnings);
    for (wanted, warning) in wanted.iter().zip(&output.warnings) {
        assert!(warning.starts_with(wanted), "{warning}");
    }
}

/// A number of a loop's own that is set back now and then still counts all packets: each core
/// counts its own. What is set for each packet does not.
#[test]
fn numbers_that_are_set_back_are_told() {
    if let Some(why) = has_libclang() {
        return skipped(why);
    }
    let output = transformed_file(&folder().join("intervals.c"), Backend::Context);
    let about = |name: &str| {
        let name = format!("`{name}` of its function");
        let named = output.warnings.iter().filter(|one| one.contains(&name));
        named.count()
    };
    assert_eq!(about("bytes"), 1, "{:?}", output.warnings);
    assert_eq!(about("longest"), 0, "{:?}", output.warnings);
}
