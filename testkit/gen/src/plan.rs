//! How long each connection shall be, so that the whole trace has the wanted averages: what one
//! has too much, the next ones have less.

use crate::net::Framing;
use crate::options::{Kind, Options, Service};
use crate::random::Random;
use crate::script::Script;
use crate::talk::Dialogue;

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Close {
    /// FIN, ACK, FIN, ACK.
    Four,
    /// FIN, FIN with ACK, ACK.
    Three,
    /// One RST.
    Reset,
    /// It stays open.
    Never,
}

impl Close {
    pub(crate) const fn packets(self) -> u32 {
        match self {
            Self::Four => 4,
            Self::Three => 3,
            Self::Reset => 1,
            Self::Never => 0,
        }
    }
}

/// What one connection shall be like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) script: Script,
    pub(crate) close: Close,
    /// Segments with data and without, between opening and closing.
    pub(crate) data: u32,
    pub(crate) acks: u32,
    /// Packets and bytes of frames, all in all.
    pub(crate) packets: u32,
    pub(crate) bytes: u32,
}

impl Plan {
    /// How often the connection waits before it sends: after the handshake and each packet of the
    /// talk, or between messages.
    pub(crate) fn waits(&self) -> u32 {
        if self.script.is_udp {
            self.script.messages.saturating_sub(1)
        } else {
            self.data + self.acks + u32::from(self.close != Close::Never)
        }
    }
}

const HANDSHAKE: u32 = 3;
/// Options of both SYNs.
const SYN_OPTIONS: u32 = 24;
/// Of the packets between opening and closing, those with data, where nothing else is wanted.
const DATA_SHARE: f64 = 0.6;

/// What was planned so far, against what is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    packets_each: f64,
    packet_len: f64,
    straddling: f64,
    chunked: f64,
    connections: f64,
    packets: f64,
    bytes: f64,
    /// Promised by live connections, or done.
    straddled: f64,
    chunks: f64,
}

impl Ledger {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            packets_each: options.packets_per_connection,
            packet_len: options.packet_len,
            straddling: options.straddling,
            chunked: options.chunked,
            connections: 0.0,
            packets: 0.0,
            bytes: 0.0,
            straddled: 0.0,
            chunks: 0.0,
        }
    }

    /// A connection of packets that nothing chooses: a probe.
    pub(crate) fn fixed(&mut self, packets: u32, bytes: u32) {
        self.connections += 1.0;
        self.packets += f64::from(packets);
        self.bytes += f64::from(bytes);
    }

    /// What came out otherwise than planned.
    pub(crate) fn correct(&mut self, packets: f64, bytes: f64, straddled: f64, chunks: f64) {
        self.packets += packets;
        self.bytes += bytes;
        self.straddled += straddled;
        self.chunks += chunks;
    }

    /// Plans the next TCP connection.
    pub(crate) fn tcp(
        &mut self,
        dialogue: &Dialogue,
        framing: &Framing,
        v6: bool,
        options: &Options,
        random: &mut Random,
    ) -> Plan {
        self.connections += 1.0;
        let close = self.close(options, random);
        let around = HANDSHAKE + close.packets();
        let between = self.between(around, dialogue, random);
        let k = around + between;
        self.packets += f64::from(k);
        let headers = framing.tcp_overhead(v6);
        let mss = framing.mss(v6);
        let wanted = self.packets * self.packet_len - self.bytes;
        let spread = 0.8 + 0.4 * random.unit();
        let room = wanted * spread - f64::from(k) * f64::from(headers) - f64::from(SYN_OPTIONS);
        let most = f64::from(between) * f64::from(mss) * 0.96;
        let bytes = whole(room.clamp(0.0, most.max(0.0)));
        let (straddles, chunks) = self.wanted_shares(between);
        let turn = dialogue.fixed(&dialogue.turn);
        let least = (between.div_ceil(2)).max(turn.messages.min(between));
        let all = ends_of(dialogue).0 + turn.messages;
        let data = whole(f64::from(between) * DATA_SHARE)
            .max(if between >= all { all } else { 0 })
            .max(whole((f64::from(bytes) / (f64::from(mss) * 0.97)).ceil()))
            .max(if chunks > 0 { chunks + 1 } else { 0 })
            .max(if straddles > 0 {
                straddles + turn.messages
            } else {
                0
            })
            .clamp(least.min(between), between);
        let mut script = talk(dialogue, data, bytes);
        script.mss = mss;
        // Short messages fill no segment: the long ones need more than their share.
        let plain = script.messages - script.elastic_left.min(script.messages);
        let elastic = script.bytes_left.saturating_sub(script.fixed_left);
        let filled = if script.elastic_left > 1 { 0.85 } else { 0.97 };
        let full = whole((f64::from(elastic) / (f64::from(mss) * filled)).ceil());
        script.segments_left = script.segments_left.max((plain + full).min(between));
        let data = data.max(script.segments_left);
        let chunks = match (chunks, script.turns) {
            // All of the answer, or nothing of it.
            (1.., 1) => data - 1,
            _ => chunks,
        };
        script.straddles_left = straddles;
        script.chunked_left = i32::try_from(chunks).unwrap_or(0);
        script.id = random.next_u16();
        self.straddled += f64::from(straddles);
        self.chunks += f64::from(chunks);
        let total = k * headers + SYN_OPTIONS + script.bytes_left;
        self.bytes += f64::from(total);
        Plan {
            script,
            close,
            data,
            acks: between.saturating_sub(data),
            packets: k,
            bytes: total,
        }
    }

    /// Plans the next exchange of datagrams.
    pub(crate) fn udp(
        &mut self,
        dialogue: &Dialogue,
        framing: &Framing,
        v6: bool,
        options: &Options,
        random: &mut Random,
    ) -> Plan {
        self.connections += 1.0;
        let turn = dialogue.fixed(&dialogue.turn);
        let headers = framing.udp_overhead(v6);
        let most = u32::from(options.mtu) - 28 - if v6 { 20 } else { 0 };
        let spread = 0.6 + 0.8 * random.unit();
        let (packets, bytes) = if options.kind == Kind::Fragments {
            let bytes = whole(f64::from(options.datagram_len) * spread).min(60_000) * 2;
            (2 * framing.fragments(v6, bytes / 2), bytes)
        } else {
            let turns = if options.kind == Kind::Dns {
                whole((options.packets_per_connection / f64::from(turn.messages)).round()).max(1)
            } else {
                1
            };
            let packets = turns * turn.messages;
            let wanted = (self.packets + f64::from(packets)) * self.packet_len - self.bytes;
            let room = wanted * (0.9 + 0.2 * random.unit());
            let room = room - f64::from(packets * headers);
            let fixed = turns * turn.bytes;
            let bytes = if dialogue.service == Service::Dns && options.kind != Kind::Dns {
                fixed + random.below(64 * packets)
            } else {
                whole(room.max(0.0)).clamp(fixed, fixed.max(packets * most * 6 / 10))
            };
            (packets, bytes)
        };
        self.packets += f64::from(packets);
        self.bytes += f64::from(packets * headers + bytes);
        let data = packets.max(turn.messages);
        let mut script = talk(dialogue, data, bytes);
        script.is_udp = true;
        script.mss = if options.kind == Kind::Fragments {
            65_000
        } else {
            most
        };
        script.id = random.next_u16();
        Plan {
            script,
            close: Close::Never,
            data,
            acks: 0,
            packets,
            bytes: packets * headers + bytes,
        }
    }

    fn close(&self, options: &Options, random: &mut Random) -> Close {
        if !options.closes {
            Close::Never
        } else if options.reset > 0.0 && random.unit() < options.reset {
            Close::Reset
        } else if self.packets_each < 13.0 {
            Close::Three
        } else {
            Close::Four
        }
    }

    /// Packets between opening and closing: what is owed, more or less.
    fn between(&self, around: u32, dialogue: &Dialogue, random: &mut Random) -> u32 {
        let owed = self.connections * self.packets_each - self.packets;
        let talk = (owed - f64::from(around)).max(0.0);
        let spread = if dialogue.repeats { 0.6 } else { 0.0 };
        let noise = (random.unit() - 0.5) * spread * talk;
        let (ends, _) = ends_of(dialogue);
        let turn = dialogue.fixed(&dialogue.turn).messages;
        // Greeting and farewell where connections are long enough for them on average.
        let least = if self.packets_each >= 1.5 * f64::from(around + ends + turn) {
            ends + turn
        } else if self.packets_each > f64::from(HANDSHAKE) + 0.5 {
            turn
        } else {
            0
        };
        whole((talk + noise).round()).max(least)
    }

    /// Straddling segments, and segments of messages in chunks, that this connection shall have.
    fn wanted_shares(&self, between: u32) -> (u32, u32) {
        let straddles = whole((self.packets * self.straddling - self.straddled).max(0.0));
        let owed = self.packets * self.chunked - self.chunks;
        let chunks = if owed >= f64::from(between) * 0.3 {
            owed
        } else {
            0.0
        };
        (
            straddles.min(between.saturating_sub(2)),
            whole(chunks).min(between.saturating_sub(1)),
        )
    }
}

/// Messages and bytes around the turns.
fn ends_of(dialogue: &Dialogue) -> (u32, u32) {
    let (first, last) = (
        dialogue.fixed(&dialogue.first),
        dialogue.fixed(&dialogue.last),
    );
    (first.messages + last.messages, first.bytes + last.bytes)
}

/// How many turns fit, with the first and last messages if they do.
fn talk(dialogue: &Dialogue, data: u32, bytes: u32) -> Script {
    let (first, turn, last) = (
        dialogue.fixed(&dialogue.first),
        dialogue.fixed(&dialogue.turn),
        dialogue.fixed(&dialogue.last),
    );
    if data == 0 {
        return Script::default();
    }
    let ends = ends_of(dialogue);
    let lean = data < ends.0 + turn.messages;
    let (messages, fixed) = if lean { (0, 0) } else { ends };
    let (data_left, bytes_left) = (data - messages, bytes.saturating_sub(fixed));
    let turns = (data_left / dialogue.turn_segments.max(turn.messages).max(1))
        .min(bytes_left.checked_div(turn.bytes).unwrap_or(u32::MAX))
        .max(1);
    let fixed_left = fixed + turns * turn.bytes;
    let messages = messages + turns * turn.messages;
    let elastic = if lean {
        0
    } else {
        first.elastic + last.elastic
    };
    let elastic = elastic + turns * turn.elastic;
    Script {
        lean,
        turns,
        messages,
        // Nothing is said without a byte.
        bytes_left: bytes.max(fixed_left + elastic),
        fixed_left,
        segments_left: data.max(messages),
        elastic_left: elastic,
        ..Script::default()
    }
}

/// A count from an estimate.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "within bounds, not negative"
)]
fn whole(value: f64) -> u32 {
    value as u32
}
