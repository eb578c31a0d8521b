//! The formats that a plan asks for.

use crate::batch::TextFormat;
use flowpin_config::{Format, OutputPlan};
use flowpin_record::Shown;

/// What is to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Formats {
    pub(crate) eve: bool,
    pub(crate) zeek_tsv: bool,
    pub(crate) zeek_json: bool,
    pub(crate) csv: bool,
    /// Of CSV: no cell may be a formula.
    pub(crate) csv_safe: bool,
    pub(crate) parquet: bool,
}

impl Formats {
    /// The formats of a plan; standard output takes EVE JSON only.
    pub(crate) fn of(plan: &OutputPlan) -> Self {
        let has = |format| !plan.is_one_place() && plan.formats.contains(&format);
        Self {
            eve: plan.is_one_place() || has(Format::Eve),
            zeek_tsv: has(Format::ZeekTsv),
            zeek_json: has(Format::ZeekJson),
            csv: has(Format::Csv),
            csv_safe: plan.csv_safe && has(Format::Csv),
            parquet: has(Format::Parquet),
        }
    }

    /// Those of them that have a kind of message.
    pub(super) fn with(self, shown: Shown) -> Self {
        match shown {
            Shown::Everywhere => self,
            Shown::InEvents => Self {
                eve: self.eve,
                ..Self::default()
            },
            Shown::InColumns => Self { eve: false, ..self },
            Shown::InZeek => Self {
                zeek_tsv: self.zeek_tsv,
                zeek_json: self.zeek_json,
                ..Self::default()
            },
        }
    }

    /// Whether any record is written at all.
    pub(crate) fn any(self) -> bool {
        self != Self::default()
    }

    /// Whether the typed record is needed behind its EVE text.
    pub(super) fn columns(self) -> bool {
        self.zeek_tsv | self.zeek_json | self.csv | self.parquet
    }

    /// Whether records are written in this format.
    pub(crate) fn text(self, format: TextFormat) -> bool {
        match format {
            TextFormat::Eve => self.eve,
            TextFormat::ZeekTsv => self.zeek_tsv,
            TextFormat::ZeekJson => self.zeek_json,
            TextFormat::Csv => self.csv,
        }
    }
}
