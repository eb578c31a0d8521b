//! The `stats` record: figures about the run.

use flowpin_record::StatsRecord;

/// One line of JSON. Names may come from anywhere, so they are escaped.
pub(crate) fn stats_line(stats: &StatsRecord) -> Vec<u8> {
    let mut line = String::from("{\"event_type\":\"stats\",\"stats\":{");
    for (index, (name, value)) in stats.figures.iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        line.push('"');
        line.extend(name.chars().flat_map(escape));
        line += "\":";
        line += &value.to_string();
    }
    line += "}}\n";
    line.into_bytes()
}

/// A letter inside a JSON string (RFC 8259 §7).
fn escape(letter: char) -> Vec<char> {
    match letter {
        '"' | '\\' => vec!['\\', letter],
        '\0'..='\x1f' => format!("\\u{:04x}", u32::from(letter)).chars().collect(),
        _ => vec![letter],
    }
}
