//! Packets as they were captured.

use crate::handle::{Failure, Flowpin, call};
use core::ffi::{c_int, c_void};
use flowpin_engine::{CapturedPacket, PacketSink, RunError};

/// `struct flowpin_packet`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    number: u64,
    time_ns: u64,
    bytes: *const c_void,
    len: u32,
    wire_len: u32,
    link: i32,
}

/// `flowpin_on_packet`.
pub type OnPacket = unsafe extern "C" fn(user: *mut c_void, packet: *const Packet) -> c_int;

struct Calls<'a> {
    on_packet: OnPacket,
    user: *mut c_void,
    run: &'a Flowpin,
    /// No more are wanted.
    is_over: bool,
}

impl PacketSink for Calls<'_> {
    fn packet(&mut self, packet: &CapturedPacket<'_>) -> Result<(), RunError> {
        if self.is_over {
            return Ok(());
        }
        let packet = Packet {
            number: packet.number,
            time_ns: packet.time.0,
            bytes: packet.bytes.as_ptr().cast(),
            len: u32::try_from(packet.bytes.len()).unwrap_or(u32::MAX),
            wire_len: packet.wire_len,
            link: packet.link.map_or(-1, i32::from),
        };
        // SAFETY: the program's own function, called as the header says.
        let code = unsafe { (self.on_packet)(self.user, &raw const packet) };
        if code != 0 {
            self.is_over = true;
            self.run.stop();
        }
        Ok(())
    }
}

/// Reads packets.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flowpin_packets(
    run: *mut Flowpin,
    on_packet: Option<OnPacket>,
    user: *mut c_void,
) -> c_int {
    let packets = |run: &Flowpin| {
        let on_packet = on_packet.ok_or_else(|| Failure::usage("no function for packets"))?;
        let plan = run.plan()?;
        let mut calls = Calls {
            on_packet,
            user,
            run,
            is_over: false,
        };
        let report = flowpin_engine::packets(&plan, &mut calls, run.control(), &());
        if calls.is_over {
            run.may_go_on();
        }
        let report = report?;
        let inputs = report.inputs.iter();
        Failure::of_damage(inputs.map(|input| (&*input.path, input.damage.as_deref())))
    };
    // SAFETY: the caller hands over a run.
    unsafe { call(run, packets) }
}
