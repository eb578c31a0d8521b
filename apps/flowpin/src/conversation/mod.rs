//! A conversation on standard output, in order of time: text, hexadecimal, JSON or raw bytes.
//!
//! ```text
//!  10.91.1.2:41001 → 10.91.2.2:80  2026-11-21 21:46:06.812345  packet 9  byte 0
//!  GET /index.html HTTP/1.1
//!  …
//! ```
//!
//! Guarantees that no bytes of the capture reach the terminal as a command.

mod json;
mod look;

use crate::cli::Show;
use anstyle::{AnsiColor, Style};
use flowpin_engine::{
    Conversation, GAP_FILL_MAX, Gaps, RunError, StreamEnd, StreamPlace, StreamSink, gap_note,
};
use flowpin_words::{number, printable};
use std::io::{self, Write};
use std::path::PathBuf;

/// Prints conversations.
pub(crate) struct Printer {
    out: Box<dyn Write>,
    format: Show,
    gaps: Gaps,
    only: Option<bool>,
    community_seed: u16,
    /// The current turn: uid and direction.
    turn: Option<(u64, bool)>,
    /// Whether the turn has had bytes that are not text.
    is_binary: bool,
    /// Whether a line is begun.
    in_line: bool,
}

impl Printer {
    /// On standard output: in colours on a terminal.
    pub(crate) fn on_stdout(
        format: Show,
        gaps: Gaps,
        only: Option<bool>,
        community_seed: u16,
    ) -> Self {
        let out: Box<dyn Write> = match format {
            Show::Raw | Show::Json => Box::new(io::BufWriter::new(io::stdout())),
            Show::Auto | Show::Text | Show::Hex => Box::new(anstream::stdout()),
        };
        Self {
            out,
            format,
            gaps,
            only,
            community_seed,
            turn: None,
            is_binary: false,
            in_line: false,
        }
    }

    /// Ends the last line.
    pub(crate) fn finish(&mut self) -> Result<(), RunError> {
        let ended = if self.in_line {
            self.out.write_all(b"\n")
        } else {
            Ok(())
        };
        ended.and_then(|()| self.out.flush()).map_err(failed)
    }

    fn is_wanted(&self, at: &StreamPlace<'_>) -> bool {
        self.only.is_none_or(|only| only == at.to_server)
    }

    /// The line with the sender, where it changes.
    fn head(&mut self, at: &StreamPlace<'_>) -> io::Result<()> {
        let turn = (at.conversation.uid.0, at.to_server);
        if self.turn == Some(turn) && at.conversation.protocol == TCP {
            return Ok(());
        }
        let is_first = self.turn.is_none_or(|(uid, _)| uid != turn.0);
        let gap = match (is_first, self.in_line) {
            (_, true) => "\n\n",
            (false, false) => "\n",
            (true, false) if self.turn.is_some() => "\n",
            (true, false) => "",
        };
        self.turn = Some(turn);
        (self.is_binary, self.in_line) = (false, false);
        let (from, to) = at.conversation.ends(at.to_server);
        let (date, clock) = number::date_and_time(at.time);
        let micros = at.time.subsec_nanos() / 1000;
        let uid = if is_first {
            format!("{}\n", conversation_line(at.conversation))
        } else {
            String::new()
        };
        let bold = Style::new().bold();
        writeln!(
            self.out,
            "{gap}{uid}{bold}{from} → {to}{bold:#}  {date} {clock}.{micros:06}  packet {}  byte {}",
            at.packet_number, at.offset
        )
    }

    /// Bytes in a readable form.
    fn show(&mut self, at: &StreamPlace<'_>, bytes: &[u8]) -> io::Result<()> {
        self.head(at)?;
        let style = style(at.to_server);
        let text_len = match self.format {
            Show::Text => bytes.len(),
            Show::Hex => 0,
            _ => look::text_len(bytes),
        };
        // After bytes that are not text, bytes that look like text by chance are shown like them.
        let text_len = if self.is_binary && text_len < bytes.len() {
            0
        } else {
            text_len
        };
        let (text, rest) = bytes.split_at_checked(text_len).unwrap_or((&[], bytes));
        if !text.is_empty() {
            self.is_binary = false;
            let printable = printable(text);
            write!(self.out, "{style}{printable}{style:#}")?;
            self.in_line = !printable.is_empty() && !printable.ends_with('\n');
        }
        if !rest.is_empty() {
            self.is_binary = true;
            self.end_line()?;
            let offset = at.offset + text_len as u64;
            for line in look::hex_lines(offset, rest) {
                writeln!(self.out, "{style}{line}{style:#}")?;
            }
        }
        Ok(())
    }

    fn end_line(&mut self) -> io::Result<()> {
        if core::mem::replace(&mut self.in_line, false) {
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn show_gap(&mut self, at: &StreamPlace<'_>, len: u64) -> io::Result<()> {
        self.head(at)?;
        self.end_line()?;
        let dim = Style::new().dimmed();
        writeln!(self.out, "{dim}{}{dim:#}", gap_note(len))
    }

    fn raw_gap(&mut self, len: u64) -> io::Result<()> {
        match self.gaps {
            Gaps::Skip => Ok(()),
            Gaps::Note => self.out.write_all(gap_note(len).as_bytes()),
            Gaps::Zero => {
                let zeros = io::repeat(0);
                let mut zeros = io::Read::take(zeros, len.min(GAP_FILL_MAX));
                io::copy(&mut zeros, &mut self.out).map(drop)
            }
        }
    }
}

impl StreamSink for Printer {
    fn data(&mut self, at: &StreamPlace<'_>, bytes: &[u8]) -> Result<(), RunError> {
        if !self.is_wanted(at) {
            return Ok(());
        }
        match self.format {
            Show::Raw => self.out.write_all(bytes),
            Show::Json => json::data(&mut self.out, at, self.community_seed, bytes),
            Show::Auto | Show::Text | Show::Hex => self.show(at, bytes),
        }
        .map_err(failed)
    }

    fn gap(&mut self, at: &StreamPlace<'_>, len: u64) -> Result<(), RunError> {
        if !self.is_wanted(at) {
            return Ok(());
        }
        match self.format {
            Show::Raw => self.raw_gap(len),
            Show::Json => json::gap(&mut self.out, at, self.community_seed, len),
            Show::Auto | Show::Text | Show::Hex => self.show_gap(at, len),
        }
        .map_err(failed)
    }

    fn closed(&mut self, at: &StreamPlace<'_>, how: StreamEnd) -> Result<(), RunError> {
        if self.format != Show::Json || !self.is_wanted(at) {
            return Ok(());
        }
        json::closed(&mut self.out, at, self.community_seed, how).map_err(failed)
    }
}

/// What a conversation is, in one line.
fn conversation_line(conversation: &Conversation) -> String {
    let protocol = protocol(conversation);
    format!("{} {protocol}", conversation.uid)
}

fn protocol(conversation: &Conversation) -> &'static str {
    if conversation.protocol == TCP {
        "TCP"
    } else {
        "UDP"
    }
}

/// The client in red and the server in blue, as in Wireshark.
fn style(to_server: bool) -> Style {
    let color = if to_server {
        AnsiColor::Red
    } else {
        AnsiColor::BrightBlue
    };
    color.on_default()
}

fn failed(source: io::Error) -> RunError {
    let path = PathBuf::from("standard output");
    RunError::StreamWrite { path, source }
}

const TCP: u8 = 6;
