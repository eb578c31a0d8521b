//! Reads the lines that divide a program.

use super::super::pragma::{after_line, global, in_parentheses, list};
use super::super::{Refusal, lex};
use super::{Copied, Cut, Inside, Key, Keyed, Stage, Stages};
use crate::model::{GlobalId, Model, Place, Texts};

impl Stages {
    /// Reads `stage`, `keyed`, `perpacket`, `cut` and `in` lines; the others are not its business.
    pub(in super::super) fn read(
        model: &Model,
        texts: &Texts,
        lines: &[(Place, usize, String)],
        refused: &mut Vec<Refusal>,
    ) -> Self {
        let mut stages = Self::default();
        // Stages first: a cut may stand in a file before the one that names its stage.
        for verb in ["stage", "keyed", "perpacket", "cut", "in"] {
            for (place, _, words) in lines {
                let rest = words.strip_prefix(verb);
                let Some(rest) = rest.filter(|rest| rest.starts_with([' ', '('])) else {
                    continue;
                };
                if let Err(what) = stages.line(model, texts, *place, (verb, rest.trim())) {
                    let what = format!("#pragma flowpin {words}: {what}");
                    refused.push(Refusal::new(model.at(*place), what));
                }
            }
        }
        stages
    }

    fn line(
        &mut self,
        model: &Model,
        texts: &Texts,
        place: Place,
        (verb, rest): (&str, &str),
    ) -> Result<(), String> {
        match verb {
            "stage" => self.stage(place, rest),
            "keyed" => {
                let (key, names) = rest.split_once(')').ok_or("write keyed(source) NAME, …")?;
                let key = match packet_key(key.trim_start_matches('(').trim()) {
                    Some(Key::Packet(_, name)) => name,
                    _ => return Err("the keys are ip_pair, four_tuple and source".to_owned()),
                };
                for name in list(names) {
                    let global = global(model, place.file, name)?;
                    self.keyed.push(Keyed { global, key, place });
                }
                Ok(())
            }
            "perpacket" => {
                let found = globals(model, place, rest)?;
                self.perpacket
                    .extend(found.into_iter().map(|id| (id, place)));
                Ok(())
            }
            "cut" => self.cut(model, texts, place, rest),
            _ => {
                let stage = self.named(rest)?;
                let start = after_line(texts, place);
                let end = statement_end(texts.of(place.file), start.offset)
                    .ok_or("no whole statement follows; write braces around it")?;
                self.inside.push(Inside { stage, start, end });
                Ok(())
            }
        }
    }

    fn stage(&mut self, place: Place, rest: &str) -> Result<(), String> {
        let (name, rest) = word(rest);
        if name.is_empty() {
            return Err("name the stage".to_owned());
        }
        if self.all.iter().any(|one| one.name == name) {
            return Err(format!("there is a stage `{name}` already"));
        }
        if self.all.len() == STAGES_MAX {
            return Err(format!("a program has at most {STAGES_MAX} stages"));
        }
        let mut stage = Stage {
            name: name.to_owned(),
            ways: None,
            files: Vec::new(),
            place,
        };
        for (clause, inside) in clauses(rest)? {
            match clause {
                "ways" if inside == "n" => {}
                "ways" => {
                    let count = inside.parse().ok();
                    let count = count.filter(|count| (1..=256).contains(count));
                    stage.ways = Some(count.ok_or("write a number from 1 to 256")?);
                }
                "files" => stage.files.extend(list(inside).map(str::to_owned)),
                _ => return Err("a stage has ways(…) and files(…)".to_owned()),
            }
        }
        self.all.push(stage);
        Ok(())
    }

    fn named(&self, name: &str) -> Result<usize, String> {
        let found = self.all.iter().position(|one| one.name == name);
        found.ok_or_else(|| format!("no `#pragma flowpin stage {name}` names this stage"))
    }

    fn cut(
        &mut self,
        model: &Model,
        texts: &Texts,
        place: Place,
        rest: &str,
    ) -> Result<(), String> {
        let end = rest.find([' ', '(']).unwrap_or(rest.len());
        let (route, rest) = rest.split_at(end);
        let (from, to) = route
            .split_once("->")
            .ok_or("write `cut FIRST->SECOND …`, the names of two stages")?;
        let (from, to) = (self.named(from.trim())?, self.named(to.trim())?);
        if from >= to {
            return Err("calls go from a stage to one that is named after it".to_owned());
        }
        let start = after_line(texts, place);
        let is_here = |call: &&crate::model::Call| {
            !call.name.is_in_macro()
                && call.name.expanded.file == start.file
                && call.name.expanded.offset == start.offset
        };
        let call = model.calls.iter().find(is_here);
        let call = call.ok_or("a call of a function by its name is to follow, as a statement")?;
        let text = texts.of(start.file);
        let name = &model.function(call.callee).name;
        let close = lex::after_open(text, start.offset + name.len())
            .and_then(|open| lex::closing(text, open));
        let is_statement =
            close.is_some_and(|close| text.get(lex::skip_blank(text, close + 1)) == Some(&b';'));
        let (Some(caller), true) = (call.caller, is_statement) else {
            return Err(format!(
                "the result of `{name}` is used, and stays in its stage"
            ));
        };
        let callee = model.function(call.callee);
        if callee.body.is_none() || callee.is_variadic {
            return Err(format!(
                "`{name}` is no function of the program with a fixed list"
            ));
        }
        let mut cut = Cut {
            from,
            to,
            caller,
            callee: call.callee,
            name: start,
            key: Key::None,
            copies: Vec::new(),
            forward: Vec::new(),
            separate: Vec::new(),
            unchecked: Vec::new(),
            place,
        };
        let mut has_key = false;
        for (clause, inside) in clauses(rest.trim())? {
            match clause {
                "key" => {
                    has_key = true;
                    cut.key = match inside {
                        "none" => Key::None,
                        text => {
                            packet_key(text).unwrap_or_else(|| Key::Expression(text.to_owned()))
                        }
                    };
                }
                "copy" => cut.copies = copies(inside)?,
                "forward" => cut.forward = globals(model, place, inside)?,
                "separate" => cut.separate = globals(model, place, inside)?,
                "unchecked" => cut.unchecked = list(inside).map(str::to_owned).collect(),
                _ => {
                    let what =
                        "a cut has key(…), copy(…), forward(…), separate(…) and unchecked(…)";
                    return Err(what.to_owned());
                }
            }
        }
        let ways = self.all.get(to).and_then(|stage| stage.ways);
        if !has_key && ways != Some(1) {
            let what = "key(…) is missing: ip_pair, four_tuple, source, none or an expression";
            return Err(what.to_owned());
        }
        if matches!(cut.key, Key::Packet(..)) && cut.copies.is_empty() {
            return Err("the key is of an IP packet: name it first in copy(…)".to_owned());
        }
        self.cuts.push(cut);
        Ok(())
    }
}

/// As many as the run-time has room for (`FLOWPIN_STAGES_MAX`).
const STAGES_MAX: usize = 8;

fn packet_key(text: &str) -> Option<Key> {
    Some(match text {
        "ip_pair" => Key::Packet(0, "ip_pair"),
        "four_tuple" => Key::Packet(1, "four_tuple"),
        "source" => Key::Packet(2, "source"),
        _ => return None,
    })
}

fn globals(model: &Model, place: Place, names: &str) -> Result<Vec<GlobalId>, String> {
    list(names)
        .map(|name| global(model, place.file, name))
        .collect()
}

fn word(text: &str) -> (&str, &str) {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    (name, rest.trim())
}

/// `name(inside) name(inside) …`
fn clauses(mut rest: &str) -> Result<Vec<(&str, &str)>, String> {
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (name, after) = word(rest);
        let mut depth = 0_usize;
        let end = after.char_indices().find_map(|(at, c)| {
            depth += usize::from(c == '(');
            depth = depth.saturating_sub(usize::from(c == ')'));
            (c == ')' && depth == 0).then_some(at + 1)
        });
        let end = end.ok_or_else(|| format!("`{name}` needs parentheses"))?;
        let (inside, next) = after.split_at(end);
        found.push((name, in_parentheses(inside)?));
        rest = next.trim_start();
    }
    Ok(found)
}

/// `NAME: LENGTH, *NAME, …`
fn copies(text: &str) -> Result<Vec<Copied>, String> {
    let mut items = vec![String::new()];
    let mut depth = 0_i32;
    for c in text.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        match (c, depth) {
            (',', 0) => items.push(String::new()),
            _ => items.last_mut().unwrap_or(&mut String::new()).push(c),
        }
    }
    let copy = |item: &String| {
        let item = item.trim();
        if let Some(name) = item.strip_prefix('*') {
            return Ok(Copied {
                name: name.trim().to_owned(),
                length: format!("sizeof(*{})", name.trim()),
            });
        }
        let (name, length) = item
            .split_once(':')
            .ok_or("write copy(NAME: BYTES) or copy(*NAME)")?;
        Ok(Copied {
            name: name.trim().to_owned(),
            length: length.trim().to_owned(),
        })
    };
    items.iter().map(copy).collect()
}

/// The byte after a statement that begins here; none if an `else` follows.
pub(in super::super) fn statement_end(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_i32;
    let mut at = start;
    let end = loop {
        match text.get(at)? {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'{' if depth == 0 => {
                let mut braces = 0_i32;
                break text.iter().enumerate().skip(at).find_map(|(at, byte)| {
                    braces += i32::from(*byte == b'{') - i32::from(*byte == b'}');
                    (*byte == b'}' && braces == 0).then_some(at + 1)
                })?;
            }
            b';' if depth == 0 => break at + 1,
            _ => {}
        }
        at += 1;
    };
    let next = text.get(lex::skip_blank(text, end)..)?;
    (!next.starts_with(b"else")).then_some(end)
}
