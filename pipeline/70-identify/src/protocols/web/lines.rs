//! Lines of requests and their headers, as far as they tell protocols. RFC 9112 §2.

use crate::Lead;

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
        let end = self.bytes.iter().position(|&byte| byte == b'\n')?;
        let line = self.bytes.get(..end)?;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Whether the line ends in a version of HTTP/1. Its target may hold anything that is visible.
    pub(super) fn is_request(line: &[u8]) -> bool {
        let version = line.len().checked_sub(9).and_then(|at| line.get(at..));
        let is_visible = line.iter().all(|&byte| byte >= b' ');
        is_visible && matches!(version, Some(b" HTTP/1.0" | b" HTTP/1.1"))
    }

    /// Whether what is there could be the beginning of a request line.
    pub(super) fn is_request_begun(&self) -> bool {
        {
            let line = self.bytes.strip_suffix(b"\r").unwrap_or(self.bytes);
            line.iter().all(|&byte| byte >= b' ')
        }
    }

    /// Whether the head's empty line is there.
    pub(super) fn is_whole(&self) -> bool {
        self.bytes.windows(4).any(|four| four == b"\r\n\r\n")
    }

    /// The value of a header field, by its name in lower case.
    pub(super) fn field(&self, name: &[u8]) -> Option<&'a [u8]> {
        for line in self.bytes.split(|&byte| byte == b'\n').skip(1) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                return None;
            }
            let colon = line.iter().position(|&byte| byte == b':')?;
            if line.get(..colon)?.eq_ignore_ascii_case(name) {
                return line.get(colon..)?.get(1..).map(<[u8]>::trim_ascii);
            }
        }
        None
    }

    /// The target of the request.
    pub(super) fn target(&self) -> Option<&'a [u8]> {
        self.line()?.split(|&byte| byte == b' ').nth(1)
    }

    /// The bytes behind the head.
    pub(super) fn body(&self) -> &'a [u8] {
        let at = self.bytes.windows(4).position(|four| four == b"\r\n\r\n");
        at.and_then(|at| self.bytes.get(at.saturating_add(4)..))
            .unwrap_or_default()
    }
}

/// Whether `needle` occurs in `hay`, ignoring case.
pub(super) fn contains(hay: &[u8], needle: &[u8]) -> bool {
    hay.windows(needle.len().max(1))
        .any(|part| part.eq_ignore_ascii_case(needle))
}
