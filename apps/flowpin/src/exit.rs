//! How the command ends: exit codes, and errors as one line.

use flowpin_config::{ConfigError, Plan, Settings};
use flowpin_engine::RunError;
use flowpin_words::printable;
use std::fmt;
use std::io;
use std::process::ExitCode;

/// Exit codes, as `--help` and `docs/user/run.md` list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything was done.
    Done,
    /// Output could not be written, out of memory, ….
    Failed,
    /// The command line or the configuration is wrong.
    Usage,
    /// Nothing could be read.
    InputUnreadable,
    /// Everything before the damage was analysed.
    InputDamaged,
    /// Stopped by a signal; what was read until then was analysed.
    Signal(u8),
}

impl Exit {
    /// The number for the system.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::InputUnreadable => 3,
            Self::InputDamaged => 4,
            // As shells count it.
            Self::Signal(number) => 128 + number,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why the command ends, and with which code.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    error: anyhow::Error,
}

impl Failure {
    /// An error on the command line.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit: Exit::Usage,
            error: error.into(),
        }
    }

    /// What is to be read cannot be.
    pub(crate) fn unreadable(error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit: Exit::InputUnreadable,
            error: error.into(),
        }
    }

    /// Anything that went wrong on the way.
    pub(crate) fn failed(error: impl Into<anyhow::Error>) -> Self {
        Self {
            exit: Exit::Failed,
            error: error.into(),
        }
    }

    /// Of a run with this plan; with the position in the settings file if the value is from there.
    pub(crate) fn of_run(error: RunError, plan: &Plan) -> Self {
        let key = match &error {
            RunError::Parser(file) => {
                let source = origin(plan, ["parse", file.key]);
                return Self::from(error).at(source);
            }
            RunError::NoSuchCpu { .. } => ["pipeline", "cpus"],
            RunError::NoSuchParser { .. } => ["parse", "protocols"],
            RunError::Patterns { .. } => ["identify", "patterns"],
            RunError::Capture(error) if error.is_usage() => ["input", "filter"],
            _ => return error.into(),
        };
        Self::from(error).at(plan.places.of(key[0], key[1]))
    }

    /// Adds the origin of the error.
    pub(crate) fn at(mut self, source: Option<String>) -> Self {
        if let Some(source) = source {
            self.error = self.error.context(source);
        }
        self
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

/// The origin of a key for errors that lack it: a position in the file, or an option.
pub(crate) fn origin(plan: &Plan, [section, key]: [&str; 2]) -> Option<String> {
    let mut options = Settings::options().into_iter();
    let option = options.find(|option| option.section == section && option.key == key);
    let flag = option.and_then(|option| option.flag);
    let place = plan.places.of(section, key);
    place.or_else(|| flag.map(|flag| format!("--{}", flag.long)))
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(error)
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let exit = if error.is_usage() {
            Exit::Usage
        } else if error.is_unreadable() {
            Exit::InputUnreadable
        } else {
            Exit::Failed
        };
        Self {
            exit,
            error: error.into(),
        }
    }
}

impl fmt::Display for Failure {
    /// One line: the error and its causes, except those that an earlier text contains.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        for cause in self.error.chain() {
            let text = cause.to_string().replace('\n', " ");
            if !line.contains(&text) {
                let separator = if line.is_empty() { "" } else { ": " };
                line.push_str(separator);
                line.push_str(&text);
            }
        }
        if self.error.chain().any(lacks_descriptors) {
            line.push_str("; raise the limit of open files (ulimit -n)");
        }
        // Quoted text may be hostile: it must not control the terminal.
        f.write_str(&printable(line.as_bytes()))
    }
}

/// Whether the cause is the limit of this process, which any file, thread or pipe may hit.
fn lacks_descriptors(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error = cause.downcast_ref::<io::Error>();
    error.and_then(io::Error::raw_os_error) == Some(EMFILE)
}

/// The same number on every Unix.
const EMFILE: i32 = 24;

#[cfg(test)]
mod tests {
    use super::Failure;
    use anyhow::anyhow;

    /// Errors that quote their cause must not say it twice; others must say it once.
    #[test]
    fn causes_are_reported_once() {
        let quoted = anyhow!("no space").context("cannot write x: no space; free some");
        let line = Failure::failed(quoted).to_string();
        assert_eq!(line, "cannot write x: no space; free some");
        let plain = anyhow!("no space\nleft").context("cannot write x");
        assert_eq!(
            Failure::failed(plain).to_string(),
            "cannot write x: no space left"
        );
    }

    /// What is quoted from a file cannot write on the terminal, nor turn its text around.
    #[test]
    fn quoted_text_cannot_move_the_cursor() {
        let quoted = anyhow!("bad \u{1b}[2J \u{7}\0 \u{202e}x \u{9b}1m\r \u{fc}");
        let line = Failure::failed(quoted).to_string();
        assert_eq!(line, "bad .[2J .. .x .1m. \u{fc}");
    }
}
