//! What fuzzing found once is not found again: every file of `fuzz/regressions`.

use std::path::Path;

/// Any bytes may go in; a broken law comes out as a panic.
type Target = fn(&[u8]);

/// Targets in the crates that they test. Those of `foundation/wire` run there; those that compare
/// with models of `testkit` have property tests instead.
const TARGETS: &[(&str, Target)] = &[
    ("capture", flowpin_capture::fuzz_capture),
    ("defrag", flowpin_defrag::fuzz_defrag),
    ("dispatch", flowpin_dispatch::fuzz_dispatch),
    ("dns", flowpin_dns::fuzz_dns),
    ("fix", flowpin_fix::fuzz_fix),
    ("ftp", flowpin_ftp::fuzz_ftp),
    ("flow", flowpin_flow::fuzz_flow),
    ("gopher", flowpin_gopher::fuzz_gopher),
    ("ssh", flowpin_ssh::fuzz_ssh),
    ("grammar", flowpin_grammar::fuzz_grammar),
    ("http", flowpin_http::fuzz_http),
    ("identify", flowpin_identify::fuzz_identify),
    ("nut", flowpin_nut::fuzz_nut),
    ("pattern", flowpin_pattern::fuzz_pattern),
    ("pattern_set", flowpin_pattern::fuzz_pattern_set),
    ("portscan", flowpin_portscan::fuzz_portscan),
    ("reassembly", flowpin_reassembly::fuzz_reassembly),
    ("rules", flowpin_rules::fuzz_rules),
    ("scan", flowpin_grammar::fuzz_scan),
    ("text", flowpin_text::fuzz_text),
    ("tls", flowpin_tls::fuzz_tls),
    ("websocket", flowpin_websocket::fuzz_websocket),
];

/// A find is mended for good; one of a target that is not run here would only seem so.
#[test]
fn kept_finds_stay_fixed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/regressions");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if name.starts_with("wire_") {
            continue;
        }
        let target = TARGETS.iter().find(|(known, _)| *known == name);
        let (_, target) = target.unwrap_or_else(|| panic!("nothing runs {name}"));
        for find in std::fs::read_dir(entry.path()).unwrap() {
            target(&std::fs::read(find.unwrap().path()).unwrap());
            count += 1;
        }
    }
    assert!(count > 0);
}
