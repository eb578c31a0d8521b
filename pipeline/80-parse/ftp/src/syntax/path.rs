//! Resolves file names against the current directory of a session.

/// Writes the path of a file: an absolute path as it is, a relative one below `directory`. `..`
/// removes the name before it; repeated `/` count as one.
pub(crate) fn join(directory: &[u8], file: &[u8], out: &mut Vec<u8>) {
    out.clear();
    if !file.starts_with(b"/") {
        out.extend_from_slice(directory);
        out.push(b'/');
    }
    out.extend_from_slice(file);
    compress(out);
}

/// Removes `..`, with the name before it, and repeated slashes.
fn compress(path: &mut Vec<u8>) {
    let is_absolute = path.starts_with(b"/");
    let mut end = usize::from(is_absolute);
    let mut at = end;
    while at < path.len() {
        let rest = path.get(at..).unwrap_or_default();
        let len = memchr::memchr(b'/', rest).unwrap_or(rest.len());
        let name = rest.get(..len).unwrap_or_default();
        let before = path.get(..end).unwrap_or_default();
        if name == b".." && end > usize::from(is_absolute) && !ends_upwards(before) {
            let parent = memchr::memrchr(b'/', before).unwrap_or(0);
            end = parent.max(usize::from(is_absolute));
        } else if !(name.is_empty() || name == b".." && is_absolute) {
            if end > usize::from(is_absolute) {
                if let Some(slash) = path.get_mut(end) {
                    *slash = b'/';
                }
                end = end.saturating_add(1);
            }
            path.copy_within(at..at.saturating_add(len), end);
            end = end.saturating_add(len);
        }
        at = at.saturating_add(len).saturating_add(1);
    }
    path.truncate(end);
}

/// Whether a relative path ends in a name that `..` cannot remove.
fn ends_upwards(path: &[u8]) -> bool {
    let name = memchr::memrchr(b'/', path).map_or(path, |slash| {
        path.get(slash.saturating_add(1)..).unwrap_or_default()
    });
    matches!(name, b".." | b".")
}

/// Extracts the quoted path of the reply to PWD, in which quotes are doubled (RFC 959, appendix
/// II).
pub(crate) fn in_reply(text: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let Some(start) = memchr::memchr(b'"', text) else {
        return false;
    };
    let mut rest = text.get(start.saturating_add(1)..).unwrap_or_default();
    while let Some(quote) = memchr::memchr(b'"', rest) {
        out.extend_from_slice(rest.get(..quote).unwrap_or_default());
        rest = rest.get(quote.saturating_add(1)..).unwrap_or_default();
        match rest.strip_prefix(b"\"") {
            Some(after_quote) => {
                out.push(b'"');
                rest = after_quote;
            }
            None => return !out.is_empty(),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{in_reply, join};
    use proptest::prelude::*;

    fn joined(directory: &str, file: &str) -> String {
        let mut out = Vec::new();
        join(directory.as_bytes(), file.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    /// The paths of Zeek's URLs.
    #[test]
    fn paths_are_those_that_the_server_opens() {
        assert_eq!(joined(".", "robots.txt"), "./robots.txt");
        assert_eq!(joined("/", "robots.txt"), "/robots.txt");
        assert_eq!(joined("/pub//linux", "../bsd/a"), "/pub/bsd/a");
        assert_eq!(joined("/pub", "/etc//passwd"), "/etc/passwd");
        assert_eq!(joined("/pub", "../../../x"), "/x");
        assert_eq!(joined(".", "../x"), "./../x");
        assert_eq!(joined(".", "a/../../x"), "./../x");
    }

    /// RFC 959, appendix II.
    #[test]
    fn quotes_in_a_directory_are_doubled() {
        let mut out = Vec::new();
        assert!(in_reply(br#""/usr/dm/""quoted""" is here"#, &mut out));
        assert_eq!(out, br#"/usr/dm/"quoted""#);
        assert!(!in_reply(b"/pub is here", &mut out));
        assert!(!in_reply(b"\"/pub", &mut out));
    }

    proptest! {
        /// A path never leaves the root, and resolving it again changes nothing.
        #[test]
        fn paths_never_leave_the_root(
            names in prop::collection::vec(prop_oneof!["\\.\\.", "\\.", "", "[a-c]{1,2}"], 0..9),
        ) {
            let path = joined("/", &names.join("/"));
            prop_assert!(path.starts_with('/'));
            prop_assert!(!path.split('/').any(|name| name == ".."), "{path}");
            let again = joined("/", &path);
            prop_assert_eq!(again, path);
        }
    }
}
