//! Generated traces, made once and kept until the end.

use super::Lab;
use anyhow::{Context, Result};
use flowpin_disk::{Existing, Reads, create};
use flowpin_gen::{Options, Preset, Totals, generate};
use std::path::PathBuf;
use std::rc::Rc;

/// A capture and what is in it.
pub(crate) struct Trace {
    pub(crate) path: PathBuf,
    pub(crate) totals: Totals,
    /// Which part it is of the trace that the paper had.
    pub(crate) part: f64,
}

impl Lab {
    /// As much of a paper's trace as is to be measured.
    ///
    /// # Errors
    /// No such preset; the trace cannot be written.
    pub(crate) fn preset(&mut self, name: &str) -> Result<Rc<Trace>> {
        let preset = Preset::named(name).with_context(|| format!("no preset {name}"))?;
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let part = (self.extent.packets_max as f64 / preset.packets as f64).min(1.0);
        self.trace(name, &preset.options(part), part)
    }

    /// A trace made of options, kept under a name.
    ///
    /// # Errors
    /// Options that contradict each other; the trace cannot be written.
    pub(crate) fn trace(&mut self, name: &str, options: &Options, part: f64) -> Result<Rc<Trace>> {
        if let Some(known) = self.traces.get(name) {
            return Ok(Rc::clone(known));
        }
        let path = self.path(&format!("{name}.pcap"));
        let file = create(&path, Existing::Refuse, &Reads::default())?;
        let totals = generate(options, file, None).with_context(|| name.to_owned())?;
        let trace = Rc::new(Trace { path, totals, part });
        self.traces.insert(name.to_owned(), Rc::clone(&trace));
        Ok(trace)
    }

    /// Takes back the room of a trace that is not needed any more.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub(crate) fn forget(&mut self, name: &str) -> Result<()> {
        if let Some(trace) = self.traces.remove(name) {
            std::fs::remove_file(&trace.path)?;
        }
        Ok(())
    }

    /// A place for a file that lasts as long as this.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
