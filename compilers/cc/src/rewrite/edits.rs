//! Edits of bytes, gathered from many passes and applied at once.

use super::Refusal;
use super::expand::{Pasted, Request};
use crate::model::{FileId, Model, Place, Site, Texts};
use std::collections::BTreeMap;

/// All edits, by file and place.
#[derive(Debug, Default)]
pub(super) struct Edits {
    by_file: BTreeMap<FileId, BTreeMap<(usize, Slot), Edit>>,
    /// Edits in macros, to be settled when all are known.
    pub(super) requests: Vec<Request>,
    /// Names that macros paste together.
    pub(super) pasted: Vec<Pasted>,
    /// What cannot be done.
    pub(super) refused: Vec<Refusal>,
}

/// What comes first where several edits have the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    /// The header at the beginning of a file.
    Top,
    /// What local statics became.
    Template,
    /// The structure of private variables.
    Structure,
    /// Declarations of callbacks.
    Callback,
    /// A condition before a statement.
    Condition,
    /// A parameter or an argument.
    Argument,
    /// Text that is replaced.
    Replace,
    /// Parts of a unit's end, in this order.
    End(usize),
}

/// With which some editors begin a file in UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Debug, PartialEq, Eq)]
struct Edit {
    len: usize,
    text: String,
}

impl Edits {
    /// Replaces `len` bytes. The same edit twice is one: macros expand many times.
    pub(super) fn replace(&mut self, model: &Model, place: Place, len: usize, text: &str) {
        self.put(model, place, Slot::Replace, len, text);
    }

    /// Inserts text before a byte.
    pub(super) fn insert(&mut self, model: &Model, place: Place, slot: Slot, text: &str) {
        self.put(model, place, slot, 0, text);
    }

    /// An edit of what a site holds: at once in plain text, later in a macro.
    pub(super) fn at_site(
        &mut self,
        model: &Model,
        site: &Site,
        (place, slot): (Place, Slot),
        len: usize,
        text: &str,
    ) {
        if site.is_in_macro() {
            self.requests.push(Request {
                place,
                slot,
                len,
                text: text.to_owned(),
                name: site.spelled.unwrap_or(place),
                used_at: site.expanded,
            });
        } else {
            self.put(model, place, slot, len, text);
        }
    }

    pub(super) fn put(&mut self, model: &Model, place: Place, slot: Slot, len: usize, text: &str) {
        let edit = Edit {
            len,
            text: text.to_owned(),
        };
        let file = self.by_file.entry(place.file).or_default();
        let known = file
            .entry((place.offset, slot))
            .or_insert_with(|| edit.clone());
        if *known != edit {
            // Lines of its own are what is put before a file's first variable.
            let has_lines = known.text.contains('\n') || edit.text.contains('\n');
            let what = match has_lines {
                true => DEFINES.to_owned(),
                false => format!(
                    "a macro stands for `{}` in one use and for `{}` in another; write two macros",
                    known.text, edit.text
                ),
            };
            self.refused.push(Refusal::new(model.at(place), what));
        }
    }

    /// What stands for the text at a place by now.
    pub(super) fn replacement(&self, file: FileId, offset: usize) -> Option<&str> {
        let edit = self.by_file.get(&file)?.get(&(offset, Slot::Replace))?;
        Some(&edit.text)
    }

    /// Appends to text that several passes insert at one place.
    pub(super) fn append(&mut self, place: Place, slot: Slot, text: &str) {
        let file = self.by_file.entry(place.file).or_default();
        let edit = file.entry((place.offset, slot)).or_insert_with(|| Edit {
            len: 0,
            text: String::new(),
        });
        if !edit.text.contains(text) {
            edit.text.push_str(text);
        }
    }

    /// Files that change.
    pub(super) fn files(&self) -> Vec<FileId> {
        self.by_file.keys().copied().collect()
    }

    /// A part of a file with its edits of names; for initialisers.
    pub(super) fn part(
        texts: &Texts,
        start: Place,
        end: usize,
        names: &[(usize, usize, String)],
    ) -> String {
        let mut names = names.to_vec();
        names.sort();
        let mut out = Vec::new();
        let mut at = start.offset;
        for (offset, len, text) in &names {
            out.extend_from_slice(texts.between(start.file, at, *offset));
            out.extend_from_slice(text.as_bytes());
            at = offset + len;
        }
        out.extend_from_slice(texts.between(start.file, at, end));
        String::from_utf8_lossy(&out).into_owned()
    }

    /// A file's new text.
    pub(super) fn apply(&self, texts: &Texts, file: FileId) -> Vec<u8> {
        let text = texts.of(file);
        let end = text.len() + 1;
        let out = self.between(text, file, 0, end);
        // A mark of the encoding is one where the file begins alone: now something is before it.
        match out.windows(MARK.len()).position(|it| it == MARK) {
            Some(at) if at > 0 && text.starts_with(MARK) => {
                let (before, rest) = out.split_at(at);
                [before, rest.get(MARK.len()..).unwrap_or_default()].concat()
            }
            _ => out,
        }
    }

    /// The text between two bytes, as it is so far.
    pub(super) fn rendered(&self, texts: &Texts, file: FileId, start: usize, end: usize) -> String {
        let text = texts.of(file).get(..end).unwrap_or_default();
        String::from_utf8_lossy(&self.between(text, file, start, end)).into_owned()
    }

    fn between(&self, text: &[u8], file: FileId, start: usize, end: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len() * 5 / 4);
        let mut at = start;
        let all = self.by_file.get(&file).into_iter().flatten();
        for ((offset, _), edit) in all.filter(|((offset, _), _)| *offset < end) {
            // What is inside text that is taken out as a whole goes with it.
            if *offset < at {
                continue;
            }
            out.extend_from_slice(text.get(at..*offset).unwrap_or_default());
            out.extend_from_slice(edit.text.as_bytes());
            at = offset + edit.len;
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        out
    }
}

/// Of a macro that makes definitions.
const DEFINES: &str = "a macro that is used several times defines variables or functions here, of \
     which each core has its own: write these definitions out";
