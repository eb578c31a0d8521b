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

fn own_s() -> f64 {
    flowpin_cpu::process_cpu_time().total().as_secs_f64()
}

#[expect(clippy::cast_precision_loss, reason = "some dozens")]
fn cores() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64)
}
