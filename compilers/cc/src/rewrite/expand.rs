//! Macros that cannot stand for one text in all of their uses: these uses are written out.
//!
//! A token of a macro's body is edited where it is written if all uses ask for the same; else the
//! body stays as it is, and each use that asks for an edit is replaced by what it stands for. Names
//! that a macro pastes together are found in the expansion.

use super::edits::{Edits, Slot};
use super::lex;
use super::shown::{is_shown, is_shown_inside, shows_any};
use super::{Plan, Refusal};
use crate::model::{FileId, Macro, Place};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};

/// An edit of a token that a macro's body holds, for one use of the macro.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) place: Place,
    pub(super) slot: Slot,
    pub(super) len: usize,
    pub(super) text: String,
    /// The name that asks for it: an argument is put after the name's parenthesis.
    pub(super) name: Place,
    pub(super) used_at: Place,
}

/// A name that a macro pastes together, in one use.
#[derive(Clone, Debug)]
pub(super) struct Pasted {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) used_at: Place,
    /// What is said if it is not found.
    pub(super) refusal: Refusal,
}

/// Decides for all requests: in the body, or in the use.
pub(super) fn settle(plan: &Plan<'_>, edits: &mut Edits, kept: &HashSet<(usize, usize)>) {
    let requests = std::mem::take(&mut edits.requests);
    let pasted = std::mem::take(&mut edits.pasted);
    let mut by_macro: BTreeMap<usize, Vec<Request>> = BTreeMap::new();
    let mut written_out: BTreeMap<Place, Vec<Request>> = BTreeMap::new();
    let mut shown: HashSet<Place> = HashSet::new();
    for request in requests {
        match holder(plan, request.place) {
            Some(number) => {
                let one = &plan.model.macros[number];
                if is_shown_inside(plan, one, &request) {
                    written_out.entry(request.used_at).or_default();
                    shown.insert(request.used_at);
                }
                by_macro.entry(number).or_default().push(request);
            }
            // A macro's argument stands where the macro is used.
            None => {
                if is_shown(plan, &request) {
                    written_out.entry(request.used_at).or_default();
                    shown.insert(request.used_at);
                }
                let (slot, len) = (request.slot, request.len);
                edits.put(plan.model, request.place, slot, len, &request.text);
            }
        }
    }
    let mut agreed: HashMap<Place, Vec<Request>> = HashMap::new();
    for requests in by_macro.into_values() {
        if agree(&requests, kept) {
            for one in requests {
                edits.put(plan.model, one.place, one.slot, one.len, &one.text);
                agreed.entry(one.used_at).or_default().push(one);
            }
        } else {
            for one in requests {
                written_out.entry(one.used_at).or_default().push(one);
            }
        }
    }
    for one in &pasted {
        written_out.entry(one.used_at).or_default();
    }
    for (place, mut requests) in written_out {
        // What the body of another macro has by now, the text that stands for its use has not.
        requests.extend(agreed.remove(&place).unwrap_or_default());
        let names: Vec<&Pasted> = pasted.iter().filter(|one| one.used_at == place).collect();
        let use_ = Use {
            plan,
            place,
            requests: &requests,
            pasted: &names,
            is_shown: shown.contains(&place),
            edits,
        };
        match use_.expansion().ok_or_else(|| use_.refusal()) {
            Ok((len, text)) => edits.put(plan.model, place, Slot::Replace, len, &text),
            Err(refusal) => edits.refused.push(refusal),
        }
    }
}

/// How long one use of a macro is, and what it stands for with these edits.
pub(super) fn write_out(
    plan: &Plan<'_>,
    place: Place,
    requests: &[Request],
    pasted: &[&Pasted],
    edits: &Edits,
) -> Option<(usize, String)> {
    let use_ = Use {
        plan,
        place,
        requests,
        pasted,
        is_shown: false,
        edits,
    };
    use_.expansion()
}

/// The macro whose body holds a byte.
fn holder(plan: &Plan<'_>, place: Place) -> Option<usize> {
    plan.model.macros.iter().position(|one| {
        one.place.file == place.file && (one.place.offset..one.end).contains(&place.offset)
    })
}

/// Whether all uses of a macro ask for the same, and none needs a token as it is.
fn agree(requests: &[Request], kept: &HashSet<(usize, usize)>) -> bool {
    let mut texts: HashMap<(usize, Slot), (&str, usize)> = HashMap::new();
    requests.iter().all(|one| {
        let key = (one.place.offset, one.slot);
        let wanted = (one.text.as_str(), one.len);
        let is_free = !kept.contains(&(one.name.file, one.name.offset));
        is_free && *texts.entry(key).or_insert(wanted) == wanted
    })
}

/// One use of a macro, with all that is used inside it.
struct Use<'a> {
    plan: &'a Plan<'a>,
    place: Place,
    requests: &'a [Request],
    pasted: &'a [&'a Pasted],
    /// Whether the macro makes a text of an argument that is edited.
    is_shown: bool,
    /// All edits that are known.
    edits: &'a Edits,
}

impl Use<'_> {
    fn refusal(&self) -> Refusal {
        if let Some(pasted) = self.pasted.first() {
            return pasted.refusal.clone();
        }
        if self.is_shown {
            let what = "a macro makes a text of an argument (`#`) that uses what each core has, \
                        and is too complicated to be written out: write what it stands for";
            return Refusal::new(self.plan.model.at(self.place), what);
        }
        let mut texts: Vec<&str> = self.requests.iter().map(|one| one.text.trim()).collect();
        texts.dedup();
        let what = format!(
            "a macro stands for `{}` here and for something else in another use; write two macros",
            texts.join("`, `")
        );
        Refusal::new(self.plan.model.at(self.place), what)
    }

    /// How long the use is, and what it stands for.
    fn expansion(&self) -> Option<(usize, String)> {
        let text = self.plan.texts.of(self.place.file);
        let name = word(text, self.place.offset);
        let definition = self.definition(&name)?;
        let is_found = Cell::new(self.pasted.is_empty());
        let of_range = |start: usize, end: usize| {
            let raw = String::from_utf8_lossy(text.get(start..end)?)
                .trim()
                .to_owned();
            let edited = self
                .edits
                .rendered(self.plan.texts, self.place.file, start, end);
            Some((raw, edited.trim().to_owned()))
        };
        let name_end = self.place.offset + name.len();
        let (end, out) = self.call(definition, text, name_end, &of_range, &is_found, 0)?;
        is_found.get().then_some((end - self.place.offset, out))
    }

    /// The expansion of a macro whose name ends at a byte of `text`, and the byte after its use.
    fn call(
        &self,
        definition: &Macro,
        text: &[u8],
        name_end: usize,
        of_range: &dyn Fn(usize, usize) -> Option<(String, String)>,
        is_found: &Cell<bool>,
        depth: usize,
    ) -> Option<(usize, String)> {
        let body_text = self.plan.texts.of(definition.place.file);
        let mut at = definition.place.offset + definition.name.len();
        let mut end = name_end;
        let mut arguments = Vec::new();
        if body_text.get(at) == Some(&b'(') {
            let close = lex::closing(body_text, at + 1)?;
            let (names, is_variadic) = parameters(body_text.get(at + 1..close)?);
            let open = lex::after_open(text, end)?;
            let close_use = lex::closing(text, open)?;
            let mut ranges = split(text, open, close_use, names.len(), is_variadic);
            // What a variadic macro takes beside its parameters may be left out.
            if is_variadic && ranges.len() + 1 == names.len() {
                ranges.push((close_use, close_use));
            }
            if ranges.len() != names.len() {
                return None;
            }
            for (name, (start, end)) in names.iter().zip(&ranges) {
                let (raw, edited) = of_range(*start, *end)?;
                arguments.push((name.clone(), raw, edited));
            }
            at = close + 1;
            end = close_use + 1;
        }
        let body = Body {
            text: body_text,
            file: definition.place.file,
            use_: self,
            arguments: &arguments,
            is_found,
            depth,
            is_raw: false,
        };
        Some((end, body.substitute(at, definition.end)?))
    }

    /// The macro that a name stands for here, if an edit is needed inside it.
    fn definition(&self, name: &str) -> Option<&Macro> {
        let all = &self.plan.model.macros;
        let named = || all.iter().filter(|one| one.name == name);
        let holds = |one: &Macro| {
            self.requests.iter().any(|request| {
                request.place.file == one.place.file
                    && (one.place.offset..one.end).contains(&request.place.offset)
            })
        };
        let before = |one: &&Macro| {
            one.place.file == self.place.file && one.place.offset < self.place.offset
        };
        let found = named().find(|one| holds(one));
        let found = found.or_else(|| named().rfind(before));
        let found = found.or_else(|| named().next())?;
        let is_needed = holds(found)
            || !self.pasted.is_empty()
            || self.is_shown && shows_any(self.plan, found, 0)
            || self.leads_to_edit(found, 0);
        is_needed.then_some(found)
    }

    /// Whether a macro uses, at whatever depth, one that needs an edit.
    fn leads_to_edit(&self, one: &Macro, depth: usize) -> bool {
        if depth > DEPTH_MAX {
            return false;
        }
        let body = self
            .plan
            .texts
            .between(one.place.file, one.place.offset, one.end);
        lex::identifiers(body).iter().skip(1).any(|(_, name)| {
            let named = |inner: &&Macro| inner.name.as_bytes() == *name && inner.name != one.name;
            let mut inner = self.plan.model.macros.iter().filter(named);
            inner.any(|inner| {
                let holds = self.requests.iter().any(|request| {
                    request.place.file == inner.place.file
                        && (inner.place.offset..inner.end).contains(&request.place.offset)
                });
                holds || self.leads_to_edit(inner, depth + 1)
            })
        })
    }
}

/// Macros in macros: deeper than any program that is read by people.
pub(super) const DEPTH_MAX: usize = 16;

/// A macro's body in one use; arguments: name, text as written, text with its edits.
#[derive(Clone, Copy)]
struct Body<'a> {
    text: &'a [u8],
    file: FileId,
    use_: &'a Use<'a>,
    arguments: &'a [(String, String, String)],
    is_found: &'a Cell<bool>,
    depth: usize,
    /// Whether arguments are put in as they were written.
    is_raw: bool,
}

impl Body<'_> {
    /// A part of the body with arguments in place of parameters.
    fn substitute(&self, from: usize, end: usize) -> Option<String> {
        let use_ = self.use_;
        let mut out = String::new();
        let mut at = lex::skip_blank(self.text, from);
        while at < end {
            let insertion = |one: &&Request| one.place.offset == at && one.slot == Slot::Argument;
            if let Some(one) = use_.requests.iter().find(insertion)
                && !self.is_raw
            {
                out.push_str(&one.text);
            }
            let next = lex::skip_blank(self.text, at);
            if next != at {
                out.push(' ');
                at = next;
                continue;
            }
            if self.text.get(at..at + 2) == Some(b"##") {
                at = self.comma(at, &mut out)?;
                continue;
            }
            if self.text.get(at) == Some(&b'#') {
                let start = lex::skip_blank(self.text, at + 1);
                let word = word(self.text, start);
                let (_, raw, _) = self.arguments.iter().find(|one| one.0 == word)?;
                out.push_str(&format!("{:?}", self.as_shown(raw)?));
                at = start + word.len();
                continue;
            }
            let word = word(self.text, at);
            if word.is_empty() {
                let len = lex::quoted_len(self.text, at).unwrap_or(1);
                out.push_str(&String::from_utf8_lossy(self.text.get(at..at + len)?));
                at += len;
                continue;
            }
            let (pasted, after) = self.pasted(at, end)?;
            if let Some(name) = pasted {
                let wanted = use_.pasted.iter().find(|one| one.name == name);
                self.is_found.set(self.is_found.get() || wanted.is_some());
                out.push_str(wanted.map_or(&name, |one| &one.text));
                at = after;
                continue;
            }
            at = self.word(&word, at, &mut out)?;
        }
        Some(out.trim().to_owned())
    }

    /// GNU's `, ## rest`: without a rest, the comma goes, too. Where the rest's name begins.
    fn comma(&self, at: usize, out: &mut String) -> Option<usize> {
        let start = lex::skip_blank(self.text, at + 2);
        let (name, raw, _) = self.arguments.last()?;
        let before = out.trim_end();
        if word(self.text, start) != *name || !before.ends_with(',') {
            return None;
        }
        if raw.is_empty() {
            out.truncate(before.len() - 1);
        }
        Some(start)
    }

    /// The text that `#` makes of an argument. One that a macro has passed on is expanded before
    /// that: no names of macros may be in it.
    fn as_shown(&self, raw: &str) -> Option<String> {
        let macros = &self.use_.plan.model.macros;
        let is_macro = |name: &[u8]| macros.iter().any(|one| one.name.as_bytes() == name);
        let names = lex::identifiers(raw.as_bytes());
        if self.depth > 0 && names.iter().any(|(_, name)| is_macro(name)) {
            return None;
        }
        let is_plain = !raw.contains(['"', '\'']);
        let words: Vec<&str> = raw.split_whitespace().collect();
        Some(match is_plain {
            true => words.join(" "),
            false => raw.to_owned(),
        })
    }

    /// One name of the body; the byte after what it takes.
    fn word(&self, word: &str, at: usize, out: &mut String) -> Option<usize> {
        let replacement = |one: &&Request| one.place.offset == at && one.slot == Slot::Replace;
        let name_end = at + word.len();
        if let Some((_, raw, edited)) = self.arguments.iter().find(|one| one.0 == word) {
            let given = if self.is_raw { raw } else { edited };
            // A list of names is given the macro that is to take each (`LIST(X)`).
            let is_called = self.text.get(lex::skip_blank(self.text, name_end)) == Some(&b'(');
            match self.use_.definition(given).filter(|_| is_called) {
                Some(inner) => return self.inner(inner, name_end, out),
                None => out.push_str(given),
            }
            return Some(name_end);
        }
        if word == "__VA_OPT__" {
            let open = lex::after_open(self.text, name_end)?;
            let close = lex::closing(self.text, open)?;
            if self.arguments.last().is_some_and(|one| !one.1.is_empty()) {
                out.push_str(&self.substitute(open, close)?);
            }
            return Some(close + 1);
        }
        if let Some(one) = self.use_.requests.iter().find(replacement) {
            out.push_str(if self.is_raw { word } else { &one.text });
            return Some(name_end);
        }
        let inner = self
            .use_
            .definition(word)
            .filter(|_| self.depth < DEPTH_MAX);
        let Some(inner) = inner.filter(|_| self.use_.pasted.is_empty()) else {
            // What was edited where it stands is edited here, too.
            let known = self.use_.edits.replacement(self.file, at);
            out.push_str(known.filter(|_| !self.is_raw).unwrap_or(word));
            return Some(name_end);
        };
        self.inner(inner, name_end, out)
    }

    /// The expansion of a macro whose name ends here, and the byte after its use.
    fn inner(&self, inner: &Macro, name_end: usize, out: &mut String) -> Option<usize> {
        let of_range = |start: usize, end: usize| {
            let raw = Self {
                is_raw: true,
                ..*self
            };
            Some((raw.substitute(start, end)?, self.substitute(start, end)?))
        };
        let depth = self.depth + 1;
        if depth > DEPTH_MAX {
            return None;
        }
        let found = self
            .use_
            .call(inner, self.text, name_end, &of_range, self.is_found, depth)?;
        out.push_str(&found.1);
        Some(found.0)
    }

    /// A name of several parts joined by `##`, and the byte after it.
    fn pasted(&self, start: usize, end: usize) -> Option<(Option<String>, usize)> {
        let mut name = String::new();
        let mut at = start;
        loop {
            let part = word(self.text, at);
            let argument = self.arguments.iter().find(|one| one.0 == part);
            name.push_str(argument.map_or(&part, |one| &one.1));
            at += part.len();
            let next = lex::skip_blank(self.text, at);
            if next >= end || self.text.get(next..next + 2) != Some(b"##") {
                let is_pasted = at - start != word(self.text, start).len();
                return Some((is_pasted.then_some(name), at));
            }
            at = lex::skip_blank(self.text, next + 2);
            if word(self.text, at).is_empty() {
                return None;
            }
        }
    }
}

/// The letters, digits and underscores from a byte on.
pub(super) fn word(text: &[u8], at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let len = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    String::from_utf8_lossy(rest.get(..len).unwrap_or_default()).into_owned()
}

/// The names between a macro's parentheses, and whether the last one takes the rest: `...` is
/// `__VA_ARGS__`, and `rest...` is `rest`.
pub(super) fn parameters(text: &[u8]) -> (Vec<String>, bool) {
    let text = String::from_utf8_lossy(text).replace('\\', " ");
    let is_variadic = text.contains("...");
    let names = text
        .split(',')
        .map(|name| name.trim().trim_end_matches('.').trim());
    let named = |name: &str| match name {
        "" if is_variadic => "__VA_ARGS__".to_owned(),
        name => name.to_owned(),
    };
    let mut names: Vec<String> = names.map(named).collect();
    names.retain(|name| !name.is_empty());
    (names, is_variadic)
}

/// Where each argument begins and ends; the last one takes the rest of a variadic macro's.
pub(super) fn split(
    text: &[u8],
    open: usize,
    close: usize,
    count: usize,
    is_variadic: bool,
) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    let mut start = open;
    let mut at = open;
    while at < close {
        at = lex::skip_blank(text, at).min(close);
        match text.get(at) {
            Some(b'(' | b'[' | b'{') if at < close => {
                at = lex::closing(text, at + 1).unwrap_or(close);
            }
            Some(b',') if at < close => {
                let is_rest = is_variadic && ranges.len() + 1 >= count;
                if !is_rest {
                    ranges.push((start, at));
                    start = at + 1;
                }
            }
            _ => at += lex::quoted_len(text, at).map_or(0, |len| len - 1),
        }
        at += 1;
    }
    if count > 0 {
        ranges.push((start, close));
    }
    ranges
}
