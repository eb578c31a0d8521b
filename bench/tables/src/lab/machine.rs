//! What figures depend on.

use serde::{Deserialize, Serialize};
use std::fs;
use std::process::Command;

/// The machine, the time and the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) memory_mib: u64,
    pub(crate) kernel: String,
    #[serde(rename = "virtual")]
    pub(crate) is_virtual: bool,
    /// How the clock rate is chosen, where the system says.
    pub(crate) governor: Option<String>,
    /// Programs that wanted a processor, on average over the last minute.
    pub(crate) load: Option<f64>,
    pub(crate) date: String,
    pub(crate) commit: String,
    pub(crate) compiler: String,
}

impl Machine {
    pub(crate) fn now() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo");
        let field = |name: &str| {
            let line = cpu.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        let memory = read("/proc/meminfo");
        let kib = memory.split_whitespace().nth(1);
        let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        let load = read("/proc/loadavg");
        let changed = !said("git", &["status", "--porcelain", "--untracked-files=no"]).is_empty();
        let commit = said("git", &["rev-parse", "--short=12", "HEAD"]);
        Self {
            processor: field("model name").unwrap_or(std::env::consts::ARCH.to_owned()),
            cores: flowpin_cpu::allowed_cpus().len(),
            memory_mib: kib.and_then(|word| word.parse::<u64>().ok()).unwrap_or(0) / 1024,
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            is_virtual: cpu.contains("hypervisor"),
            governor: Some(governor.trim().to_owned()).filter(|text| !text.is_empty()),
            load: load
                .split_whitespace()
                .next()
                .and_then(|word| word.parse().ok()),
            date: said("date", &["-u", "+%Y-%m-%d"]),
            commit: if changed { commit + "+changes" } else { commit },
            compiler: said("rustc", &["-V"]),
        }
    }

    /// One sentence.
    pub(crate) fn text(&self) -> String {
        let kind = if self.is_virtual { ", virtual" } else { "" };
        let governor = self.governor.as_deref().unwrap_or("not told");
        let load = self
            .load
            .map_or("not told".to_owned(), |load| load.to_string());
        format!(
            "{}, {} cores{kind}, {} MiB, Linux {}, governor {governor}, load {load} at the start; \
             {}, commit {}, {}.",
            self.processor,
            self.cores,
            self.memory_mib,
            self.kernel,
            self.date,
            self.commit,
            self.compiler
        )
    }
}

/// What a program says on one line; nothing if it cannot be run.
fn said(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    output.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    })
}
