//! The Python package: built as the test's own profile builds, and tested by its own tests
//! (`bindings/python/tests`), in an environment under the target folder.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test may stop here"
)]
#![cfg(target_os = "linux")]

use flowpin_testkit::corpus::{self, workspace};
use flowpin_testkit::product;
use flowpin_testkit::python::Environment;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The same rows as the command's Parquet files, bounded memory, Ctrl-C, errors: what the package's
/// tests say, with the packages that they need.
#[test]
fn the_python_package_passes_its_tests() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let environment = Environment {
        folder: &target.join("python"),
        packages: &[
            "duckdb==2.0.0",
            "mypy==2.4.1",
            "pandas==3.1.1",
            "polars==2.1.0",
            "pyarrow==26.0.1",
            "pytest==9.2.0",
        ],
        modules: "duckdb, mypy, pandas, polars, pyarrow, pytest",
        what: "the Python package",
    };
    let Some(python) = environment.python() else {
        return;
    };
    let command = product::command().unwrap();
    let packages = tempfile::tempdir_in(target).unwrap();
    lay_out(packages.path(), &native_module());
    let tested = Command::new(&python)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .current_dir(source())
        .env("FLOWPIN_BIN", command)
        .env("PYTHONPATH", packages.path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .status()
        .unwrap();
    assert!(tested.success(), "the package's own tests failed");
    let typed = Command::new(&python)
        .args(["-m", "mypy", "--strict", "--cache-dir", "/dev/null"])
        .arg("python/flowpin")
        .current_dir(source())
        .status()
        .unwrap();
    assert!(typed.success(), "the package's types contradict each other");
}

/// Spark's data frames hold the rows of `flowpin.read` and of the command, whatever happens to its
/// machines, and with captures and records in S3.
#[test]
fn spark_has_the_rows_of_one_run() {
    let packages = [
        "fsspec",
        "moto[server]==5.2.5",
        "pandas==3.1.1",
        "pyarrow==26.0.1",
        "pyspark==4.3.0",
        "pytest==9.2.0",
        "s3fs",
    ];
    let modules = "flask, fsspec, moto, pandas, pyarrow, pyspark, pytest, s3fs";
    with_spark("spark", (&packages, modules), |run| {
        run("tests/test_spark.py");
        run("tests/test_connections.py");
        run("tests/test_s3a.py");
    });
}

/// Records lie in tables of Iceberg and of Delta Lake, which want an older Spark.
#[test]
fn lakes_have_the_rows_of_read() {
    let packages = [
        "pandas==2.3.3",
        "pyarrow==26.0.1",
        "pyspark==4.1.4",
        "pytest==9.2.0",
    ];
    let modules = "pandas, pyarrow, pyspark, pytest";
    with_spark("lakes", (&packages, modules), |run| {
        run("tests/test_lakes.py");
    });
}

/// Runs tests with Spark, each file in a process of its own, as a process has one JVM: in the long
/// form, as Spark is large.
fn with_spark(
    folder: &str,
    (packages, modules): (&[&str], &str),
    tests: impl FnOnce(&dyn Fn(&str)),
) {
    if !corpus::is_long() {
        return corpus::skip("Spark", "only in the long form (FLOWPIN_TEST_LONG=1)");
    }
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let environment = Environment {
        folder: &target.join(folder),
        packages,
        modules,
        what: "Spark",
    };
    if Command::new("java").arg("-version").output().is_err() {
        return corpus::skip("Spark", "java is not installed");
    }
    let Some(python) = environment.python() else {
        return;
    };
    let packages = tempfile::tempdir_in(target).unwrap();
    lay_out(packages.path(), &native_module());
    tests(&|file| {
        let tested = Command::new(&python)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", file])
            .current_dir(source())
            .env("FLOWPIN_BIN", product::command().unwrap())
            .env("PYTHONPATH", packages.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .status()
            .unwrap();
        assert!(tested.success(), "{file} failed with Spark");
    });
}

fn source() -> PathBuf {
    workspace().join("bindings/python")
}

/// The native module, built in the profile of this test.
fn native_module() -> PathBuf {
    // …/target/PROFILE/deps/python-1234
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let is_release = profile.file_name().is_some_and(|name| name == "release");
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let built = Command::new(cargo)
        .args(["build", "-q", "--locked"])
        .args(product::BUILT)
        .args(is_release.then_some("--release"))
        .env("CARGO_TARGET_DIR", profile.parent().unwrap())
        .current_dir(workspace())
        .status()
        .unwrap();
    assert!(built.success(), "the native module cannot be built");
    profile.join("lib_native.so")
}

/// The package as a wheel installs it.
fn lay_out(folder: &Path, native: &Path) {
    let package = folder.join("flowpin");
    fs::create_dir(&package).unwrap();
    for file in fs::read_dir(source().join("python/flowpin")).unwrap() {
        let file = file.unwrap();
        if file.file_type().unwrap().is_file() {
            fs::copy(file.path(), package.join(file.file_name())).unwrap();
        }
    }
    fs::copy(native, package.join("_native.abi3.so")).unwrap();
}
