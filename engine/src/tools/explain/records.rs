//! Records as text: which files they stand in, and as which lines.

use super::account::{RecordFileLine, RecordText};
use crate::output::messages;
use flowpin_config::Plan;
use flowpin_output::{MessageSchemas, RecordLine};

/// Names the files of records.
pub(super) struct Texts {
    schemas: MessageSchemas,
}

impl Texts {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            schemas: messages::schemas(plan),
        }
    }

    /// A record, with its line in each file.
    pub(super) fn of(&self, line: &RecordLine<'_>) -> RecordText {
        let schema = line.schema.and_then(|number| self.schemas.schema(number));
        let stem = match schema {
            Some(schema) => schema.file_stem.to_string(),
            None => line.record_type.file_stem().to_owned(),
        };
        let written = line.texts.iter().filter(|(_, text)| !text.is_empty());
        let lines = written.map(|&(format, text)| RecordFileLine {
            format,
            file: match format {
                "eve" => "eve.json".to_owned(),
                "csv" => format!("{stem}.csv"),
                _ => format!("{stem}.log"),
            },
            text: String::from_utf8_lossy(text).trim_end().to_owned(),
        });
        RecordText {
            key: line.key,
            lines: lines.collect(),
            kind: match schema {
                Some(schema) => schema.name.to_string(),
                None => stem,
            },
        }
    }
}
