//! Decoding, hashing and extraction of message bodies.

use crate::options::{Flag, Hint, options};
use crate::{ByteSize, Settings};
use std::ffi::OsStr;
use std::path::PathBuf;

options! {
    /// Message bodies that are decoded, hashed and written to files. By default they are skipped.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan FilesPlan {
        [files] FileSettings: "`[files]`: decoding, hashing and extraction of message bodies." {
            /// Decode bodies in gzip, deflate, br and zstd; if not set, those that are hashed or
            /// extracted.
            decode: bool => decode_asked: Option<bool> = None, example "true";
            /// Add the MD5 of files to their records.
            md5: bool => md5: bool = false,
                flag Flag::value("hash", "NAMES", "Add exactly these hashes of decoded message \
                    bodies to records: md5, sha1, sha256; or none")
                    .by_comma().one_of(&["md5", "sha1", "sha256", "none"]).by(hash);
            /// Add the SHA-1 of files to their records.
            sha1: bool => sha1: bool = false, flag Flag::shared("hash");
            /// Add the SHA-256 of files to their records.
            sha256: bool => sha256: bool = false, flag Flag::shared("hash");
            /// Directory to write bodies to; "": none.
            extract: PathBuf => extract: Option<PathBuf> = None, example "\"files\"",
                flag Flag::value("extract", "DIR", "Write message bodies to files in DIR; limits \
                    are settings in `[files]`").hint(Hint::Directory).or_empty();
            /// Most bytes of one file.
            size_max: ByteSize => bytes_max: u64 = 64 << 20;
            /// Most files that a run writes; each of 256 shards has an equal part.
            count_max: u64 => count_max: u64 = 1 << 20;
            /// Most bytes of all files that a run writes; each of 256 shards has an equal part.
            total_max: ByteSize => total_bytes_max: u64 = 64 << 30;
        }
        others {
            /// Whether bodies are decoded: as set, otherwise if they are hashed or extracted.
            decode: bool = false;
        }
    }
}

/// The named hashes replace those of the file.
fn hash(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    let FileSettings {
        md5, sha1, sha256, ..
    } = &mut settings.files;
    let is_first = md5.is_none();
    let any = [&*md5, &*sha1, &*sha256].contains(&&Some(true));
    for slot in [&mut *md5, &mut *sha1, &mut *sha256] {
        slot.get_or_insert(false);
    }
    let slot = match text.to_str() {
        Some("none") if !any => return Ok(()),
        Some("md5") if any || is_first => md5,
        Some("sha1") if any || is_first => sha1,
        Some("sha256") if any || is_first => sha256,
        _ => return Err("--hash: `none` cannot be combined with a hash".to_owned()),
    };
    *slot = Some(true);
    Ok(())
}

impl FilesPlan {
    /// Whether any body is examined.
    pub const fn any(&self) -> bool {
        self.decode || self.md5 || self.sha1 || self.sha256 || self.extract.is_some()
    }

    /// Extracted files are to be opened and hashes to be looked up, both of which need decoded
    /// bodies: so that is the default for both.
    pub(crate) fn settle(&mut self) {
        self.extract.take_if(|path| path.as_os_str().is_empty());
        self.decode = self.decode_asked.unwrap_or_else(|| self.any());
    }
}

#[cfg(test)]
mod tests {
    use super::hash;
    use crate::{Plan, Settings};

    fn plan(text: &str) -> Plan {
        Settings::from_toml(text).unwrap().into_plan().unwrap()
    }

    /// Unset means decoded where the bytes are used. Printed settings leave it unset as well, so
    /// that a hash added later is that of decoded bytes.
    #[test]
    fn bodies_are_decoded_where_they_are_wanted_unless_that_is_set() {
        for (text, decoded) in [
            ("", false),
            ("md5 = true", true),
            ("extract = 'd'", true),
            ("extract = ''", false),
            ("md5 = true\ndecode = false", false),
            ("decode = true", true),
        ] {
            let first = plan(&format!("[files]\n{text}"));
            assert_eq!(first.files.decode, decoded, "{text}");
            let printed = Settings::from(&first).to_commented_toml().unwrap();
            assert_eq!(plan(&printed), first, "{text}");
            assert_eq!(
                printed.contains("\ndecode = "),
                text.contains("decode"),
                "{printed}"
            );
        }
    }

    /// `--hash` replaces the hashes of the file, and `none` cannot be combined.
    #[test]
    fn hashes_on_the_command_line_take_the_place_of_those_in_the_file() {
        for (names, wanted) in [
            (&["sha1"][..], Some([false, true, false])),
            (&["md5", "sha256"], Some([true, false, true])),
            (&["none"], Some([false; 3])),
            (&["none", "md5"], None),
            (&["md5", "none"], None),
        ] {
            let mut flags = Settings::default();
            let good = names
                .iter()
                .all(|name| hash(&mut flags, name.as_ref()).is_ok());
            assert_eq!(good, wanted.is_some(), "{names:?}");
            let Some(wanted) = wanted else { continue };
            let file = Settings::from_toml("[files]\nmd5 = true").unwrap();
            let files = flags.over(file).into_plan().unwrap().files;
            assert_eq!([files.md5, files.sha1, files.sha256], wanted, "{names:?}");
        }
    }
}
