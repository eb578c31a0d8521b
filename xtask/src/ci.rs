//! The steps in order, and the result at the end.

use crate::finding::Finding;
use crate::{grammars, layers, licences, source, tidy, wording};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

/// Runs all steps; a failed step does not prevent the others. Notes are printed only on request,
/// so that a standing note does not hide a new one.
pub(crate) fn run(root: &Path, is_quick: bool, shows_notes: bool) -> Result<ExitCode> {
    let mut steps = Steps {
        root,
        shows_notes,
        failed: Vec::new(),
        done: 0,
    };
    steps.cargo("format", &["fmt", "--all", "--", "--check"], &[]);
    steps.rules("sizes and layout", tidy::check);
    steps.rules("wording", wording::check);
    steps.rules("layers", |root| layers::check(&metadata(root, false)?));
    steps.rules("grammars", grammars::check);
    steps.rules("licences", |root| licences::check(&metadata(root, true)?));
    steps.shell_scripts();
    steps.cargo("lints", LINTS, &[]);
    if !is_quick {
        steps.cargo("tests", TESTS, &[]);
        steps.loom();
        steps.variants();
        steps.cargo("documentation", DOCS, &[("RUSTDOCFLAGS", "-D warnings")]);
    }
    Ok(steps.finish())
}

struct Steps<'a> {
    root: &'a Path,
    shows_notes: bool,
    failed: Vec<String>,
    done: usize,
}

impl Steps<'_> {
    fn step(&mut self, name: &str, work: impl FnOnce(&Path) -> Result<bool>) {
        let started = Instant::now();
        let is_good = work(self.root).unwrap_or_else(|error| {
            println!("{error:#}");
            false
        });
        let seconds = started.elapsed().as_secs_f64();
        let outcome = if is_good { "good" } else { "FAILED" };
        println!("{outcome:<6} {seconds:6.1} s  {name}");
        self.done += 1;
        if !is_good {
            self.failed.push(name.to_owned());
        }
    }

    fn cargo(&mut self, name: &str, args: &[&str], env: &[(&str, &str)]) {
        self.step(name, |root| {
            let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
            command
                .args(args)
                .envs(env.iter().copied())
                .current_dir(root);
            let status = command.status().context("cannot run cargo")?;
            Ok(status.success())
        });
    }

    fn rules(&mut self, name: &str, check: impl FnOnce(&Path) -> Result<Vec<Finding>>) {
        let shows_notes = self.shows_notes;
        self.step(name, |root| {
            let findings = check(root)?;
            let shown = findings
                .iter()
                .filter(|finding| finding.is_error || shows_notes);
            shown.for_each(|finding| println!("{finding}"));
            Ok(findings.iter().all(|finding| !finding.is_error))
        });
    }

    /// All orders in which the threads of a model can meet. A build of its own, so that the flag
    /// does not make everything else stale.
    fn loom(&mut self) {
        let target = std::env::var("CARGO_TARGET_DIR").unwrap_or("target".to_owned());
        let target = format!("{target}/loom");
        let env = [("RUSTFLAGS", "--cfg loom"), ("CARGO_TARGET_DIR", &target)];
        self.cargo("loom models", LOOM, &env);
    }

    /// The papers' ways of handing over and allocating, as benches have them.
    fn variants(&mut self) {
        let target = std::env::var("CARGO_TARGET_DIR").unwrap_or("target".to_owned());
        let target = format!("{target}/variants");
        let env = [
            ("RUSTFLAGS", "--cfg flowpin_bench"),
            ("CARGO_TARGET_DIR", &target),
        ];
        self.cargo("other queues and allocators", VARIANTS, &env);
    }

    fn shell_scripts(&mut self) {
        self.step("shell scripts", |root| {
            let is_there = Command::new("shellcheck")
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success());
            if !is_there {
                println!("skipped: shellcheck is not installed");
                return Ok(true);
            }
            let scripts = source::shell_scripts(root)?;
            let status = Command::new("shellcheck")
                .arg("--severity=warning")
                .args(&scripts)
                .current_dir(root)
                .status()
                .context("cannot run shellcheck")?;
            Ok(scripts.is_empty() || status.success())
        });
    }

    fn finish(self) -> ExitCode {
        if self.failed.is_empty() {
            println!("all {} steps are good", self.done);
            return ExitCode::SUCCESS;
        }
        let failed = self.failed.join(", ");
        println!(
            "{} of {} steps FAILED: {failed}",
            self.failed.len(),
            self.done
        );
        ExitCode::FAILURE
    }
}

/// What cargo knows about the workspace, with its dependencies if asked for.
fn metadata(root: &Path, with_dependencies: bool) -> Result<serde_json::Value> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    command.args(["metadata", "--format-version", "1", "--locked"]);
    if with_dependencies {
        command.args(["--filter-platform", &host()?]);
    } else {
        command.arg("--no-deps");
    }
    let output = command
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo metadata")?;
    anyhow::ensure!(output.status.success(), "cargo metadata failed");
    serde_json::from_slice(&output.stdout).context("cargo metadata is not JSON")
}

/// The triple that we build for, so that other systems' crates are not fetched.
fn host() -> Result<String> {
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .arg("-vV")
        .output()
        .context("cannot run rustc")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc names no host")
}

const LINTS: &[&str] = &[
    "clippy",
    "--workspace",
    "--all-targets",
    "--locked",
    "--",
    "-D",
    "warnings",
];
const TESTS: &[&str] = &["test", "--workspace", "--locked", "--no-fail-fast"];
const LOOM: &[&str] = &[
    "test",
    "--locked",
    "--lib",
    "-p",
    "flowpin-ring",
    "-p",
    "flowpin-handoff",
];
const VARIANTS: &[&str] = &[
    "test",
    "--locked",
    "--tests",
    "-p",
    "flowpin-handoff",
    "-p",
    "flowpin-memory",
];
const DOCS: &[&str] = &["doc", "--workspace", "--no-deps", "--locked"];
