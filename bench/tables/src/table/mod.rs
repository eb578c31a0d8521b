//! A table of figures: the papers' beside ours, as markdown, JSON and picture.

mod markdown;
mod number;
mod picture;

pub(crate) use markdown::markdown;
pub(crate) use number::short;
pub(crate) use picture::picture;

use serde::{Deserialize, Serialize};

/// One table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Table {
    /// As `flowpin bench` calls it.
    pub(crate) name: String,
    pub(crate) title: String,
    /// Where their figures are from, and on what machine.
    pub(crate) source: String,
    /// What rows are.
    pub(crate) of: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    /// What must be known to read it.
    pub(crate) notes: Vec<String>,
    /// Columns of one unit that the picture compares.
    pub(crate) drawn: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) unit: String,
    /// A paper's figure, not ours.
    #[serde(default)]
    pub(crate) theirs: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) cells: Vec<Cell>,
}

/// What stands in one place of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    Figure(Figure),
    Number(f64),
    Text(String),
    /// Not published, or not to be measured here.
    #[default]
    Nothing,
}

/// What several runs gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) runs: usize,
}

impl Figure {
    /// Median and extremes; none of nothing.
    pub(crate) fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let median = *values.get(values.len() / 2)?;
        Some(Self {
            median,
            least: *values.first()?,
            most: *values.last()?,
            runs: values.len(),
        })
    }

    /// In another unit.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self {
            median: self.median * factor,
            least: self.least * factor,
            most: self.most * factor,
            runs: self.runs,
        }
    }
}

impl Cell {
    /// The number to draw.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Figure(figure) => Some(figure.median),
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Nothing => None,
        }
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Figure> for Cell {
    fn from(figure: Figure) -> Self {
        Self::Figure(figure)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(some: Option<T>) -> Self {
        some.map_or(Self::Nothing, Into::into)
    }
}

impl Table {
    pub(crate) fn new(name: &str, title: &str, source: &str, of: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            source: source.to_owned(),
            of: of.to_owned(),
            columns: Vec::new(),
            rows: Vec::new(),
            notes: Vec::new(),
            drawn: Vec::new(),
        }
    }

    /// A column of ours.
    pub(crate) fn ours(self, name: &str, unit: &str) -> Self {
        self.column(name, unit, false)
    }

    /// A column of a paper's.
    pub(crate) fn theirs(self, name: &str, unit: &str) -> Self {
        self.column(name, unit, true)
    }

    fn column(mut self, name: &str, unit: &str, theirs: bool) -> Self {
        self.columns.push(Column {
            name: name.to_owned(),
            unit: unit.to_owned(),
            theirs,
        });
        self
    }

    /// Which columns the picture shows.
    pub(crate) fn draw(mut self, columns: &[usize]) -> Self {
        self.drawn = columns.to_vec();
        self
    }

    pub(crate) fn row(&mut self, name: &str, cells: Vec<Cell>) {
        self.rows.push(Row {
            name: name.to_owned(),
            cells,
        });
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("modes", "Modes", "ICS'09, Table 3", "mode")
            .theirs("speed", "Mpps")
            .ours("speed", "Mpps")
            .draw(&[0, 1]);
        let figure = Figure::of(vec![9.0, 8.0, 12.5]).unwrap();
        table.row("1 <core>", vec![0.97.into(), figure.into()]);
        table.row("2", vec![Cell::Nothing, "no core".into()]);
        table.note("Theirs at 2.3 GHz.");
        table
    }

    /// What was written can be drawn later, by another program.
    #[test]
    fn a_table_survives_json() {
        let text = serde_json::to_string(&table()).unwrap();
        let back: Table = serde_json::from_str(&text).unwrap();
        assert_eq!(back, table());
    }

    /// Theirs are told apart from ours, and what was not measured is not 0.
    #[test]
    fn markdown_says_whose_figure_it_is() {
        let text = markdown(&table());
        assert!(text.contains("theirs: speed, Mpps"), "{text}");
        assert!(text.contains("9.00 (8.00–12.5)"), "{text}");
        assert!(text.contains("| 2 "), "{text}");
        let widths: Vec<usize> = text
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.chars().count())
            .collect();
        assert!(widths.windows(2).all(|pair| pair[0] == pair[1]), "{text}");
    }

    /// A name from a file may hold anything.
    #[test]
    fn the_picture_is_well_formed() {
        let svg = picture(&table()).unwrap();
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("1 &lt;core&gt;"), "{svg}");
    }

    #[test]
    fn the_median_of_nothing_is_nothing() {
        assert_eq!(Figure::of(Vec::new()), None);
        assert_eq!(Figure::of(vec![3.0]).map(|one| one.median), Some(3.0));
    }
}
