//! What concerns every interface: kernel, memory, clock, processors, the kernel's own queues.

use super::{Finding, Part};
use flowpin_words::number;
use std::fs;

/// Examines the system.
pub(crate) fn system() -> Part {
    let findings = [
        kernel(),
        capabilities(),
        memory(),
        locked(),
        clock(),
        processors(),
        backlog(),
    ];
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

/// What this user may do, of what a capture needs when it begins.
fn capabilities() -> Option<Finding> {
    let status = read("/proc/self/status")?;
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))?;
    let effective = u64::from_str_radix(effective.trim(), 16).ok()?;
    let lacks = |wanted: &[(u32, &'static str)]| -> Vec<&'static str> {
        let missing = wanted.iter().filter(|(bit, _)| effective >> bit & 1 == 0);
        missing.map(|&(_, name)| name).collect()
    };
    let (plain, xdp) = (lacks(&[CAPTURES]), lacks(&CAPTURES_BY_XDP));
    Some(if !plain.is_empty() {
        let what = "this user may not capture: it lacks CAP_NET_RAW";
        let todo = "run as root, or `sudo setcap cap_net_raw+ep $(command -v flowpin)`";
        Finding::advice("rights", what, todo)
    } else if !xdp.is_empty() {
        let what = format!(
            "enough to capture; `--capture af-xdp` would need {}",
            xdp.join(", ")
        );
        Finding::good("rights", what)
    } else {
        Finding::good("rights", "enough to capture, also with `--capture af-xdp`")
    })
}

/// How much memory may be locked, which frames of AF_XDP are.
fn locked() -> Option<Finding> {
    let limits = read("/proc/self/limits")?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max locked memory"))?;
    let mut words = line.split_whitespace();
    let (soft, hard) = (words.next()?, words.next()?);
    // A run raises the one to the other by itself.
    Some(match hard.parse::<u64>() {
        Err(_) => Finding::good("locked memory", "no limit"),
        Ok(most) if most >= RING_BYTES => {
            let what = format!("{} may be locked", number::bytes(most));
            Finding::good("locked memory", what)
        }
        Ok(most) => {
            let least = number::bytes(soft.parse().unwrap_or(most));
            let what = format!("{least} may be locked: less than the frames of `--capture af-xdp`");
            Finding::advice(
                "locked memory",
                what,
                "for that, `ulimit -l unlimited`, or a smaller `--ring`; root may exceed it",
            )
        }
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
/// `CAP_NET_RAW`, as bit and name (linux/capability.h).
const CAPTURES: (u32, &str) = (13, "CAP_NET_RAW");
/// With `CAP_NET_ADMIN` and `CAP_BPF`.
const CAPTURES_BY_XDP: [(u32, &str); 3] = [CAPTURES, (12, "CAP_NET_ADMIN"), (39, "CAP_BPF")];
/// What `--ring` has by default.
const RING_BYTES: u64 = 64 << 20;
