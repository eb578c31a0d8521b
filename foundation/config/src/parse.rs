//! Parsing of application messages.

use crate::Settings;
use crate::options::{Flag, Hint, options};
use flowpin_lexer::Grammar;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

options! {
    /// Parsing of application messages.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan ParsePlan {
        [parse] ParseSettings: "`[parse]`: parsing of application messages." {
            /// Parse application messages.
            enabled: bool => enabled: bool = true,
                flag Flag::value("parse", "on|off|NAMES", "Parse the messages of all application \
                    protocols that have a parser, of none, or of these only (http,dns); see also \
                    `[parse]` in settings [default: on]").by(parse);
            /// Parse only these protocols: ["http", "dns"]; all that have a parser if empty.
            protocols: Vec<String> => protocols: Vec<String> = Vec::new(),
                flag Flag::shared("parse");
            /// Write every field of a message to its record, not only the common ones.
            all_fields: bool => all_fields: bool = false,
                flag Flag::switch("all-fields", "Write every field of HTTP and FIX messages, \
                    not only the common ones, and every FTP command");
            /// Write the fingerprints JA3 and JA3S of TLS and QUIC to EVE JSON.
            ja3: bool => ja3: bool = false,
                flag Flag::switch("ja3", "Write the fingerprints JA3 and JA3S of TLS and QUIC to \
                    EVE JSON");
            /// Roots (PEM) that servers' certificates are validated against; "system": its own.
            roots: PathBuf => roots: Option<PathBuf> = None, example "\"system\"",
                flag Flag::value("roots", "FILE|system", "Validate servers' certificates up to TLS \
                    1.2 against the roots in FILE (PEM), or the system's (validation_status)")
                    .hint(Hint::File);
            /// Files with grammars; each parses the protocol that it names.
            grammars: Vec<PathBuf> => grammars: Vec<PathBuf> = Vec::new(),
                flag Flag::value("grammar", "FILE", "A grammar, which parses the protocol that it \
                    names (see docs/user/grammar.md); may be repeated").hint(Hint::File);
            /// QuickFIX dictionaries (XML) with names of FIX fields and messages; later ones win.
            fix_dictionaries: Vec<PathBuf> => fix_dictionaries: Vec<PathBuf> = Vec::new(),
                flag Flag::value("fix-dictionary", "FILE", "A QuickFIX data dictionary (XML) with \
                    names of FIX fields and messages; may be repeated").hint(Hint::File);
        }
        others {
            /// The compiled grammars; the creator of the plan compiles them.
            loaded: Vec<Arc<Grammar>> = Vec::new();
        }
    }
}

/// `on`, `off`, or names with commas between them.
fn parse(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    let text = text.to_string_lossy();
    settings.parse.enabled = Some(text != "off");
    if text == "on" || text == "off" {
        // All that have a parser, even if the file names some.
        settings.parse.protocols = Some(Vec::new());
        return Ok(());
    }
    let names: Vec<_> = text.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        return Err("needs on, off, or protocols: http,dns".to_owned());
    }
    settings.parse.protocols = Some(names);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::Settings;

    /// `on` means all protocols that have a parser, whatever the file names.
    #[test]
    fn the_command_line_wins_over_names_in_the_file() {
        let file = "[parse]\nenabled = false\nprotocols = ['http']";
        for (text, enabled, protocols) in [
            ("on", true, &[][..]),
            ("off", false, &[]),
            ("dns, sip", true, &["dns", "sip"]),
        ] {
            let mut flags = Settings::default();
            parse(&mut flags, text.as_ref()).unwrap();
            let both = flags.over(Settings::from_toml(file).unwrap());
            let plan = both.into_plan().unwrap().parse;
            assert_eq!(plan.enabled, enabled, "{text}");
            assert_eq!(plan.protocols, protocols, "{text}");
        }
        assert!(parse(&mut Settings::default(), "http,".as_ref()).is_err());
    }
}
