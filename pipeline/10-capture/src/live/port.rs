//! One interface, or one queue of it: its ring, and the filter that its packets pass.

use super::LiveOptions;
use super::links::LinkWatch;
use crate::bytes::Attention;
use crate::error::CaptureError;
use crate::filter::{Program, compile};
use flowpin_config::Interface;
use flowpin_packet::Timestamp;
use flowpin_socket::{INSTRUCTIONS_MAX, Instruction, Packet, Ring, RingOptions, RingStats};
use std::time::Duration;

/// An open interface.
#[derive(Debug)]
pub(super) struct Port {
    ring: Ring,
    name: String,
    filter: PortFilter,
    /// Until when packets came that have passed the kernel's part of the filter before, and what it
    /// left to us; while some of them may wait.
    before: Option<(Timestamp, Option<Program>)>,
    /// The packet to be taken next passes it.
    has_passed: bool,
    frame: Vec<u8>,
    stats: RingStats,
    link: LinkWatch,
    /// The interface was removed.
    pub(super) is_gone: bool,
    /// The run is to stop, and what came before is taken.
    pub(super) is_done: bool,
}

impl Port {
    /// Opens an interface.
    ///
    /// # Errors
    /// It cannot be captured from; the filter does not compile.
    pub(super) fn open(interface: &Interface, options: &LiveOptions) -> Result<Self, CaptureError> {
        let ring = RingOptions {
            interface: interface.name.clone(),
            queue: interface.queue,
            snap_len: options.snap_len,
            promiscuous: options.promiscuous,
            ring_bytes: options.ring_bytes,
            timeout_ms: block_ms(options.latency),
        };
        let mut filter = PortFilter::default();
        let ring = Ring::open(&ring, |link| {
            filter = PortFilter::of(&options.filter, link.number())?;
            Ok::<_, CaptureError>(filter.kernel.clone())
        })?;
        Ok(Self {
            ring,
            name: interface.to_string(),
            filter,
            before: None,
            has_passed: false,
            frame: Vec::new(),
            stats: RingStats::default(),
            link: LinkWatch::default(),
            is_gone: false,
            is_done: false,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The LINKTYPE_ number of its frames.
    pub(super) const fn link_number(&self) -> u16 {
        self.ring.link().number()
    }

    /// The next packet that passes, if there is one now; the same until [`Port::take`].
    #[inline]
    pub(super) fn head(&mut self) -> Option<Packet<'_>> {
        if (self.filter.own.is_some() || self.before.is_some()) && !self.has_passed {
            self.skip_refused();
        }
        self.ring.head()
    }

    /// Takes the packet that [`Port::head`] has shown.
    #[inline]
    pub(super) fn take(&mut self) {
        self.has_passed = false;
        self.ring.take();
    }

    /// Takes packets that the filter refuses.
    fn skip_refused(&mut self) {
        while let Some(packet) = self.ring.head() {
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
            self.ring.take();
        }
    }

    /// Packets that come from here on must pass another filter. Those that wait have to pass the
    /// one before.
    ///
    /// # Errors
    /// The kernel refuses it; the one before stays.
    pub(super) fn refilter(&mut self, filter: PortFilter) -> Result<PortFilter, CaptureError> {
        self.ring.refilter(&filter.kernel)?;
        let before = core::mem::replace(&mut self.filter, filter);
        // What it left to us, it has left of all that waits.
        if before.own.is_some() || self.filter.own.is_some() {
            self.before = Some((Timestamp::now(), before.own.clone()));
        }
        Ok(before)
    }

    /// How many quarters of its ring wait to be read.
    pub(super) fn quarters_filled(&self) -> usize {
        self.ring.quarters_filled()
    }

    /// What became of its packets so far.
    pub(super) fn stats(&mut self) -> RingStats {
        self.stats = self.ring.stats();
        self.stats
    }

    /// Takes an error from the socket, so that waiting does not end with it again: what happened to
    /// the interface is seen when it is looked at. One that is down may come up again.
    pub(super) fn take_error(&self) {
        let _seen = self.ring.take_error();
    }

    /// Looks whether something has happened to the interface, and tells it.
    pub(super) fn look_at_link(&mut self, attention: &Attention) {
        match self.ring.state() {
            Some(state) => self.link.look(&self.name, state, attention),
            // One that goes while it is down causes no error.
            None => self.is_gone = true,
        }
    }

    /// What happened to it, for the summary.
    pub(super) fn note(&self) -> Option<String> {
        self.link.note(&self.name)
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
    pub(super) fn of(expression: &str, link_number: u16) -> Result<Self, CaptureError> {
        let mut filter = Self::default();
        if expression.is_empty() {
            return Ok(filter);
        }
        let program = compile(expression, link_number)?;
        if is_for_kernel(expression, &program) {
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

/// A second: longer ones would keep records back.
const BLOCK_MS_MAX: u32 = 1000;
