//! Where measurements are made: traces, runs in turn, a watch on who else uses the machine.

mod counters;
mod machine;
mod quiet;
mod runs;
mod simulated;
mod traces;
mod variant;
mod whole;
mod worst;

pub(crate) use counters::misses_of;
pub(crate) use machine::Machine;
pub(crate) use runs::{Taken, plan};
pub(crate) use simulated::Simulated;
pub(crate) use traces::Trace;
pub(crate) use variant::Variant;
pub(crate) use whole::{Rounds, Way, Whole};

use anyhow::Result;
use flowpin_engine::{Control, Profile};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use tempfile::TempDir;

/// How much is to be measured.
#[derive(Clone, Debug)]
pub(crate) struct Extent {
    /// Packets of a trace, at most.
    pub(crate) packets_max: u64,
    /// How often everything is measured.
    pub(crate) rounds: u32,
    /// The short form, for tests: figures mean nothing.
    pub(crate) quick: bool,
    /// Measures although others use the processors.
    pub(crate) allow_busy: bool,
}

impl Extent {
    pub(crate) const QUICK: Self = Self {
        packets_max: 20_000,
        rounds: 1,
        quick: true,
        allow_busy: true,
    };
}

/// What benches measure with.
pub(crate) struct Lab {
    pub(crate) extent: Extent,
    /// This program, where it can be started again.
    pub(crate) program: Option<PathBuf>,
    /// The one with variants was brought up to date.
    has_variants: bool,
    folder: TempDir,
    traces: HashMap<String, Rc<Trace>>,
    profiles: HashMap<String, Rc<Profile>>,
}

impl Lab {
    /// # Errors
    /// No folder can be made for traces.
    pub(crate) fn new(extent: Extent, program: Option<PathBuf>) -> Result<Self> {
        Ok(Self {
            extent,
            program,
            has_variants: false,
            folder: tempfile::Builder::new()
                .prefix("flowpin-bench-")
                .tempdir()?,
            traces: HashMap::new(),
            profiles: HashMap::new(),
        })
    }

    /// Whether the patterns of identification were compiled by a run.
    fn has_patterns(&self) -> bool {
        self.path("patterns").exists()
    }

    /// Processors that this process may use.
    pub(crate) fn cores(&self) -> usize {
        flowpin_cpu::allowed_cpus().len().max(1)
    }

    /// What each stage costs on the trace of a preset.
    ///
    /// # Errors
    /// No trace, or it cannot be run, or a run loses something, or the machine is too busy.
    pub(crate) fn profile(&mut self, preset: &str) -> Result<Rc<Profile>> {
        if let Some(known) = self.profiles.get(preset) {
            return Ok(Rc::clone(known));
        }
        let trace = self.preset(preset)?;
        let plan = plan(self, &trace);
        // Profiling adds stages one by one; what all of them lose, a run of all of them says.
        runs::lost_nothing(&flowpin_engine::run(&plan, &Control::default(), &())?)?;
        let cores = self.cores();
        let found = self.watched(|| {
            Ok(flowpin_engine::profile(
                &plan,
                cores,
                &Control::default(),
                &(),
            )?)
        })?;
        let found = Rc::new(found);
        self.profiles.insert(preset.to_owned(), Rc::clone(&found));
        Ok(found)
    }

    /// Measures; again, if others used the processors meanwhile.
    ///
    /// # Errors
    /// What `work` fails with; the machine is too busy to tell.
    pub(crate) fn watched<T>(&self, work: impl FnMut() -> Result<T>) -> Result<T> {
        quiet::watched(self.extent.allow_busy, work)
    }
}
