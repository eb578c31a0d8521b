//! What concerns every interface: kernel, memory, clock, processors, the kernel's own queues.

use super::{Finding, Part};
use flowpin_words::number;
use std::fs;

/// Examines the system.
pub(crate) fn system() -> Part {
    let findings = [kernel(), memory(), clock(), processors(), backlog()];
    Part {
        name: "System".to_owned(),
        findings: findings.into_iter().flatten().collect(),
    }
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}

fn kernel() -> Option<Finding> {
    let release = read("/proc/sys/kernel/osrelease")?;
    let mut numbers = release
        .split(['.', '-'])
        .map_while(|word| word.parse::<u32>().ok());
    let version = (numbers.next()?, numbers.next().unwrap_or(0));
    Some(if version < (5, 13) {
        let what = format!("Linux {release} cannot keep a run from other files");
        Finding::advice("kernel", what, "Linux 5.13 or later has Landlock")
    } else {
        Finding::good("kernel", format!("Linux {release}"))
    })
}

fn memory() -> Option<Finding> {
    let all = read("/proc/meminfo")?;
    let line = all
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = line
        .trim()
        .strip_suffix(" kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        << 10;
    let shown = number::bytes(available);
    Some(if available < WANTED_BYTES {
        let what = format!("{shown} are available, less than a run may use by default");
        Finding::advice("memory", what, "run with a smaller `--memory`")
    } else {
        Finding::good("memory", format!("{shown} are available"))
    })
}

fn clock() -> Option<Finding> {
    let source = read("/sys/devices/system/clocksource/clocksource0/current_clocksource")?;
    let is_slow = ["hpet", "acpi_pm", "jiffies"].contains(&source.as_str());
    Some(if is_slow {
        let what = format!("the kernel reads the time from {source}, which costs every packet");
        Finding::advice(
            "clock",
            what,
            "`dmesg | grep -i tsc` says why the faster one is not used",
        )
    } else {
        Finding::good("clock", format!("the time is read from {source}"))
    })
}

fn processors() -> Option<Finding> {
    let count = std::thread::available_parallelism().ok()?.get();
    let governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    let shown = number::things(count as u64, "processor");
    Some(match governor.as_deref() {
        Some("powersave" | "conservative") => Finding::advice(
            "processors",
            format!("{shown}, which slow down between packets"),
            "`cpupower frequency-set -g performance`",
        ),
        _ => Finding::good("processors", shown),
    })
}

/// Packets that were dropped between driver and sockets, since the system started.
fn backlog() -> Option<Finding> {
    let all = read("/proc/net/softnet_stat")?;
    let dropped = all
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1));
    let dropped: u64 = dropped
        .filter_map(|word| u64::from_str_radix(word, 16).ok())
        .sum();
    let backlog = read("/proc/sys/net/core/netdev_max_backlog").unwrap_or_default();
    Some(if dropped > 0 {
        let count = number::things(dropped, "packet");
        let what = format!("{count} found the kernel's queue full since the system started");
        let todo = format!("`sysctl -w net.core.netdev_max_backlog=10000` (now {backlog})");
        Finding::advice("backlog", what, todo)
    } else {
        Finding::good("backlog", "no packet found the kernel's queue full")
    })
}

/// Tables, and a ring beside.
const WANTED_BYTES: u64 = (1 << 30) + (64 << 20);
