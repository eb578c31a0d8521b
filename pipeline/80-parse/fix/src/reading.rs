//! One message after the other: framed, split, put into its session, told.

use crate::message::fields::Fields;
use crate::message::frame::{begins_message, frame_of};
use crate::record::all_fields::{AllFields, LISTS};
use crate::record::columns::{FIX, Message, WIDTH};
use crate::session::heartbeat::Heartbeat;
use crate::session::orders::{Latest, Orders, Owner, Role};
use crate::session::sequence::{Side, Step};
use crate::{FixOptions, Frame, Slot, Window, record::secrets::type_of};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::{Chain, Chains};
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSink, Value};
use std::hint::black_box;

/// What reads one message after the other; apart from the connections, which it changes.
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
    /// Bytes of a message that is not whole yet.
    pub(crate) held: Chain,
    /// So many of them are needed before more can be said.
    pub(crate) need: u32,
    /// Bytes that BodyLengths asked for and that were not the message's, in [`VAIN_UNIT`]s.
    pub(crate) asked_in_vain: u16,
    /// The connection's number in its shard: never the same for two that are open.
    pub(crate) serial: u32,
    pub(crate) session: Side,
    pub(crate) heartbeat: Heartbeat,
    /// The order that this side sent last.
    pub(crate) order: Latest,
    pub(crate) shard: u8,
    /// Whether the bytes before were no message, so that it is told once.
    pub(crate) in_garbage: bool,
}

// PERF: a connection is two cache lines: all that its segments' bytes need.
const _: () = assert!(size_of::<Direction>() <= 64);

impl Direction {
    /// Bytes that a wrong BodyLength asks for are kept, and copied again for each message that
    /// they turn out to be: where that comes to much, no more is waited for them.
    #[inline]
    fn note_length(&mut self, window: &Window, limit: usize) {
        if !window.body_length_ok
            && let Some(asked) = window.body_length
            && let Ok(asked) = usize::try_from(asked)
            && asked <= limit
        {
            let in_vain = asked.saturating_sub(window.len).div_ceil(VAIN_UNIT);
            let in_vain = u16::try_from(in_vain).unwrap_or(u16::MAX);
            self.asked_in_vain = self.asked_in_vain.saturating_add(in_vain);
        }
    }
}

/// Where and when a message was seen.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) at: Timestamp,
    pub(crate) to_server: bool,
    pub(crate) serial: u32,
    pub(crate) shard: u8,
    /// No more bytes come.
    pub(crate) last: bool,
}

impl Reading {
    /// All messages that are whole in `bytes`, of one direction towards the other: how many bytes
    /// are done with, and how many are needed from there before more can be said.
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
            let waits = direction.asked_in_vain < ASKED_IN_VAIN_MAX;
            let step = match frame_of(rest, limit, seen.last, waits) {
                Frame::Need(need) => {
                    if begins_message(rest) {
                        // What is not whole is held, should it turn out to be something else.
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

    /// Keeps what is not whole.
    #[inline]
    pub(crate) fn hold<S: MessageSink>(
        &mut self,
        held: &mut Chains,
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
        let shard = usize::from(seen.shard);
        if !held.append(shard, &mut direction.held, bytes) {
            let lost = direction.held.len().saturating_add(bytes.len());
            self.losses.count(Loss::FixMemory, lost as u64);
            held.release(shard, &mut direction.held);
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
        if self.fields.value(bytes, Slot::MsgType).is_none() {
            // What says nothing of its kind is ignored by engines, its number, too.
            sink.anomaly("fix_no_msg_type");
            return;
        }
        let step = direction.session.step(&self.fields, bytes);
        let heartbeat = &mut direction.heartbeat;
        let is_late = heartbeat.step(step.event, seen.at, &self.fields, bytes);
        let latency = self.latency((&mut direction.order, &mut other.order), seen, bytes);
        if sink.reads(&FIX) {
            self.tell((bytes, step, latency), seen, window, sink);
        } else {
            // Every field is split; nobody asks for them by their names.
            black_box((&self.fields, step, latency));
            sink.message(&FIX, seen.at, &[]);
        }
        if is_late {
            sink.anomaly(LATE);
        }
        self.flaws(window, sink);
    }

    /// Tells a message by its columns.
    #[inline]
    fn tell<S: MessageSink>(
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

    /// How long an order waited for this message, if it is its first report.
    #[inline]
    fn latency(
        &mut self,
        (own, others): (&mut Latest, &mut Latest),
        seen: Seen,
        bytes: &[u8],
    ) -> Option<u64> {
        let role = Role::of(type_of(&self.fields, bytes));
        if role == Role::Other {
            return None;
        }
        let id = self.fields.value(bytes, Slot::ClOrdId)?;
        if role == Role::Request && self.fields.value(bytes, Slot::PossDup) == Some(b"Y") {
            // Sent again: its report may have been there already.
            return None;
        }
        let owner = Owner {
            connection: seen.serial,
            shard: seen.shard,
            by_client: seen.to_server == (role == Role::Request),
        };
        if role == Role::Report {
            return self.orders.report(others, owner, id, seen.at);
        }
        if self.orders.request(own, owner, id, seen.at) == Some(seen.serial) {
            self.losses.count(Loss::FixOrders, 1);
        }
        None
    }

    /// Tells what is wrong with a message.
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

/// Tells of bytes that are no message, once until the next message.
#[cold]
fn no_message<S: MessageSink>(direction: &mut Direction, event: &'static str, sink: &mut S) {
    sink.fits(false);
    if !direction.in_garbage {
        direction.in_garbage = true;
        sink.anomaly(event);
    }
}

/// A side was silent for longer than it may.
pub(crate) const LATE: &str = "fix_heartbeat_late";

/// Beyond, BodyLength is not waited for in this direction.
const ASKED_IN_VAIN_MAX: u16 = 1 << 15;
const VAIN_UNIT: usize = 8;

const _: () = assert!(ASKED_IN_VAIN_MAX as usize * VAIN_UNIT == 256 << 10);
