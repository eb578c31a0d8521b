//! What a unit says, as numbers: the same wherever its text is read, if it means the same.
//!
//! A number holds a definition's whole tree: kinds, operators, values, types and their sizes, and
//! what each name is bound to. Names that were changed so that units fit together count as before.

use crate::clang::{Cursor, Library, Linkage, RawPlace, RawUnit, kind};
use crate::collect::arguments;
use crate::program::SourceUnit;
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Where a definition begins: its file and byte.
type At = (PathBuf, u32);

/// A unit, as far as it matters what it stands beside.
#[derive(Default)]
pub(super) struct Print {
    /// Names that its source declares for itself: statics, types, constants of enumerations.
    pub(super) own: Vec<String>,
    /// Names that it gives to the program.
    pub(super) given: Vec<String>,
    /// Macros of its source.
    pub(super) macros: Vec<String>,
    /// Each definition below the folder: its name, and the number of what it says.
    pub(super) definitions: BTreeMap<At, (String, u64)>,
}

/// Why a unit has no print: the file of its first error, and the words.
pub(super) type Broken = (PathBuf, String);

/// Reads a unit, whose program stands below `folder`.
pub(super) fn print(
    library: &Library,
    unit: &SourceUnit,
    folder: &Path,
    renamed: &HashMap<String, String>,
) -> Result<Print, Broken> {
    let file = unit.file.display().to_string();
    let raw = RawUnit::parse(library, &file, &arguments(library, unit))
        .map_err(|what| (unit.file.clone(), what))?;
    if let Some((place, what)) = raw.error() {
        let place = place.map_or_else(|| unit.file.clone(), |place| folder.join(place.file));
        return Err((place.canonicalize().unwrap_or(place), what));
    }
    let mut reader = Reader {
        folder,
        renamed,
        paths: HashMap::new(),
        print: Print::default(),
    };
    for cursor in raw.root().children() {
        reader.top(cursor, &unit.file);
    }
    Ok(reader.print)
}

struct Reader<'a> {
    folder: &'a Path,
    renamed: &'a HashMap<String, String>,
    /// Real paths, by what libclang calls a file.
    paths: HashMap<String, PathBuf>,
    print: Print,
}

impl Reader<'_> {
    fn path(&mut self, place: &RawPlace) -> PathBuf {
        if let Some(known) = self.paths.get(&place.file) {
            return known.clone();
        }
        // Flags name folders from where the program stands.
        let path = self.folder.join(&place.file);
        let path = path.canonicalize().unwrap_or(path);
        self.paths.insert(place.file.clone(), path.clone());
        path
    }

    fn top(&mut self, cursor: Cursor<'_>, source: &Path) {
        let Some(place) = cursor.expanded() else {
            return;
        };
        let path = self.path(&place);
        if !path.starts_with(self.folder) {
            return;
        }
        let kind = cursor.kind();
        if kind == kind::MACRO_DEFINITION {
            if path == source {
                self.print.macros.push(cursor.name());
            }
            return;
        }
        if path == source {
            self.names(cursor);
        }
        let is_code = matches!(kind, kind::FUNCTION | kind::VARIABLE);
        if is_code && cursor.is_definition() {
            let mut hasher = DefaultHasher::new();
            self.node(cursor, &mut hasher);
            let what = (self.plain(&cursor.name()), hasher.finish());
            // A macro may define several things where it is used.
            let mut at = (path, place.offset);
            while self.print.definitions.contains_key(&at) {
                at.1 += 1;
            }
            self.print.definitions.insert(at, what);
        }
    }

    /// What a declaration of the source makes known.
    fn names(&mut self, cursor: Cursor<'_>) {
        let name = cursor.name();
        let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if !is_plain {
            return;
        }
        match cursor.kind() {
            kind::FUNCTION | kind::VARIABLE if cursor.linkage() == Linkage::Internal => {
                self.print.own.push(name);
            }
            kind::FUNCTION | kind::VARIABLE => self.print.given.push(name),
            kind::STRUCT | kind::UNION | kind::ENUM if cursor.is_definition() => {
                self.print.own.push(name);
            }
            kind::TYPEDEF => self.print.own.push(name),
            _ => {}
        }
        if cursor.kind() == kind::ENUM {
            let constants = cursor.children().into_iter().map(Cursor::name);
            self.print.own.extend(constants);
        }
    }

    fn node(&mut self, cursor: Cursor<'_>, hasher: &mut DefaultHasher) {
        let kind = cursor.kind();
        // Conversions that nobody wrote follow from what is converted, and to what.
        if let (kind::UNEXPOSED, [inner]) = (kind, cursor.children().as_slice()) {
            return self.node(*inner, hasher);
        }
        kind.hash(hasher);
        let target = cursor.referenced().filter(|_| kind != kind::FUNCTION);
        // `f()` and a prototype are one function: a call that only one of them allows has no
        // meaning (C11 6.5.2.2).
        let is_function =
            |it: Cursor<'_>| it.kind() == kind::FUNCTION && it.linkage() == Linkage::External;
        if let (kind::DECL_REF, Some(target)) = (kind, target.filter(|it| is_function(*it))) {
            return self.bound(target, hasher);
        }
        let (ty, size) = cursor.plain_type();
        self.plain(&ty).hash(hasher);
        size.hash(hasher);
        self.plain(&cursor.name()).hash(hasher);
        match kind {
            kind::BINARY | kind::COMPOUND_ASSIGN => cursor.binary_operator().hash(hasher),
            kind::UNARY => cursor.unary_operator().hash(hasher),
            kind::INTEGER | kind::FLOATING | kind::CHARACTER | kind::SIZEOF => {
                cursor.value().hash(hasher);
            }
            _ => {}
        }
        if let Some(target) = target {
            self.bound(target, hasher);
        }
        let children = cursor.children();
        children.len().hash(hasher);
        for child in children {
            self.node(child, hasher);
        }
    }

    /// What a name is bound to: by its name if that is the program's, by its place otherwise.
    fn bound(&mut self, target: Cursor<'_>, hasher: &mut DefaultHasher) {
        self.plain(&target.name()).hash(hasher);
        if target.kind() == kind::FIELD {
            target.field_offset().hash(hasher);
        }
        // Types may be announced anywhere: their names, sizes and fields count.
        let types = [kind::STRUCT, kind::UNION, kind::ENUM, kind::TYPEDEF];
        if target.linkage() == Linkage::External || types.contains(&target.kind()) {
            return;
        }
        if let Some(place) = target.canonical().expanded() {
            self.path(&place).hash(hasher);
            place.offset.hash(hasher);
        }
    }

    /// Text with the names that the program has, and without the folders of types without a name.
    fn plain(&self, text: &str) -> String {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(PREFIX) {
            out.push_str(&rest[..start]);
            let word = &rest[start..];
            let end = word.find(|c| !is_word(c)).unwrap_or(word.len());
            let (word, after) = word.split_at(end);
            out.push_str(self.renamed.get(word).map_or(word, String::as_str));
            rest = after;
        }
        out.push_str(rest);
        match (out.find(" at "), out.contains("(unnamed")) {
            (Some(at), true) => {
                let (before, place) = out.split_at(at);
                let place = place.rsplit('/').next().unwrap_or_default();
                format!("{before} at {place}")
            }
            _ => out,
        }
    }
}

/// How changed names begin.
pub(super) const PREFIX: &str = "flowpin_own_";
