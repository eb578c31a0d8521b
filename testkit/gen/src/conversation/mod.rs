//! One connection on its way: which packet comes next, and what goes wrong with it.

mod datagram;
mod talk;
mod tally;

pub(crate) use talk::Fate;
pub(crate) use tally::Tally;

use crate::net::{Ends, Segment, flags};
use crate::plan::{Close, Plan};
use crate::script::{Current, Script};
use crate::trace::Trace;
use std::io::{self, Write};
use talk::Pending;

/// A connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conversation {
    pub(crate) ends: Ends,
    script: Script,
    current: Current,
    phase: Phase,
    is_probe: bool,
    close: Close,
    /// Who ends it.
    client_closes: bool,
    /// The next sequence numbers, of client and server.
    seq: [u32; 2],
    ip_id: [u16; 2],
    data: u32,
    acks: u32,
    /// Pure acknowledgements are spread evenly over the data.
    ack_debt: u32,
    /// An acknowledgement that the client, or the server, owes.
    owes_ack: Option<bool>,
    pending: Option<Pending>,
    /// The slot in which the talk shall be over.
    pub(crate) deadline: u64,
    /// How often it waits until then.
    pub(crate) waits: u32,
    pub(crate) tally: Tally,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Syn,
    SynAck,
    Ack,
    Talk,
    Closing(u8),
    Datagrams,
    /// A probe: how many packets were seen, and whether the port answers, and how.
    Probe(u8, Answer),
    Done,
}

/// What a probe meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing.
    Silence,
    /// A reset.
    Closed,
    /// SYN and ACK, which the scanner resets.
    Open,
}

impl Answer {
    /// Packets of the whole exchange.
    pub(crate) const fn packets(self) -> u32 {
        match self {
            Self::Silence => 1,
            Self::Closed => 2,
            Self::Open => 3,
        }
    }
}

/// When the next packet comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// As soon as a packet has come to the other side.
    Soon,
    /// When the connection sends again.
    Later,
    /// No more.
    Never,
}

impl Conversation {
    /// A TCP connection or an exchange of datagrams.
    pub(crate) fn new(ends: Ends, plan: &Plan, isn: [u32; 2]) -> Self {
        let is_udp = plan.script.is_udp;
        Self {
            ends,
            script: plan.script,
            current: Current::default(),
            phase: if is_udp { Phase::Datagrams } else { Phase::Syn },
            is_probe: false,
            close: plan.close,
            client_closes: isn[0] & 1 == 0,
            seq: isn,
            ip_id: isn.map(|isn| (isn >> 16) as u16),
            data: plan.data,
            acks: plan.acks,
            ack_debt: 0,
            owes_ack: None,
            pending: None,
            deadline: 0,
            waits: plan.waits(),
            tally: Tally {
                straddles: i32::try_from(plan.script.straddles_left).unwrap_or(0),
                chunks: plan.script.chunked_left,
                ..Tally::default()
            },
        }
    }

    /// A SYN, and what comes of it.
    pub(crate) fn probe(ends: Ends, answer: Answer, isn: [u32; 2]) -> Self {
        let plan = Plan {
            script: Script::default(),
            close: Close::Never,
            data: 0,
            acks: 0,
            packets: 0,
            bytes: 0,
        };
        Self {
            phase: Phase::Probe(0, answer),
            is_probe: true,
            ..Self::new(ends, &plan, isn)
        }
    }

    /// Whether it is one.
    pub(crate) const fn is_probe(&self) -> bool {
        self.is_probe
    }

    /// Which dialogue is held.
    pub(crate) const fn dialogue(&self) -> u16 {
        self.script.dialogue
    }

    /// Messages of client and server.
    pub(crate) const fn messages(&self) -> [u32; 2] {
        let [server, client] = self.script.numbers;
        [client, server]
    }

    /// Sends the next packet.
    #[inline]
    pub(crate) fn step<W: Write>(
        &mut self,
        trace: &mut Trace<'_, W>,
        place: u32,
    ) -> io::Result<Next> {
        match self.phase {
            Phase::Talk => self.talk(trace, place),
            Phase::Syn => {
                self.bare(trace, true, flags::SYN)?;
                self.advance(true);
                self.phase = Phase::SynAck;
                Ok(Next::Soon)
            }
            Phase::SynAck => {
                self.bare(trace, false, flags::SYN | flags::ACK)?;
                self.advance(false);
                self.phase = Phase::Ack;
                Ok(Next::Soon)
            }
            Phase::Ack => {
                self.bare(trace, true, flags::ACK)?;
                self.phase = Phase::Talk;
                let is_over = self.script.messages == 0 && self.close == Close::Never;
                Ok(if is_over { Next::Never } else { Next::Later })
            }
            Phase::Closing(nth) => self.closing(trace, nth),
            Phase::Datagrams => self.datagram(trace, place),
            Phase::Probe(nth, answer) => self.probing(trace, nth, answer),
            Phase::Done => Ok(Next::Never),
        }
    }

    /// A segment without data.
    fn bare<W: Write>(
        &mut self,
        trace: &mut Trace<'_, W>,
        from_client: bool,
        control: u8,
    ) -> io::Result<()> {
        let has_ack = control & flags::ACK != 0;
        let segment = Segment {
            from_client,
            seq: self.seq[usize::from(!from_client)],
            ack: if has_ack {
                self.acknowledged(from_client)
            } else {
                0
            },
            flags: control,
            ip_id: self.identify(from_client),
        };
        trace.bare(&self.ends, segment);
        self.sent(trace, from_client)
    }

    /// What this side has of the other's bytes without a hole.
    fn acknowledged(&self, by_client: bool) -> u32 {
        match &self.pending {
            Some(hole) if hole.is_hole && hole.from_client != by_client => hole.seq,
            _ => self.seq[usize::from(by_client)],
        }
    }

    fn identify(&mut self, from_client: bool) -> u16 {
        let id = &mut self.ip_id[usize::from(!from_client)];
        *id = id.wrapping_add(1);
        *id
    }

    fn advance(&mut self, client: bool) {
        let seq = &mut self.seq[usize::from(!client)];
        *seq = seq.wrapping_add(1);
    }

    fn sent<W: Write>(&mut self, trace: &mut Trace<'_, W>, from_client: bool) -> io::Result<()> {
        let (len, copies) = trace.end_frame()?;
        let side = usize::from(!from_client);
        self.tally.packets[side] += copies;
        self.tally.frame_bytes[side] += u64::from(len) * u64::from(copies);
        self.tally.last_ns = trace.now_ns;
        Ok(())
    }

    /// How it ends, in a word.
    pub(crate) const fn close_name(&self) -> &'static str {
        match (self.phase, self.close) {
            (Phase::Done, Close::Four | Close::Three) => "fin",
            (Phase::Done, Close::Reset) => "reset",
            _ => "open",
        }
    }

    pub(crate) const fn is_reset(&self) -> bool {
        matches!(self.close, Close::Reset)
    }
}
