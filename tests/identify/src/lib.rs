//! What identification says of every connection in a capture.
//!
//! Bytes are put in order in the simplest way that works: this measures rules, not the stages
//! before them. A line has tabs between capture, transport, address, port, address, port, verdict,
//! rule, and what a hello told. A connection that turned into another protocol has a line for each;
//! a tunnel over UDP, which is opened before anything is identified, has one of its own.

use core::net::IpAddr;
use flowpin_capture::{Options, Source};
use flowpin_dispatch::{Clock, DispatchOptions, Dispatched, Dispatcher};
use flowpin_identify::{
    Identifier, On, Search, SearchOptions, Searches, Step, Whose, may_follow_stun,
};
use flowpin_packet::{
    Endpoints, FlowKey, FrameBytes, PacketKind, PacketMeta, Piece, Shard, TcpFlags, Timestamp,
};
use flowpin_parser::{Begin, Next, Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};
use flowpin_tls::{Quic, Tls};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Segments that wait for one before them; more, and it counts as lost.
const WAITING_MAX: usize = 64;

#[derive(Default)]
struct Direction {
    next: Option<u32>,
    /// By position behind the first byte that was seen.
    waiting: BTreeMap<i64, Vec<u8>>,
    done: i64,
    first: u32,
    is_lost: bool,
}

struct Flow {
    order: usize,
    key: FlowKey,
    ends: Endpoints,
    on: On,
    client_is_high: bool,
    directions: [Direction; 2],
    search: Search,
    verdict: String,
    rule: String,
    /// Verdict and rule before it turned into another protocol.
    before: Option<(String, String)>,
    learnt: String,
    is_over: bool,
    /// STUN may turn into DTLS or RTP.
    is_watched: bool,
}

struct Reading {
    searches: Searches,
    flows: HashMap<(FlowKey, [u8; 16], [u8; 16]), Flow>,
    /// Ends and kinds of tunnels over UDP.
    tunnels: BTreeSet<(IpAddr, u16, IpAddr, u16, &'static str)>,
    how: How,
}

/// How much of a capture is shown to identification.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Segments are cut into parts of this size.
    pub part: usize,
    /// What clients send.
    pub to_server: bool,
    /// What servers send.
    pub to_client: bool,
}

impl How {
    /// Everything, as it came.
    pub const ALL: Self = Self {
        part: usize::MAX,
        to_server: true,
        to_client: true,
    };
}

/// Reads a capture.
///
/// # Errors
/// Where the capture cannot be read.
pub fn read(
    path: &Path,
    identifier: &Arc<Identifier>,
    how: How,
) -> Result<Vec<String>, Box<dyn Error>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let captures = vec![(name.as_ref().into(), std::fs::read(path)?)];
    let mut source = Source::from_memory(captures, &Options::default())?;
    let mut reading = Reading {
        searches: Searches::new(Arc::clone(identifier), SearchOptions::default())?,
        flows: HashMap::new(),
        tunnels: BTreeSet::new(),
        how,
    };
    let mut dispatcher = Dispatcher::new(DispatchOptions {
        verify_network: false,
        checksums: false,
        ..DispatchOptions::default()
    });
    let mut clock = Clock::new(u64::MAX);
    let (mut piece, mut number) = (Piece::default(), 0);
    while source.fill(&mut piece).unwrap_or(false) {
        let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            number += 1;
            let now = clock.observe(frame.time);
            let mut meta = PacketMeta::default();
            let found = dispatcher.dispatch(bytes, &frame, number, now, &mut meta);
            if found == Dispatched::Packet {
                let frames = FrameBytes {
                    piece: bytes,
                    extra: &[],
                };
                reading.tunnels(frames.frame(&meta), &meta);
                reading.packet(frames, &meta);
            }
        }
    }
    Ok(reading.finish(&name))
}

impl Reading {
    fn tunnels(&mut self, frame: &[u8], meta: &PacketMeta) {
        flowpin_dispatch::tunnels(meta, frame, |layer| {
            if let (Some((from, to)), (1.., _)) = (layer.addresses, layer.ports) {
                let ((a, a_port), (b, b_port)) = ((from, layer.ports.0), (to, layer.ports.1));
                let kind = match layer.kind.name() {
                    "gtpu" => "gtp",
                    kind => kind,
                };
                let ends = if (a, a_port) <= (b, b_port) {
                    (a, a_port, b, b_port, kind)
                } else {
                    (b, b_port, a, a_port, kind)
                };
                self.tunnels.insert(ends);
            }
        });
    }

    fn packet(&mut self, frames: FrameBytes<'_>, meta: &PacketMeta) {
        let on = match meta.kind {
            PacketKind::Tcp => On::Tcp,
            PacketKind::Udp => On::Udp,
            PacketKind::Sctp => On::Sctp,
            _ => return,
        };
        let payload = frames.payload(meta);
        let ends = frames.endpoints(meta);
        let from_high = meta.high_to_low();
        let flags = meta.tcp_flags;
        let answers = on == On::Tcp && flags.has(TcpFlags::SYN) && flags.has(TcpFlags::ACK);
        let order = self.flows.len();
        let key = (meta.key, ends.low, ends.high);
        let flow = self.flows.entry(key).or_insert_with(|| Flow {
            order,
            key: meta.key,
            ends,
            on,
            client_is_high: from_high != answers,
            directions: [Direction::default(), Direction::default()],
            search: Search::default(),
            verdict: String::new(),
            rule: String::new(),
            before: None,
            learnt: String::new(),
            is_over: false,
            is_watched: false,
        });
        if flow.before_search() == Some("stun") {
            let is_other = may_follow_stun(payload);
            if is_other && flow.is_watched {
                (flow.is_watched, flow.is_over) = (false, false);
            } else if !is_other {
                return;
            }
        }
        if flow.is_over {
            return;
        }
        let whose = flow.whose(from_high == flow.client_is_high, meta);
        let is_shown = if whose.to_server {
            self.how.to_server
        } else {
            self.how.to_client
        };
        if !is_shown {
            return;
        }
        if on == On::Tcp {
            for segment in flow.in_order(whose.to_server, meta, payload) {
                for part in segment.chunks(self.how.part.min(segment.len().max(1))) {
                    if !flow.is_over {
                        flow.stream(&mut self.searches, whose, part);
                    }
                }
            }
        } else if !payload.is_empty() {
            flow.datagram(
                &mut self.searches,
                whose,
                payload,
                meta.payload_len as usize,
            );
        }
    }

    fn finish(mut self, name: &str) -> Vec<String> {
        let mut flows: Vec<Flow> = self.flows.into_values().collect();
        flows.sort_by_key(|flow| flow.order);
        let mut lines = Vec::new();
        for flow in &mut flows {
            for to_server in [true, false] {
                if flow.on == On::Tcp && !flow.is_over {
                    let whose = flow.whose(to_server, &PacketMeta::default());
                    let step = self.searches.stream_ended(&mut flow.search, whose);
                    flow.settle(&mut self.searches, step);
                }
            }
            self.searches.release(&mut flow.search);
            lines.extend(flow.lines(name));
        }
        for (a, a_port, b, b_port, kind) in &self.tunnels {
            let (a, b) = (spelt(*a), spelt(*b));
            lines.push(format!(
                "{name}\tUDP\t{a}\t{a_port}\t{b}\t{b_port}\t{kind}\ttunnel\t"
            ));
        }
        lines
    }
}

impl Flow {
    fn whose(&self, to_server: bool, meta: &PacketMeta) -> Whose<'static> {
        let (low, high) = self.key.ports();
        Whose {
            shard: meta.shard(),
            ports: if self.client_is_high {
                (high, low)
            } else {
                (low, high)
            },
            on: self.on,
            to_server,
            connection: 0,
            lives: None,
            offset: 0,
            again: None,
        }
    }

    /// What it was before it is searched once more, if it is.
    fn before_search(&self) -> Option<&str> {
        (self.on == On::Udp && !self.verdict.is_empty()).then_some(self.verdict.as_str())
    }

    /// What a segment brings that was not seen yet, in order.
    fn in_order(&mut self, to_server: bool, meta: &PacketMeta, payload: &[u8]) -> Vec<Vec<u8>> {
        let [client, server] = &mut self.directions;
        let direction = if to_server { client } else { server };
        let seq = meta.seq.0;
        if meta.tcp_flags.has(TcpFlags::SYN) {
            *direction = Direction {
                next: Some(seq.wrapping_add(1)),
                first: seq.wrapping_add(1),
                ..Direction::default()
            };
            return Vec::new();
        }
        if direction.next.is_none() {
            direction.next = Some(seq);
            direction.first = seq;
        }
        if payload.is_empty() || direction.is_lost {
            return Vec::new();
        }
        let at = i64::from(seq.wrapping_sub(direction.first).cast_signed());
        direction
            .waiting
            .entry(at)
            .or_insert_with(|| payload.to_vec());
        let mut ready = Vec::new();
        while let Some((at, bytes)) = direction.waiting.pop_first() {
            if at > direction.done {
                direction.waiting.insert(at, bytes);
                direction.is_lost = direction.waiting.len() > WAITING_MAX;
                break;
            }
            let skip = usize::try_from(direction.done - at).unwrap_or(usize::MAX);
            if let Some(fresh) = bytes.get(skip..).filter(|fresh| !fresh.is_empty()) {
                direction.done += fresh.len() as i64;
                ready.push(fresh.to_vec());
            }
        }
        ready
    }

    fn stream(&mut self, searches: &mut Searches, whose: Whose, bytes: &[u8]) {
        let step = searches.stream_bytes(&mut self.search, whose, bytes);
        if let Step::Verdict(_) = step {
            let kept = searches.kept(self.search, whose.to_server);
            let seen = if kept.is_empty() { bytes } else { kept };
            self.learnt = learnt::<Tls>(|tls, handle, sink| {
                tls.data(handle, Timestamp(0), whose.to_server, seen, sink)
            });
        }
        self.settle(searches, step);
    }

    fn datagram(&mut self, searches: &mut Searches, whose: Whose, bytes: &[u8], len: usize) {
        let step = searches.datagram(&mut self.search, whose, bytes, len);
        if let Step::Verdict(verdict) = step {
            let is_quic = searches.identifier().name(verdict.protocol) == "quic";
            let (at, to_server, payload) = (Timestamp(0), whose.to_server, (bytes, bytes.len()));
            self.learnt = if is_quic {
                learnt::<Quic>(|quic, handle, sink| {
                    quic.datagram(handle, at, to_server, payload, sink)
                })
            } else {
                learnt::<Tls>(|tls, handle, sink| {
                    tls.datagram(handle, at, to_server, payload, sink)
                })
            };
        }
        self.settle(searches, step);
    }

    fn settle(&mut self, searches: &mut Searches, step: Step) {
        match step {
            Step::Undecided => return,
            Step::Verdict(verdict) => {
                let identifier = searches.identifier();
                let told = identifier.name(verdict.protocol).to_owned();
                let rule = identifier.rule_name(verdict.rule).to_owned();
                if self.verdict.is_empty() {
                    self.is_watched = told == "stun";
                    (self.verdict, self.rule) = (told, rule);
                } else if told == "dtls" || told == "rtp" {
                    let before = (self.verdict.clone(), self.rule.clone());
                    (self.verdict, self.rule) = (told, rule);
                    self.before = Some(before);
                }
            }
            Step::GaveUp(_) => {}
        }
        self.is_over = true;
        searches.release(&mut self.search);
    }

    fn lines(&self, name: &str) -> Vec<String> {
        let (low, high) = self.key.ports();
        let address = |bytes| spelt(Endpoints::address(bytes, self.key.is_ipv6()));
        let on = self.on.name().to_uppercase();
        let (from, to) = (address(self.ends.low), address(self.ends.high));
        let ends = format!("{name}\t{on}\t{from}\t{low}\t{to}\t{high}");
        let before = self.before.iter().map(|(verdict, rule)| (verdict, rule));
        let learnt = &self.learnt;
        before
            .chain([(&self.verdict, &self.rule)])
            .map(|(verdict, rule)| format!("{ends}\t{verdict}\t{rule}\t{learnt}"))
            .collect()
    }
}

/// As the expected results spell addresses: they leave out a single group of zeros.
fn spelt(address: IpAddr) -> String {
    let text = address.to_string();
    if text.contains("::") {
        text
    } else {
        text.replacen(":0:", "::", 1)
    }
}

/// JA4 and server name of what is shown to a parser.
fn learnt<P: Parser>(show: impl FnOnce(&mut P, u32, &mut Learnt) -> Next) -> String {
    let mut sink = Learnt::default();
    let Ok(mut parser) = P::new(&ParserSetup::default()) else {
        return String::new();
    };
    let begin = Begin {
        protocol: 0,
        shard: Shard(0),
        at: Timestamp(0),
    };
    let Some(handle) = parser.begin(begin, || unreachable!("it reads no addresses")) else {
        return String::new();
    };
    if show(&mut parser, handle, &mut sink) != Next::Nothing {
        parser.end(handle, Timestamp(0), &mut sink);
    }
    sink.text
}

/// Keeps what identifies a client's hello.
#[derive(Default)]
struct Learnt {
    text: String,
}

impl MessageSink for Learnt {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        let value = |name: &str| {
            let place = schema.columns.iter().position(|one| one.name == name);
            match place.and_then(|place| values.get(place)) {
                Some(Value::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
                _ => String::new(),
            }
        };
        if !value("ja4").is_empty() {
            self.text = format!("{} {}", value("ja4"), value("server_name"));
        }
    }

    fn anomaly(&mut self, _: &'static str) {}
}
