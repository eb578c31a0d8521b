//! Whether a grammar's records can be written: columns and members of EVE each mean one thing, and
//! are names that every format can show.

use crate::diagnostic::Failure;
use crate::read::{Declarations, FieldDeclaration, MessageDeclaration};
use flowpin_record::{MESSAGE_COLUMNS, MESSAGE_MEMBERS};

/// Refuses names that every record has already, and those that two fields have.
pub(crate) fn check(declared: &Declarations) -> Result<(), Failure> {
    for (nth, message) in declared.messages.iter().enumerate() {
        let before = declared.messages.get(..nth).unwrap_or_default();
        if before.iter().any(|other| other.name == message.name) {
            let text = format!("a message is named {} already", message.name);
            return Err(Failure::new(message.at, text));
        }
        let mut paths: Vec<Vec<String>> = Vec::new();
        for field in &message.fields {
            column(field)?;
            shown(field)?;
            let Some(path) = path(message, field)? else {
                continue;
            };
            // A member is a value, or holds others.
            let clashes = |other: &Vec<String>| path.starts_with(other) || other.starts_with(&path);
            if let Some(other) = paths.iter().find(|other| clashes(other)) {
                let text = format!(
                    "EVE cannot have {} beside {}",
                    path.join("."),
                    other.join(".")
                );
                return Err(Failure::new(field.at, text));
            }
            paths.push(path);
        }
    }
    Ok(())
}

fn column(field: &FieldDeclaration) -> Result<(), Failure> {
    if MESSAGE_COLUMNS.contains(&field.name.as_str()) {
        let text = format!("every record has a column {} already", field.name);
        return Err(Failure::new(field.at, text));
    }
    Ok(())
}

/// A name goes into headers and into JSON as it is: no tab, quote or backslash may end it there.
fn shown(field: &FieldDeclaration) -> Result<(), Failure> {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=');
    for (word, name) in [("zeek", &field.zeek), ("eve", &field.eve)] {
        let name = name.as_deref().unwrap_or_default();
        if name.len() > SHOWN_LEN_MAX || !name.bytes().all(is_plain) {
            let text = format!(
                "letters, digits, _, -, . and = are expected behind {word}, \
                 {SHOWN_LEN_MAX} at most"
            );
            return Err(Failure::new(field.at, text));
        }
    }
    Ok(())
}

/// The names from the event down to the field; none if EVE does not have it.
fn path(
    message: &MessageDeclaration,
    field: &FieldDeclaration,
) -> Result<Option<Vec<String>>, Failure> {
    let path = match &field.eve {
        None => vec![message.name.clone(), field.name.clone()],
        Some(eve) if eve.is_empty() => return Ok(None),
        Some(eve) => eve.split('.').map(str::to_owned).collect(),
    };
    if path.iter().any(String::is_empty) {
        let text = "names joined by dots are expected behind eve";
        return Err(Failure::new(field.at, text));
    }
    let shape = path.last().and_then(|name| name.split_once('='));
    if shape.is_some_and(|(name, shape)| name.is_empty() || !SHAPES.contains(&shape)) {
        let text = "only =text, =list or =path may stand behind a name of EVE's";
        return Err(Failure::new(field.at, text));
    }
    match path.as_slice() {
        [own, name, ..] if own == OWN && name != "uid" => Ok(Some(path)),
        [first, ..] if MESSAGE_MEMBERS.contains(&first.as_str()) => {
            let text = format!("every event has a member {first} already");
            Err(Failure::new(field.at, text))
        }
        _ => Ok(Some(path)),
    }
}

/// Bytes of a name that formats show.
const SHOWN_LEN_MAX: usize = 256;

/// The object for what Suricata has no name for.
const OWN: &str = "flowpin";

/// In what shape EVE may show a value: see `MessageColumn::eve`.
const SHAPES: [&str; 3] = ["text", "list", "path"];

#[cfg(test)]
mod tests {
    use crate::{Limits, compile};

    fn why(fields: &str) -> String {
        let text = format!("%message m \"d\" {{\n{fields}\n}}\n%%\na ;\n");
        match compile("g.l", text.as_bytes(), &Limits::default()) {
            Ok(_) => String::new(),
            Err(refused) => refused.to_string().lines().next().unwrap().to_owned(),
        }
    }

    /// A column of two meanings cannot be read, nor can JSON with a name twice.
    #[test]
    fn names_that_records_have_already_are_refused() {
        for (fields, place) in [
            (
                "uid text",
                "g.l:2:1: error: every record has a column uid already",
            ),
            (
                "a text\n  packet_number count",
                "g.l:3:3: error: every record has a column packet_number already",
            ),
            (
                "a text eve \"src_ip\"",
                "g.l:2:1: error: every event has a member src_ip already",
            ),
            (
                "a text eve \"flowpin.uid\"",
                "g.l:2:1: error: every event has a member flowpin already",
            ),
            ("a text eve \"flowpin.a\"", ""),
            (
                "a text\nb text eve \"m.a\"",
                "g.l:3:1: error: EVE cannot have m.a beside m.a",
            ),
            (
                "a text eve \"m\"\nb text",
                "g.l:3:1: error: EVE cannot have m.b beside m",
            ),
            (
                "a text\nb text eve \"m.a.c\"",
                "g.l:3:1: error: EVE cannot have m.a.c beside m.a",
            ),
            (
                "a text eve \"m.a\\\"",
                "g.l:2:1: error: letters, digits, _, -, . and = are expected \
                 behind eve, 256 at most",
            ),
            (
                "a text zeek \"b\tc\"",
                "g.l:2:1: error: letters, digits, _, -, . and = are expected \
                 behind zeek, 256 at most",
            ),
            (
                "a text eve \"m..a\"",
                "g.l:2:1: error: names joined by dots are expected behind eve",
            ),
            (
                "a text\nb text eve \"x.a\"\nc text eve \"\"\nd text eve \"x.aa\"",
                "",
            ),
        ] {
            assert_eq!(why(fields), place, "{fields}");
        }
        let twice = why("a text\n}\n%message m \"d\" {\n b text");
        assert_eq!(twice, "g.l:4:10: error: a message is named m already");
    }
}
