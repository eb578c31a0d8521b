//! Processes one message after another: parses it, pairs it, and reports it.

use crate::flavour::Flavour;
use crate::options::DnsOptions;
use crate::parser::{Direction, State};
use crate::pending::{Pending, Queue, Requests};
use crate::record::DNS_LOG;
use crate::record::event::{Event, When};
use crate::record::log::{Log, Request};
use crate::wire::message::{Header, Parsed};
use crate::wire::name::put_flat_text;
use core::hint::black_box;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_record::MessageSink;
use std::io;

/// The part of the parser that processes messages, separate from the connections that it updates.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) options: DnsOptions,
    parsed: Parsed,
    pub(crate) requests: Requests,
    event: Event,
    log: Log,
    /// The text of the name in a request.
    name_text: Vec<u8>,
    pub(crate) losses: Losses,
}

/// The properties shared by all messages of a call.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) at: Timestamp,
    pub(crate) to_server: bool,
    pub(crate) shard: u8,
    pub(crate) flavour: Flavour,
    pub(crate) is_stream: bool,
}

impl Seen {
    fn proto(self) -> &'static str {
        if self.is_stream { "tcp" } else { "udp" }
    }
}

impl Reading {
    /// Reserves address space for pending requests.
    pub(crate) fn new(options: DnsOptions, budget: &Budget) -> io::Result<Self> {
        Ok(Self {
            parsed: Parsed::new(),
            requests: Requests::new(budget)?,
            event: Event::default(),
            log: Log::default(),
            name_text: Vec::with_capacity(2 * NAME_TEXT_MAX),
            losses: Losses::default(),
            options,
        })
    }

    /// Processes a message over TCP.
    pub(crate) fn framed<S: MessageSink>(
        &mut self,
        direction: &mut Direction,
        waiting: &mut Queue,
        seen: Seen,
        message: &[u8],
        sink: &mut S,
    ) {
        let header = Header::parse(message);
        let goes_on = match direction.state {
            State::AfterGap => header.is_some_and(|header| header.is_plausible()),
            _ => header.is_some(),
        };
        if !goes_on {
            // Each length leads to the next message: after a wrong one, message boundaries are
            // lost.
            if direction.state == State::Reading {
                sink.anomaly("dns_bad_length");
                sink.fits(false);
            }
            direction.state = State::GivenUp;
            return;
        }
        direction.state = State::Reading;
        self.message(waiting, seen, message, true, sink);
    }

    pub(crate) fn message<S: MessageSink>(
        &mut self,
        waiting: &mut Queue,
        seen: Seen,
        message: &[u8],
        whole: bool,
        sink: &mut S,
    ) {
        let before = Timestamp(seen.at.0.saturating_sub(self.options.wait_nanos));
        while let Some(request) = self.requests.pop(seen.shard, waiting, Some(before)) {
            self.unanswered(&request, seen, sink);
        }
        let schema = seen.flavour.schema(seen.to_server);
        let is_read = self.options.events && sink.reads(schema);
        let class_mask = seen.flavour.class_mask();
        // A message whose records are not read is still parsed, checked and paired.
        let is_message = if is_read || (self.options.log && sink.reads(&DNS_LOG)) {
            self.parsed.read::<true>(message, whole, class_mask)
        } else {
            self.parsed.read::<false>(message, whole, class_mask)
        };
        for event in &self.parsed.events {
            sink.anomaly(event);
        }
        sink.fits(!self.parsed.is_broken);
        // Neither the header nor the rest resembles a message: the bytes are ignored.
        let is_noise = self.parsed.is_broken && !self.parsed.header.is_plausible();
        if !is_message || is_noise {
            return;
        }
        if self.parsed.cut_short {
            self.losses.count(Loss::DnsText, 1);
        }
        let is_response = self.parsed.header.is_response();
        let request = if is_response && seen.flavour != Flavour::Mdns {
            let requests = &mut self.requests;
            requests.answered(seen.shard, waiting, &self.parsed, message)
        } else {
            None
        };
        if is_read {
            let rtt = request.map(|request| seen.at.nanos_since(request.at));
            let when = When {
                at: seen.at,
                rtt,
                number: waiting.messages,
            };
            self.event.report(&self.parsed, message, when, schema, sink);
        } else if self.options.events {
            sink.message(schema, seen.at, &[]);
        }
        waiting.messages = waiting.messages.wrapping_add(1);
        if is_response {
            self.response(request.as_ref(), seen, message, sink);
        } else {
            self.request(waiting, seen, message, sink);
        }
    }

    fn response<S: MessageSink>(
        &mut self,
        request: Option<&Pending>,
        seen: Seen,
        message: &[u8],
        sink: &mut S,
    ) {
        if !self.options.log {
            return;
        }
        if !sink.reads(&DNS_LOG) {
            black_box((&self.parsed, request));
            let at = request.map_or(seen.at, |request| request.at);
            return sink.message(&DNS_LOG, at, &[]);
        }
        let request = request.map(|request| request.for_log(&self.requests, &mut self.name_text));
        let log = &mut self.log;
        let parsed = (&self.parsed, message);
        log.response(parsed, request.as_ref(), seen.at, seen.proto(), sink);
    }

    /// Queues a request if its shard has memory left, unless responses cannot be paired with it by
    /// identifier.
    fn request<S: MessageSink>(
        &mut self,
        waiting: &mut Queue,
        seen: Seen,
        message: &[u8],
        sink: &mut S,
    ) {
        if seen.flavour == Flavour::Mdns {
            return self.log_unpaired(seen, sink);
        }
        if waiting.len >= self.options.requests_max
            && let Some(oldest) = self.requests.pop(seen.shard, waiting, None)
        {
            self.losses.count(Loss::DnsQueries, 1);
            self.unanswered(&oldest, seen, sink);
        }
        let request = (&self.parsed, message);
        if !self.requests.push(seen.shard, waiting, request, seen.at) {
            self.losses.count(Loss::DnsQueries, 1);
            self.log_unpaired(seen, sink);
        }
    }

    /// Logs the current message as a request that does not wait for a response.
    fn log_unpaired<S: MessageSink>(&mut self, seen: Seen, sink: &mut S) {
        if !self.options.log {
            return;
        }
        if !sink.reads(&DNS_LOG) {
            return sink.message(&DNS_LOG, seen.at, &[]);
        }
        let question = self.parsed.questions.first();
        let name = question.map_or(&[][..], |question| self.parsed.text(question.name.text));
        let request = Request {
            at: seen.at,
            header: self.parsed.header,
            kind: question.map_or(0, |question| question.kind),
            class: question.map_or(0, |question| question.class),
            name: name.get(..NAME_TEXT_MAX).unwrap_or(name),
        };
        self.log.request(&request, seen.proto(), sink);
    }

    pub(crate) fn unanswered<S: MessageSink>(
        &mut self,
        request: &Pending,
        seen: Seen,
        sink: &mut S,
    ) {
        if !self.options.log {
            return;
        }
        if !sink.reads(&DNS_LOG) {
            black_box(request);
            return sink.message(&DNS_LOG, request.at, &[]);
        }
        let request = request.for_log(&self.requests, &mut self.name_text);
        self.log.request(&request, seen.proto(), sink);
    }
}

impl Pending {
    /// Converts the request for the log; the text of its name is written to `text`.
    fn for_log<'a>(&self, requests: &Requests, text: &'a mut Vec<u8>) -> Request<'a> {
        text.clear();
        put_flat_text(requests.name(self), text);
        text.truncate(NAME_TEXT_MAX);
        Request {
            at: self.at,
            header: self.header,
            kind: self.kind,
            class: self.class,
            name: text,
        }
    }
}

/// Maximum length of the text of a requested name; only names with many escapes are longer.
const NAME_TEXT_MAX: usize = 256;
