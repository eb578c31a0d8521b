//! A network of a test's own: the test runs once more, inside, with all that it starts.

use flowpin_testkit::corpus;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Where the test runs once more.
const INSIDE: &str = "FLOWPIN_TEST_INSIDE";

/// Runs `body` in a network namespace with a cable from `a` to `b`; says why if it cannot. `test`
/// is the path of the test that calls.
pub(crate) fn inside(test: &str, body: fn()) {
    if std::env::var_os(INSIDE).is_some() {
        shell(
            "ip link add name a type veth peer name b
             sysctl -qw net.ipv6.conf.all.disable_ipv6=1 2>/dev/null || true
             ip link set dev a up; ip link set dev b up; ip link set dev lo up",
        );
        return body();
    }
    for rights in [&["--net"][..], &["--net", "--user", "--map-root-user"]] {
        let probe = "ip link add name a type veth peer name b";
        let probe = Command::new("unshare")
            .args(rights)
            .args(["sh", "-c", probe])
            .output();
        if probe.is_ok_and(|done| done.status.success()) {
            let done = Command::new("unshare")
                .args(rights)
                .arg(std::env::current_exe().unwrap())
                .args(["--exact", test, "--nocapture"])
                .env(INSIDE, "1")
                .status();
            assert!(done.unwrap().success(), "{test}, inside");
            return;
        }
    }
    corpus::skip(
        test,
        "no network namespace (`unshare`, `ip`) without more rights",
    );
}

fn shell(script: &str) {
    let done = Command::new("sh").args(["-euc", script]).status();
    assert!(done.unwrap().success(), "{script}");
}

/// Sends a trace of this seed.
pub(crate) fn send(seed: &str) {
    let made = Command::new(env!("CARGO_BIN_EXE_flowpin"))
        .args(["gen", "mix", "--connections", "60", "--seed", seed])
        .args(["-i", "a", "--topspeed"])
        .stdout(Stdio::null())
        .status();
    assert!(made.unwrap().success());
}

/// A run that captures from `b`.
pub(crate) struct Live {
    child: Option<Child>,
    told: PathBuf,
}

impl Live {
    /// Starts it, with its standard error in `folder`, and waits until it captures.
    pub(crate) fn start(folder: &Path, args: &[&str], environment: &[(String, String)]) -> Self {
        let told = folder.join("told");
        let child = Command::new(env!("CARGO_BIN_EXE_flowpin"))
            .args(["run", "-i", "b"])
            .args(args)
            .envs(environment.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&told).unwrap())
            .spawn()
            .unwrap();
        let live = Self {
            child: Some(child),
            told,
        };
        live.wait_for("capturing from");
        live
    }

    pub(crate) fn told(&self) -> String {
        fs::read_to_string(&self.told).unwrap_or_default()
    }

    /// Waits until it says something.
    pub(crate) fn wait_for(&self, word: &str) {
        for _ in 0..900 {
            if self.told().contains(word) {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("{word}: {}", self.told());
    }

    /// Whether the system filters its system calls.
    pub(crate) fn is_confined(&self) -> bool {
        let pid = self.child.as_ref().unwrap().id();
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let filter = status.lines().find(|line| line.starts_with("Seccomp:"));
        filter.is_some_and(|line| line.ends_with('2'))
    }

    /// Ends it as Ctrl-C does; its exit code.
    pub(crate) fn stop(mut self) -> i32 {
        let mut child = self.child.take().unwrap();
        shell(&format!("kill -INT {}", child.id()));
        child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
