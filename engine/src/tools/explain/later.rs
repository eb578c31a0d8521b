//! What becomes of bytes after their packet: of those that reassembly holds, and of the message
//! that a packet does not complete.

use super::account::{Completion, HeldFate, HeldOutcome, PacketAccount, StreamsView};
use flowpin_packet::Seq;
use flowpin_reassembly::StreamView;

/// Follows the packets of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Later {
    waiting: Vec<Waiting>,
    fates: Vec<HeldFate>,
    /// Packets beyond [`PACKETS_MAX`] whose held bytes are not followed.
    left_out: u64,
    message: Option<Message>,
}

/// Held bytes.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: u64,
    to_server: bool,
    bytes: u64,
    /// One past the last of them.
    end: Seq,
}

/// The message that the packet asked for does not complete.
#[derive(Clone, Copy, Debug)]
struct Message {
    packet: u64,
    is_delivered: bool,
    has_parser: bool,
    completion: Option<Completion>,
}

impl Later {
    /// The next packet of the connection. `is_asked`: its own bytes are followed.
    pub(super) fn observe(&mut self, account: &PacketAccount, is_asked: bool) {
        if let Some(view) = &account.streams {
            let counters = &view.counters;
            self.resolve(&view.before, &view.after, counters, account.number);
        }
        self.observe_message(account);
        if is_asked {
            self.begin(account);
        }
    }

    fn begin(&mut self, account: &PacketAccount) {
        let Some(connection) = &account.connection else {
            return;
        };
        let held = account.streams.as_ref().and_then(|view| view.held);
        if let Some(held) = held {
            if self.waiting.len() + self.fates.len() < PACKETS_MAX {
                self.waiting.push(Waiting {
                    packet: account.number,
                    to_server: connection.to_server,
                    bytes: held.bytes,
                    end: held.end,
                });
            } else {
                self.left_out += 1;
            }
        }
        let is_used = match &account.streams {
            Some(view) => held.is_some() || has_moved(view, connection.to_server),
            None => account.packet.is_some_and(|packet| packet.payload_len > 0),
        };
        if let Some(inspect) = &account.inspect
            && is_used
            && inspect.messages == 0
        {
            self.message = Some(Message {
                packet: account.number,
                is_delivered: held.is_none(),
                has_parser: inspect.after.parser.is_some(),
                completion: None,
            });
        }
    }

    fn observe_message(&mut self, account: &PacketAccount) {
        let (Some(message), Some(inspect)) = (&mut self.message, &account.inspect) else {
            return;
        };
        let packet = message.packet;
        message.is_delivered |= !self.waiting.iter().any(|one| one.packet == packet);
        message.has_parser |= inspect.after.parser.is_some() || inspect.messages > 0;
        if message.is_delivered && message.completion.is_none() && inspect.messages > 0 {
            message.completion = Some(Completion::Packet(account.number));
        }
    }

    /// Finds the held bytes that a packet delivers, or that are given up because of it.
    fn resolve(
        &mut self,
        before: &[StreamView; 2],
        after: &[StreamView; 2],
        counters: &[(&'static str, i64)],
        number: u64,
    ) {
        let grown = |name: &str| counters.iter().any(|&(one, by)| one == name && by > 0);
        let fates = &mut self.fates;
        self.waiting.retain(|one| {
            let [client, server] = after;
            let stream = if one.to_server { client } else { server };
            let [client, server] = before;
            let earlier = if one.to_server { client } else { server };
            let has_passed = stream.offset != earlier.offset && !one.end.is_after(stream.next);
            if !has_passed && stream.held_bytes > 0 {
                return true;
            }
            let because = DROPPED.iter().filter(|name| grown(name)).copied();
            let outcome = match has_passed && grown("delivered") {
                true => HeldOutcome::Delivered(number),
                false => HeldOutcome::Dropped(number, because.collect()),
            };
            fates.push(one.with(outcome));
            false
        });
    }

    /// The connection ends; `messages`: how many are reported then.
    pub(super) fn end(&mut self, messages: u64) {
        let left = self.waiting.drain(..);
        self.fates
            .extend(left.map(|one| one.with(HeldOutcome::AtEnd)));
        if let Some(message) = &mut self.message
            && messages > 0
        {
            message.has_parser = true;
            message.completion.get_or_insert(Completion::AtEnd);
        }
    }

    /// When the message of the packet asked for was complete; none if nothing reads it.
    pub(super) fn completion(&self) -> Option<Completion> {
        let message = self.message.filter(|message| message.has_parser)?;
        Some(message.completion.unwrap_or(Completion::Never))
    }

    /// What became of held bytes, in the order in which it was decided; and of how many packets'
    /// bytes that was not followed.
    pub(super) fn into_fates(mut self) -> (Vec<HeldFate>, u64) {
        self.end(0);
        (self.fates, self.left_out)
    }
}

impl Waiting {
    const fn with(&self, outcome: HeldOutcome) -> HeldFate {
        HeldFate {
            packet: self.packet,
            to_server: self.to_server,
            bytes: self.bytes,
            outcome,
        }
    }
}

/// Whether the stream that a packet belongs to went on because of it.
fn has_moved(view: &StreamsView, to_server: bool) -> bool {
    let ([to, back], [to_after, back_after]) = (&view.before, &view.after);
    match to_server {
        true => to.offset != to_after.offset,
        false => back.offset != back_after.offset,
    }
}

/// The counters of reassembly that name why bytes that were held are not used.
const DROPPED: [&str; 8] = [
    "discarded",
    "after_close",
    "out_of_window",
    "syn_refused",
    "overlapped",
    "ignored",
    "no_room",
    "beyond_depth",
];

/// Packets of one connection whose held bytes are followed.
const PACKETS_MAX: usize = 4096;
