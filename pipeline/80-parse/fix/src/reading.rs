//! Processes one message after another: frames and splits it, updates its session, and reports it.

use crate::message::fields::Fields;
use crate::message::frame::{begins_message, frame_of};
use crate::record::all_fields::{AllFields, LISTS};
use crate::record::columns::{FIX, WIDTH};
use crate::record::message::Message;
use crate::session::heartbeat::Heartbeat;
use crate::session::orders::{Orders, Role, Waiting};
use crate::session::sequence::{Side, Step};
use crate::{FixOptions, Frame, Slot, Window};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Chain;
use flowpin_packet::Timestamp;
use flowpin_parser::KeptBytes;
use flowpin_record::{MessageSink, Value};
use std::hint::black_box;

/// The part of the parser that processes messages, separate from the connections that it updates.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) options: FixOptions,
    pub(crate) fields: Fields,
    pub(crate) orders: Orders,
    pub(crate) all: AllFields,
    pub(crate) losses: Losses,
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Direction {
    /// Bytes of an incomplete message.
    pub(crate) held: Chain,
    /// How many of them are needed before the next decision.
    pub(crate) need: u32,
    /// Bytes that BodyLengths announced beyond the end of their message, in [`EXCESS_UNIT`]s.
    pub(crate) excess_announced: u16,
    pub(crate) session: Side,
    pub(crate) heartbeat: Heartbeat,
    /// The orders that this side sent and that wait for their reports.
    pub(crate) waiting: Waiting,
    pub(crate) shard: u8,
    /// Whether the previous bytes were not a message, so that garbage is reported once.
    pub(crate) in_garbage: bool,
}

// PERF: a connection has two cache lines, which hold everything that its segments need.
const _: () = assert!(size_of::<Direction>() <= 64);

impl Direction {
    /// Bytes that a wrong BodyLength announces are held, and copied again for each message that
    /// they contain. Beyond a limit, the parser no longer waits for them.
    #[inline]
    fn note_length(&mut self, window: &Window, limit: usize) {
        if !window.body_length_ok
            && let Some(announced) = window.body_length
            && let Ok(announced) = usize::try_from(announced)
            && announced <= limit
        {
            let excess = announced.saturating_sub(window.len).div_ceil(EXCESS_UNIT);
            let excess = u16::try_from(excess).unwrap_or(u16::MAX);
            self.excess_announced = self.excess_announced.saturating_add(excess);
        }
    }
}

/// Where and when a message was seen.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) at: Timestamp,
    pub(crate) to_server: bool,
    pub(crate) shard: u8,
    /// No more bytes follow.
    pub(crate) last: bool,
}

impl Reading {
    /// Processes all complete messages in `bytes`, which one direction sent to the other. Returns
    /// how many bytes are processed, and how many are needed from there for the next decision.
    #[inline]
    pub(crate) fn messages<S: MessageSink>(
        &mut self,
        (direction, other): (&mut Direction, &mut Direction),
        seen: Seen,
        bytes: &[u8],
        sink: &mut S,
    ) -> (usize, u32) {
        let limit = self.options.message_bytes_max as usize;
        let mut used = 0usize;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            let waits = direction.excess_announced < EXCESS_MAX;
            let step = match frame_of(rest, limit, seen.last, waits) {
                Frame::Need(need) => {
                    if begins_message(rest) {
                        // An incomplete message is held, in case the connection turns out to use
                        // another protocol.
                        sink.proves();
                    }
                    return (used, u32::try_from(need).unwrap_or(u32::MAX));
                }
                Frame::Message(window) => {
                    if window.body_length_ok && window.checksum_ok == Some(true) {
                        sink.proves();
                    } else {
                        sink.fits(true);
                    }
                    direction.in_garbage = false;
                    direction.note_length(&window, limit);
                    let message = rest.get(..window.len).unwrap_or(rest);
                    self.message((direction, other), seen, message, window, sink);
                    window.len
                }
                Frame::Garbage(len) => {
                    no_message(direction, "fix_garbage", sink);
                    len
                }
                Frame::Broken(len) => {
                    no_message(direction, "fix_broken_message", sink);
                    len
                }
                Frame::CutOff(len) => {
                    no_message(direction, "fix_message_cut_off", sink);
                    len
                }
            };
            used = used.saturating_add(step.max(1));
        }
        (bytes.len(), 0)
    }

    /// Holds an incomplete message.
    #[inline]
    pub(crate) fn hold<S: MessageSink>(
        &mut self,
        held: &mut KeptBytes,
        direction: &mut Direction,
        seen: Seen,
        bytes: &[u8],
        need: u32,
        sink: &mut S,
    ) {
        if bytes.is_empty() {
            return;
        }
        direction.need = need;
        if !held.append(seen.shard, &mut direction.held, bytes) {
            let lost = direction.held.len().saturating_add(bytes.len());
            self.losses.count(Loss::FixMemory, lost as u64);
            held.release(seen.shard, &mut direction.held);
            direction.session.forget();
            no_message(direction, "fix_message_not_kept", sink);
        }
    }

    #[inline]
    fn message<S: MessageSink>(
        &mut self,
        (direction, other): (&mut Direction, &mut Direction),
        seen: Seen,
        bytes: &[u8],
        window: Window,
        sink: &mut S,
    ) {
        self.fields.split(bytes);
        let Some(message_type) = self.fields.value(bytes, Slot::MsgType) else {
            // FIX engines ignore a message without MsgType, including its sequence number.
            sink.anomaly("fix_no_msg_type");
            return;
        };
        let step = direction.session.step(&self.fields, bytes, message_type);
        let heartbeat = &mut direction.heartbeat;
        let is_late = heartbeat.step(step.event, seen.at, &self.fields, bytes);
        let waiting = (&mut direction.waiting, &mut other.waiting);
        let latency = self.latency(waiting, seen, (bytes, message_type));
        if sink.reads(&FIX) {
            self.report((bytes, step, latency), seen, window, sink);
        } else {
            // Every field is split even if the columns are not read.
            black_box((&self.fields, step, latency));
            sink.message(&FIX, seen.at, &[]);
        }
        if is_late {
            sink.anomaly(LATE);
        }
        self.flaws(window, sink);
    }

    /// Reports a message by its columns.
    #[inline]
    fn report<S: MessageSink>(
        &mut self,
        (bytes, step, latency): (&[u8], Step, Option<u64>),
        seen: Seen,
        window: Window,
        sink: &mut S,
    ) {
        let message = Message {
            bytes,
            fields: &self.fields,
            dictionary: &self.options.dictionary,
            window,
            to_server: seen.to_server,
            step,
            latency,
        };
        let mut values = message.values();
        if self.options.all_fields {
            let dictionary = &self.options.dictionary;
            self.all.with(&self.fields, bytes, dictionary, |lists| {
                let mut values: [Value<'_>; WIDTH] = values;
                let (_, last) = values.split_at_mut(WIDTH.saturating_sub(LISTS));
                for (to, from) in last.iter_mut().zip(lists) {
                    *to = from;
                }
                sink.message(&FIX, seen.at, &values);
            });
        } else {
            let (common, _) = values.split_at_mut(WIDTH.saturating_sub(LISTS));
            sink.message(&FIX, seen.at, common);
        }
    }

    /// Returns how long an order waited for this message, if it is the first report.
    #[inline]
    fn latency(
        &mut self,
        (own, others): (&mut Waiting, &mut Waiting),
        seen: Seen,
        (bytes, message_type): (&[u8], &[u8]),
    ) -> Option<u64> {
        let role = Role::of(message_type);
        if role == Role::Other {
            return None;
        }
        let id = self.fields.value(bytes, Slot::ClOrdId)?;
        if role == Role::Request && self.fields.value(bytes, Slot::PossDup) == Some(b"Y") {
            // The message was sent again: its report may have arrived before.
            return None;
        }
        if role == Role::Report {
            return self.orders.report(others, seen.shard, id, seen.at);
        }
        if !self.orders.request(own, seen.shard, id, seen.at) {
            self.losses.count(Loss::FixOrders, 1);
        }
        None
    }

    /// Reports the errors of a message.
    #[inline]
    fn flaws<S: MessageSink>(&mut self, window: Window, sink: &mut S) {
        let flaws = self.fields.flaws();
        let right = window.body_length_ok && window.checksum_ok == Some(true);
        if right && flaws == crate::Flaws::default() {
            return;
        }
        let found = [
            (!window.body_length_ok, "fix_body_length"),
            (window.checksum_ok == Some(false), "fix_checksum"),
            (window.checksum_ok.is_none(), "fix_no_checksum"),
            (flaws.bad_field, "fix_bad_field"),
            (flaws.bad_data_length, "fix_data_length"),
            (flaws.too_many, "fix_too_many_fields"),
        ];
        for (_, event) in found.iter().filter(|(is, _)| *is) {
            sink.anomaly(event);
        }
        if flaws.too_many {
            self.losses.count(Loss::FixFields, 1);
        }
    }
}

/// Reports bytes that are not a message, once until the next message.
#[cold]
fn no_message<S: MessageSink>(direction: &mut Direction, event: &'static str, sink: &mut S) {
    sink.fits(false);
    if !direction.in_garbage {
        direction.in_garbage = true;
        sink.anomaly(event);
    }
}

/// A side was silent for longer than allowed.
pub(crate) const LATE: &str = "fix_heartbeat_late";

/// Above this, the parser no longer waits for the bytes that BodyLength announces in this
/// direction.
const EXCESS_MAX: u16 = 1 << 15;
const EXCESS_UNIT: usize = 8;

const _: () = assert!(EXCESS_MAX as usize * EXCESS_UNIT == 256 << 10);
