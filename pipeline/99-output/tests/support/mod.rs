//! Records to write and media to write to.
#![allow(dead_code, reason = "each test program uses its own part")]

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use flowpin_config::{Format, OutputPlan};
use flowpin_output::{Formatter, Merger, OutputError, Storage, Target, Writers};
use flowpin_packet::{Layer, Reason, TcpFlags, Timestamp, TunnelKind, bad};
use flowpin_record::{
    AnomalyRecord, App, AppEvent, Confidence, ConnRecord, ConnState, Direction, EndReason,
    EpisodeState, FloodKind, FloodRecord, FlowState, History, RecordEndpoint, RecordKey,
    RecordSink, Samples, ScanKind, ScanMethod, ScanRecord, TcpState, ToolNames, TunnelRecord, Uid,
};
use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Any record with its key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Any {
    Conn(ConnRecord),
    Anomaly(AnomalyRecord),
    Tunnel(TunnelRecord),
    Scan(ScanRecord),
    Flood(FloodRecord),
}

/// Gives a record to a formatter.
pub(crate) fn put(sink: &mut impl RecordSink, key: RecordKey, record: &Any) {
    match record {
        Any::Conn(record) => sink.conn(key, record),
        Any::Anomaly(record) => sink.anomaly(key, record),
        Any::Tunnel(record) => sink.tunnel(key, record),
        Any::Scan(record) => sink.scan(key, record),
        Any::Flood(record) => sink.flood(key, record),
    }
}

pub(crate) const SECOND: u64 = 1_000_000_000;

/// 2024-02-29T23:59:58Z: two seconds before a date changes.
pub(crate) const START: Timestamp = Timestamp(1_709_251_198 * SECOND);

/// An ordinary TCP connection.
pub(crate) fn web() -> ConnRecord {
    let direction = |packets, bytes, flags| Direction {
        packets,
        frame_bytes: bytes + 54 * packets,
        ip_bytes: bytes + 40 * packets,
        payload_bytes: bytes,
        stream_bytes: bytes,
        tcp_flags: TcpFlags(flags),
        ..Direction::default()
    };
    let mut history = History::default();
    history.letters[..8].copy_from_slice(b"ShADadFf");
    history.len = 8;
    ConnRecord {
        uid: Uid(0x0123_4567_89ab_cdef),
        start: START.plus_nanos(123_456_789),
        end: START.plus_nanos(2 * SECOND + 5),
        open_until: START.plus_nanos(2 * SECOND + 5),
        first_packet: 17,
        protocol: 6,
        client: RecordEndpoint {
            address: IpAddr::V4(Ipv4Addr::new(192, 168, 1, 20)),
            port: 49_152,
        },
        server: RecordEndpoint {
            address: IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34)),
            port: 443,
        },
        to_server: direction(12, 1802, 0x1b),
        to_client: direction(14, 13_330, 0x1b),
        conn_state: ConnState::SF,
        history,
        flow_state: FlowState::Closed,
        tcp_state: TcpState::Closed,
        reason: EndReason::Closed,
        interim: 0,
        rtt_ns: Some(23_456_789),
        vlans: [u16::MAX; 2],
        tunnel: None,
        flipped: false,
        midstream: false,
        icmp: None,
        app: Some(App {
            name: "http",
            in_tools: ToolNames::of("http"),
            original_in_tools: ToolNames::NONE,
            original: None,
            rule: "http-request",
            confidence: Confidence::Sure,
            by_client: true,
            number: 1,
        }),
    }
}

/// A connection whose protocol Suricata calls something else.
pub(crate) fn renamed() -> ConnRecord {
    let web = web();
    ConnRecord {
        app: web.app.map(|app| App {
            name: "kerberos",
            in_tools: ToolNames::of("kerberos"),
            ..app
        }),
        ..web
    }
}

/// Everything that a connection record can say, at its longest.
pub(crate) fn longest() -> ConnRecord {
    let most = Direction {
        packets: u64::MAX,
        frame_bytes: u64::MAX,
        ip_bytes: u64::MAX,
        payload_bytes: u64::MAX,
        stream_bytes: u64::MAX,
        missed_bytes: u64::MAX,
        tcp_flags: TcpFlags(0xff),
        duplicates: u32::MAX,
        snapped: u32::MAX,
        bad_checksums: u32::MAX,
        icmp_errors: u32::MAX,
    };
    let endpoint = RecordEndpoint {
        address: IpAddr::V6(Ipv6Addr::from([0xabcd; 8])),
        port: u16::MAX,
    };
    ConnRecord {
        uid: Uid(u64::MAX),
        start: Timestamp(0),
        end: Timestamp(i64::MAX as u64),
        open_until: Timestamp(i64::MAX as u64),
        first_packet: u64::MAX,
        client: endpoint,
        server: endpoint,
        to_server: most,
        to_client: most,
        conn_state: ConnState::RSTOS0,
        history: History {
            letters: [b'^'; History::LEN_MAX],
            len: 24,
        },
        flow_state: FlowState::Established,
        tcp_state: TcpState::Established,
        reason: EndReason::EndOfInput,
        interim: u32::MAX,
        rtt_ns: Some(u64::MAX),
        vlans: [4095, 4094],
        tunnel: Some((TunnelKind::Erspan, Uid(u64::MAX))),
        flipped: true,
        midstream: true,
        icmp: Some((255, 255)),
        app: Some(App {
            name: "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            in_tools: ToolNames::of("a-name-as-long-as-a-file-name-of-a-pattern-of-somebody"),
            original_in_tools: ToolNames::of(
                "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            ),
            original: Some("a-name-as-long-as-a-file-name-of-a-pattern-of-somebody"),
            rule: "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            confidence: Confidence::Likely,
            by_client: false,
            number: u16::MAX,
        }),
        ..web()
    }
}

/// A scan with as many samples as fit.
pub(crate) fn scan() -> ScanRecord {
    let address = |last| IpAddr::from([10, 0, 0, last]);
    ScanRecord {
        uid: Uid(77),
        state: EpisodeState::Begun,
        kind: ScanKind::Block,
        method: ScanMethod::SctpCookieEcho,
        source: address(1),
        source_count: 3,
        sources: Samples::first(address(0), [address(1), address(2), address(3)]),
        first: START,
        last: START.plus_nanos(SECOND),
        first_packet: 5,
        attempts: 2100,
        hosts: 200,
        ports: 10,
        targets: 2000,
        open: 1,
        closed: 99,
        filtered: 1900,
        estimated: true,
        host_samples: Samples::first(address(0), (10..20).map(address)),
        port_samples: Samples::first(0, 1..100),
    }
}

/// A flood; its samples are few.
pub(crate) fn flood() -> FloodRecord {
    FloodRecord {
        uid: Uid(78),
        state: EpisodeState::Over,
        kind: FloodKind::Syn,
        target: IpAddr::V6(Ipv6Addr::LOCALHOST),
        port: Some(80),
        first: START,
        last: START.plus_nanos(2 * SECOND),
        first_packet: 6,
        source_count: 10_000_000,
        sources: Samples::first(IpAddr::from([0; 4]), [IpAddr::from([1, 2, 3, 4])]),
        packets: 10_000_001,
        peak_rate: 5_000_000,
        estimated: false,
    }
}

/// A small generator of numbers, so that the same seed gives the same records.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Numbers of all sizes.
    pub(crate) fn number(&mut self) -> u64 {
        let shift = self.below(60);
        self.next() >> shift >> 4
    }

    fn address(&mut self, ipv6: bool) -> IpAddr {
        if ipv6 {
            let (high, low) = (self.number(), self.number());
            IpAddr::V6(Ipv6Addr::from(u128::from(high) << 64 | u128::from(low)))
        } else {
            IpAddr::V4(Ipv4Addr::from(self.next() as u32))
        }
    }

    fn direction(&mut self) -> Direction {
        let rare = self.below(8) == 0;
        Direction {
            packets: self.number() >> 8,
            frame_bytes: self.number(),
            ip_bytes: self.number(),
            payload_bytes: self.number(),
            stream_bytes: self.number(),
            missed_bytes: if rare { self.number() } else { 0 },
            tcp_flags: TcpFlags(self.next() as u8),
            duplicates: if rare { self.next() as u32 >> 8 } else { 0 },
            ..Direction::default()
        }
    }

    pub(crate) fn conn(&mut self, time: Timestamp) -> ConnRecord {
        let ipv6 = self.below(4) == 0;
        let protocol = [6, 6, 6, 17, 17, 1, 58, 132, 47][self.below(9) as usize];
        let icmp = matches!(protocol, 1 | 58).then(|| (self.next() as u8, self.next() as u8));
        let lasting = self.below(4) > 0;
        let end = Timestamp(time.0 - self.below(SECOND));
        let length = self.below(100 * SECOND);
        let [client, server] = [(); 2].map(|()| RecordEndpoint {
            address: self.address(ipv6),
            port: self.next() as u16,
        });
        ConnRecord {
            uid: Uid(self.next()),
            start: Timestamp(if lasting { end.0 - length } else { end.0 }),
            end,
            open_until: end,
            first_packet: self.number(),
            protocol,
            client,
            server,
            to_server: self.direction(),
            to_client: self.direction(),
            conn_state: ConnState::ALL[self.below(13) as usize],
            interim: if self.below(10) == 0 { 3 } else { 0 },
            rtt_ns: (self.below(2) == 0).then(|| self.below(SECOND)),
            vlans: [[u16::MAX; 2], [7, u16::MAX], [7, 4000]][self.below(3) as usize],
            tunnel: (self.below(5) == 0).then(|| (TunnelKind::Vxlan, Uid(self.next()))),
            flipped: self.below(9) == 0,
            midstream: self.below(9) == 0,
            icmp,
            ..web()
        }
    }

    fn anomaly(&mut self, time: Timestamp) -> AnomalyRecord {
        let layer = Layer::ALL[self.below(Layer::ALL.len() as u64) as usize];
        let reason = Reason::ALL[self.below(Reason::ALL.len() as u64) as usize];
        AnomalyRecord {
            time,
            packet_number: self.number(),
            what: bad(layer, reason, self.next() as u16),
            app: time.0.is_multiple_of(3).then(|| AppEvent {
                protocol: "http",
                in_tools: ToolNames::of("http"),
                name: "http_body_cut",
            }),
            addresses: (self.below(2) == 0).then(|| (self.address(false), self.address(true))),
            connection: (self.below(2) == 0).then(|| (Uid(self.next()), 7, 65_535)),
            suppressed: self.below(100),
        }
    }

    fn tunnel(&mut self, time: Timestamp) -> TunnelRecord {
        TunnelRecord {
            uid: Uid(self.next()),
            parent: Uid(self.below(2) * self.next()),
            kind: TunnelKind::Gtpu,
            id: self.next() as u32,
            addresses: (self.address(true), self.address(true)),
            first: Timestamp(time.0 - self.below(SECOND)),
            last: time,
            packets: [self.number(), self.number()],
            bytes: [self.number(), self.number()],
        }
    }

    fn scan(&mut self, time: Timestamp) -> ScanRecord {
        let sources = self.below(3) as usize;
        let source = self.address(true);
        let ports = [self.next() as u16; 3];
        ScanRecord {
            uid: Uid(self.next()),
            kind: ScanKind::Vertical,
            method: [ScanMethod::Udp, ScanMethod::IpProtocol][self.below(2) as usize],
            source,
            sources: Samples::first(source, vec![source; sources]),
            first: time,
            last: time,
            attempts: self.number(),
            host_samples: Samples::first(source, vec![source; sources]),
            port_samples: Samples::first(0, ports),
            ..scan()
        }
    }

    fn flood(&mut self, time: Timestamp) -> FloodRecord {
        let target = self.address(false);
        FloodRecord {
            uid: Uid(self.next()),
            kind: FloodKind::ALL[self.below(3) as usize],
            target,
            port: (self.below(2) == 0).then_some(53),
            first: time,
            last: time,
            packets: self.number(),
            ..flood()
        }
    }

    /// `count` records with keys that rise, in steps from none to seconds.
    pub(crate) fn records(&mut self, count: usize) -> Vec<(RecordKey, Any)> {
        let mut time = START;
        (0..count as u64)
            .map(|number| {
                let step = [0, 1, 1000, SECOND / 50, SECOND][self.below(5) as usize];
                time = time.plus_nanos(step * self.below(3));
                let record = match self.below(14) {
                    0 => Any::Anomaly(self.anomaly(time)),
                    1 => Any::Tunnel(self.tunnel(time)),
                    2 => Any::Scan(self.scan(time)),
                    3 => Any::Flood(self.flood(time)),
                    _ => Any::Conn(self.conn(time)),
                };
                let key = RecordKey {
                    time,
                    number: number / 2,
                    ordinal: (number % 2) as u32,
                };
                (key, record)
            })
            .collect()
    }
}

/// A plan for some formats into one directory.
pub(crate) fn plan(dir: &Path, formats: &[Format]) -> OutputPlan {
    OutputPlan {
        dir: dir.to_owned(),
        formats: formats.to_vec(),
        ..OutputPlan::default()
    }
}

pub(crate) const ALL_FORMATS: [Format; 5] = [
    Format::Eve,
    Format::ZeekTsv,
    Format::ZeekJson,
    Format::Csv,
    Format::Parquet,
];

/// Writes records through one formatter and ends the files.
pub(crate) fn write_all(
    plan: &OutputPlan,
    writers: &mut Writers,
    records: &[(RecordKey, Any)],
) -> Result<(), OutputError> {
    let mut formatter = Formatter::new(plan);
    let mut merger = Merger::new(1);
    for chunk in records.chunks(100) {
        for (key, record) in chunk {
            put(&mut formatter, *key, record);
        }
        let until = chunk
            .last()
            .map_or(Timestamp(0), |(key, _)| Timestamp(key.time.0 - 1));
        merger.push(0, formatter.take_batch(until));
        merger.drain(writers, |_, batch| formatter.recycle(batch))?;
    }
    merger.push(0, formatter.take_batch(Timestamp::MAX));
    merger.drain(writers, |_, batch| formatter.recycle(batch))?;
    writers.finish()
}

/// All files below a directory with their contents.
pub(crate) fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect()
}

/// A medium in memory that is full at some point.
#[derive(Clone, Default)]
pub(crate) struct FullAt {
    pub(crate) files: Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>,
    /// Bytes that all files together may have: a file system's blocks, in bytes.
    pub(crate) space: u64,
    pub(crate) error: Option<io::ErrorKind>,
}

struct MemoryFile {
    medium: FullAt,
    path: PathBuf,
    position: usize,
}

impl FullAt {
    pub(crate) fn bytes(space: u64) -> Self {
        let error = Some(io::ErrorKind::StorageFull);
        Self {
            space,
            error,
            ..Self::default()
        }
    }

    pub(crate) fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.files.lock().unwrap().clone()
    }
}

impl Storage for FullAt {
    fn create(&mut self, path: &Path) -> io::Result<Box<dyn Target>> {
        self.files
            .lock()
            .unwrap()
            .insert(path.to_owned(), Vec::new());
        let (medium, path) = (self.clone(), path.to_owned());
        Ok(Box::new(MemoryFile {
            medium,
            path,
            position: 0,
        }))
    }

    fn stdout(&mut self) -> io::Result<Box<dyn Target>> {
        self.create(Path::new("-"))
    }
}

impl Write for MemoryFile {
    /// Overwriting needs no space; what does not fit is written in part first, as a disk does.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut files = self.medium.files.lock().unwrap();
        let used: usize = files.values().map(Vec::len).sum();
        let free = (self.medium.space as usize).saturating_sub(used);
        let file = files.get_mut(&self.path).unwrap();
        let count = bytes.len().min(file.len() - self.position + free).min(1000);
        if count == 0 && !bytes.is_empty() {
            return Err(self.medium.error.unwrap().into());
        }
        let end = self.position + count;
        if file.len() < end {
            file.resize(end, 0);
        }
        file[self.position..end].copy_from_slice(&bytes[..count]);
        self.position = end;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for MemoryFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let SeekFrom::Start(to) = to else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        self.position = to as usize;
        Ok(to)
    }
}

impl Target for MemoryFile {
    fn cut(&mut self, len: u64) -> io::Result<()> {
        let mut files = self.medium.files.lock().unwrap();
        files.get_mut(&self.path).unwrap().truncate(len as usize);
        self.position = len as usize;
        Ok(())
    }
}
