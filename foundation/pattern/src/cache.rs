//! Compiled sets on disk, so that a start takes milliseconds.
//!
//! ```text
//!  magic  version  key of the sources  checksum of what follows │ patterns │ groups and tables
//!  8      8        8                   8                         │
//! ```
//!
//! All numbers are little-endian. A file that is older, of other sources, cut or changed is as good
//! as none. What it holds is checked as if it came from a stranger: every number is in range before
//! a set exists.

use crate::gate::Gate;
use crate::{Automaton, Compiled, GROUPS_MAX, Group, Limits, PatternSet, Rating, Rewrite, Source};
use flowpin_disk::{Existing, Output, Reads};
use std::io::{self, Write};
use std::path::Path;

const MAGIC: u64 = u64::from_le_bytes(*b"flowpat\n");
/// Of the format and of what the compiler makes: raised when either changes.
const VERSION: u64 = 4;
const HEADER: usize = 32;
/// No set is larger: its groups and their tables have limits.
const LEN_MAX: u64 = 1 << 30;

/// What a set was compiled from, in one number.
pub fn key(sources: &[Source], how: Rewrite, limits: &Limits) -> u64 {
    let mut text = String::new();
    for source in sources {
        text.push_str(&format!("{}\n{:?}\n", source.name, source.hir));
    }
    text_key(&text, how, limits)
}

/// As [`key`], of sources that are not parsed yet.
pub fn text_key(text: &str, how: Rewrite, limits: &Limits) -> u64 {
    let release = env!("CARGO_PKG_VERSION");
    digest(format!("{VERSION} {release} {how:?} {limits:?} {text}").as_bytes())
}

impl PatternSet {
    /// The set of these sources from `path`; none if the file is not one of it.
    pub fn load(path: &Path, key: u64) -> Option<Self> {
        Self::from_bytes(&flowpin_disk::read(path, LEN_MAX).ok()?, key)
    }

    /// Writes the set beside `path` and then moves it there, so that nobody reads a half. Only in
    /// the place of another set, or of nothing: whatever else has that name is somebody's.
    ///
    /// # Errors
    /// Something else is there; the folder cannot be written.
    pub fn store(&self, path: &Path, key: u64) -> io::Result<()> {
        if !may_be_replaced(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}", std::process::id()));
        let mut file = Output::open(Path::new(&beside), Existing::Refuse, &Reads::default())?;
        file.write_all(&self.to_bytes(key))?;
        file.sync()?;
        std::fs::rename(&beside, path)?;
        file.keep()
    }

    /// As stored.
    pub fn to_bytes(&self, key: u64) -> Vec<u8> {
        let mut body = Vec::new();
        number(&mut body, self.patterns.len());
        for one in &self.patterns {
            number(&mut body, one.name.len());
            body.extend(one.name.as_bytes());
            number(&mut body, usize::from(one.source));
            body.extend(one.rating.random.to_le_bytes());
            body.extend(one.rating.english.to_le_bytes());
            number(&mut body, one.states as usize);
            body.push(u8::from(one.anchored));
        }
        number(&mut body, self.groups.len());
        for group in &self.groups {
            body.push(u8::from(group.is_hint));
            body.push(u8::from(group.is_gated));
            words(&mut body, &group.patterns);
            tables(&mut body, &group.automaton);
        }
        body.push(u8::from(self.gate.is_some()));
        if let Some(gate) = &self.gate {
            for word in gate.barred.iter().chain([&gate.start]) {
                body.extend(word.to_le_bytes());
            }
        }
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        for word in [MAGIC, VERSION, key, digest(&body)] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(body);
        bytes
    }

    /// Reads what [`PatternSet::to_bytes`] wrote; none for anything else.
    pub fn from_bytes(bytes: &[u8], key: u64) -> Option<Self> {
        let (header, body) = bytes.split_at_checked(HEADER)?;
        let mut words = header
            .chunks_exact(8)
            .filter_map(|word| word.first_chunk().copied());
        for expected in [MAGIC, VERSION, key, digest(body)] {
            if u64::from_le_bytes(words.next()?) != expected {
                return None;
            }
        }
        let mut reader = Reader { rest: body };
        let mut set = Self::default();
        for _ in 0..reader.number()? {
            set.patterns.push(reader.compiled()?);
        }
        let count = reader.number()?;
        if count > GROUPS_MAX {
            return None;
        }
        for _ in 0..count {
            set.groups.push(reader.group(set.patterns.len())?);
        }
        if reader.flag()? {
            set.gate = Some(reader.gate()?);
        }
        reader.rest.is_empty().then(|| set.ready())
    }
}

/// Whether there is nothing at `path`, or a set, or an empty file.
fn may_be_replaced(path: &Path) -> bool {
    match flowpin_disk::read(path, LEN_MAX) {
        Ok(bytes) => bytes.is_empty() || bytes.starts_with(&MAGIC.to_le_bytes()),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn number(out: &mut Vec<u8>, number: usize) {
    out.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}

fn words(out: &mut Vec<u8>, words: &[u16]) {
    number(out, words.len());
    for word in words {
        out.extend(word.to_le_bytes());
    }
}

fn tables(out: &mut Vec<u8>, automaton: &Automaton) {
    out.extend(automaton.classes);
    number(out, automaton.shift as usize);
    number(out, usize::from(automaton.accepting));
    number(out, usize::from(automaton.start));
    words(out, &automaton.patterns);
    words(out, &automaton.at_end);
    words(out, &automaton.next);
}

/// 64 bits of everything: eight bytes at a time, multiplied and folded.
fn digest(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = FACTOR ^ bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = chunk.first_chunk().copied().map_or(0, u64::from_le_bytes);
        state = (state ^ word).wrapping_mul(FACTOR);
        state ^= state >> 29;
    }
    for &byte in chunks.remainder() {
        state = (state ^ u64::from(byte)).wrapping_mul(FACTOR);
        state ^= state >> 29;
    }
    state
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    fn number(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.array()?)).ok()
    }

    fn flag(&mut self) -> Option<bool> {
        Some(self.array::<1>()? == [1])
    }

    fn words(&mut self) -> Option<Vec<u16>> {
        let len = self.number()?.checked_mul(2)?;
        // PERF: these are most of a stored set; a slice's length is known: one copy.
        let (pairs, _) = self.take(len)?.as_chunks();
        Some(pairs.iter().map(|&pair| u16::from_le_bytes(pair)).collect())
    }

    fn compiled(&mut self) -> Option<Compiled> {
        let len = self.number()?;
        Some(Compiled {
            name: String::from_utf8(self.take(len)?.to_vec()).ok()?,
            source: u16::try_from(self.number()?).ok()?,
            rating: Rating {
                random: f64::from_le_bytes(self.array()?),
                english: f64::from_le_bytes(self.array()?),
            },
            states: u32::try_from(self.number()?).ok()?,
            anchored: self.flag()?,
        })
    }

    fn group(&mut self, known: usize) -> Option<Group> {
        let is_hint = self.flag()?;
        let is_gated = self.flag()?;
        let patterns = self.words()?;
        let automaton = self.automaton(patterns.len())?;
        let are_known = patterns.iter().all(|&one| usize::from(one) < known);
        are_known.then(|| Group {
            is_gated,
            ..Group::new(automaton, patterns, is_hint)
        })
    }

    fn gate(&mut self) -> Option<Gate> {
        let mut barred = Box::new([0; 256]);
        for word in barred.iter_mut() {
            *word = u32::from_le_bytes(self.array()?);
        }
        let start = u32::from_le_bytes(self.array()?);
        Some(Gate { barred, start })
    }

    /// An automaton of `count` patterns.
    fn automaton(&mut self, count: usize) -> Option<Automaton> {
        let automaton = Automaton {
            classes: self.array()?,
            shift: u32::try_from(self.number()?).ok()?,
            accepting: u16::try_from(self.number()?).ok()?,
            start: u16::try_from(self.number()?).ok()?,
            patterns: self.words()?,
            at_end: self.words()?,
            next: self.words()?,
        };
        let states = automaton.states();
        let is_state = |state: u16| usize::from(state) < states;
        let is_class = |class: u8| usize::from(class) < 1 << automaton.shift;
        let is_sound = automaton.shift <= 8
            && states <= usize::from(u16::MAX) + 1
            && automaton.next.len() == states << automaton.shift
            && automaton.classes.iter().all(|&class| is_class(class))
            && automaton.patterns.len() == usize::from(automaton.accepting)
            && is_state(automaton.accepting)
            && is_state(automaton.start)
            && automaton.next.iter().all(|&state| is_state(state))
            && automaton
                .patterns
                .iter()
                .all(|&one| usize::from(one) < count)
            && automaton
                .at_end
                .iter()
                .all(|&one| usize::from(one) <= count);
        is_sound.then_some(automaton)
    }
}

#[cfg(test)]
mod tests {
    use crate::cache::key;
    use crate::{Limits, PatternSet, Rewrite, Source, own};

    fn some() -> (PatternSet, u64) {
        let sources: Vec<Source> = [
            ("ssh", "^SSH-[12]\\."),
            ("word", "the end$"),
            ("any", "."),
            ("lazy", "sleeping lions"),
        ]
        .map(|(name, text)| Source {
            name: name.into(),
            hir: own(text).unwrap(),
        })
        .into();
        let limits = Limits::default();
        let (set, refused) = PatternSet::build(&sources, Rewrite::Exact, &limits);
        assert!(refused.is_empty());
        (set, key(&sources, Rewrite::Exact, &limits))
    }

    #[test]
    fn what_is_stored_is_loaded() {
        let (set, key) = some();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        set.store(&path, key).unwrap();
        assert_eq!(PatternSet::load(&path, key), Some(set));
        assert_eq!(PatternSet::load(&path, key ^ 1), None);
    }

    /// A capture, a link, a pipe under the set's name stay what they are, and keep nobody waiting.
    #[test]
    fn only_sets_are_replaced() {
        let (set, key) = some();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        std::fs::write(&path, b"somebody's").unwrap();
        set.store(&path, key).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), b"somebody's");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        set.store(&link, key).unwrap_err();
        assert!(link.is_symlink());
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        assert_eq!(PatternSet::load(&pipe, key), None);
        set.store(&pipe, key).unwrap_err();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        // A damaged set, and one that a full disk left empty, are made anew.
        for left in [&set.to_bytes(key)[..40], b""] {
            std::fs::write(&path, left).unwrap();
            set.store(&path, key).unwrap();
            assert_eq!(PatternSet::load(&path, key).as_ref(), Some(&set));
        }
    }

    /// Also where the checksum was made to agree, no number leads out of the tables.
    #[test]
    fn a_changed_file_is_no_set() {
        let (set, key) = some();
        let bytes = set.to_bytes(key);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x40;
            assert_eq!(PatternSet::from_bytes(&changed, key), None, "byte {at}");
            let sum = super::digest(&changed[32..]).to_le_bytes();
            changed[24..32].copy_from_slice(&sum);
            if let Some(set) = PatternSet::from_bytes(&changed, key) {
                let mut search = set.start();
                set.feed(&mut search, b"SSH-2.0 this is the end");
                set.at_end(&search);
            }
        }
        for len in 0..bytes.len() {
            assert_eq!(PatternSet::from_bytes(&bytes[..len], key), None);
        }
    }
}
