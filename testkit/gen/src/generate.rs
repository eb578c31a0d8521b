//! The loop: who begins when, who sends next, who has ended.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "estimates of times and counts, bounded by the options"
)]

use crate::conversation::{Answer, Conversation, Next};
use crate::net::{Ends, Framing, flooded, scanned, scanner};
use crate::options::{Kind, Options, Service};
use crate::plan::Ledger;
use crate::talk;
use crate::trace::Trace;
use crate::truth::{Ended, Totals, Truth};
use crate::wheel::Wheel;
use crate::{Error, random::Random};
use std::io::{self, Write};

/// Slots of the whole trace, at most: several packets share one in longer traces.
const SLOTS: f64 = 1_048_576.0;

const GOLDEN_RATIO: f64 = 1.618_033_988_749_895;

/// Makes a trace: the capture to `out`, the truth about each connection, and the totals, as JSON
/// to `truth` if there is one. The same options give the same bytes.
///
/// # Errors
/// The options contradict themselves, or an output fails.
pub fn generate(
    options: &Options,
    out: impl Write,
    truth: Option<&mut dyn Write>,
) -> Result<Totals, Error> {
    options.check()?;
    let options = &settled(options);
    let mut generator = Generator::new(options, out, truth)?;
    generator.run()?;
    Ok(generator.trace.finish()?)
}

/// What follows from other options.
fn settled(options: &Options) -> Options {
    let mut options = options.clone();
    match options.kind {
        Kind::Fragments => {
            let count = Framing::new(&options).fragments(false, options.datagram_len);
            options.packets_per_connection = 2.0 * f64::from(count);
        }
        Kind::Scan => options.packets_per_connection = 2.0,
        Kind::Flood => options.packets_per_connection = 1.0,
        _ => {}
    }
    options
}

struct Generator<'o, 't, W> {
    options: &'o Options,
    trace: Trace<'t, W>,
    ledger: Ledger,
    /// The dialogues' shares, cumulated; what is left are probes.
    shares: Vec<f64>,
    wheel: Wheel,
    live: Vec<Conversation>,
    free: Vec<u32>,
    begun: u64,
    open: u64,
    /// Packets' choices and connections' choices do not disturb each other.
    random: Random,
    pace: Pace,
    /// Where the choices among dialogues begin.
    phase: f64,
}

/// Time in slots.
#[derive(Clone, Copy, Debug)]
struct Pace {
    slot_ns: f64,
    /// Between the beginnings of two connections.
    begin_every: f64,
    /// Between the first and the last packet of one, on average.
    lifetime: f64,
    /// By which share of that connections differ, at most.
    spread: f64,
    /// Until an answer comes that nobody thinks about.
    soon: u64,
}

impl<'o, 't, W: Write> Generator<'o, 't, W> {
    fn new(options: &'o Options, out: W, truth: Option<&'t mut dyn Write>) -> Result<Self, Error> {
        let ways = talk::dialogues(options);
        let mut total: f64 = ways.iter().map(|(_, share)| share).sum();
        let probes = options
            .mix
            .iter()
            .filter(|(service, _)| *service == Service::Probe);
        if options.kind == Kind::Mix {
            total += probes.map(|(_, share)| share).sum::<f64>();
        }
        let mut cumulated = 0.0;
        let (mut dialogues, mut shares) = (Vec::new(), Vec::new());
        for (way, share) in ways {
            cumulated += share / total;
            dialogues.push(way);
            shares.push(cumulated);
        }
        let talking = cumulated.min(1.0);
        let pace = Pace::of(
            options,
            if options.kind == Kind::Mix {
                talking
            } else {
                1.0
            },
        );
        let capacity = (options.concurrency * 1.3) as usize + 16;
        Ok(Self {
            options,
            trace: Trace::new(options, dialogues, out, Truth::new(truth)?),
            ledger: Ledger::new(options),
            shares,
            wheel: Wheel::new((pace.lifetime * 2.0) as u64 + 64, capacity),
            live: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
            begun: 0,
            open: 0,
            random: Random::new(options.seed ^ 0x636f_6e6e),
            pace,
            phase: Random::new(options.seed).unit(),
        })
    }

    fn run(&mut self) -> io::Result<()> {
        let mut slot = 0u64;
        self.trace.totals.first_ns = self.options.start_ns;
        while self.open > 0 || self.begun < self.options.connections {
            let time = self.options.start_ns + (slot as f64 * self.pace.slot_ns) as u64;
            self.trace.now_ns = self.trace.now_ns.max(time);
            while self.begun < self.options.connections
                && self.begun as f64 * self.pace.begin_every <= slot as f64
            {
                let place = self.begin(slot);
                self.step(place, slot)?;
            }
            let mut next = self.wheel.take(slot);
            while let Some(place) = next {
                next = self.wheel.behind(place);
                self.step(place, slot)?;
            }
            slot += 1;
        }
        Ok(())
    }

    /// Lets a connection send, and puts it where it sends next.
    #[inline]
    fn step(&mut self, place: u32, slot: u64) -> io::Result<()> {
        let Some(conversation) = self.live.get_mut(place as usize) else {
            return Ok(());
        };
        let next = conversation.step(&mut self.trace, place)?;
        self.trace.now_ns += 2;
        let wait = match next {
            Next::Soon => self.pace.soon,
            Next::Later => {
                let left = conversation.deadline.saturating_sub(slot);
                conversation.waits = conversation.waits.saturating_sub(1);
                // Half to one and a half times as long as the others; the last one is the rest.
                match (left as u32).checked_div(conversation.waits) {
                    None => left.max(1),
                    Some(_) => {
                        let even = left as u32 / (conversation.waits + 1);
                        u64::from(even / 2 + self.random.below(even + 1)).max(1)
                    }
                }
            }
            Next::Never => return self.end(place),
        };
        self.wheel
            .put(slot + wait.min(self.wheel.wait_max()), place);
        Ok(())
    }

    /// Begins the next connection, and says where it is kept.
    fn begin(&mut self, slot: u64) -> u32 {
        let nth = self.begun;
        self.begun += 1;
        self.open += 1;
        let v6 = self.evenly(std::f64::consts::SQRT_2) < self.options.v6;
        let totals = &mut self.trace.totals;
        totals.connections += 1;
        totals.concurrency_max = totals.concurrency_max.max(self.open);
        totals.v6_connections += u64::from(v6);
        let conversation = match self.choose() {
            Some(index) => self.converse(nth, slot, index, v6),
            None => self.probe(nth, v6),
        };
        let place = self.free.pop().unwrap_or_else(|| {
            self.live.push(conversation);
            u32::try_from(self.live.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(kept) = self.live.get_mut(place as usize) {
            *kept = conversation;
            kept.tally.first_ns = self.trace.now_ns;
        }
        self.trace.truth.begin(place);
        place
    }

    /// From 0 up to 1: as even as can be at every point of the trace, since multiples of an
    /// irrational number are.
    fn evenly(&self, irrational: f64) -> f64 {
        (self.begun as f64 * irrational + self.phase).fract()
    }

    /// Which dialogue; none for a probe.
    fn choose(&mut self) -> Option<usize> {
        let pick = self.evenly(GOLDEN_RATIO);
        let last = self.shares.last().copied().unwrap_or(0.0);
        // Shares of 1 that were added up may come out a little less.
        let pick = if last > 0.999_999 { pick * last } else { pick };
        self.shares.iter().position(|&share| pick < share)
    }

    fn converse(&mut self, nth: u64, slot: u64, index: usize, v6: bool) -> Conversation {
        let server = self.random.next_u32() % self.options.servers;
        let isn = [self.random.next_u32(), self.random.next_u32()];
        let trace = &mut self.trace;
        let Some(way) = trace.dialogues.get(index) else {
            return Conversation::probe(Ends::default(), Answer::Silence, isn);
        };
        let ends = Ends::nth(nth, server, way.port, v6, self.options);
        let is_udp = way.service.is_udp(self.options.kind);
        let (framing, random) = (&trace.framing, &mut self.random);
        let mut plan = if is_udp {
            self.ledger.udp(way, framing, v6, self.options, random)
        } else {
            trace.totals.tcp_connections += 1;
            self.ledger.tcp(way, framing, v6, self.options, random)
        };
        plan.script.dialogue = u16::try_from(index).unwrap_or(0);
        let mut conversation = Conversation::new(ends, &plan, isn);
        conversation.deadline = slot + self.pace.lifetime(&mut self.random);
        conversation.tally.plan(plan.packets, plan.bytes);
        conversation
    }

    fn probe(&mut self, nth: u64, v6: bool) -> Conversation {
        self.trace.totals.tcp_connections += 1;
        let isn = [self.random.next_u32(), self.random.next_u32()];
        let (ends, answer) = if self.options.kind == Kind::Flood {
            let (server, client, client_port) = flooded(nth, isn[1], self.options);
            let ends = Ends {
                v6,
                client,
                server,
                client_port,
                server_port: 80,
            };
            (ends, Answer::Silence)
        } else {
            let (client, client_port) = scanner(nth, self.options);
            let (server, server_port) = scanned(nth, self.options);
            let answer = match self.random.below(100) {
                0 => Answer::Open,
                1..=4 => Answer::Silence,
                _ => Answer::Closed,
            };
            (
                Ends {
                    v6,
                    client,
                    server,
                    client_port,
                    server_port,
                },
                answer,
            )
        };
        let frame = self.trace.framing.tcp_overhead(v6);
        let packets = answer.packets();
        let with_options = if answer == Answer::Open { 24 } else { 12 };
        self.ledger.fixed(packets, packets * frame + with_options);
        let mut conversation = Conversation::probe(ends, answer, isn);
        conversation
            .tally
            .plan(packets, packets * frame + with_options);
        conversation
    }

    /// Takes leave of a connection.
    fn end(&mut self, place: u32) -> io::Result<()> {
        let Some(conversation) = self.live.get(place as usize) else {
            return Ok(());
        };
        let tally = &conversation.tally;
        let way = self
            .trace
            .dialogues
            .get(usize::from(conversation.dialogue()));
        let service = match way {
            Some(way) if !conversation.is_probe() => way.service,
            _ => Service::Probe,
        };
        let is_udp = service.is_udp(self.options.kind);
        let messages = conversation.messages();
        let totals = &mut self.trace.totals;
        let of_service = totals.services.entry(service).or_default();
        of_service.connections += 1;
        of_service.messages += u64::from(messages[0] + messages[1]);
        let bytes = tally.payload_bytes[0] + tally.payload_bytes[1];
        of_service.payload_bytes += bytes;
        totals.payload_bytes += bytes;
        totals.lifetimes_ns += u128::from(tally.last_ns - tally.first_ns);
        totals.resets += u64::from(conversation.is_reset());
        let ended = Ended {
            service,
            protocol: if is_udp { 17 } else { 6 },
            ends: conversation.ends,
            first_ns: tally.first_ns,
            last_ns: tally.last_ns,
            packets: tally.packets,
            frame_bytes: tally.frame_bytes,
            payload_bytes: tally.payload_bytes,
            missing_bytes: tally.missing_bytes,
            messages,
            close: conversation.close_name(),
        };
        tally.correct(&mut self.ledger);
        self.trace.truth.end(place, &ended)?;
        self.open -= 1;
        self.free.push(place);
        Ok(())
    }
}

impl Pace {
    /// `talking`: the share of connections that are not over at once.
    fn of(options: &Options, talking: f64) -> Self {
        let packets = options.packets();
        let per_slot = (packets / SLOTS).ceil().max(1.0);
        let slots = (packets / per_slot).max(1.0);
        let connections = options.connections as f64;
        let share = options.concurrency / (connections * talking.max(0.01));
        let lifetime = slots * share.min(0.98);
        // The longest-lived must not stay behind alone.
        let spread = (0.5 * (slots / lifetime - 1.0)).min(0.25);
        let quick = lifetime / options.packets_per_connection / 16.0;
        Self {
            slot_ns: per_slot * 1e9 / options.packets_per_s,
            begin_every: (slots - lifetime * (1.0 + spread)).max(0.0) / connections,
            lifetime,
            spread,
            soon: (quick as u64).clamp(1, 64),
        }
    }

    /// How many slots a connection shall live.
    fn lifetime(&self, random: &mut Random) -> u64 {
        (self.lifetime * (1.0 + self.spread * (2.0 * random.unit() - 1.0))) as u64
    }
}
