//! One interface, or one queue of it: where its packets come from, and the filter that they pass.

use super::LiveOptions;
use super::intake::{Grips, Intake};
use super::links::LinkWatch;
use crate::bytes::Attention;
use crate::error::CaptureError;
use crate::filter::{Program, compile};
use flowpin_config::{CaptureMethod, Interface};
use flowpin_packet::Timestamp;
use flowpin_socket::{INSTRUCTIONS_MAX, Instruction, Link, Packet, Ring, RingOptions, RingStats};
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// An open interface, or one of its queues.
#[derive(Debug)]
pub(super) struct Port {
    intake: Intake,
    /// The interface's, as it was named: several ports of one have the same.
    pub(super) number: u32,
    /// It is the first of its interface, which is looked at once.
    pub(super) is_first: bool,
    name: String,
    /// All queues are captured from; how many packets none of them had before.
    is_whole: bool,
    uncaptured_before: u64,
    filter: PortFilter,
    /// Until when packets came that have passed the kernel's part of the filter before, and what it
    /// left to us; while some of them may wait.
    before: Option<(Timestamp, Option<Program>)>,
    /// The packet to be taken next passes it.
    has_passed: bool,
    /// Its time, once it was asked for.
    time: Option<Timestamp>,
    frame: Vec<u8>,
    link: LinkWatch,
    /// The interface was removed.
    pub(super) is_gone: bool,
    /// The run is to stop, and what came before is taken.
    pub(super) is_done: bool,
}

impl Port {
    /// Opens an interface: one ring or several, or by AF_XDP a socket for each of its queues.
    ///
    /// # Errors
    /// It cannot be captured from; the filter does not compile.
    pub(super) fn open(
        (number, interface): (u32, &Interface),
        options: &LiveOptions,
        grips: &mut Grips,
    ) -> Result<Vec<Self>, CaptureError> {
        let mut ports = Vec::new();
        let mut add = |intake: Intake, filter| {
            ports.push(Self {
                intake,
                number,
                is_first: ports.is_empty(),
                name: interface.to_string(),
                is_whole: interface.queue.is_none(),
                uncaptured_before: 0,
                filter,
                before: None,
                has_passed: false,
                time: None,
                frame: Vec::new(),
                link: LinkWatch::default(),
                is_gone: false,
                is_done: false,
            });
        };
        if options.capture == CaptureMethod::AfXdp {
            for intake in grips.open(interface, options)? {
                let filter = PortFilter::of(&options.filter, intake.link())?;
                add(intake, filter);
            }
            return Ok(ports);
        }
        let ring = RingOptions {
            interface: interface.name.clone(),
            queue: interface.queue,
            snap_len: options.snap_len,
            promiscuous: options.promiscuous,
            ring_bytes: options.ring_bytes,
            rings: options.rings,
            timeout_ms: block_ms(options.latency),
        };
        let mut filter = PortFilter::default();
        let rings = Ring::open(&ring, |link| {
            filter = PortFilter::of(&options.filter, PortLink::of_ring(link))?;
            Ok::<_, CaptureError>(filter.kernel.clone())
        })?;
        for ring in rings {
            add(Intake::Ring(Box::new(ring)), filter.clone());
        }
        Ok(ports)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// For poll(2).
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.intake.descriptor()
    }

    /// For poll(2), where errors of the interface are told apart from packets.
    pub(super) fn alarm(&self) -> Option<BorrowedFd<'_>> {
        self.intake.alarm().filter(|_| self.is_first)
    }

    /// What its frames begin with, and who filters them.
    pub(super) const fn link(&self) -> PortLink {
        self.intake.link()
    }

    /// The next packet that passes, if there is one now; the same until [`Port::take_until`].
    #[inline]
    pub(super) fn head(&mut self) -> Option<Packet<'_>> {
        if (self.filter.own.is_some() || self.before.is_some()) && !self.has_passed {
            self.skip_refused();
        }
        self.intake.head()
    }

    /// When it came.
    // PERF: of every port for each packet, so it is remembered.
    #[inline]
    pub(super) fn head_time(&mut self) -> Option<Timestamp> {
        if self.time.is_none() {
            self.time = self.head().map(|packet| packet.time);
        }
        self.time
    }

    /// Takes the packet that [`Port::head`] has shown, and perhaps those behind it that came
    /// before `until`, while `put` wants more.
    #[inline]
    pub(super) fn take_until(
        &mut self,
        until: Timestamp,
        mut put: impl FnMut(&Packet<'_>) -> bool,
    ) {
        if self.filter.own.is_none() && self.before.is_none() {
            self.intake.take_until(until, put);
        } else {
            if let Some(packet) = self.head() {
                put(&packet);
            }
            self.intake.take();
        }
        (self.time, self.has_passed) = (None, false);
    }

    /// Takes packets that the filter refuses.
    fn skip_refused(&mut self) {
        while let Some(packet) = self.intake.head() {
            if (self.before.as_ref()).is_some_and(|(until, _)| packet.time > *until) {
                self.before = None;
            }
            let filter = match &self.before {
                Some((_, filter)) => filter,
                None => &self.filter.own,
            };
            let Some(filter) = filter else {
                self.has_passed = true;
                return;
            };
            // As it will be written: with its tag.
            let (addresses, rest) = packet.bytes.split_at(packet.bytes.len().min(12));
            self.frame.clear();
            self.frame.extend_from_slice(addresses);
            self.frame.extend(packet.vlan.iter().flatten());
            self.frame.extend_from_slice(rest);
            let tag_len = packet.vlan.map_or(0, |_| 4);
            if filter.accepts(&self.frame, packet.wire_len + tag_len) {
                self.has_passed = true;
                return;
            }
            self.intake.take();
        }
    }

    /// Packets that come from here on must pass another filter. Those that wait have to pass the
    /// one before.
    ///
    /// # Errors
    /// The kernel refuses it; the one before stays.
    pub(super) fn refilter(&mut self, filter: PortFilter) -> Result<PortFilter, CaptureError> {
        self.intake.refilter(&filter.kernel)?;
        let before = core::mem::replace(&mut self.filter, filter);
        // What it left to us, it has left of all that waits.
        if before.own.is_some() || self.filter.own.is_some() {
            self.before = Some((Timestamp::now(), before.own.clone()));
        }
        Ok(before)
    }

    /// How many quarters of its ring wait to be read.
    pub(super) fn quarters_filled(&self) -> usize {
        self.intake.quarters_filled()
    }

    /// What became of its packets so far.
    pub(super) fn stats(&mut self) -> RingStats {
        self.intake.stats()
    }

    /// Packets of its interface that are not captured because their queue is new.
    pub(super) fn uncaptured(&self) -> u64 {
        match self.is_whole {
            true => self.intake.uncaptured() - self.uncaptured_before,
            false => 0,
        }
    }

    /// All queues are open: what came before then is not missing.
    pub(super) fn begin(&mut self) {
        self.uncaptured_before = self.intake.uncaptured();
    }

    /// Takes an error from the socket, so that waiting does not end with it again: what happened to
    /// the interface is seen when it is looked at. One that is down may come up again.
    pub(super) fn take_error(&self) {
        let _seen = self.intake.take_error();
    }

    /// Looks whether something has happened to the interface, and tells it.
    pub(super) fn look_at_link(&mut self, attention: &Attention) {
        match self.intake.state() {
            Some(state) => {
                let leaves_new_queues = self.intake.leaves_new_queues();
                self.link
                    .look(&self.name, state, leaves_new_queues, attention);
            }
            // One that goes while it is down causes no error.
            None => self.is_gone = true,
        }
    }

    /// What happened to it, for the summary.
    pub(super) fn note(&self) -> Option<String> {
        self.link.note(&self.name)
    }
}

/// What frames begin with, and who filters them.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortLink {
    /// Its LINKTYPE_ number.
    pub(super) number: u16,
    /// The kernel runs filters.
    pub(super) in_kernel: bool,
}

impl PortLink {
    pub(super) const fn of_ring(link: Link) -> Self {
        Self {
            number: link.number(),
            in_kernel: true,
        }
    }
}

/// A filter for the frames of one link: what the kernel does of it, and what it leaves to us.
#[derive(Clone, Debug, Default)]
pub(super) struct PortFilter {
    /// Empty: all pass.
    kernel: Vec<Instruction>,
    own: Option<Program>,
}

impl PortFilter {
    /// Of an expression; empty for none.
    ///
    /// # Errors
    /// It does not compile.
    pub(super) fn of(expression: &str, link: PortLink) -> Result<Self, CaptureError> {
        let mut filter = Self::default();
        if expression.is_empty() {
            return Ok(filter);
        }
        let program = compile(expression, link.number)?;
        if link.in_kernel && is_for_kernel(expression, &program) {
            filter.kernel = program.instructions().map(of_program).collect();
        } else {
            filter.own = Some(program);
        }
        Ok(filter)
    }
}

/// After how many milliseconds the kernel hands over a block that is not full.
pub(super) fn block_ms(latency: Duration) -> u32 {
    u32::try_from(latency.as_millis())
        .unwrap_or(u32::MAX)
        .clamp(1, BLOCK_MS_MAX)
}

/// The kernel sees frames without their VLAN tag, so expressions about it are left to us.
fn is_for_kernel(expression: &str, program: &Program) -> bool {
    !expression.contains("vlan") && program.instructions().count() <= INSTRUCTIONS_MAX
}

const fn of_program((code, if_true, if_false, constant): (u16, u8, u8, u32)) -> Instruction {
    Instruction {
        code,
        if_true,
        if_false,
        constant,
    }
}

/// What the kernel keeps back is read late when the run is to stop, and is waited for then.
const BLOCK_MS_MAX: u32 = 100;
