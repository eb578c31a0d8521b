//! Folders that are written into.

use crate::Refused;
use std::fs;
use std::path::{Path, PathBuf};

/// Whether a folder is there, or can be made as far as what is there shows. Makes nothing.
///
/// Links on the way are followed: they are the user's own.
///
/// # Errors
/// Something else is there, or on the way there.
pub fn check_folder(path: &Path) -> Result<(), Refused> {
    // Without a slash at its end: behind that the system looks for a folder only.
    let path: PathBuf = path.components().collect();
    let mut ancestors = path.ancestors().filter(|path| !path.as_os_str().is_empty());
    let there = ancestors.find_map(|path| Some((path, fs::symlink_metadata(path).ok()?)));
    let Some((path, link)) = there else {
        return Ok(());
    };
    let what = match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(meta) => Refused::name_of(meta.file_type()),
        Err(_) if link.is_symlink() => "a symbolic link that leads to nothing",
        // What the system says is told where the folder is made.
        Err(_) => return Ok(()),
    };
    let path = path.to_owned();
    Err(Refused::NoFolder { path, what })
}

#[cfg(test)]
mod tests {
    use super::check_folder;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    /// What is no folder is told as what it is, also where it is on the way.
    #[test]
    fn what_is_no_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        fs::create_dir(at("there")).unwrap();
        symlink("there", at("link")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        for good in ["", "there", "there/new/newer", "link", "link/new", "new"] {
            check_folder(&at(good)).unwrap();
        }
        check_folder(Path::new("not-there")).unwrap();
        for (bad, what) in [
            ("file", "file is a file"),
            ("file/", "file is a file"),
            ("file/new", "file is a file"),
            ("dangling", "a symbolic link that leads to nothing"),
            ("dangling/new", "a symbolic link that leads to nothing"),
            ("loop", "a symbolic link that leads to nothing"),
        ] {
            let told = check_folder(&at(bad)).unwrap_err().to_string();
            assert!(told.contains(what), "{told}");
        }
        let told = check_folder(Path::new("/dev/null")).unwrap_err();
        assert!(told.to_string().contains("a device"), "{told}");
    }
}
