//! The progress bar: on a terminal only, redrawn a few times a second.

use crate::tell::tell;
use flowpin_engine::{Progress, ProgressSink};
use flowpin_words::number;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Shows the progress of a run.
#[derive(Debug)]
pub(crate) struct Bar {
    bar: ProgressBar,
    /// The template once the input's size is known.
    with_total: &'static str,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    started: Instant,
    drawn: Option<Instant>,
    has_total: bool,
}

impl Bar {
    /// A bar, if standard error is a terminal that can show one.
    pub(crate) fn on_terminal() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if !std::io::stderr().is_terminal() || is_dumb {
            return None;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(REDRAWS));
        bar.set_style(style(SPINNER));
        let columns = console::Term::stderr().size().1;
        Some(Self {
            bar,
            with_total: if columns < BAR_COLUMNS_MIN {
                NARROW
            } else {
                WIDE
            },
            state: Mutex::new(State {
                started: Instant::now(),
                drawn: None,
                has_total: false,
            }),
        })
    }

    /// Prints a line above the bar.
    pub(crate) fn print(&self, line: &str) {
        self.bar.suspend(|| tell(line));
    }

    /// Takes the bar off the screen.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl ProgressSink for Bar {
    fn update(&self, progress: &Progress) {
        let Ok(mut state) = self.state.lock() else {
            return;
        };
        let now = Instant::now();
        if state
            .drawn
            .is_some_and(|drawn| now.duration_since(drawn) < INTERVAL)
        {
            return;
        }
        state.drawn = Some(now);
        if let (Some(total), false) = (progress.bytes_total, state.has_total) {
            state.has_total = true;
            self.bar.set_length(total);
            self.bar.set_style(style(self.with_total));
        }
        self.bar.set_position(progress.bytes_read);
        self.bar
            .set_message(message(progress, now.duration_since(state.started)));
    }

    fn note(&self, text: &str) {
        self.print(&format!("flowpin: {text}"));
    }
}

fn message(progress: &Progress, elapsed: Duration) -> String {
    let rate = number::rate(progress.packets, elapsed);
    let mut text = format!(
        "{} packets  {}",
        number::si(number::real(progress.packets), ""),
        number::si(rate, "pps")
    );
    if progress.files_total > 1 {
        let file = progress.files_total.min(progress.files_done + 1);
        text.push_str(&format!("  file {file}/{}", progress.files_total));
    }
    text
}

/// A style; the default one if a template is wrong.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("█▉▊▋▌▍▎▏ ")
}

const WIDE: &str =
    "{percent:>3} % ▕{wide_bar}▏ {decimal_bytes} of {decimal_total_bytes}  {msg}  {eta} left";
const NARROW: &str = "{percent:>3} %  {decimal_bytes}  {msg}  {eta} left";
/// On a narrower screen, figures leave no room for a bar.
const BAR_COLUMNS_MIN: u16 = 90;
const SPINNER: &str = "{spinner} {decimal_bytes} in {elapsed}  {msg}";
const REDRAWS: u8 = 10;
const INTERVAL: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::message;
    use flowpin_engine::Progress;
    use std::time::Duration;

    /// A single file has no number; of several, the current one is counted from 1.
    #[test]
    fn message_counts_files_if_there_are_several() {
        let mut progress = Progress {
            packets: 1_500_000,
            files_total: 1,
            ..Progress::default()
        };
        let text = message(&progress, Duration::from_secs(1));
        assert_eq!(text, "1.50 M packets  1.50 Mpps");
        progress.files_total = 3;
        progress.files_done = 1;
        assert!(message(&progress, Duration::from_secs(1)).ends_with("  file 2/3"));
    }
}
