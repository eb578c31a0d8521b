//! Lines of requests and their headers, as far as they tell protocols. RFC 9112 §2.

use crate::Lead;
use memchr::{memchr, memchr2_iter};

/// What a request begins with.
pub(super) const METHODS: &[Lead] = &[
    Lead::start(b"GET "),
    Lead::start(b"POST "),
    Lead::start(b"HEAD "),
    Lead::start(b"PUT "),
    Lead::start(b"DELETE "),
    Lead::start(b"OPTIONS "),
    Lead::start(b"PATCH "),
    Lead::start(b"TRACE "),
    Lead::start(b"CONNECT "),
    Lead::start(b"PROPFIND"),
    Lead::start(b"PROPPATC"),
    Lead::start(b"MKCOL "),
    Lead::start(b"COPY "),
    Lead::start(b"MOVE "),
    Lead::start(b"LOCK "),
    Lead::start(b"UNLOCK "),
    Lead::start(b"REPORT "),
    Lead::start(b"SEARCH "),
    Lead::start(b"RPC_IN_D"),
    Lead::start(b"RPC_OUT_"),
    Lead::start(b"BITS_POS"),
    Lead::start(b"CCM_POST"),
    // UPnP: events and who wants them.
    Lead::start(b"NOTIFY "),
    Lead::start(b"SUBSCRIB"),
    Lead::start(b"UNSUBSCR"),
    // The rest of IANA's registry of methods: WebDAV's extensions and QUERY (RFC 3253, 3648, 3744,
    // 4437, 4791, 5842).
    Lead::start(b"ACL "),
    Lead::start(b"BASELINE"),
    Lead::start(b"BIND "),
    Lead::start(b"CHECKIN "),
    Lead::start(b"CHECKOUT"),
    Lead::start(b"LABEL "),
    Lead::start(b"LINK "),
    Lead::start(b"MERGE "),
    Lead::start(b"MKACTIVI"),
    Lead::start(b"MKCALEND"),
    Lead::start(b"MKREDIRE"),
    Lead::start(b"MKWORKSP"),
    Lead::start(b"ORDERPAT"),
    Lead::start(b"QUERY "),
    Lead::start(b"REBIND "),
    Lead::start(b"UNBIND "),
    Lead::start(b"UNCHECKO"),
    Lead::start(b"UNLINK "),
    Lead::start(b"UPDATE "),
    Lead::start(b"UPDATERE"),
    Lead::start(b"VERSION-"),
    // Of servers and caches: Exchange's in bulk, Varnish's and Squid's, UPnP's over TCP.
    Lead::start(b"BAN "),
    Lead::start(b"BCOPY "),
    Lead::start(b"BDELETE "),
    Lead::start(b"BMOVE "),
    Lead::start(b"BPROPFIN"),
    Lead::start(b"BPROPPAT"),
    Lead::start(b"M-SEARCH"),
    Lead::start(b"POLL "),
    Lead::start(b"PURGE "),
    // RFC 9112 §2.2: an empty line before the first request is passed over.
    Lead::start(b"\r\n"),
];

/// The head of a request or response, as far as it is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    bytes: &'a [u8],
}

impl<'a> Head<'a> {
    pub(super) const fn of(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The first line, if it has ended.
    pub(super) fn line(&self) -> Option<&'a [u8]> {
        let end = memchr(b'\n', self.bytes)?;
        let line = self.bytes.get(..end)?;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Whether the line ends in a version of HTTP/1. Its target may hold anything that is visible.
    pub(super) fn is_request(line: &[u8]) -> bool {
        let version = line.len().checked_sub(9).and_then(|at| line.get(at..));
        is_visible(line) && matches!(version, Some(b" HTTP/1.0" | b" HTTP/1.1"))
    }

    /// Whether what is there could be the beginning of a request line: a method, as far as it is
    /// there, and then what is visible.
    pub(super) fn is_request_begun(&self) -> bool {
        let method = self.bytes.split(|&byte| byte == b' ').next();
        let is_method = method.is_some_and(|method| method.iter().all(is_of_method));
        is_method && is_visible(self.bytes.strip_suffix(b"\r").unwrap_or(self.bytes))
    }

    /// Whether a method and the beginning of a target are there. RFC 9112 §3.2: a path, a URI, `*`,
    /// or CONNECT's host and port.
    pub(super) fn is_target_begun(&self) -> bool {
        let Some(end) = memchr(b' ', self.bytes) else {
            return false;
        };
        let Some((method, target)) = self.bytes.split_at_checked(end) else {
            return false;
        };
        let target = target.strip_prefix(b" ").unwrap_or_default();
        let word = target.split(|&byte| byte == b' ').next();
        let word = word.unwrap_or_default();
        let has_host = word.windows(3).any(|part| part == b"://")
            || method == b"CONNECT" && word.contains(&b':');
        !method.is_empty() && (matches!(word.first(), Some(b'/' | b'*')) || has_host)
    }

    /// Header fields: names and values, as far as they are there. What is no field ends them.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut rest = self.after_line();
        core::iter::from_fn(move || {
            let all = rest?;
            let line = match memchr(b'\n', all).and_then(|end| all.split_at_checked(end)) {
                Some((line, behind)) => {
                    rest = behind.get(1..);
                    line
                }
                None => {
                    rest = None;
                    all
                }
            };
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let (name, value) = line.split_at_checked(memchr(b':', line)?)?;
            Some((name, value.get(1..)?.trim_ascii()))
        })
        .fuse()
    }

    /// The value of a header field, by its name.
    pub(super) fn field(&self, name: &[u8]) -> Option<&'a [u8]> {
        let mut fields = self.fields();
        let found = fields.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(found.1)
    }

    fn after_line(&self) -> Option<&'a [u8]> {
        let end = memchr(b'\n', self.bytes)?;
        self.bytes.get(end.checked_add(1)?..)
    }

    /// The target of the request.
    pub(super) fn target(&self) -> Option<&'a [u8]> {
        self.line()?.split(|&byte| byte == b' ').nth(1)
    }

    /// The bytes behind the head, if its empty line is there.
    // PERF: line by line; a search that is made ready for any bytes costs more than the head.
    pub(super) fn body(&self) -> Option<&'a [u8]> {
        let mut rest = self.bytes;
        loop {
            let (line, behind) = rest.split_at_checked(memchr(b'\n', rest)?)?;
            rest = behind.get(1..)?;
            if line.ends_with(b"\r") && rest.starts_with(b"\r\n") {
                return rest.get(2..);
            }
        }
    }
}

/// Of the registered methods, and those of old servers, such as `RPC_IN_DATA`.
fn is_of_method(byte: &u8) -> bool {
    byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_')
}

// PERF: all of it, without a way out on the way, which is done for many bytes at once.
fn is_visible(line: &[u8]) -> bool {
    line.iter().fold(true, |all, &byte| all & (byte >= b' '))
}

/// Whether `needle` occurs in `hay`, ignoring case.
pub(super) fn contains(hay: &[u8], needle: &[u8]) -> bool {
    let Some(&first) = needle.first() else {
        return true;
    };
    let (lower, upper) = (first.to_ascii_lowercase(), first.to_ascii_uppercase());
    memchr2_iter(lower, upper, hay).any(|at| {
        let part = hay.get(at..).and_then(|rest| rest.get(..needle.len()));
        part.is_some_and(|part| part.eq_ignore_ascii_case(needle))
    })
}
