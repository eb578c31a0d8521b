//! `bench/soak`: memory over a simulated day.

use flowpin_testkit::corpus;
use std::path::Path;
use std::process::{Command, Output};

fn python(args: &[&str]) -> Option<Output> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/soak");
    let mut command = Command::new("python3");
    command.args(args).current_dir(folder).output().ok()
}

/// A day of little traffic, in seconds: memory is as large in the end as in the middle. And what
/// grows would be found.
#[test]
fn memory_is_flat_over_a_day() {
    let flowpin = env!("CARGO_BIN_EXE_flowpin");
    let day = ["--hours", "24", "--every", "1200", "--connections", "20"];
    let args = [&["-B", "soak.py", "--flowpin", flowpin][..], &day[..]].concat();
    let (Some(found), Some(run)) = (python(&["-B", "-m", "doctest", "soak.py"]), python(&args))
    else {
        return corpus::skip("memory_is_flat_over_a_day", "no python3");
    };
    for output in [&found, &run] {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{told}");
    }
    let said = String::from_utf8(run.stdout).unwrap();
    assert_eq!(said.matches("\nhour ").count() + 1, 24, "{said}");
    assert!(said.contains("memory is flat: "), "{said}");
}
