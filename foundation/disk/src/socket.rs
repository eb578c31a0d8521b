//! Sockets of this machine that a user names: the one that is there, or none.

use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// Connects to the program that listens at `path`. No link is followed by its last name.
///
/// # Errors
/// Something else is there, or nothing; what the system says.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    // What was found is what is connected to, whatever takes its name meanwhile.
    let found: OwnedFd = rustix::fs::open(
        path,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let name = PathBuf::from(format!("/proc/self/fd/{}", found.as_raw_fd()));
    let kind = name.metadata()?.file_type();
    let is_link = kind.is_symlink() || path.symlink_metadata()?.is_symlink();
    if is_link || !kind.is_socket() {
        return Err(io::Error::other("this is no socket"));
    }
    UnixStream::connect(name)
}

#[cfg(test)]
mod tests {
    use super::connect;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    /// A link that someone has put there leads to no program.
    #[test]
    fn only_a_socket_is_connected_to() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("s"), folder.path().join("link"));
        let file = folder.path().join("file");
        let _listener = UnixListener::bind(&path).unwrap();
        symlink(&path, &link).unwrap();
        std::fs::write(&file, "").unwrap();
        connect(&path).unwrap();
        for other in [link, file, folder.path().join("none")] {
            connect(&other).unwrap_err();
        }
    }
}
