//! The effect of each signal.
//!
//! ```text
//!  INT, TERM  the first stops the run cleanly, and ends the process if nothing moves for a second;
//!             the second ends it at once; the third has its default effect
//!  XFSZ       nothing by itself: the write beyond the limit fails and is reported
//!  HUP        `run`: reopens log files that were moved away; others: stops as TERM does, but is
//!             never a second signal, and nothing if it was ignored already, as under nohup
//!  USR1       `run`: counters to standard error; others: nothing
//!  USR2       `run -i`: takes filter and rules as they are now; others: nothing
//! ```

use crate::exit::Exit;
use crate::tell::tell_text;
use flowpin_engine::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::{Handle, Signals as Arriving};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Which signal has asked to stop.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    which: Arc<AtomicUsize>,
    /// HUP has asked, alone or beside another.
    hung_up: Arc<AtomicBool>,
    /// No thread listens any more: signals have their default effect.
    over: Arc<AtomicBool>,
    listeners: Vec<(Handle, JoinHandle<()>)>,
}

/// Lets writes past `ulimit -f` fail as writes to a full disk do, and what asks for counters or for
/// other settings do no harm where there are none.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn survive() -> io::Result<()> {
    for signal in [SIGXFSZ, SIGUSR1, SIGUSR2] {
        flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

impl Signals {
    /// Lets INT, TERM and HUP stop a command, and end the process if it cannot react: while it
    /// writes to a pipe without a reader, or reads from a disk that does not respond.
    ///
    /// # Errors
    /// The system refuses the handlers or the thread.
    pub(crate) fn install(control: &Control) -> io::Result<Self> {
        let mut signals = Self::default();
        let mut stops = vec![SIGINT, SIGTERM];
        if !is_ignored(SIGHUP) {
            flag::register_conditional_default(SIGHUP, Arc::clone(&signals.over))?;
            flag::register(SIGHUP, Arc::clone(&signals.hung_up))?;
            flag::register(SIGHUP, Arc::clone(&control.stop))?;
            stops.push(SIGHUP);
        }
        signals.stop_by(control, &stops)?;
        Ok(signals)
    }

    /// Lets INT and TERM stop a run as [`Self::install`] does, and does `on_hangup` for each HUP
    /// and the first or second of the others for each USR1 or USR2, on a thread of its own: until
    /// this is dropped.
    ///
    /// # Errors
    /// The system refuses the handlers or the threads.
    pub(crate) fn listen(
        control: &Control,
        mut on_hangup: impl FnMut() + Send + 'static,
        (mut on_first, mut on_second): (
            impl FnMut() + Send + 'static,
            impl FnMut() + Send + 'static,
        ),
    ) -> io::Result<Self> {
        let mut signals = Self::default();
        signals.stop_by(control, &[SIGINT, SIGTERM])?;
        signals.hear(
            &[SIGHUP, SIGUSR1, SIGUSR2],
            "signals",
            move |mut arriving| {
                for signal in arriving.forever() {
                    match signal {
                        SIGHUP => on_hangup(),
                        SIGUSR1 => on_first(),
                        _ => on_second(),
                    }
                }
            },
        )?;
        Ok(signals)
    }

    /// `stops`: of HUP the flags are set already.
    fn stop_by(&mut self, control: &Control, stops: &[i32]) -> io::Result<()> {
        let signals = self;
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&signals.over))?;
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&signals.which), number)?;
            flag::register(signal, Arc::clone(&control.stop))?;
        }
        let (watched, over) = (control.clone(), Arc::clone(&signals.over));
        signals.hear(stops, "stop", move |mut arriving| {
            if let Some(signal) = arriving.forever().next()
                && let Some(end) = watch(&watched, &mut arriving, signal)
            {
                over.store(true, Ordering::Relaxed);
                end_at_once(end);
            }
        })
    }

    /// Hands these signals to a function on its own thread.
    fn hear(
        &mut self,
        signals: &[i32],
        name: &str,
        answer: impl FnOnce(Arriving) + Send + 'static,
    ) -> io::Result<()> {
        let arriving = Arriving::new(signals)?;
        let handle = arriving.handle();
        let thread = Builder::new()
            .name(name.to_owned())
            .spawn(move || answer(arriving))?;
        self.listeners.push((handle, thread));
        Ok(())
    }

    /// The signal that stopped the run, if one did.
    pub(crate) fn received(&self) -> Option<u8> {
        // Relaxed: nothing else is published with it; the run has ended.
        match self.which.load(Ordering::Relaxed) {
            0 if self.hung_up.load(Ordering::Relaxed) => u8::try_from(SIGHUP).ok(),
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for (handle, thread) in self.listeners.drain(..) {
            handle.close();
            // It writes at most a line; a panic there has reported itself.
            let _ended = thread.join();
        }
    }
}

/// Why the process is ended though the command has not ended.
struct AtOnce {
    signal: i32,
    why: &'static str,
}

/// Whether the process was started with this signal ignored, where the system tells.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Waits until the command has ended, or is to be ended: another signal has come, or nothing has
/// moved for [`PATIENCE`].
fn watch(control: &Control, arriving: &mut Arriving, signal: i32) -> Option<AtOnce> {
    let mut last = Moves::now(control);
    let mut since = Instant::now();
    let mut signal = signal;
    while !arriving.handle().is_closed() {
        thread::sleep(LOOK_EVERY);
        // A session that ends sends HUP beside others, in any order: it never makes two.
        for another in arriving.pending().filter(|&another| another != SIGHUP) {
            if signal != SIGHUP {
                let why = "stopped by a second signal";
                return Some(AtOnce {
                    signal: another,
                    why,
                });
            }
            signal = another;
        }
        let now = Moves::now(control);
        if now.is_beyond(&last) {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() >= PATIENCE {
            let why = "stopped without progress";
            return Some(AtOnce { signal, why });
        }
    }
    None
}

/// Signs of progress of a run.
struct Moves {
    pulses: u64,
    /// Bytes and calls of reading and writing, where the system counts them.
    transfers: String,
    cpu: Duration,
}

impl Moves {
    fn now(control: &Control) -> Self {
        Self {
            pulses: control.pulses(),
            transfers: transfers(),
            cpu: flowpin_engine::cpu_time(),
        }
    }

    fn is_beyond(&self, last: &Self) -> bool {
        // Nothing has been written that could be damaged: there is no need to wait.
        let may_write = self.pulses > 0;
        let works = self.cpu.saturating_sub(last.cpu) >= WORK_MIN;
        self.pulses != last.pulses || may_write && (works || self.transfers != last.transfers)
    }
}

/// Bytes written by this process so far.
fn transfers() -> String {
    let counts = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let written = counts.lines().find(|line| line.starts_with("wchar:"));
    written.unwrap_or_default().to_owned()
}

/// Ends the process although one of its threads is blocked. Files that are not whole are removed.
fn end_at_once(AtOnce { signal, why }: AtOnce) {
    let number = u8::try_from(signal).unwrap_or_default();
    let line = format!("flowpin: {why}: everything not yet written is lost\n");
    // Standard error and the disk may be blocked themselves, so other threads write; if there is
    // room in its pipe, the write does not block.
    let written = Builder::new().spawn(move || tell_text(line));
    let removed = Builder::new().spawn(flowpin_disk::abandon);
    drop((written, removed));
    thread::sleep(LOOK_EVERY);
    signal_hook::low_level::exit(Exit::Signal(number).code().into());
}

/// How long a run that is to stop may show no progress.
const PATIENCE: Duration = Duration::from_secs(1);

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Processor time that shows work, and not only polling: a tenth of [`PATIENCE`].
const WORK_MIN: Duration = Duration::from_millis(100);
