//! Files of values that rules look up: each is read once, whoever asks for it.

use crate::files::given;
use crate::option::Word;
use crate::problem::Fault;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use core::net::{IpAddr, Ipv4Addr};
use flowpin_rule::ValueSet;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// What the values of a set are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetKind {
    /// Bytes; in the file in Base64.
    String,
    /// A hash of so many bytes; in the file in hexadecimal digits.
    Hash(usize),
    /// An address.
    Ipv4,
    /// An address of either version.
    Ip,
}

impl SetKind {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "md5" => Self::Hash(16),
            "sha256" => Self::Hash(32),
            "ipv4" => Self::Ipv4,
            "ip" | "ipv6" => Self::Ip,
            _ => return None,
        })
    }

    /// The bytes of a value as a file has it; none if it is not of this kind.
    fn bytes(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::String => base64(text),
            Self::Hash(len) => {
                let digits = text.as_bytes();
                let is_hash = digits.len() == 2 * len;
                let pairs = digits.chunks_exact(2).map(|pair| {
                    let pair = core::str::from_utf8(pair).ok()?;
                    u8::from_str_radix(pair, 16).ok()
                });
                is_hash.then(|| pairs.collect()).flatten()
            }
            Self::Ipv4 => {
                let address: Ipv4Addr = text.parse().ok()?;
                Some(address.octets().to_vec())
            }
            Self::Ip => match text.parse().ok()? {
                IpAddr::V4(address) => Some(address.octets().to_vec()),
                IpAddr::V6(address) => Some(address.octets().to_vec()),
            },
        }
    }
}

/// What a rule says of a set.
pub(crate) struct Wanted<'a> {
    pub(crate) name: Word<'a>,
    pub(crate) kind: Option<SetKind>,
    /// The file, and whether it need not be there.
    pub(crate) load: Option<(Word<'a>, bool)>,
    /// Whether a number stands behind each value.
    pub(crate) has_numbers: bool,
}

/// A set with its name.
#[derive(Debug)]
struct Named {
    kind: SetKind,
    has_numbers: bool,
    /// Where it is from; none of a list of indicators.
    path: Option<PathBuf>,
    set: Arc<ValueSet>,
}

/// The sets of all rules.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    by_name: HashMap<String, Named>,
    /// Those that rules write.
    written: Vec<Arc<ValueSet>>,
    of_hashes: HashMap<(PathBuf, usize), Arc<ValueSet>>,
    /// Files that were read.
    read: Vec<PathBuf>,
}

impl Sets {
    /// The set of a name: loaded by the first rule that says from where.
    pub(crate) fn named(
        &mut self,
        folder: &Path,
        wanted: &Wanted<'_>,
    ) -> Result<Arc<ValueSet>, Fault> {
        let name = wanted.name;
        if let Some(known) = self.by_name.get(name.text) {
            if wanted.kind.is_some_and(|wanted| wanted != known.kind) {
                return Err(name.fault("another rule gives this set another type"));
            }
            if wanted.has_numbers != known.has_numbers {
                let why = "one rule's set has numbers behind its values, the other's has none";
                return Err(name.fault(why));
            }
            if let Some((file, _)) = wanted.load
                && known.path.as_ref() != Some(&below(folder, file)?)
            {
                return Err(file.fault("another rule loads this set from another file"));
            }
            return Ok(Arc::clone(&known.set));
        }
        let Some(kind) = wanted.kind else {
            let why = format!("the set \"{}\" needs a type", name.text);
            return Err(name.fault(why));
        };
        let (path, set) = match wanted.load {
            None if wanted.has_numbers => {
                let why = format!("the set \"{}\" needs a file to load", name.text);
                return Err(name.fault(why));
            }
            None => (None, ValueSet::default()),
            Some((file, may_lack)) => {
                let path = below(folder, file)?;
                self.read.push(path.clone());
                let text = match path.exists() || !may_lack {
                    true => given(&path).map_err(|why| file.fault(why))?,
                    false => String::new(),
                };
                let set = read(&text, kind, wanted.has_numbers);
                (Some(path), set.map_err(|why| file.fault(why))?)
            }
        };
        let set = Arc::new(set);
        let known = Named {
            kind,
            has_numbers: wanted.has_numbers,
            path,
            set: Arc::clone(&set),
        };
        self.by_name.insert(name.text.to_owned(), known);
        Ok(set)
    }

    /// The number of a set that a rule writes; none if there are too many.
    pub(crate) fn written(&mut self, set: &Arc<ValueSet>) -> Option<u16> {
        let known = self.written_number(set).map(usize::from);
        let at = known.unwrap_or_else(|| {
            self.written.push(Arc::clone(set));
            self.written.len() - 1
        });
        u16::try_from(at).ok()
    }

    /// The number of a set, if rules write it.
    pub(crate) fn written_number(&self, set: &Arc<ValueSet>) -> Option<u16> {
        let mut known = self.written.iter();
        let at = known.position(|one| Arc::ptr_eq(one, set))?;
        u16::try_from(at).ok()
    }

    /// What the sets that rules write have at first.
    pub(crate) fn into_written(self) -> Vec<Arc<ValueSet>> {
        self.written
    }

    /// The files that were read for sets, also where the rule that names one is refused.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = self.read.clone();
        files.sort();
        files.dedup();
        files
    }

    /// A set that no file of values has.
    pub(crate) fn give(&mut self, name: &str, set: ValueSet) {
        let known = Named {
            kind: SetKind::String,
            has_numbers: false,
            path: None,
            set: Arc::new(set),
        };
        self.by_name.insert(name.to_owned(), known);
    }

    /// A file of hashes, as hexadecimal digits; what stands behind a hash is a remark.
    pub(crate) fn hashes(
        &mut self,
        folder: &Path,
        file: Word<'_>,
        hash_len: usize,
    ) -> Result<Arc<ValueSet>, Fault> {
        let path = below(folder, file)?;
        if let Some(known) = self.of_hashes.get(&(path.clone(), hash_len)) {
            return Ok(Arc::clone(known));
        }
        self.read.push(path.clone());
        let text = given(&path).map_err(|why| file.fault(why))?;
        let mut set = ValueSet::default();
        for (number, line) in values(&text) {
            let digits = line.split_ascii_whitespace().next().unwrap_or_default();
            if SetKind::Hash(hash_len).bytes(digits).is_none() {
                let why = format!("line {number} does not begin with {hash_len} bytes in hex");
                return Err(file.fault(why));
            }
            set.add(digits.to_ascii_lowercase().as_bytes(), 0);
        }
        let set = Arc::new(set);
        self.of_hashes.insert((path, hash_len), Arc::clone(&set));
        Ok(set)
    }
}

/// Lines that have a value, with their numbers.
fn values(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn read(text: &str, kind: SetKind, has_numbers: bool) -> Result<ValueSet, String> {
    let mut set = ValueSet::default();
    for (number, line) in values(text) {
        let (value, reputation) = match line.split_once(',').filter(|_| has_numbers) {
            Some((value, reputation)) => {
                let reputation = reputation.trim().parse();
                let wrong = |_| format!("line {number} has no number behind its comma");
                (value.trim(), reputation.map_err(wrong)?)
            }
            None if has_numbers => return Err(format!("line {number} is no value,number")),
            None => (line, 0),
        };
        let bytes = kind.bytes(value);
        let bytes = bytes.ok_or_else(|| format!("line {number} is no value of the set's type"))?;
        set.add(&bytes, reputation);
    }
    Ok(set)
}

/// Whether a path below a folder leads to something outside, by a link.
pub(crate) fn leads_out(folder: &Path, path: &Path) -> bool {
    match (path.canonicalize(), folder.canonicalize()) {
        (Ok(real), Ok(folder)) => !real.starts_with(folder),
        // What is not there is not read.
        _ => false,
    }
}

/// A file below the rules' folder: rules of others name no file elsewhere, nor by a link.
fn below(folder: &Path, file: Word<'_>) -> Result<PathBuf, Fault> {
    let outside = || {
        let why = "files of values are read below the folder of the rules alone";
        file.fault(why)
    };
    let path = Path::new(file.text);
    let is_plain = path
        .components()
        .all(|one| matches!(one, Component::Normal(_) | Component::CurDir));
    if file.text.is_empty() || !is_plain {
        return Err(outside());
    }
    let path = folder.join(path);
    if leads_out(folder, &path) {
        return Err(outside());
    }
    // Nobody may ever write into a pipe that lies there.
    if path.exists() && !path.is_file() {
        return Err(file.fault("not a regular file"));
    }
    Ok(path)
}

/// Decodes Base64 (RFC 4648 §4), with or without its padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    const EITHER: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    EITHER.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::{SetKind, read};

    /// Each kind as Suricata's files have it; what is none is named by its line.
    #[test]
    fn values_are_read_by_their_kind() {
        let string = read("# remark\n\nZXZpbA==\nZXZpbA\n", SetKind::String, false).unwrap();
        assert!(string.contains(b"evil") && string.len() == 1);
        let hash = "d41d8cd98f00b204e9800998ecf8427e\n";
        let hashes = read(hash, SetKind::Hash(16), false).unwrap();
        assert!(hashes.contains(b"\xd4\x1d\x8c\xd9\x8f\0\xb2\x04\xe9\x80\t\x98\xec\xf8B~"));
        let addresses = read("192.0.2.7, 9\n2001:db8::1,10", SetKind::Ip, true).unwrap();
        assert_eq!(addresses.number(&[192, 0, 2, 7]), Some(9));
        for (text, kind, has_numbers) in [
            ("evil!", SetKind::String, false),
            ("d41d", SetKind::Hash(16), false),
            ("2001:db8::1", SetKind::Ipv4, false),
            ("192.0.2.7", SetKind::Ip, true),
            ("192.0.2.7,70000", SetKind::Ip, true),
        ] {
            let why = read(&format!("\n{text}"), kind, has_numbers).unwrap_err();
            assert!(why.starts_with("line 2 "), "{text}: {why}");
        }
    }
}
