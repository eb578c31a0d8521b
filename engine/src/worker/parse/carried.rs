//! TLS inside WebSockets: tunnels that go through proxies as web traffic.
//!
//! Whether it is TLS is seen by the first bytes that either side carries; if not, the connection is
//! let go at once, as most are.

use flowpin_counters::Losses;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::MessageSink;
use flowpin_tls::{Tls, Wanted};
use flowpin_websocket::{WebSocket, WebSocketOptions};
use std::io;

/// The WebSockets of one worker.
#[derive(Debug)]
pub(super) struct Carried {
    frames: WebSocket,
}

impl Carried {
    pub(super) fn new(options: WebSocketOptions) -> io::Result<Self> {
        Ok(Self {
            frames: WebSocket::new(options)?,
        })
    }

    pub(super) fn begin(&mut self, shard: Shard) -> Option<u32> {
        self.frames.begin(shard)
    }

    /// The next bytes of one side.
    pub(super) fn data<S: MessageSink>(
        &mut self,
        tls: &mut Tls,
        (handle, at): (u32, Timestamp),
        (to_server, bytes): (bool, &[u8]),
        sink: &mut S,
    ) -> Wanted {
        let shard = self.frames.shard(handle).unwrap_or(Shard(0));
        let mut reader = self.frames.reader(handle);
        let mut wanted = Wanted::More;
        let read = self
            .frames
            .data(handle, to_server, bytes, &mut |from, part| {
                if wanted == Wanted::Nothing {
                    return;
                }
                if !is_tls(from, part) {
                    wanted = Wanted::Nothing;
                    return;
                }
                reader = reader.or_else(|| tls.begin(shard, at));
                wanted = match reader {
                    Some(reader) => tls.data(reader, to_server, part, sink),
                    None => Wanted::Nothing,
                };
                if wanted == Wanted::Nothing {
                    // It has let go of its handle.
                    reader = None;
                }
            });
        self.frames.set_reader(handle, reader);
        if read.is_err() || wanted == Wanted::Nothing {
            self.end(tls, handle, sink);
            return Wanted::Nothing;
        }
        Wanted::More
    }

    /// One side lacks bytes.
    pub(super) fn gap<S: MessageSink>(
        &mut self,
        tls: &mut Tls,
        handle: u32,
        (to_server, len): (bool, u64),
        sink: &mut S,
    ) -> Wanted {
        match self.frames.gap(handle, to_server, len) {
            Ok(0) => Wanted::More,
            Ok(_) => self.side_over(tls, handle, to_server, sink),
            Err(_) => {
                self.end(tls, handle, sink);
                Wanted::Nothing
            }
        }
    }

    /// One side has ended, or lacks bytes: nothing behind them can be read.
    pub(super) fn side_over<S: MessageSink>(
        &mut self,
        tls: &mut Tls,
        handle: u32,
        to_server: bool,
        sink: &mut S,
    ) -> Wanted {
        let wanted = match self.frames.reader(handle) {
            Some(reader) => tls.side_over(reader, to_server, sink),
            None => Wanted::More,
        };
        if wanted == Wanted::Nothing {
            self.frames.end(handle);
        }
        wanted
    }

    pub(super) fn end<S: MessageSink>(&mut self, tls: &mut Tls, handle: u32, sink: &mut S) {
        if let Some(reader) = self.frames.reader(handle) {
            tls.end(reader, sink);
        }
        self.frames.end(handle);
    }

    pub(super) const fn losses(&self) -> &Losses {
        self.frames.losses()
    }
}

/// RFC 8446 §5.1: a record of handshake messages, of version 3.0 to 3.4.
const HEAD: [core::ops::RangeInclusive<u8>; 3] = [22..=22, 3..=3, 0..=4];

/// Whether what begins there may be TLS.
fn is_tls(from: u64, part: &[u8]) -> bool {
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let heads = HEAD.get(from..).unwrap_or_default();
    heads
        .iter()
        .zip(part)
        .all(|(head, byte)| head.contains(byte))
}
