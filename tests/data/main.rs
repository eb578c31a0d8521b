//! Records in the hands of those who work with data: the recipes of the documentation, and Parquet
//! as DuckDB, pandas, Polars and Spark read it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop here"
)]
#![cfg(unix)]

mod page;
mod readers;
mod recipes;

use flowpin_testkit::python::Environment;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A Python with DuckDB, pandas and Polars, in an environment under the target folder, which also
/// has DuckDB's command. None without network or Python: that is said once.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let python = PYTHON.get_or_init(|| {
        let environment = Environment {
            folder: &Path::new(env!("CARGO_TARGET_TMPDIR")).join("data"),
            packages: &[
                "duckdb==2.0.0",
                "duckdb-cli==1.5.6",
                "pandas==3.1.1",
                "polars==2.1.0",
                "pyarrow==26.0.1",
            ],
            modules: "duckdb, pandas, polars, pyarrow",
            what: "Parquet in DuckDB, pandas and Polars",
        };
        environment.python()
    });
    python.as_deref()
}
