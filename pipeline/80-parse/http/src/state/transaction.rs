//! A request and its response, until both are complete.

use super::NONE;
use super::texts::Chain;
use crate::syntax::{Method, Version};
use flowpin_packet::Timestamp;

/// Where a text lies in its transaction's chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Part {
    start: u16,
    len: u16,
}

impl Part {
    #[inline]
    pub(crate) fn new(start: u32, len: usize) -> Option<Self> {
        Some(Self {
            start: u16::try_from(start).ok()?,
            len: u16::try_from(len).ok()?,
        })
    }

    #[inline]
    pub(crate) fn of<'a>(&self, texts: &'a [u8]) -> &'a [u8] {
        let start = usize::from(self.start);
        let end = start.wrapping_add(usize::from(self.len));
        texts.get(start..end).unwrap_or_default()
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The texts that a transaction keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Text {
    Method,
    Host,
    Uri,
    Referrer,
    UserAgent,
    Origin,
    User,
    Reason,
    InfoReason,
    ContentType,
    Redirect,
    ContentRange,
    Upgrade,
    FileName,
    /// Of the request's body, if it is a form.
    Boundary,
}

impl Text {
    pub(crate) const COUNT: usize = 15;
}

/// A request and its response. Either may be missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transaction {
    /// The next request of the same connection.
    pub(crate) next: u32,
    /// Which transaction of its connection it is, from 1.
    pub(crate) depth: u32,
    pub(crate) texts: Chain,
    pub(crate) parts: [Part; Text::COUNT],
    /// Lists: fields of proxies; all fields of either side, if the options ask for them.
    pub(crate) proxied: Chain,
    /// More of X-Forwarded-For may have been sent than `proxied` has.
    pub(crate) forwarded_cut: bool,
    /// The head of the request was read to its end.
    pub(crate) has_head: bool,
    pub(crate) fields: [Chain; 2],
    /// A list: of each file of a form its place there, its media type's number, its name.
    pub(crate) form_files: Chain,
    pub(crate) request_at: Timestamp,
    pub(crate) response_at: Timestamp,
    pub(crate) request_len: u64,
    pub(crate) response_len: u64,
    /// Of the response's body, as it was sent: before decoding.
    pub(crate) response_wire_len: u64,
    pub(crate) port: Option<u16>,
    /// Status of the response, and of the last interim one; 0: none.
    pub(crate) status: u16,
    pub(crate) info: u16,
    pub(crate) method: Method,
    pub(crate) request_version: Version,
    pub(crate) response_version: Version,
    pub(crate) bits: u8,
    /// Of the client's body and the server's, if they are files: 1 and the number of the media type
    /// that their first bytes show; 0: no file.
    pub(crate) media: [u8; 2],
}

impl Transaction {
    pub(crate) const HAS_REQUEST: u8 = 1;
    pub(crate) const HAS_RESPONSE: u8 = 1 << 1;
    pub(crate) const REQUEST_DONE: u8 = 1 << 2;
    pub(crate) const RESPONSE_DONE: u8 = 1 << 3;
    /// It waits in its connection's queue for its response.
    pub(crate) const QUEUED: u8 = 1 << 4;
    /// The request asks for another protocol.
    pub(crate) const UPGRADE: u8 = 1 << 5;
    /// The request waits for `100 Continue` before it sends its body.
    pub(crate) const EXPECTS: u8 = 1 << 6;
    /// It got its final response instead, before any byte of the body.
    pub(crate) const ANSWERED_AT_ONCE: u8 = 1 << 7;

    /// One whose texts probably are short, if others wait before it.
    pub(crate) fn new(depth: u32, is_short: bool) -> Self {
        let chain = Chain::new(is_short);
        Self {
            next: NONE,
            depth,
            texts: chain,
            parts: [Part::default(); Text::COUNT],
            proxied: chain,
            forwarded_cut: false,
            has_head: false,
            fields: [chain; 2],
            form_files: chain,
            request_at: Timestamp(0),
            response_at: Timestamp(0),
            request_len: 0,
            response_len: 0,
            response_wire_len: 0,
            port: None,
            status: 0,
            info: 0,
            method: Method::Other,
            request_version: Version::Old,
            response_version: Version::Old,
            bits: 0,
            media: [0; 2],
        }
    }

    #[inline]
    pub(crate) const fn has(&self, bits: u8) -> bool {
        self.bits & bits == bits
    }

    /// Whether further hops may have been sent than are kept.
    pub(crate) const fn lacks_hops(&self) -> bool {
        self.forwarded_cut || !self.has_head
    }

    #[inline]
    pub(crate) fn part(&self, text: Text) -> Part {
        self.parts.get(text as usize).copied().unwrap_or_default()
    }
}
