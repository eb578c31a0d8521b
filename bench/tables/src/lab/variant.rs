//! The pipeline with another queue, or on `malloc`: a build of its own, so that the one for use has
//! no switch.
//!
//! ```text
//!  this program ─► cargo build, --cfg flowpin_bench ─► target/variants/release/flowpin-bench
//!        └──────── whole TRACE --queue NAME --places WHERE ──────►┘
//! ```

use super::Lab;
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What is exchanged; nothing by default.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Variant {
    /// Every packet through a queue of that name
    #[arg(long)]
    queue: Option<String>,
    /// Where connections, streams, messages and blocks are: pool, table, malloc
    #[arg(long)]
    places: Option<String>,
}

impl Variant {
    pub(crate) fn queue(name: &str) -> Self {
        Self {
            queue: Some(name.to_owned()),
            places: None,
        }
    }

    pub(crate) fn places(name: &str) -> Self {
        Self {
            queue: None,
            places: Some(name.to_owned()),
        }
    }

    pub(super) fn words(&self) -> Vec<String> {
        let queue = self.queue.iter().map(|name| format!("--queue={name}"));
        let places = self.places.iter().map(|name| format!("--places={name}"));
        queue.chain(places).collect()
    }

    /// From here on all runs of this process are this way.
    ///
    /// # Errors
    /// It was not built for it.
    #[cfg(not(flowpin_bench))]
    pub(super) fn choose(&self) -> Result<()> {
        ensure!(
            *self == Self::default(),
            "this program was not built with --cfg flowpin_bench"
        );
        Ok(())
    }

    /// From here on all runs of this process are this way.
    ///
    /// # Errors
    /// There is no such queue, or place.
    #[cfg(flowpin_bench)]
    pub(super) fn choose(&self) -> Result<()> {
        if let Some(name) = &self.queue {
            tickets::hand_over(name)?;
        }
        if let Some(name) = &self.places {
            flowpin_memory::place_values(match name.as_str() {
                "pool" => flowpin_memory::Places::Pool,
                "table" => flowpin_memory::Places::PoolByTable,
                "malloc" => flowpin_memory::Places::Malloc,
                _ => anyhow::bail!("no place {name}: pool, table, malloc"),
            });
        }
        Ok(())
    }
}

/// The queues of `bench/fifo` between input and workers.
#[cfg(flowpin_bench)]
mod tickets {
    use anyhow::{Context, Result};
    use flowpin_bench_fifo::{Receiver, Sender, queue};
    use flowpin_handoff::{Ticket, TicketReceiver, TicketSender, hand_over_one_by_one};

    /// Places of a queue.
    const PLACES: usize = 2048;

    struct There(Box<dyn Sender + Send>);
    struct Here(Box<dyn Receiver + Send>);

    impl TicketSender for There {
        #[inline]
        fn push(&mut self, ticket: Ticket) -> bool {
            self.0.push(ticket)
        }

        fn flush(&mut self) {
            self.0.flush();
        }
    }

    impl TicketReceiver for Here {
        #[inline]
        fn pop(&mut self) -> Option<Ticket> {
            self.0.pop()
        }

        fn release(&mut self) {
            self.0.release();
        }
    }

    pub(super) fn hand_over(name: &str) -> Result<()> {
        let make = queue(name).with_context(|| format!("no queue {name}"))?;
        hand_over_one_by_one(Box::new(move || {
            let (there, here) = make(PLACES);
            (Box::new(There(there)), Box::new(Here(here)))
        }));
        Ok(())
    }
}

impl Lab {
    /// The program that has all variants; built where the source is. None without a source, or
    /// where nothing is to be measured in earnest and it was not built yet.
    ///
    /// # Errors
    /// It cannot be built.
    pub(crate) fn variants(&mut self) -> Result<Option<PathBuf>> {
        let Some(root) = self.program.as_deref().and_then(source) else {
            return Ok(None);
        };
        let folder = root.join("target").join("variants");
        let program = folder.join("release").join("flowpin-bench");
        if self.extent.quick {
            return Ok(Some(program).filter(|program| program.is_file()));
        }
        if !self.has_variants {
            eprintln!("building {}: minutes, the first time", program.display());
            build(root, &folder)?;
            self.has_variants = true;
        }
        Ok(Some(program))
    }
}

/// The source tree that a program was built in, `target/PROFILE/program`.
fn source(program: &Path) -> Option<&Path> {
    let root = program.ancestors().nth(3)?;
    let is_source = root.join("bench").join("tables").is_dir();
    is_source.then_some(root)
}

fn build(root: &Path, folder: &Path) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["build", "--quiet", "--release", "-p", "flowpin-bench"];
    let status = Command::new(cargo)
        .args(words)
        .arg("--target-dir")
        .arg(folder)
        .env("RUSTFLAGS", "--cfg flowpin_bench")
        .current_dir(root)
        .status()
        .context("cargo")?;
    ensure!(status.success(), "cargo {}: {status}", words.join(" "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::source;

    /// Only in a source tree is anything built, whatever lies around the program.
    #[test]
    fn the_source_is_where_the_program_was_built() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("target/release/flowpin-bench");
        assert_eq!(source(&program), None);
        std::fs::create_dir_all(folder.path().join("bench/tables")).unwrap();
        assert_eq!(source(&program), Some(folder.path()));
        assert_eq!(source(std::path::Path::new("/flowpin-bench")), None);
    }
}
