//! One interface, or one queue of it: its ring, and the filter that its packets pass.

use super::LiveOptions;
use super::links::LinkWatch;
use crate::bytes::Attention;
use crate::error::CaptureError;
use crate::filter::{Program, compile};
use flowpin_config::Interface;
use flowpin_socket::{INSTRUCTIONS_MAX, Instruction, Packet, Ring, RingOptions, RingStats};
use std::time::Duration;

/// An open interface.
#[derive(Debug)]
pub(super) struct Port {
    ring: Ring,
    name: String,
    /// What the kernel cannot filter.
    filter: Option<Program>,
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
        let mut filter = None;
        let ring = Ring::open(&ring, |link| {
            if options.filter.is_empty() {
                return Ok(Vec::new());
            }
            let program = compile(&options.filter, link.number())?;
            if is_for_kernel(&options.filter, &program) {
                return Ok(program.instructions().map(of_program).collect());
            }
            filter = Some(program);
            Ok::<_, CaptureError>(Vec::new())
        })?;
        Ok(Self {
            ring,
            name: interface.to_string(),
            filter,
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
        if self.filter.is_some() && !self.has_passed {
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
        let Some(filter) = &self.filter else {
            return;
        };
        while let Some(packet) = self.ring.head() {
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
