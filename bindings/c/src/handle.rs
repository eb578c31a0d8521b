//! `flowpin`: a run, its options, and what went wrong with it.

use crate::text::{c_string, os_str, str};
use core::ffi::{c_char, c_int};
use flowpin_config::{Flag, Format, Plan, Settings};
use flowpin_engine::{Control, RunError};
use std::ffi::{CString, OsStr};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `flowpin` of the header.
#[derive(Debug, Default)]
pub struct Flowpin {
    state: Mutex<State>,
    /// Apart from the state, so that a run that goes on can be stopped.
    control: Control,
}

#[derive(Debug, Default)]
struct State {
    settings: Settings,
    inputs: Vec<PathBuf>,
    error: CString,
}

/// Why a call fails: `FLOWPIN_FAILED`, …, and one line.
#[derive(Debug)]
pub(crate) struct Failure {
    code: c_int,
    line: String,
}

pub(crate) const OK: c_int = 0;
const FAILED: c_int = 1;
const USAGE: c_int = 2;
const UNREADABLE: c_int = 3;
const DAMAGED: c_int = 4;

impl Failure {
    pub(crate) fn usage(line: impl Into<String>) -> Self {
        Self {
            code: USAGE,
            line: line.into(),
        }
    }

    /// A capture is damaged, if one of them is.
    pub(crate) fn of_damage<'a>(
        mut inputs: impl Iterator<Item = (&'a std::path::Path, Option<&'a str>)>,
    ) -> Result<(), Self> {
        let damaged = inputs.find_map(|(path, damage)| Some((path, damage?)));
        damaged.map_or(Ok(()), |(path, damage)| {
            Err(Self {
                code: DAMAGED,
                line: format!(
                    "{}: {damage}; what is before it was delivered",
                    path.display()
                ),
            })
        })
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let code = if error.is_usage() {
            USAGE
        } else if error.is_unreadable() {
            UNREADABLE
        } else {
            FAILED
        };
        Self {
            code,
            line: error.to_string(),
        }
    }
}

impl Flowpin {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) const fn control(&self) -> &Control {
        &self.control
    }

    /// Ends the run that goes on.
    pub(crate) fn stop(&self) {
        // Nothing but a store, so that signal handlers may call it. Relaxed: it guards nothing.
        self.control.stop.store(true, Ordering::Relaxed);
    }

    /// A callback has ended the run before: the next one goes on to its end.
    pub(crate) fn may_go_on(&self) {
        self.control.stop.store(false, Ordering::Relaxed);
    }

    /// The plan that the options make.
    pub(crate) fn plan(&self) -> Result<Plan, Failure> {
        let (mut settings, inputs) = {
            let state = self.state();
            (state.settings.clone(), state.inputs.clone())
        };
        if !inputs.is_empty() {
            settings.input.read = Some(inputs);
        }
        settings.output.formats = Some(vec![Format::Parquet]);
        settings.output.stdout = Some(false);
        let plan = settings.into_plan();
        let mut plan = plan.map_err(|error| Failure::usage(error.to_string()))?;
        // These would change the whole program's rights, for good.
        (plan.live.confine, plan.live.user, plan.live.metrics) = (false, None, None);
        Ok(plan)
    }

    fn set(&self, name: &str, word: &OsStr) -> Result<(), Failure> {
        if let Some(why) = refusal(name) {
            return Err(Failure::usage(format!("no option `{name}` here: {why}")));
        }
        let mut flags = Settings::options().into_iter().filter_map(|one| one.flag);
        let flag: Flag = flags
            .find(|flag| flag.long == name && !flag.is_shared)
            .ok_or_else(|| {
                let line = format!("there is no option `{name}`; docs/user/options.md lists them");
                Failure::usage(line)
            })?;
        flag.set_word(&mut self.state().settings, word)
            .map_err(|why| Failure::usage(format!("{name} `{}`: {why}", word.display())))
    }
}

/// Why an option of the command has no meaning here.
fn refusal(name: &str) -> Option<&'static str> {
    Some(match name {
        "read" => "captures are read by flowpin_read()",
        "log-dir" | "format" | "output" | "output-files" | "rotate" | "output-max" | "csv-safe"
        | "spool" | "spool-size" | "kafka-config" => "records go to callbacks, not to files",
        "user" | "confine" | "metrics" => "it would change the whole program",
        "grammar" => "grammars are read by the command only",
        "rules" | "indicators" | "var" | "strict-rules" | "alert-payload" => {
            "rules are read by the command only"
        }
        _ => return None,
    })
}

/// Calls `work` and says how it ended. What it finds wrong can be asked for afterwards.
///
/// # Safety
/// `run` is NULL or from `flowpin_new` and not freed.
pub(crate) unsafe fn call(
    run: *const Flowpin,
    work: impl FnOnce(&Flowpin) -> Result<(), Failure>,
) -> c_int {
    // SAFETY: the caller promises that.
    let Some(run) = (unsafe { run.as_ref() }) else {
        return USAGE;
    };
    let done = catch_unwind(AssertUnwindSafe(|| work(run))).unwrap_or_else(|_| {
        Err(Failure {
            code: FAILED,
            line: "the library stopped unexpectedly; please report it".to_owned(),
        })
    });
    let (code, line) = match done {
        Ok(()) => (OK, CString::default()),
        Err(failure) => (failure.code, c_string(&failure.line)),
    };
    run.state().error = line;
    code
}

/// Makes a run without input.
#[unsafe(no_mangle)]
pub extern "C" fn flowpin_new() -> *mut Flowpin {
    catch_unwind(|| Box::into_raw(Box::<Flowpin>::default())).unwrap_or(ptr::null_mut())
}

/// Ends it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_free(run: *mut Flowpin) {
    if !run.is_null() {
        // SAFETY: from `flowpin_new`, and the caller's for the last time.
        let run = unsafe { Box::from_raw(run) };
        // A panic while it is dropped must not cross the border either.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(run)));
    }
}

/// Names a capture.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_read(run: *mut Flowpin, path: *const c_char) -> c_int {
    let read = |run: &Flowpin| {
        // SAFETY: the caller hands over text that ends in a zero.
        let path = unsafe { os_str(path, "the capture's path") }?;
        run.state().inputs.push(path.into());
        Ok(())
    };
    // SAFETY: the caller hands over a run.
    unsafe { call(run, read) }
}

/// Sets an option.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_set(
    run: *mut Flowpin,
    option: *const c_char,
    value: *const c_char,
) -> c_int {
    let set = |run: &Flowpin| {
        // SAFETY: the caller hands over text that ends in a zero.
        let name = unsafe { str(option, "the option's name") }?;
        // SAFETY: likewise.
        let value = unsafe { os_str(value, "the option's value") }?;
        run.set(name, value)
    };
    // SAFETY: the caller hands over a run.
    unsafe { call(run, set) }
}

/// What went wrong last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_error(run: *const Flowpin) -> *const c_char {
    // SAFETY: the caller hands over a run or NULL.
    match unsafe { run.as_ref() } {
        // The text stays where it is until the next call with this run.
        Some(run) => run.state().error.as_ptr(),
        None => c"there is no run".as_ptr(),
    }
}

/// Ends a run that goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_stop(run: *const Flowpin) {
    // SAFETY: the caller hands over a run or NULL.
    if let Some(run) = unsafe { run.as_ref() } {
        run.stop();
    }
}
