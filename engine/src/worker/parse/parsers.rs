//! The parsers there are, and which protocol each reads.

use super::carried::Carried;
use crate::run::memory::{ParserOptions, connection_bytes};
use flowpin_counters::{Loss, Losses};
use flowpin_dns::{Dns, Flavour};
use flowpin_fix::Fix;
use flowpin_ftp::{Ends, Ftp};
use flowpin_http::Http;
use flowpin_parser::Successor;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::MessageSink;
use flowpin_text::Text;
use flowpin_tls::{Quic, Tls, Wanted};
use std::io;

/// Which parser reads a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tls,
    Dtls,
    Quic,
    Http,
    Fix,
    Ftp,
    Dns(Flavour),
    /// What a WebSocket carries.
    WebSocket,
    /// A grammar, by its number.
    Text(u16),
}

impl Kind {
    /// What its messages are called; of a grammar, `protocol`.
    const fn messages_of(self, protocol: &str) -> &str {
        match self {
            Self::Tls | Self::WebSocket => "tls",
            Self::Dtls => "dtls",
            Self::Quic => "quic",
            Self::Http => "http",
            Self::Fix => "fix",
            Self::Ftp => "ftp",
            Self::Dns(flavour) => flavour.name(),
            Self::Text(_) => protocol,
        }
    }

    /// What a connection takes of its shard's room.
    pub(super) const fn connection_bytes(self) -> u32 {
        match self {
            Self::Tls | Self::Dtls | Self::Quic => connection_bytes::TLS,
            Self::Http => connection_bytes::HTTP,
            Self::Fix => connection_bytes::FIX,
            Self::Ftp => connection_bytes::FTP,
            Self::Dns(_) => connection_bytes::DNS,
            Self::WebSocket => connection_bytes::WEBSOCKET,
            Self::Text(_) => connection_bytes::TEXT,
        }
    }

    /// As what a connection without room is counted.
    pub(super) const fn without_room(self) -> Loss {
        match self {
            Self::Tls | Self::Dtls | Self::Quic => Loss::TlsHandshakes,
            Self::Http => Loss::HttpConnections,
            Self::Fix => Loss::FixConnections,
            Self::Ftp => Loss::FtpConnections,
            Self::Dns(_) => Loss::DnsConnections,
            Self::WebSocket => Loss::WebSocketConnections,
            Self::Text(_) => Loss::TextConnections,
        }
    }

    /// By the name that identification gives a protocol.
    fn of(protocol: &str) -> Option<Self> {
        Some(match protocol {
            "tls" => Self::Tls,
            "dtls" => Self::Dtls,
            "quic" => Self::Quic,
            // All of these begin as HTTP.
            "http" | "http-connect" | "http-proxy" | "websocket" | "soap" => Self::Http,
            "fix" => Self::Fix,
            "ftp" => Self::Ftp,
            other => return Flavour::of(other).map(Self::Dns),
        })
    }
}

/// A connection of one of the parsers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Handle {
    Tls(u32),
    Dtls(u32),
    Quic(u32),
    Http(flowpin_http::Handle),
    Fix(flowpin_fix::Handle),
    Ftp(flowpin_ftp::Handle),
    Dns(flowpin_dns::Handle),
    Text(flowpin_text::Handle),
    WebSocket(u32),
    /// None at present.
    Nobody,
}

/// How a parser goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It wants more.
    More,
    /// It has let go of the connection and its handle.
    Nothing,
    /// The connection becomes something else behind so many of the bytes shown.
    Successor(Successor, usize),
}

impl From<Wanted> for Next {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::More => Self::More,
            Wanted::Nothing => Self::Nothing,
        }
    }
}

/// All parsers of one worker.
#[derive(Debug)]
pub(super) struct Parsers {
    tls: Tls,
    quic: Quic,
    http: Http,
    fix: Fix,
    ftp: Ftp,
    dns: Dns,
    text: Text,
    carried: Carried,
    /// So many of the grammars are the user's, which stand first.
    loaded: u16,
    /// The protocols whose messages are wanted; none named: all.
    wanted: Vec<String>,
}

impl Parsers {
    pub(crate) fn new(options: &ParserOptions) -> io::Result<Self> {
        Ok(Self {
            tls: Tls::new(options.tls)?,
            quic: Quic::new(options.tls)?,
            http: Http::new(options.http)?,
            fix: Fix::new(options.fix.clone())?,
            ftp: Ftp::new(options.ftp),
            dns: Dns::new(options.dns.clone())?,
            text: Text::new(options.text, options.grammars.clone()),
            carried: Carried::new(options.websocket)?,
            loaded: options.loaded,
            wanted: options.protocols.clone(),
        })
    }

    /// Which parser reads a protocol; `is_own`: a built-in rule found it. The user's grammars come
    /// first; of what other patterns find they read only what they name themselves.
    pub(crate) fn kind(&self, protocol: &str, is_own: bool) -> Option<Kind> {
        let text = self.text.protocol(protocol);
        let loaded = text.filter(|&number| number < self.loaded);
        if let Some(number) = loaded
            && (is_own || self.text.identifies(number))
        {
            return Some(Kind::Text(number));
        }
        if !is_own {
            return None;
        }
        Kind::of(protocol).or(text.map(Kind::Text))
    }

    /// Whether a kind's messages are wanted; `protocol`: as identified.
    pub(crate) fn is_wanted(&self, kind: Kind, protocol: &str) -> bool {
        let name = kind.messages_of(protocol);
        self.wanted.is_empty() || self.wanted.iter().any(|wanted| wanted == name)
    }

    /// Asks for what the common parsers have of a connection.
    #[inline]
    pub(crate) fn prefetch(&self, handle: Handle) {
        match handle {
            Handle::Http(handle) => self.http.prefetch(handle),
            Handle::Dns(handle) => self.dns.prefetch(handle),
            Handle::Tls(handle) => self.tls.prefetch(handle),
            Handle::Fix(handle) => self.fix.prefetch(handle),
            _ => {}
        }
    }

    /// Whether a parser, once it proved what a side says, holds all that it has not proved yet.
    #[inline]
    pub(super) const fn holds(handle: Handle) -> bool {
        matches!(handle, Handle::Fix(_))
    }

    /// What such a parser holds of one direction goes to `to`; if it spoke last, what was held
    /// before that.
    pub(crate) fn held(&self, handle: Handle, to_server: bool, spoke: bool, to: &mut Vec<u8>) {
        if let Handle::Fix(handle) = handle {
            if spoke {
                to.extend_from_slice(self.fix.held_before());
            } else {
                self.fix.held(handle, to_server, to);
            }
        }
    }

    pub(crate) fn losses(&self) -> Losses {
        let mut losses = self.tls.losses();
        losses.add(&self.quic.losses());
        losses.add(self.http.losses());
        losses.add(self.fix.losses());
        losses.add(self.ftp.losses());
        losses.add(self.dns.losses());
        losses.add(&self.text.losses());
        losses.add(self.carried.losses());
        losses
    }

    pub(crate) fn begin(
        &mut self,
        kind: Kind,
        shard: Shard,
        at: Timestamp,
        ends: impl FnOnce() -> Ends,
    ) -> Option<Handle> {
        match kind {
            Kind::Tls => self.tls.begin(shard, at).map(Handle::Tls),
            Kind::Dtls => self.tls.begin(shard, at).map(Handle::Dtls),
            Kind::Quic => self.quic.begin(shard, at).map(Handle::Quic),
            Kind::Http => self.http.begin(shard).map(Handle::Http),
            Kind::Fix => self.fix.begin(shard).map(Handle::Fix),
            Kind::Ftp => self.ftp.begin(shard, ends()).map(Handle::Ftp),
            Kind::Text(protocol) => self.text.begin(shard, protocol).map(Handle::Text),
            Kind::WebSocket => self.carried.begin(shard).map(Handle::WebSocket),
            Kind::Dns(flavour) => self.dns.begin(shard, flavour).map(Handle::Dns),
        }
    }

    #[inline]
    pub(crate) fn data<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        bytes: &[u8],
        sink: &mut S,
    ) -> Next {
        match handle {
            Handle::Tls(handle) => self.tls.data(handle, to_server, bytes, sink).into(),
            Handle::Http(handle) => {
                let used = self.http.data(handle, at, to_server, bytes, sink);
                match self.http.successor(handle) {
                    Some(successor) => Next::Successor(successor, used),
                    None => Next::More,
                }
            }
            Handle::Fix(handle) => {
                self.fix.data(handle, at, to_server, bytes, sink);
                Next::More
            }
            Handle::Ftp(handle) => {
                self.ftp.data(handle, at, to_server, bytes, sink);
                Next::More
            }
            Handle::Text(handle) => {
                self.text.data(handle, at, to_server, bytes, sink);
                Next::More
            }
            Handle::Dns(handle) => {
                self.dns.data(handle, at, to_server, bytes, sink);
                Next::More
            }
            Handle::WebSocket(handle) => {
                let (tls, carried) = (&mut self.tls, &mut self.carried);
                carried
                    .data(tls, (handle, at), (to_server, bytes), sink)
                    .into()
            }
            Handle::Dtls(_) | Handle::Quic(_) => Next::More,
            Handle::Nobody => Next::Nothing,
        }
    }

    pub(crate) fn gap<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        len: u64,
        sink: &mut S,
    ) -> Next {
        match handle {
            Handle::Tls(handle) => self.tls.side_over(handle, to_server, sink).into(),
            Handle::Http(handle) => {
                self.http.gap(handle, at, to_server, len, sink);
                Next::More
            }
            Handle::Fix(handle) => {
                self.fix.gap(handle, at, to_server, len, sink);
                Next::More
            }
            Handle::Ftp(handle) => {
                self.ftp.gap(handle, at, to_server, len, sink);
                Next::More
            }
            Handle::Text(handle) => {
                self.text.gap(handle, at, to_server, len, sink);
                Next::More
            }
            Handle::Dns(handle) => {
                self.dns.gap(handle, at, to_server, len, sink);
                Next::More
            }
            Handle::WebSocket(handle) => {
                let (tls, carried) = (&mut self.tls, &mut self.carried);
                carried.gap(tls, handle, (to_server, len), sink).into()
            }
            Handle::Dtls(_) | Handle::Quic(_) => Next::More,
            Handle::Nobody => Next::Nothing,
        }
    }

    pub(crate) fn closed<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        sink: &mut S,
    ) -> Next {
        match handle {
            Handle::Tls(handle) => self.tls.side_over(handle, to_server, sink).into(),
            Handle::Http(handle) => {
                self.http.closed(handle, at, to_server, sink);
                if !self.http.is_over(handle) {
                    return Next::More;
                }
                // PERF: what is over now need not be fetched again when the connection ends.
                self.http.end(handle, at, sink);
                Next::Nothing
            }
            Handle::Fix(handle) => {
                self.fix.closed(handle, at, to_server, sink);
                Next::More
            }
            Handle::Ftp(handle) => {
                self.ftp.closed(handle, at, to_server, sink);
                Next::More
            }
            Handle::Text(handle) => {
                self.text.closed(handle, at, to_server, sink);
                Next::More
            }
            Handle::Dns(handle) => {
                self.dns.closed(handle, at, to_server, sink);
                Next::More
            }
            Handle::WebSocket(handle) => {
                let (tls, carried) = (&mut self.tls, &mut self.carried);
                carried.side_over(tls, handle, to_server, sink).into()
            }
            Handle::Dtls(_) | Handle::Quic(_) => Next::More,
            Handle::Nobody => Next::Nothing,
        }
    }

    /// Whether a parser is between messages, as far as it can tell.
    pub(crate) fn is_idle(&self, handle: Handle) -> bool {
        match handle {
            Handle::Http(handle) => self.http.is_idle(handle),
            _ => false,
        }
    }

    /// `payload`: what was captured, and how long it was on the wire.
    pub(crate) fn datagram<S: MessageSink>(
        &mut self,
        handle: Handle,
        at: Timestamp,
        to_server: bool,
        payload: (&[u8], usize),
        sink: &mut S,
    ) -> Next {
        let (bytes, wire_len) = payload;
        match handle {
            Handle::Text(handle) => {
                let text = &mut self.text;
                text.datagram(handle, at, to_server, bytes, wire_len, sink);
                Next::More
            }
            Handle::Dns(handle) => {
                let dns = &mut self.dns;
                dns.datagram(handle, at, to_server, bytes, wire_len, sink);
                Next::More
            }
            Handle::Dtls(handle) => self.tls.datagram(handle, to_server, bytes, sink).into(),
            Handle::Quic(handle) => self.quic.datagram(handle, to_server, bytes, sink).into(),
            Handle::Tls(_)
            | Handle::Http(_)
            | Handle::Fix(_)
            | Handle::Ftp(_)
            | Handle::WebSocket(_) => Next::More,
            Handle::Nobody => Next::Nothing,
        }
    }

    pub(crate) fn end<S: MessageSink>(&mut self, handle: Handle, at: Timestamp, sink: &mut S) {
        match handle {
            Handle::Tls(handle) | Handle::Dtls(handle) => self.tls.end(handle, sink),
            Handle::Quic(handle) => self.quic.end(handle, sink),
            Handle::Http(handle) => self.http.end(handle, at, sink),
            Handle::Fix(handle) => self.fix.end(handle, at, sink),
            Handle::Ftp(handle) => self.ftp.end(handle, at, sink),
            Handle::Dns(handle) => self.dns.end(handle, at, sink),
            Handle::Text(handle) => self.text.end(handle, at, sink),
            Handle::WebSocket(handle) => self.carried.end(&mut self.tls, handle, sink),
            Handle::Nobody => {}
        }
    }
}
