//! The tables of explained differences: which capture, which kind, and who is right.

use std::collections::BTreeMap;

/// A table: (capture, kind of difference) → explanation.
pub(crate) struct Explained {
    rows: BTreeMap<(String, String), String>,
    used: std::collections::BTreeSet<(String, String)>,
}

impl Explained {
    /// Reads the lines `capture TAB kind TAB explanation`; `#` starts a comment.
    pub(crate) fn parse(text: &str) -> Self {
        let mut rows = BTreeMap::new();
        for line in text
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
        {
            let mut parts = line.splitn(3, '\t');
            let mut next = || parts.next().unwrap_or_default().trim().to_owned();
            let (capture, kind, why) = (next(), next(), next());
            assert!(!why.is_empty(), "no explanation in: {line}");
            let before = rows.insert((capture, kind), why);
            assert!(before.is_none(), "twice in the table: {line}");
        }
        Self {
            rows,
            used: std::collections::BTreeSet::new(),
        }
    }

    /// Whether a difference is explained; remembers that the row was needed.
    pub(crate) fn covers(&mut self, capture: &str, kind: &str) -> bool {
        let key = (capture.to_owned(), kind.to_owned());
        let is_there = self.rows.contains_key(&key);
        if is_there {
            self.used.insert(key);
        }
        is_there
    }

    /// Rows about captures that were compared but did not differ: they must go.
    pub(crate) fn stale(&self, compared: &[String]) -> Vec<String> {
        self.rows
            .keys()
            .filter(|key| compared.contains(&key.0) && !self.used.contains(*key))
            .map(|(capture, kind)| format!("{capture}: {kind} is explained but does not occur"))
            .collect()
    }
}
