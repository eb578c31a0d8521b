//! Laying out the summary: titled sections of aligned rows, the last column wrapped.
//!
//! ```text
//!  Title     aside
//!    left        12,345   right-aligned   the last column goes on in further lines,
//!                                         indented as deep as it begins
//! ```

use anstyle::{AnsiColor, Style};

/// A text that grows by sections. It always contains styles, which the stream strips if necessary.
pub(crate) struct Page {
    text: String,
    width: usize,
}

/// One field of a row.
pub(crate) struct Cell {
    text: String,
    style: Style,
    is_right: bool,
}

impl Cell {
    /// Text, aligned left.
    pub(crate) fn left(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            style: Style::new(),
            is_right: false,
        }
    }

    /// A number, aligned right.
    pub(crate) fn right(text: impl Into<String>) -> Self {
        Self {
            is_right: true,
            ..Self::left(text)
        }
    }

    /// An explanation.
    pub(crate) fn dim(text: impl Into<String>) -> Self {
        Self {
            style: Style::new().dimmed(),
            ..Self::left(text)
        }
    }

    /// Text that deserves attention.
    pub(crate) fn alert(text: impl Into<String>) -> Self {
        Self {
            style: ALERT,
            ..Self::left(text)
        }
    }

    /// A bar that fills `part` of `whole`, of eighths of a character.
    pub(crate) fn bar(part: u64, whole: u64) -> Self {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = u128::from(part) * 8 * u128::from(BAR_WIDTH);
        let eighths = eighths
            .div_ceil(u128::from(whole.max(1)))
            .min(8 * u128::from(BAR_WIDTH));
        let eighths = usize::try_from(eighths).unwrap_or_default();
        let rest = EIGHTHS.get(eighths % 8).copied().unwrap_or_default();
        Self {
            style: AnsiColor::Cyan.on_default(),
            ..Self::left(format!("{}{rest}", "█".repeat(eighths / 8)))
        }
    }
}

impl Page {
    /// An empty page for a screen of `width` columns.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            text: String::new(),
            width,
        }
    }

    /// Begins a section.
    pub(crate) fn title(&mut self, title: &str, aside: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.push(title, TITLE);
        if !aside.is_empty() {
            self.text.push_str("  ");
            self.push(aside, Style::new().dimmed());
        }
        self.text.push('\n');
    }

    /// Rows whose columns line up. A row may have fewer cells than another.
    pub(crate) fn rows(&mut self, rows: &[Vec<Cell>]) {
        let column_count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..column_count)
            .map(|column| {
                let cells = rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| len(&cell.text)).max().unwrap_or(0)
            })
            .collect();
        for row in rows {
            self.row(row, &widths);
        }
    }

    /// One line by itself, wrapped.
    pub(crate) fn line(&mut self, cell: Cell) {
        self.rows(&[vec![cell]]);
    }

    /// The whole text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn row(&mut self, row: &[Cell], widths: &[usize]) {
        self.text.push_str(INDENT);
        let mut at = INDENT.len();
        for (column, (cell, &width)) in row.iter().zip(widths).enumerate() {
            if column > 0 {
                self.text.push_str(GAP);
                at += GAP.len();
            }
            let is_last = column + 1 == row.len();
            if is_last && !cell.is_right {
                self.wrapped(cell, at);
            } else {
                let padding = " ".repeat(width.saturating_sub(len(&cell.text)));
                if cell.is_right {
                    self.text.push_str(&padding);
                }
                self.push(&cell.text, cell.style);
                if !cell.is_right {
                    self.text.push_str(&padding);
                }
            }
            at += width;
        }
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        self.text.push('\n');
    }

    /// Writes a cell that begins at column `at`, in as many lines as it takes.
    fn wrapped(&mut self, cell: &Cell, at: usize) {
        let room = self.width.saturating_sub(at).max(WRAP_MIN);
        let mut used = 0;
        let mut line = String::new();
        for word in cell.text.split(' ') {
            if used > 0 && used + 1 + len(word) > room {
                self.push(&line, cell.style);
                self.text.push('\n');
                self.text.push_str(&" ".repeat(at));
                line.clear();
                used = 0;
            }
            if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(word);
            used += len(word);
        }
        self.push(&line, cell.style);
    }

    fn push(&mut self, text: &str, style: Style) {
        if style == Style::new() || text.is_empty() {
            self.text.push_str(text);
        } else {
            self.text.push_str(&format!("{style}{text}{style:#}"));
        }
    }
}

/// The columns of a text: every printed character has one.
fn len(text: &str) -> usize {
    text.chars().count()
}

const TITLE: Style = Style::new().bold();
const ALERT: Style = AnsiColor::Yellow.on_default().bold();
const INDENT: &str = "  ";
const GAP: &str = "  ";
const BAR_WIDTH: u64 = 20;
/// In narrower columns, wrapping does more harm than good.
const WRAP_MIN: usize = 24;

#[cfg(test)]
mod tests {
    use super::{Cell, Page};

    /// Numbers line up on the right, and explanations go on under themselves.
    #[test]
    fn columns_line_up_and_the_last_one_wraps() {
        let mut page = Page::new(44);
        page.rows(&[
            vec![
                Cell::left("one"),
                Cell::right("7"),
                Cell::left("a text that goes on in a second line"),
            ],
            vec![Cell::left("eleven"), Cell::right("1,234"), Cell::left("b")],
        ]);
        assert_eq!(
            page.into_text(),
            "  one         7  a text that goes on in a\n                 second line\n  \
             eleven  1,234  b\n"
        );
    }

    /// Something is never an empty bar, and all is a full one.
    #[test]
    fn bars_show_something_and_all() {
        assert_eq!(Cell::bar(1, 1_000_000).text, "▏");
        assert_eq!(Cell::bar(9, 9).text, "█".repeat(20));
        assert_eq!(Cell::bar(0, 9).text, "");
        assert_eq!(Cell::bar(9, 0).text, "█".repeat(20));
    }
}
