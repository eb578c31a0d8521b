//! Caches as valgrind's cachegrind simulates them: the same figures on every machine, also where
//! the kernel counts no misses.

use super::{Lab, Whole};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The papers' simulation: 4 MiB behind the first level; the rest is as the processor's own.
const SECOND_LEVEL: &str = "--LL=4194304,16,64";

/// Where the connection table's code is, in the names of source files.
const TABLE: &str = "/50-flow/src/";

/// References to data, and those that the second level had to fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Misses {
    references: f64,
    misses: f64,
}

impl Misses {
    pub(crate) fn percent(self) -> Option<f64> {
        (self.references > 0.0).then(|| 100.0 * self.misses / self.references)
    }

    pub(crate) fn each(self, packets: f64) -> f64 {
        self.misses / packets.max(1.0)
    }

    fn less(self, other: Self) -> Self {
        Self {
            references: (self.references - other.references).max(0.0),
            misses: (self.misses - other.misses).max(0.0),
        }
    }
}

/// Of one run, without its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Simulated {
    /// Of the connection table's code.
    pub(crate) table: Misses,
    /// Of all code.
    pub(crate) all: Misses,
}

impl Lab {
    /// Runs something in the simulator, and its first packet alone, whose figures are taken off.
    /// None where there is no simulator, or no program to start.
    ///
    /// # Errors
    /// It cannot be run, or loses something.
    pub(crate) fn simulated(&self, whole: &Whole) -> Result<Option<Simulated>> {
        let has_it = Command::new("valgrind").arg("--version").output().is_ok();
        let Some(program) = self.program.as_deref().filter(|_| has_it) else {
            return Ok(None);
        };
        let first = Whole {
            packets_max: Some(1),
            ..whole.clone()
        };
        let [all, start] = [whole, &first].map(|whole| self.simulate(program, whole));
        let (all, start) = (all?, start?);
        Ok(Some(Simulated {
            table: all.table.less(start.table),
            all: all.all.less(start.all),
        }))
    }

    fn simulate(&self, program: &Path, whole: &Whole) -> Result<Simulated> {
        let out = self.path("cachegrind.out");
        let done = Command::new("valgrind")
            .args([
                "--quiet",
                "--tool=cachegrind",
                "--cache-sim=yes",
                SECOND_LEVEL,
            ])
            .arg(format!("--cachegrind-out-file={}", out.display()))
            .arg(program)
            .args(whole.words())
            .output()?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "valgrind: {}", said.trim());
        parsed(&fs::read_to_string(&out)?)
    }
}

/// Sums up what cachegrind writes: `events:` with the names of columns, `fl=` for a source file,
/// then a line number and counts on each line.
fn parsed(text: &str) -> Result<Simulated> {
    let events = text.lines().find_map(|line| line.strip_prefix("events: "));
    let events: Vec<&str> = events.context("no events")?.split(' ').collect();
    let at = |name: &str| {
        let found = events.iter().position(|event| *event == name);
        found.with_context(|| format!("no {name} in what cachegrind writes"))
    };
    let references = [at("Dr")?, at("Dw")?];
    let misses = [at("DLmr")?, at("DLmw")?];
    let (mut sums, mut is_table) = (Simulated::default(), false);
    for line in text.lines() {
        if let Some(file) = line.strip_prefix("fl=") {
            is_table = file.contains(TABLE);
        } else if line.starts_with(|first: char| first.is_ascii_digit()) {
            let counts: Vec<f64> = line
                .split(' ')
                .skip(1)
                .map(|word| word.parse().unwrap_or(0.0))
                .collect();
            let sum = |columns: [usize; 2]| -> f64 {
                let of = |column: usize| counts.get(column).copied().unwrap_or(0.0);
                columns.into_iter().map(of).sum()
            };
            let (references, misses) = (sum(references), sum(misses));
            for one in [(&mut sums.all, true), (&mut sums.table, is_table)] {
                if let (found, true) = one {
                    found.references += references;
                    found.misses += misses;
                }
            }
        }
    }
    if sums.all.references == 0.0 {
        bail!("cachegrind counted nothing");
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::{Misses, parsed};

    /// Lines belong to the file above them; missing columns at the end are zero.
    #[test]
    fn references_are_summed_by_source_file() {
        let text = "desc: I1\ncmd: x\nevents: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\n\
            fl=/src/pipeline/50-flow/src/table/mod.rs\nfn=a\n10 9 0 0 6 2 1 4 1 1\n\
            fl=/src/engine/src/worker.rs\nfn=a\n11 9 0 0 30 2 2\n12 5\nsummary: 1 2 3\n";
        let found = parsed(text).unwrap();
        let misses = |references, misses| Misses { references, misses };
        assert_eq!(found.table, misses(10.0, 2.0));
        assert_eq!(found.all, misses(40.0, 4.0));
        assert_eq!(found.table.percent(), Some(20.0));
        assert_eq!(found.all.less(misses(30.0, 9.0)), misses(10.0, 0.0));
        assert!(parsed("events: Ir Dr Dw DLmr DLmw\n").is_err());
        assert!(parsed("events: Ir\n1 2\n").is_err());
    }
}
