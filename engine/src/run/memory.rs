//! How `--memory` is divided.

use crate::output::messages;
use flowpin_config::{Format, OutputPlan, Plan};
use flowpin_defrag::DefragOptions;
use flowpin_dns::DnsOptions;
use flowpin_fix::FixOptions;
use flowpin_flow::FlowOptions;
use flowpin_ftp::FtpOptions;
use flowpin_http::{BodyOptions, HttpOptions};
use flowpin_identify::SearchOptions;
use flowpin_packet::SHARD_COUNT;
use flowpin_reassembly::{ReassemblyOptions, Urgent};
use flowpin_text::{Protocol, TextOptions};
use flowpin_tls::TlsOptions;
use flowpin_websocket::WebSocketOptions;
use std::sync::Arc;

/// Fragments get a quarter at most, and no more than this: room for a second of a million small
/// useless fragments, so that a real datagram among them completes. It is taken only if needed.
const FRAGMENT_BYTES_MAX: u64 = 512 << 20;

fn fragment_bytes(plan: &Plan) -> u64 {
    let share = (plan.memory_bytes / 4).min(FRAGMENT_BYTES_MAX);
    let set = plan.defragmentation.memory_bytes;
    // Connections must have something as well.
    set.unwrap_or(share).min(plan.memory_bytes / 2)
}

/// Bytes behind holes get an eighth at most, and no more than this.
const SEGMENT_BYTES_MAX: u64 = 256 << 20;

fn segment_bytes(plan: &Plan) -> u64 {
    if !plan.streams.enabled {
        return 0;
    }
    let share = (plan.memory_bytes / 8).min(SEGMENT_BYTES_MAX);
    let set = plan.streams.memory_bytes;
    set.unwrap_or(share).min(plan.memory_bytes / 4)
}

/// Delivered bytes, kept to compare what is sent again, get a quarter at most.
fn compared_bytes(plan: &Plan) -> u64 {
    if !plan.streams.enabled {
        return 0;
    }
    plan.streams.compared_bytes.min(plan.memory_bytes / 4)
}

/// First bytes of connections not yet identified get an eighth: who gives more memory, because
/// there was none for them, shall have more. The end is what a shard can count.
const FIRST_BYTES_MAX: u64 = 256 << 30;

// Also where nothing is identified: the connections that a run follows must be those that a slice
// made from its records does.
fn first_bytes(plan: &Plan) -> u64 {
    (plan.memory_bytes / 8).min(FIRST_BYTES_MAX)
}

/// Parsers get an eighth at most, and no more than this.
const PARSER_BYTES_MAX: u64 = 512 << 20;

// Also where nothing is parsed, for the same reason.
fn parser_bytes(plan: &Plan) -> u64 {
    let share = (plan.memory_bytes / 8).min(PARSER_BYTES_MAX);
    let set = plan.parse.memory_bytes;
    set.unwrap_or(share).min(plan.memory_bytes / 4)
}

/// Bodies that were asked for get a quarter beside all else, and no less than one with a window of
/// 4 MiB in each shard takes.
fn body_bytes(plan: &Plan) -> u64 {
    (plan.memory_bytes / 4).max(BODY_BYTES_MIN)
}

const BODY_BYTES_MIN: u64 = SHARD_COUNT as u64 * (5 << 20);

/// How much each parser may use, over all workers, and what its records hold.
#[derive(Clone, Debug)]
pub(crate) struct ParserOptions {
    pub(crate) tls: TlsOptions,
    pub(crate) http: HttpOptions,
    pub(crate) fix: FixOptions,
    pub(crate) ftp: FtpOptions,
    pub(crate) dns: DnsOptions,
    pub(crate) text: TextOptions,
    pub(crate) websocket: WebSocketOptions,
    /// Bytes for the connections of all parsers together, in each shard.
    pub(crate) shard_room: u32,
    /// The protocols whose messages are wanted; none named: all.
    pub(crate) protocols: Vec<String>,
    /// The user's first.
    pub(crate) grammars: Vec<Arc<Protocol>>,
    /// So many of them are the user's.
    pub(crate) loaded: u16,
}

/// What a connection of each parser takes, about, with what binds it.
pub(crate) mod connection_bytes {
    pub(crate) const TLS: u32 = 2048;
    pub(crate) const HTTP: u32 = 384;
    pub(crate) const FIX: u32 = 256;
    pub(crate) const FTP: u32 = 1024;
    pub(crate) const DNS: u32 = 256;
    pub(crate) const TEXT: u32 = 512;
    pub(crate) const WEBSOCKET: u32 = 256;
}

/// The parsers' options. Connections share three eighths of their memory, whatever they speak:
/// where all are FIX, FIX has all of it. What messages need beside has a part for each protocol.
pub(crate) fn parsers(plan: &Plan) -> ParserOptions {
    let bytes = parser_bytes(plan);
    let all_fields = plan.parse.all_fields;
    // By shard, of values that take so many bytes.
    let count = |bytes: u64, each: u64| {
        let count = (bytes / SHARD_COUNT as u64 / each).max(2);
        u32::try_from(count).unwrap_or(u32::MAX)
    };
    let shard_room = count(bytes / 8 * 3, 1).max(ROOM_MIN);
    let connections = |each: u32, most: u32| (shard_room / each).min(most);
    let http = HttpOptions::default();
    let fix = FixOptions::default();
    let ftp = FtpOptions::default();
    let dns = DnsOptions::default();
    let text = TextOptions::default();
    let websocket = WebSocketOptions::default();
    ParserOptions {
        tls: TlsOptions {
            shard_sessions_max: connections(connection_bytes::TLS, SESSIONS_MAX),
            ..TlsOptions::within(bytes / 8)
        },
        http: HttpOptions {
            shard_connections_max: connections(connection_bytes::HTTP, http.shard_connections_max),
            shard_transactions_max: count(bytes / 8, 384).min(http.shard_transactions_max),
            shard_text_bytes_max: count(bytes / 4, 1)
                .max(MESSAGE_BYTES_MIN)
                .min(http.shard_text_bytes_max),
            all_fields,
            bodies: BodyOptions {
                decode: plan.files.decode,
                md5: plan.files.md5,
                sha1: plan.files.sha1,
                sha256: plan.files.sha256,
                files: plan.files.extract.is_some(),
                decoded_bytes_max: plan.files.bytes_max,
                shard_files_max: plan.files.count_max.div_ceil(SHARD_COUNT as u64),
                shard_file_bytes_max: plan.files.total_bytes_max.div_ceil(SHARD_COUNT as u64),
                shard_bytes_max: body_bytes(plan) / SHARD_COUNT as u64,
                ..BodyOptions::default()
            },
            ..http
        },
        fix: FixOptions {
            shard_connections_max: connections(connection_bytes::FIX, fix.shard_connections_max),
            shard_bytes_max: count(bytes / 8, 1)
                .max(MESSAGE_BYTES_MIN)
                .min(fix.shard_bytes_max),
            shard_orders_max: count(bytes / 32, 16).min(fix.shard_orders_max),
            all_fields,
            ..fix
        },
        ftp: FtpOptions {
            all_commands: all_fields,
            shard_connections_max: connections(connection_bytes::FTP, ftp.shard_connections_max),
            shard_bytes_max: count(bytes / 32, 1)
                .max(COMMANDS_BYTES_MIN)
                .min(ftp.shard_bytes_max),
            ..ftp
        },
        dns: DnsOptions {
            log: has_columns(&plan.output),
            shard_connections_max: connections(connection_bytes::DNS, dns.shard_connections_max),
            shard_bytes_max: count(bytes / 16, 1)
                .max(MESSAGE_BYTES_MIN)
                .min(dns.shard_bytes_max),
            shard_requests_max: count(bytes / 16, 384).min(dns.shard_requests_max),
            ..dns
        },
        text: TextOptions {
            shard_connections_max: connections(connection_bytes::TEXT, text.shard_connections_max),
            shard_bytes_max: u64::from(count(bytes / 32, 1).max(MESSAGE_BYTES_MIN)),
            shard_questions_max: count(bytes / 32, 192).min(text.shard_questions_max),
            ..text
        },
        shard_room,
        websocket: WebSocketOptions {
            shard_connections_max: connections(
                connection_bytes::WEBSOCKET,
                websocket.shard_connections_max,
            ),
        },
        protocols: plan.parse.protocols.clone(),
        grammars: messages::grammars(plan),
        loaded: u16::try_from(plan.parse.loaded.len()).unwrap_or(u16::MAX),
    }
}

/// Whether records of formats that go by columns are asked for.
fn has_columns(output: &OutputPlan) -> bool {
    let by_columns = |format: &Format| !matches!(format, Format::Eve | Format::None);
    !output.to_stdout && output.formats.iter().any(by_columns)
}

/// Room for two connections of whatever takes most.
const ROOM_MIN: u32 = 2 * connection_bytes::TLS;

/// Handshakes of TLS under way at once in a shard.
const SESSIONS_MAX: u32 = 1 << 14;

/// Room for one message in parts of either direction.
const MESSAGE_BYTES_MIN: u32 = 128 << 10;

/// Room for as many commands as may wait on one connection.
const COMMANDS_BYTES_MIN: u32 = 384 << 10;

/// What identification may use, over all workers.
pub(crate) fn identification(plan: &Plan) -> SearchOptions {
    SearchOptions {
        keeps_datagrams: plan.parse.enabled,
        ..SearchOptions::within(first_bytes(plan))
    }
}

/// What reassembly may use, over all workers, and how it goes about it.
pub(crate) fn reassembly(plan: &Plan) -> ReassemblyOptions {
    let streams = &plan.streams;
    ReassemblyOptions {
        policy: plan.hosts.segments(),
        memory_bytes: segment_bytes(plan),
        stream_bytes_max: u32::try_from(streams.stream_bytes).unwrap_or(u32::MAX),
        depth_bytes: streams.depth_bytes,
        compared_bytes: compared_bytes(plan),
        midstream: streams.midstream,
        one_sided: streams.one_sided,
        paws: streams.paws,
        urgent: if streams.urgent_apart {
            Urgent::OutOfBand
        } else {
            Urgent::InLine
        },
    }
}

/// What the connection tables may use, over all workers.
pub(crate) fn flow(plan: &Plan) -> FlowOptions {
    FlowOptions {
        timeouts: plan.timeouts,
        interim_ns: plan.interim_ns,
        memory_bytes: plan
            .memory_bytes
            .saturating_sub(fragment_bytes(plan))
            .saturating_sub(segment_bytes(plan))
            .saturating_sub(compared_bytes(plan))
            .saturating_sub(first_bytes(plan))
            .saturating_sub(parser_bytes(plan)),
        id_seed: plan.id_seed,
    }
}

/// What defragmentation may use.
pub(crate) fn defrag(plan: &Plan, secret: u64) -> DefragOptions {
    let fragments = &plan.defragmentation;
    DefragOptions {
        memory_bytes: fragment_bytes(plan),
        host_bytes: fragments.host_bytes.unwrap_or(u64::MAX),
        datagram_bytes: fragments.datagram_bytes,
        fragments_max: fragments.fragments_max,
        ipv4_timeout_ns: fragments.ipv4_timeout_ns,
        ipv6_timeout_ns: fragments.ipv6_timeout_ns,
        overlap: plan.hosts.fragments(),
        secret,
    }
}

#[cfg(test)]
mod tests {
    use super::identification;
    use flowpin_config::Plan;

    /// The counter of first bytes that found no memory says: raise `--memory`. That must help.
    #[test]
    fn more_memory_is_more_room_for_first_bytes() {
        let room = |gigabytes: u64| {
            let plan = Plan {
                memory_bytes: gigabytes << 30,
                ..Plan::default()
            };
            identification(&plan).shard_bytes_max
        };
        for gigabytes in [1, 2, 8, 64, 256] {
            assert!(room(2 * gigabytes) > room(gigabytes), "{gigabytes} GiB");
        }
        assert!(room(u64::MAX >> 30) >= room(512));
    }
}
