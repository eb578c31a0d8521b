//! Whether a program is connection-affine: whether what it says about a capture is what it says
//! about the capture's parts, if both directions of a connection are in one part.
//!
//! Needs no compiler: the sequential program runs once over the whole capture, and once over each
//! part. What it says is compared as lines, without regard to their order.

mod capture;
mod key;

pub use capture::CaptureError;
pub use key::Key;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is run, and how a capture is divided.
#[derive(Clone, Debug)]
pub struct Question {
    /// The program and its arguments; `{}` stands for the capture, `{out}` for a file that it
    /// writes. Without `{}`, the capture is the last argument.
    pub command: Vec<OsString>,
    /// The capture.
    pub capture: PathBuf,
    /// What packets of one part have in common.
    pub key: Key,
    /// How many parts.
    pub ways: u32,
    /// Lines that begin so are not compared.
    pub ignored: Vec<String>,
    /// Where parts and outputs are kept while the check runs.
    pub folder: PathBuf,
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Lines about the whole capture.
    pub lines: usize,
    /// Lines that only the whole capture gave, with how often.
    pub missing: BTreeMap<String, usize>,
    /// Lines that only the parts gave, with how often.
    pub added: BTreeMap<String, usize>,
    /// Packets in each part.
    pub packets: Vec<u64>,
}

impl Answer {
    /// Whether the parts together gave the same lines.
    #[must_use]
    pub fn is_affine(&self) -> bool {
        self.missing.is_empty() && self.added.is_empty()
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The capture cannot be divided.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The program cannot be started, or its output cannot be read.
    #[error("{what}: {why}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        why: io::Error,
    },
    /// The program failed.
    #[error("the program failed on {capture} ({status}): {stderr}")]
    Failed {
        /// Which capture.
        capture: String,
        /// How it ended.
        status: String,
        /// The last line that it wrote to standard error.
        stderr: String,
    },
}

/// Runs the program on the whole capture and on its parts, and compares.
///
/// # Errors
/// [`CheckError`]: the capture cannot be divided; the program cannot be run, or fails.
pub fn check(question: &Question) -> Result<Answer, CheckError> {
    let parts = capture::divide(question)?;
    let whole = run(question, &question.capture, "whole")?;
    let mut answer = Answer {
        lines: whole.values().sum(),
        packets: parts.iter().map(|(_, count)| *count).collect(),
        ..Answer::default()
    };
    let mut together: BTreeMap<String, usize> = BTreeMap::new();
    for (number, (part, _)) in parts.iter().enumerate() {
        for (line, count) in run(question, part, &format!("part-{number}"))? {
            *together.entry(line).or_default() += count;
        }
    }
    answer.missing = less(&whole, &together);
    answer.added = less(&together, &whole);
    Ok(answer)
}

/// What `from` has more often than `taken`.
fn less(
    from: &BTreeMap<String, usize>,
    taken: &BTreeMap<String, usize>,
) -> BTreeMap<String, usize> {
    let mut left = BTreeMap::new();
    for (line, count) in from {
        let more = count.saturating_sub(taken.get(line).copied().unwrap_or(0));
        if more > 0 {
            left.insert(line.clone(), more);
        }
    }
    left
}

/// The lines that the program says about a capture, each with how often.
fn run(
    question: &Question,
    capture: &Path,
    name: &str,
) -> Result<BTreeMap<String, usize>, CheckError> {
    let failed = |what: String| move |why: io::Error| CheckError::Io { what, why };
    let stdout = question.folder.join(format!("{name}.stdout"));
    let stderr = question.folder.join(format!("{name}.stderr"));
    let out = question.folder.join(format!("{name}.out"));
    let words = words(&question.command, capture, &out);
    let Some((program, arguments)) = words.split_first() else {
        return Ok(BTreeMap::new());
    };
    let create = |path: &Path| File::create(path).map_err(failed(path.display().to_string()));
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(create(&stdout)?)
        .stderr(create(&stderr)?)
        .status()
        .map_err(failed(format!("cannot run {}", program.display())))?;
    let read = |path: &Path| fs::read(path).map_err(failed(path.display().to_string()));
    if !status.success() {
        let text = String::from_utf8_lossy(&read(&stderr)?).into_owned();
        return Err(CheckError::Failed {
            capture: capture.display().to_string(),
            status: status.to_string(),
            stderr: text.lines().last().unwrap_or_default().to_owned(),
        });
    }
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |text: Vec<u8>| {
        for line in String::from_utf8_lossy(&text).lines() {
            let is_ignored = question.ignored.iter().any(|start| line.starts_with(start));
            if !is_ignored {
                *lines.entry(line.to_owned()).or_default() += 1;
            }
        }
    };
    add(read(&stdout)?);
    if out.exists() {
        add(read(&out)?);
    }
    Ok(lines)
}

/// The command with the capture and the output put in.
fn words(command: &[OsString], capture: &Path, out: &Path) -> Vec<OsString> {
    let mut has_capture = false;
    let mut words: Vec<OsString> = Vec::new();
    for word in command {
        if word == "{}" {
            has_capture = true;
            words.push(capture.as_os_str().to_owned());
        } else if word == "{out}" {
            words.push(out.as_os_str().to_owned());
        } else {
            words.push(word.clone());
        }
    }
    if !has_capture {
        words.push(capture.as_os_str().to_owned());
    }
    words
}
