//! Files of indicators: plain lists, CSV, MISP's events, STIX 2 bundles.

use super::value::{Indicator, classify, domain, is_ja4, network, refanged, url};
use serde_json::Value;

/// What a file has.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) found: Vec<Indicator>,
    /// What is no indicator: where, and why. The first ones alone.
    pub(super) wrong: Vec<(u32, String)>,
    /// All of those.
    pub(super) wrong_count: u64,
}

impl List {
    /// Reads a file.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let mut list = Self::default();
        let text = text.trim_start_matches('\u{feff}');
        if text.trim_start().starts_with(['{', '[']) {
            let whole: Value =
                serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))?;
            list.json(&whole);
            if list.found.is_empty() && list.wrong_count == 0 {
                return Err("neither a MISP event nor a STIX 2 bundle with indicators".to_owned());
            }
        } else {
            list.lines(text);
        }
        Ok(list)
    }

    fn refuse(&mut self, line: u32, why: String) {
        self.wrong_count += 1;
        if self.wrong.len() < WRONG_MAX {
            self.wrong.push((line, why));
        }
    }

    /// One indicator on each line, or CSV: in the column that a first line calls so, or else in the
    /// first that has one. What follows `#` at a line's beginning, or behind a blank, is a remark.
    fn lines(&mut self, text: &str) {
        let mut column = None;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split_once(" #").map_or(line, |(line, _)| line).trim();
            if line.is_empty() || line.starts_with(['#', ';']) || line.starts_with("//") {
                continue;
            }
            let cells = cells(line);
            let header = cells.iter().position(|cell| {
                let name = cell.to_ascii_lowercase();
                HEADERS.contains(&name.as_str())
            });
            if column.is_none() && self.found.is_empty() && header.is_some() {
                column = header;
                continue;
            }
            let known = match column.and_then(|column| cells.get(column)) {
                Some(cell) => classify(cell),
                None => {
                    let mut known = cells.iter().map(|cell| classify(cell));
                    known.find(|known| !known.is_empty()).unwrap_or_default()
                }
            };
            if known.is_empty() {
                let shown: String = line.chars().take(60).collect();
                self.refuse(number, format!("no address, domain, URL or hash: {shown}"));
            }
            self.found.extend(known);
        }
    }

    fn json(&mut self, value: &Value) {
        match value {
            Value::Array(all) => all.iter().for_each(|one| self.json(one)),
            Value::Object(fields) => {
                if let (Some(Value::String(kind)), Some(Value::String(text))) =
                    (fields.get("type"), fields.get("value"))
                {
                    // MISP: for detection, unless it says otherwise.
                    if fields.get("to_ids") != Some(&Value::Bool(false)) {
                        self.misp(kind, text);
                    }
                }
                if let Some(Value::String(pattern)) = fields.get("pattern") {
                    self.stix(pattern);
                }
                for name in ["Event", "response", "Attribute", "Object", "objects"] {
                    if let Some(inner) = fields.get(name) {
                        self.json(inner);
                    }
                }
            }
            _ => {}
        }
    }

    /// An attribute of MISP: `type` may name several parts, as `value` does: `filename|md5`.
    fn misp(&mut self, kinds: &str, text: &str) {
        let parts: Vec<(&str, &str)> = kinds.split('|').zip(text.split('|')).collect();
        let mut is_any = false;
        for (kind, text) in parts {
            let text = refanged(text.trim());
            let known = match kind {
                "ip-src" | "ip-dst" | "ip" => network(&text),
                "domain" | "hostname" => domain(&text),
                "url" | "uri" | "link" => url(&text),
                "md5" | "sha1" | "sha256" => hash(kind, &text),
                "ja3-fingerprint-md5" => hash("ja3", &text),
                "x509-fingerprint-sha1" => hash("sha1", &text),
                "ja4-fingerprint" | "ja4-plus" if is_ja4(&text) => Some(Indicator::Ja4(text)),
                _ => continue,
            };
            is_any |= known.is_some();
            self.found.extend(known);
        }
        if !is_any && kinds.split('|').any(|kind| MISP_KINDS.contains(&kind)) {
            self.refuse(1, format!("{kinds} is not {text}"));
        }
    }

    /// A pattern of STIX 2: comparisons for equality, one or the other of which has to hold.
    fn stix(&mut self, pattern: &str) {
        let shown: String = pattern.chars().take(60).collect();
        let Some(comparisons) = comparisons(pattern) else {
            self.refuse(1, format!("only alternatives of = are read: {shown}"));
            return;
        };
        for (path, text) in comparisons {
            let text = refanged(&text);
            let known = match path.as_str() {
                "ipv4-addr:value" | "ipv6-addr:value" => network(&text),
                "domain-name:value" => domain(&text),
                "url:value" => url(&text),
                path if path.starts_with("file:hashes") => {
                    let kind = path.to_ascii_lowercase().replace('-', "");
                    let kinds = ["md5", "sha256", "sha1"];
                    let kind = kinds.iter().find(|one| kind.contains(**one));
                    kind.and_then(|kind| hash(kind, &text))
                }
                _ => None,
            };
            match known {
                Some(known) => self.found.push(known),
                None => self.refuse(1, format!("{path} = {text} is not looked for")),
            }
        }
    }
}

fn hash(kind: &str, text: &str) -> Option<Indicator> {
    let digits = text.to_ascii_lowercase();
    let (len, make): (usize, fn(String) -> Indicator) = match kind {
        "md5" => (32, Indicator::Md5),
        "ja3" => (32, Indicator::Ja3),
        "sha1" => (40, Indicator::Sha1),
        _ => (64, Indicator::Sha256),
    };
    let is_hash = digits.len() == len && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| make(digits))
}

/// The comparisons `path = 'text'` of a pattern, if it has nothing but alternatives of them.
fn comparisons(pattern: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut rest = pattern.trim();
    loop {
        rest = rest.trim_start_matches(['[', '(', ' ']);
        let (path, behind) = rest.split_once('=')?;
        let path = path.trim();
        if path.is_empty() || path.contains([' ', '!', '>', '<']) {
            return None;
        }
        let mut text = String::new();
        let mut chars = behind.trim_start().strip_prefix('\'')?.chars();
        loop {
            match chars.next()? {
                '\\' => text.push(chars.next()?),
                '\'' => break,
                other => text.push(other),
            }
        }
        found.push((path.to_owned(), text));
        rest = chars.as_str().trim_start_matches([']', ')', ' ']);
        if rest.is_empty() {
            return Some(found);
        }
        rest = rest.strip_prefix("OR")?;
    }
}

/// The cells of a line: parted by commas, semicolons or tabs, perhaps in quotes.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut in_quotes = false;
    for one in line.chars() {
        match one {
            '"' => in_quotes = !in_quotes,
            ',' | ';' | '\t' if !in_quotes => cells.push(String::new()),
            _ => {
                if let Some(cell) = cells.last_mut() {
                    cell.push(one);
                }
            }
        }
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

/// What is told of what is wrong, line by line.
const WRONG_MAX: usize = 1000;
/// What the column of indicators is called.
const HEADERS: [&str; 14] = [
    "indicator",
    "ioc",
    "ioc_value",
    "value",
    "observable",
    "domain",
    "host",
    "ip",
    "dst_ip",
    "url",
    "md5",
    "sha1",
    "sha256",
    "hash",
];
const MISP_KINDS: [&str; 11] = [
    "ip-src",
    "ip-dst",
    "ip",
    "domain",
    "hostname",
    "url",
    "uri",
    "md5",
    "sha1",
    "sha256",
    "ja3-fingerprint-md5",
];

#[cfg(test)]
mod tests {
    use super::List;
    use crate::indicators::value::Indicator;

    fn domains(text: &str) -> (Vec<String>, u64) {
        let list = List::read(text).unwrap();
        let names = list.found.into_iter().map(|one| match one {
            Indicator::Domain(name) | Indicator::Url(name) | Indicator::Sha256(name) => name,
            other => format!("{other:?}"),
        });
        (names.collect(), list.wrong_count)
    }

    #[test]
    fn lists_and_tables_are_read() {
        let plain = "# remark\n\na.example # why\nhxxps://b[.]example/x\nnothing at all\n";
        assert_eq!(
            domains(plain),
            (vec!["a.example".to_owned(), "b.example/x".to_owned()], 1)
        );
        let table = "id,type,indicator,comment\n1,domain,\"a.example\",seen on c.example\n";
        assert_eq!(domains(table), (vec!["a.example".to_owned()], 0));
        let headless = "2026-01-01;a.example;malware\n";
        assert_eq!(domains(headless), (vec!["a.example".to_owned()], 0));
    }

    #[test]
    fn misp_events_are_read() {
        let hash = "A".repeat(64);
        let attributes = [
            r#"{"type":"domain","value":"a.example","to_ids":true}"#,
            r#"{"type":"domain","value":"harmless.example","to_ids":false}"#,
            r#"{"type":"comment","value":"text"}"#,
            r#"{"type":"ip-dst","value":"not an address"}"#,
        ];
        let file = format!(r#"{{"type":"filename|sha256","value":"x|{hash}"}}"#);
        let event = format!(
            r#"{{"response":[{{"Event":{{"Attribute":[{}],"Object":[{{"name":"file",
            "Attribute":[{file}]}}]}}}}]}}"#,
            attributes.join(",")
        );
        assert_eq!(
            domains(&event),
            (vec!["a.example".to_owned(), "a".repeat(64)], 1)
        );
    }

    #[test]
    fn stix_bundles_are_read() {
        let pattern = |text: &str| format!(r#"{{"type":"indicator","pattern":"{text}"}}"#);
        let bundle = format!(
            r#"{{"type":"bundle","objects":[{},{},{{"type":"malware","name":"x"}}]}}"#,
            pattern(r"[domain-name:value = 'a.example' OR url:value = 'http://b.example/it\\'s']"),
            pattern("[domain-name:value = 'c.example'] AND [ipv4-addr:value = '192.0.2.1']"),
        );
        assert_eq!(
            domains(&bundle),
            (vec!["a.example".to_owned(), "b.example/it's".to_owned()], 1)
        );
        assert!(List::read("{}").is_err() && List::read("{").is_err());
    }
}
