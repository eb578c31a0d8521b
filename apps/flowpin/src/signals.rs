//! The effect of each signal.
//!
//! ```text
//!  INT, TERM  the first stops the run cleanly, and ends the process if nothing moves for a second;
//!             the second ends it at once; the third has its default effect
//!  XFSZ       nothing by itself: the write beyond the limit fails and is reported
//!  HUP        reopens log files that were moved away
//!  USR1       counters to standard error
//! ```

use crate::exit::Exit;
use crate::tell::tell_text;
use flowpin_engine::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
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
    /// No thread listens any more: signals have their default effect.
    over: Arc<AtomicBool>,
    listeners: Vec<(Handle, JoinHandle<()>)>,
}

/// Lets writes past `ulimit -f` fail as writes to a full disk do.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn survive_file_limits() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

impl Signals {
    /// Lets INT and TERM stop a run, and end the process if the run cannot react: while it writes
    /// to a pipe without a reader, or reads from a disk that does not respond.
    ///
    /// # Errors
    /// The system refuses the handlers or the thread.
    pub(crate) fn install(control: &Control) -> io::Result<Self> {
        let mut signals = Self::default();
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&signals.over))?;
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&signals.which), number)?;
            flag::register(signal, Arc::clone(&control.stop))?;
        }
        let (watched, over) = (control.clone(), Arc::clone(&signals.over));
        signals.hear(&[SIGINT, SIGTERM], "stop", move |mut arriving| {
            if let Some(signal) = arriving.forever().next()
                && let Some(end) = watch(&watched, &mut arriving, signal)
            {
                over.store(true, Ordering::Relaxed);
                end_at_once(end);
            }
        })?;
        Ok(signals)
    }

    /// Does `on_hangup` for each HUP and `on_user` for each USR1, on a thread of its own: until
    /// this is dropped.
    ///
    /// # Errors
    /// The system refuses the handlers or the thread.
    pub(crate) fn listen(
        &mut self,
        mut on_hangup: impl FnMut() + Send + 'static,
        mut on_user: impl FnMut() + Send + 'static,
    ) -> io::Result<()> {
        self.hear(&[SIGHUP, SIGUSR1], "signals", move |mut arriving| {
            for signal in arriving.forever() {
                match signal {
                    SIGHUP => on_hangup(),
                    _ => on_user(),
                }
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

/// Waits until the command has ended, or is to be ended: another signal has come, or nothing has
/// moved for [`PATIENCE`].
fn watch(control: &Control, arriving: &mut Arriving, signal: i32) -> Option<AtOnce> {
    let mut last = Moves::now(control);
    let mut since = Instant::now();
    while !arriving.handle().is_closed() {
        thread::sleep(LOOK_EVERY);
        if let Some(signal) = arriving.pending().next() {
            let why = "stopped by a second signal";
            return Some(AtOnce { signal, why });
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
