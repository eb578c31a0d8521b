//! Whether the names of a grammar's files are names of files in the folder for logs, and of this
//! grammar's alone.
//!
//! A grammar may come from anywhere: what it names must not lead out of that folder (`../x`), hide
//! in it (`.x`), look like an option (`-x`), or like a file of another log.

use crate::diagnostic::Failure;
use crate::read::{Declarations, MessageDeclaration, NAME_LEN_MAX};
use flowpin_record::Shown;

/// Refuses names of files that are no plain names, and those that two messages have.
pub(crate) fn check(declared: &Declarations) -> Result<(), Failure> {
    let mut taken: Vec<&str> = Vec::new();
    for message in &declared.messages {
        let (stem, at) = match &message.like {
            Some((like, at)) => {
                let known = declared.messages.iter().find(|one| one.name == *like);
                // What is no message is told when its fields are looked for.
                (known.map_or("", |known| of(known).0), *at)
            }
            None => of(message),
        };
        if message.like.is_none() {
            plain(stem, at)?;
        }
        if message.shown == Shown::InEvents {
            continue;
        }
        // Some file systems know no difference of case.
        if !stem.is_empty() && taken.iter().any(|other| other.eq_ignore_ascii_case(stem)) {
            let text = format!("the files of another message are named {stem} already");
            return Err(Failure::new(at, text));
        }
        taken.push(stem);
    }
    Ok(())
}

/// What a message's files are called, and where that stands.
pub(crate) fn of(message: &MessageDeclaration) -> (&str, usize) {
    match &message.file {
        Some((stem, at)) => (stem, *at),
        None => (&message.name, message.at),
    }
}

fn plain(stem: &str, at: usize) -> Result<(), Failure> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let begins = stem.bytes().next().is_some_and(|byte| byte != b'-');
    if !begins || stem.len() > NAME_LEN_MAX || !stem.bytes().all(is_part) {
        let text = format!(
            "a name of files is of letters, digits, _ and - (not in front), {NAME_LEN_MAX} at most"
        );
        return Err(Failure::new(at, text));
    }
    if is_rotated(stem) {
        let text = "a name of files does not end as those of rotated files do";
        return Err(Failure::new(at, text));
    }
    Ok(())
}

/// Whether a name ends in a number (`conn-000001`) or a time (`…T12-00-00Z`) as rotation has them.
fn is_rotated(stem: &str) -> bool {
    let Some((_, last)) = stem.rsplit_once('-') else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
    is_number(last) && last.len() >= 6 || last.strip_suffix('Z').is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use crate::{Limits, compile};

    fn why(messages: &str) -> String {
        let text = format!("{messages}\n%%\na ;\n");
        match compile("g.l", text.as_bytes(), &Limits::default()) {
            Ok(_) => String::new(),
            Err(refused) => refused.to_string().lines().next().unwrap().to_owned(),
        }
    }

    /// What a grammar names is a file in the folder for logs, whatever it says.
    #[test]
    fn files_have_plain_names() {
        let long = "x".repeat(65);
        for stem in [
            "", ".", "..", "../x", "/tmp/x", "a/b", ".x", "x.y", "-x", "a\tb", "a\x07b", "a\\b",
            "\u{e4}", "a b", &long,
        ] {
            let why = why(&format!("%message m file \"{stem}\" \"d\" {{ a text }}"));
            assert!(
                why.starts_with("g.l:1:17: error: a name of files is of letters"),
                "{stem}: {why}"
            );
        }
        for stem in ["x", "X_1", "a-b", "_x", "1", "a-12345", &long[1..]] {
            let why = why(&format!("%message m file \"{stem}\" \"d\" {{ a text }}"));
            assert_eq!(why, "", "{stem}");
        }
        for stem in ["conn-000001", "conn-2024-02-29T12-00-00Z"] {
            let why = why(&format!("%message m file \"{stem}\" \"d\" {{ a text }}"));
            assert!(why.contains("rotated"), "{stem}: {why}");
        }
        // A message without a name for its files: its own.
        let of_name = why("%message -m \"d\" { a text }");
        assert!(
            of_name.starts_with("g.l:1:10: error: a name of files"),
            "{of_name}"
        );
        let none = why("%message m file \"d\" { a text }");
        assert_eq!(none, "");
    }

    /// Two logs in one file would be neither.
    #[test]
    fn files_are_of_one_message() {
        let twice = "%message m \"d\" { a text }\n%message n file \"M\" \"d\" { b text }";
        assert_eq!(
            why(twice),
            "g.l:2:17: error: the files of another message are named M already"
        );
        let like = "%message m \"d\" { a text }\n%message n columns as m";
        assert_eq!(
            why(like),
            "g.l:2:23: error: the files of another message are named m already"
        );
        let apart = "%message m events \"d\" { a text }\n%message n columns as m";
        assert_eq!(why(apart), "");
    }
}
