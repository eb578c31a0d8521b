//! A run on a thread of its own, and what the interpreter knows of it.

use crate::error::{Failure, Names};
use crate::report::Report;
use flowpin_config::Plan;
use flowpin_engine::{Control, Progress, ProgressSink, RunError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Ctrl-C is noticed after at most this time.
pub(crate) const SLICE: Duration = Duration::from_millis(50);

/// A run that goes on or has ended.
pub(crate) struct Run {
    control: Control,
    names: Names,
    state: Mutex<State>,
    changed: Condvar,
    /// Where the captures come from, if Python's own threads read them.
    feeders: Vec<Py<PyAny>>,
    has_warned: AtomicBool,
}

#[derive(Default)]
struct State {
    is_open: bool,
    progress: Progress,
    outcome: Option<Result<Report, Failure>>,
}

/// What a run is called with.
pub(crate) struct Setting {
    pub(crate) plan: Plan,
    pub(crate) names: Names,
    pub(crate) feeders: Vec<Py<PyAny>>,
}

impl Run {
    /// Starts `work` and waits until its input is open.
    ///
    /// # Errors
    /// The input cannot be opened; Ctrl-C.
    pub(crate) fn start(
        py: Python<'_>,
        setting: Setting,
        work: impl FnOnce(&Plan, &Control, &dyn ProgressSink, &Names) -> Result<Report, RunError>
        + Send
        + 'static,
        at_end: impl FnOnce() + Send + 'static,
    ) -> PyResult<Arc<Self>> {
        let Setting {
            plan,
            names,
            feeders,
        } = setting;
        let run = Arc::new(Self {
            control: Control::default(),
            names,
            state: Mutex::default(),
            changed: Condvar::new(),
            feeders,
            has_warned: AtomicBool::new(false),
        });
        let shared = Arc::clone(&run);
        let thread = std::thread::Builder::new().name("flowpin".to_owned());
        let started = thread.spawn(move || {
            let watch = Watch(&shared);
            let (control, names) = (&shared.control, &shared.names);
            let done = catch_unwind(AssertUnwindSafe(|| work(&plan, control, &watch, names)));
            let outcome = match done {
                Ok(Ok(report)) => Ok(report),
                Ok(Err(error)) => Err(Failure::of_run(&error).renamed(names)),
                Err(_) => Err(Failure::defect("the run")),
            };
            shared.state().outcome = Some(outcome);
            at_end();
            shared.changed.notify_all();
        });
        started
            .map_err(|error| Failure::other(format!("cannot start a thread: {error}")).raise(py))?;
        let opened = run.wait_until(py, |state| state.is_open || state.outcome.is_some());
        let failed = match &run.state().outcome {
            Some(Err(failure)) => Some(failure.clone()),
            _ => None,
        };
        if opened.is_err() || failed.is_some() {
            run.stop();
        }
        opened?;
        match failed {
            Some(failure) => Err(run.fed(py).err().unwrap_or_else(|| failure.raise(py))),
            None => Ok(run),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits without the interpreter's lock.
    fn wait_until(&self, py: Python<'_>, is_it: impl Fn(&State) -> bool + Sync) -> PyResult<()> {
        loop {
            py.check_signals()?;
            let is_done = py.detach(|| {
                let state = self.state();
                if is_it(&state) {
                    return true;
                }
                let waited = self.changed.wait_timeout(state, SLICE);
                let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
                is_it(&state)
            });
            if is_done {
                return Ok(());
            }
        }
    }

    /// What the run has come to: waits for its end.
    ///
    /// # Errors
    /// Why it failed; what the source of its packets has raised; Ctrl-C.
    pub(crate) fn report(&self, py: Python<'_>) -> PyResult<Report> {
        self.wait_until(py, |state| state.outcome.is_some())?;
        self.fed(py)?;
        let outcome = self.state().outcome.clone();
        match outcome {
            Some(Ok(report)) => Ok(report),
            Some(Err(failure)) => Err(failure.raise(py)),
            None => Err(Failure::defect("the run").raise(py)),
        }
    }

    /// At the end of a reader: raises why the run failed, and warns of damage, once.
    pub(crate) fn ended(&self, py: Python<'_>) -> PyResult<()> {
        let report = self.report(py)?;
        if report.damage.is_empty() || self.has_warned.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let warn = py.import("flowpin._errors")?.getattr("warn_of_damage")?;
        warn.call1((report.damage,)).map(drop)
    }

    /// Raises what the sources of packets have raised.
    fn fed(&self, py: Python<'_>) -> PyResult<()> {
        for feeder in &self.feeders {
            feeder.call_method0(py, "check")?;
        }
        Ok(())
    }

    /// The run ends after what it has read.
    pub(crate) fn stop(&self) {
        self.control.stop.store(true, Ordering::Relaxed);
    }

    /// Bytes read, bytes to read if that is known, packets.
    pub(crate) fn progress(&self) -> (u64, Option<u64>, u64) {
        let progress = self.state().progress;
        (progress.bytes_read, progress.bytes_total, progress.packets)
    }
}

/// Watches a run.
struct Watch<'a>(&'a Run);

impl ProgressSink for Watch<'_> {
    fn update(&self, progress: &Progress) {
        let mut state = self.0.state();
        (state.progress, state.is_open) = (*progress, true);
        drop(state);
        self.0.changed.notify_all();
    }

    fn started(&self) {
        self.0.state().is_open = true;
        self.0.changed.notify_all();
    }
}
