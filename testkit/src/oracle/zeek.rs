//! Zeek's tab-separated logs, read by their own header lines.

use std::collections::HashMap;

/// A log: one map from field name to text for each row. Unset fields are left out.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The names of its fields.
    pub fields: Vec<String>,
    /// The rows.
    pub rows: Vec<HashMap<String, String>>,
}

impl Log {
    /// Reads a log in full (with `#fields`) or a cut one (whose first line names the fields).
    pub fn parse(text: &str) -> Self {
        let mut log = Self::default();
        let is_full = text.lines().any(|line| line.starts_with("#fields"));
        for line in text.lines() {
            if let Some(names) = line.strip_prefix("#fields\t") {
                log.fields = names.split('\t').map(str::to_owned).collect();
            } else if line.starts_with('#') || line.is_empty() {
                // Other header lines.
            } else if !is_full && log.fields.is_empty() {
                log.fields = line.split('\t').map(str::to_owned).collect();
            } else {
                log.rows.push(log.row(line));
            }
        }
        log
    }

    fn row(&self, line: &str) -> HashMap<String, String> {
        let values = self.fields.iter().zip(line.split('\t'));
        values
            .filter(|&(_, value)| value != "-")
            .map(|(name, value)| (name.clone(), value.to_owned()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Log;

    /// Both forms occur among expected results.
    #[test]
    fn full_and_cut_logs_are_read() {
        for text in [
            "#separator \\x09\n#fields\tts\tuid\tservice\n1.5\tC1\t-\n#close\n",
            "### note\nts\tuid\tservice\n1.5\tC1\t-\n",
        ] {
            let log = Log::parse(text);
            assert_eq!(log.rows.len(), 1);
            assert_eq!(log.rows[0]["uid"], "C1");
            assert!(!log.rows[0].contains_key("service"));
        }
    }
}
