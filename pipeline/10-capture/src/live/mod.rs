//! Packets of network interfaces, as the bytes of a pcapng file that is being written.
//!
//! ```text
//!  eth0 ─► ring ─┐
//!                ├─ by time ─► section, interfaces │ packet, packet, …, statistics, packet, …
//!  eth1 ─► ring ─┘             (the bytes of a file, which is read like any other)
//! ```
//!
//! So there is one way for packets, wherever they come from; and what is recorded is what was
//! analysed, byte for byte. What a live run knows beyond the packets is among the bytes: twice a
//! second, and at the end, a block of statistics says how late it is and what was lost, and moves
//! stream time as much when the recording is read.

mod blocks;
mod chosen;
mod intake;
mod links;
mod order;
mod pace;
mod packed;
mod port;
mod recorder;
mod refilter;
mod shed;

pub use chosen::ChosenPackets;
pub(crate) use recorder::Recorder;
pub use recorder::{Cut, MakeFile, NextFiles};
pub use refilter::LiveFilter;
pub use shed::{Shedding, Work};

use crate::bytes::Attention;
use crate::error::CaptureError;
use crate::format::CAPTURED_LEN_MAX;
use blocks::Blocks;
use flowpin_config::{CaptureMethod, Interface, Plan};
use flowpin_packet::Timestamp;
use flowpin_socket::RingStats;
use intake::Grips;
use order::Due;
use pace::{Pace, Turn};
use port::Port;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use shed::Shedder;
use std::io;
use std::time::{Duration, Instant};

/// What to capture, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveOptions {
    /// The interfaces, or single queues of them.
    pub interfaces: Vec<Interface>,
    /// How their packets are taken.
    pub capture: CaptureMethod,
    /// A pcap-filter(7) expression; empty for none.
    pub filter: String,
    /// Bytes kept of each frame.
    pub snap_len: u32,
    /// Frames for other stations too.
    pub promiscuous: bool,
    /// Memory of each interface for packets that wait to be read.
    pub ring_bytes: u64,
    /// Rings that the kernel fills side by side.
    pub rings: u16,
    /// How long a packet may wait for others.
    pub latency: Duration,
    /// Whether work is shed under overload.
    pub shed: bool,
}

impl From<&Plan> for LiveOptions {
    fn from(plan: &Plan) -> Self {
        let live = &plan.live;
        Self {
            interfaces: live.interfaces.clone(),
            capture: live.capture,
            filter: plan.filter.clone(),
            snap_len: live.snap_len.min(SNAP_LEN_MAX),
            promiscuous: live.promiscuous,
            ring_bytes: live.ring_bytes,
            rings: live.rings,
            latency: Duration::from_nanos(live.latency_ns),
            shed: live.shed,
        }
    }
}

/// Open interfaces.
#[derive(Debug)]
pub(crate) struct Live {
    ports: Vec<Port>,
    attention: Attention,
    /// Calls answered so far.
    answered: u32,
    blocks: Blocks,
    pace: Pace,
    /// Decides which work is shed, if any may be.
    shedder: Option<Shedder>,
    /// Packets of several interfaces wait so long for earlier ones of the others.
    slack: Duration,
    /// Up to when all packets of several ports have been seen.
    known: Timestamp,
    /// Since when the run is to stop, by both clocks: that of packets may be set meanwhile.
    stopping: Option<(Timestamp, Instant)>,
    /// Since when no interface is left.
    gone: Option<Instant>,
    /// The time of the last packet.
    last: Timestamp,
    /// The last block is written.
    is_over: bool,
    failure: Option<io::Error>,
}

impl Live {
    /// Opens all interfaces.
    ///
    /// # Errors
    /// The first that cannot be opened; a filter that does not compile.
    pub(crate) fn open(options: &LiveOptions, attention: &Attention) -> Result<Self, CaptureError> {
        let mut grips = Grips::default();
        let mut ports = Vec::new();
        for interface in (0..).zip(&options.interfaces) {
            ports.extend(Port::open(interface, options, &mut grips)?);
        }
        grips.notes.iter().for_each(|note| attention.tell(note));
        let mut blocks = Blocks::default();
        blocks.section();
        for port in ports.iter_mut().filter(|port| port.is_first) {
            port.begin();
            port.look_at_link(attention);
            blocks.interface(port.name(), port.link().number, options.snap_len);
        }
        attention
            .filter
            .open(ports.iter().map(Port::link).collect());
        let block_time = Duration::from_millis(port::block_ms(options.latency).into());
        Ok(Self {
            ports,
            attention: attention.clone(),
            answered: attention.calls(),
            blocks,
            pace: Pace::new(options.latency),
            shedder: (options.shed)
                .then(|| Shedder::new(attention.shedding.clone(), Instant::now())),
            // A block is handed over up to its time after its first packet, and by then the next
            // one may have begun.
            slack: block_time * 2 + Duration::from_millis(1),
            known: Timestamp::default(),
            stopping: None,
            gone: None,
            last: Timestamp::default(),
            is_over: false,
            failure: None,
        })
    }

    /// Whether the last read ended because nothing came for a while, or bytes have waited.
    pub(crate) const fn is_idle(&self) -> bool {
        self.pace.is_told()
    }

    /// Reads what there is, or waits for more; 0 at the end, after the run was asked to stop.
    ///
    /// # Errors
    /// `Interrupted`: somebody called, or bytes are to be looked at; read again. Else that no
    /// interface is left.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.pace.begin();
        self.attention.filter.apply(&mut self.ports);
        self.shed();
        // Not only while nothing comes: more may come, without end, than can be read.
        if self.attention.is_stopped() && self.stopping.is_none() {
            self.stopping = Some((Timestamp::now(), Instant::now()));
        }
        loop {
            let (count, first) = self.put(into);
            if count > 0 {
                self.pace.served(first);
                // Drops must show most of all while there is no pause.
                if self.pace.statistics_are_due() {
                    self.statistics(self.last);
                }
                return Ok(count);
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.is_over {
                return Ok(0);
            }
            self.wait()?;
        }
    }

    /// Decides which work is shed from here on.
    fn shed(&mut self) {
        if let Some(shedder) = &mut self.shedder {
            let filled = self.ports.iter().map(Port::quarters_filled);
            let line = shedder.look(filled.max().unwrap_or(0), Instant::now());
            line.into_iter().for_each(|line| self.attention.tell(line));
        }
    }

    /// Puts what there is, as far as there is room: how much, and when the first packet came.
    fn put(&mut self, into: &mut [u8]) -> (usize, Option<Timestamp>) {
        let mut count = self.blocks.serve(into);
        let mut first = None;
        while count < into.len() && !self.is_over {
            let Due::Now { index, mut until } =
                order::due(&mut self.ports, &mut self.known, Timestamp::now, self.slack)
            else {
                break;
            };
            let Some(port) = self.ports.get_mut(index) else {
                break;
            };
            if let Some((end, _)) = self.stopping {
                if port.head_time().is_some_and(|time| time > end) {
                    port.is_done = true;
                    continue;
                }
                until = until.min(Timestamp(end.0 + 1));
            }
            first = first.or_else(|| port.head_time());
            let number = port.number;
            port.take_until(until, |packet| {
                self.last = self.last.max(packet.time);
                let room = into.get_mut(count..).unwrap_or_default();
                count += self.blocks.packet(room, number, packet);
                count < into.len()
            });
        }
        (count, first)
    }

    /// Waits for packets; or there is something else to be done.
    fn wait(&mut self) -> io::Result<()> {
        let calls = self.attention.calls();
        if calls != self.answered {
            self.answered = calls;
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.attention.is_stopped() && self.stopping.is_none() {
            self.stopping = Some((Timestamp::now(), Instant::now()));
        }
        self.attention.filter.apply(&mut self.ports);
        if let Some((end, since)) = self.stopping {
            let all_seen = since.elapsed() > self.slack;
            if all_seen || self.ports.iter().all(|port| port.is_done) {
                return self.end(end);
            }
        }
        if self.ports.iter().all(|port| port.is_gone) {
            // What the kernel has of it comes within this time.
            let since = *self.gone.get_or_insert_with(Instant::now);
            if since.elapsed() > self.slack {
                self.failure = Some(io::Error::other("the interface was removed"));
                return self.end(Timestamp::now());
            }
        }
        let patience = match self.pace.turn() {
            Turn::Wait(patience) => patience,
            Turn::Tell => return Err(io::ErrorKind::Interrupted.into()),
            Turn::Statistics => {
                self.statistics(self.known_until());
                return Ok(());
            }
        };
        self.sleep(patience);
        Ok(())
    }

    /// Up to when every packet would have been seen, where no packet is at hand.
    fn known_until(&self) -> Timestamp {
        Timestamp(Timestamp::now().0.saturating_sub(nanos(self.slack)))
    }

    /// The last blocks: how late it is, and what was lost.
    fn end(&mut self, time: Timestamp) -> io::Result<()> {
        self.statistics(time);
        self.is_over = true;
        Ok(())
    }

    fn statistics(&mut self, time: Timestamp) {
        let mut of_interface = RingStats::default();
        let mut ports = self.ports.iter_mut().peekable();
        while let Some(port) = ports.next() {
            let stats = port.stats();
            of_interface.received += stats.received;
            of_interface.dropped += stats.dropped;
            // The last of its interface.
            if ports.peek().is_none_or(|next| next.is_first) {
                let stats = core::mem::take(&mut of_interface);
                self.blocks.statistics(port.number, time, stats);
            }
        }
        self.look_at_links();
    }

    /// Tells what has happened to interfaces.
    fn look_at_links(&mut self) {
        let mut removed = Vec::new();
        let mut is_gone = false;
        for port in &mut self.ports {
            if !port.is_first {
                port.is_gone = is_gone;
            } else if !port.is_gone {
                port.look_at_link(&self.attention);
                removed.extend(port.is_gone.then(|| port.name().to_owned()));
            }
            is_gone = port.is_gone;
        }
        // Without any, the run ends, and says so.
        if self.ports.iter().all(|port| port.is_gone) {
            return;
        }
        for name in removed {
            let line = format!("{name}: the interface was removed; the others go on");
            self.attention.tell(&line);
        }
    }

    /// Packets that are not captured because their queue is new.
    pub(crate) fn uncaptured(&self) -> u64 {
        let interfaces = self.ports.iter().filter(|port| port.is_first);
        interfaces.map(Port::uncaptured).sum()
    }

    /// What happened to the interfaces, for the summary.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.ports.iter().filter_map(Port::note).collect()
    }

    /// Waits for a packet of any interface, at most so long.
    fn sleep(&mut self, patience: Duration) {
        // Packets that wait for those of other interfaces must not keep it awake.
        let waits = self.ports.iter_mut().map(|port| port.head().is_none());
        let waits: Vec<_> = waits.collect();
        // They wait so long at most; and so long it takes until all is seen at the end.
        let is_short = waits.contains(&false) || self.stopping.is_some() || self.gone.is_some();
        let longest = if is_short { self.slack } else { LISTEN_EVERY };
        let patience = Timespec::try_from(patience.min(longest)).unwrap_or_default();
        let ports = self.ports.iter().zip(waits);
        let mut fds: Vec<_> = (ports.filter(|(port, waits)| *waits && !port.is_gone))
            .map(|(port, _)| {
                PollFd::from_borrowed_fd(port.descriptor(), PollFlags::IN | PollFlags::ERR)
            })
            .collect();
        let alarms = self.ports.iter().filter(|port| !port.is_gone);
        let alarms = alarms.filter_map(Port::alarm);
        fds.extend(alarms.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::ERR)));
        // An interrupted wait is a short one.
        let _woken = poll(&mut fds, Some(&patience));
        let has_failed = fds.iter().any(|fd| fd.revents().contains(PollFlags::ERR));
        drop(fds);
        if has_failed {
            self.ports.iter().for_each(Port::take_error);
            self.look_at_links();
        }
    }
}

/// As nanoseconds; those of options are far below the limit.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// With a VLAN tag that the kernel has taken out, a frame is four bytes longer.
const SNAP_LEN_MAX: u32 = CAPTURED_LEN_MAX - 4;

/// Whether somebody calls is looked at so often.
const LISTEN_EVERY: Duration = Duration::from_millis(50);
