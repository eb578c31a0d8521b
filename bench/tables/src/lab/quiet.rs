//! Whether others used the processors while something was measured.

use anyhow::{Result, bail};
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Share of the machine that others may take.
const SHARE_MAX: f64 = 0.04;
const TRIES: u32 = 5;
const PATIENCE: Duration = Duration::from_secs(60);
/// The kernel's tick for accounting, the same on all that we know.
const TICKS_PER_S: f64 = 100.0;

/// Runs `work`; again, if others disturbed it.
///
/// # Errors
/// What `work` fails with; the machine is too busy to tell.
pub(super) fn watched<T>(allow_busy: bool, mut work: impl FnMut() -> Result<T>) -> Result<T> {
    if allow_busy {
        return work();
    }
    for _ in 0..TRIES {
        wait()?;
        let (busy, own, start) = (busy_s(), own_s(), Instant::now());
        let found = work()?;
        let others = busy_s() - busy - (own_s() - own);
        // Ticks are coarse: what lies below three of them is nobody.
        let share = (others - 3.0 / TICKS_PER_S) / (start.elapsed().as_secs_f64() * cores());
        if share <= SHARE_MAX {
            return Ok(found);
        }
    }
    bail!("the machine was too busy to tell, {TRIES} times in a row: see --allow-busy")
}

/// Waits until others use little.
fn wait() -> Result<()> {
    let end = Instant::now() + PATIENCE;
    loop {
        let (busy, start) = (busy_s(), Instant::now());
        sleep(Duration::from_millis(300));
        let share = (busy_s() - busy) / (start.elapsed().as_secs_f64() * cores());
        if share <= SHARE_MAX {
            return Ok(());
        }
        if Instant::now() > end {
            bail!(
                "others use {:.0} % of the processors, the limit is {:.0} %: see --allow-busy",
                100.0 * share,
                100.0 * SHARE_MAX
            );
        }
    }
}

/// Seconds that all processors were in use since the system began; 0 where it does not say.
fn busy_s() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = line
        .split_whitespace()
        .skip(1)
        .filter_map(|word| word.parse().ok())
        .collect();
    // user, nice, system, idle, iowait, irq, softirq
    let busy = [0, 1, 2, 5, 6].map(|at: usize| ticks.get(at).copied().unwrap_or(0.0));
    busy.iter().sum::<f64>() / TICKS_PER_S
}

/// Seconds of this process and of the programs that it has started and waited for.
fn own_s() -> f64 {
    flowpin_cpu::process_cpu_time().total().as_secs_f64() + children_s()
}

fn children_s() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may hold anything: the 12th is utime, then stime, cutime, cstime
    // (proc_pid_stat(5)).
    let fields = text.rsplit_once(") ").map_or("", |(_, behind)| behind);
    let ticks = fields.split(' ').skip(13).take(2);
    ticks
        .filter_map(|word| word.parse::<f64>().ok())
        .sum::<f64>()
        / TICKS_PER_S
}

#[expect(clippy::cast_precision_loss, reason = "some dozens")]
fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64)
}

#[cfg(test)]
mod tests {
    use super::children_s;
    use std::process::Command;

    /// A program that was started for a measurement is not somebody else.
    #[test]
    fn programs_that_were_started_are_own() {
        let before = children_s();
        let loop_of = "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done";
        let done = Command::new("sh").args(["-c", loop_of]).status().unwrap();
        assert!(done.success());
        assert!(children_s() > before);
    }
}
