//! The fuzzing entry point: any bytes, whole and in pieces.

use crate::{Ends, Ftp, FtpOptions};
use core::net::IpAddr;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{DataChannel, MessageSchema, MessageSink, RecordEndpoint, Value};

/// Collects all records, anomalies and data channels as text.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) records: Vec<String>,
    pub(crate) channels: Vec<String>,
}

impl MessageSink for Output {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        assert!(values.len() <= schema.columns.len());
        self.records.push(format!("{} {values:?}", schema.name));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.records.push(event.into());
    }

    fn data_channel(&mut self, channel: DataChannel<'_>) {
        self.channels.push(format!("{channel:?}"));
    }
}

/// Splits `data` into turns: the output is the same for whole turns and for pieces, and all memory
/// is released.
#[doc(hidden)]
pub fn fuzz_ftp(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let turns: Vec<&[u8]> = data.split(|&byte| byte == 0xa5).collect();
    let options = options(if settings & 1 == 0 { 16 } else { 4096 });
    let (whole, all) = outputs(options, &turns, usize::MAX);
    let (pieces, channels) = outputs(options, &turns, usize::from(settings >> 1) + 1);
    assert_eq!(whole, pieces, "{turns:02x?}");
    assert_eq!(all, channels, "{turns:02x?}");
}

pub(crate) fn options(line_bytes_max: u32) -> FtpOptions {
    FtpOptions {
        all_commands: true,
        shard_connections_max: 2,
        shard_bytes_max: 1 << 20,
        line_bytes_max,
        commands_max: 4,
        reply_bytes_max: 64,
        reply_lines_max: 8,
    }
}

pub(crate) const ENDS: Ends = Ends {
    client: RecordEndpoint {
        address: IpAddr::V4(core::net::Ipv4Addr::new(192, 0, 2, 1)),
        port: 50000,
    },
    server: RecordEndpoint {
        address: IpAddr::V4(core::net::Ipv4Addr::new(192, 0, 2, 2)),
        port: 21,
    },
};

/// The records and channels of alternating turns, the client's first, cut into pieces of `piece`
/// bytes; an empty turn is a gap.
pub(crate) fn outputs(
    options: FtpOptions,
    turns: &[&[u8]],
    piece: usize,
) -> (Vec<String>, Vec<String>) {
    let mut sink = Output::default();
    let mut ftp = Ftp::new(options);
    let Some(handle) = ftp.begin(Shard(7), ENDS) else {
        return Default::default();
    };
    let (mut to_server, at) = (true, Timestamp(1));
    for turn in turns {
        for part in turn.chunks(piece) {
            ftp.data(handle, at, to_server, part, &mut sink);
        }
        if turn.is_empty() {
            ftp.gap(handle, at, to_server, 1, &mut sink);
        }
        to_server = !to_server;
    }
    ftp.end(handle, at, &mut sink);
    assert!(ftp.is_empty(), "all memory was given back");
    (sink.records, sink.channels)
}
