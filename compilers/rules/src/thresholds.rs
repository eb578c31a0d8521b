//! `threshold.config`: how often rules alert, and which alerts are left out.

use crate::Reader;
use crate::files::given;
use crate::header::addresses;
use crate::keyword::count;
use crate::option::Word;
use flowpin_rule::{SuppressedSide, Suppression};
use std::path::Path;

impl Reader {
    /// Reads a `threshold.config`.
    ///
    /// # Errors
    /// If it cannot be read. Lines that are wrong are problems.
    pub fn read_thresholds(&mut self, path: &Path) -> Result<(), String> {
        let text = given(path)?;
        self.beside.push(path.to_owned());
        let file = path.display().to_string();
        for source in crate::text::rules(&text) {
            let line = source.text.as_str();
            if let Err(why) = self.read_threshold(line) {
                self.refuse_line(&file, (source.place(0).0, line), why);
            }
        }
        Ok(())
    }

    fn read_threshold(&mut self, line: &str) -> Result<(), String> {
        let (what, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let word = Word { text: rest, at: 0 };
        let (mut gid, mut sid, mut track, mut ip) = (None, None, None, None);
        let mut counted = Vec::new();
        for part in word.split_outside(',', ('[', ']')) {
            let (name, value) = part.split_once(' ').unwrap_or((part, part));
            match name.text {
                "gen_id" => gid = value.text.parse().ok(),
                "sig_id" => sid = value.text.parse().ok(),
                "ip" => ip = Some(value),
                "track" if what == "suppress" => track = Some(value.text),
                _ => counted.push(part.text),
            }
        }
        let (Some(gid), Some(sid)) = (gid, sid) else {
            return Err("gen_id and sig_id are numbers that must be there".to_owned());
        };
        match what {
            "suppress" => {
                let side = match track {
                    None => None,
                    Some("by_src") => Some(SuppressedSide::Source),
                    Some("by_dst") => Some(SuppressedSide::Destination),
                    Some("by_either") => Some(SuppressedSide::Either),
                    Some(other) => return Err(format!("\"{other}\" is no way to track")),
                };
                let variables = &mut self.context.variables;
                let of = match (side, ip) {
                    (None, None) => None,
                    (Some(side), Some(ip)) => {
                        let set = addresses(ip, variables).map_err(|fault| fault.why)?;
                        Some((side, (*set).clone()))
                    }
                    _ => return Err("track and ip belong together".to_owned()),
                };
                self.suppressions.push(Suppression { gid, sid, of });
                Ok(())
            }
            "threshold" | "event_filter" => {
                let text = counted.join(", ");
                let counted = count(Word { text: &text, at: 0 }, None);
                let counted = counted.map_err(|fault| fault.why)?;
                self.counts.push((gid, sid, counted));
                Ok(())
            }
            other => Err(format!(
                "\"{other}\" is not supported: suppress, threshold, event_filter"
            )),
        }
    }
}
