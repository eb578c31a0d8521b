//! Rules as a consumer: what each event is to them.

use super::connection::Connection;
use super::events::Event;
use crate::worker::rules::Rules;
use crate::worker::stages::reason;
use flowpin_detect::{Ends, Odd};
use flowpin_packet::FrameBytes;
use flowpin_reassembly::Span;
use flowpin_record::{App, RecordSink};

impl<S: RecordSink> Connection<'_, S> {
    /// Shows an event to rules, and between that to identification and to the parser.
    #[cold]
    #[inline(never)]
    pub(super) fn take_with_rules(&mut self, at: Span, event: Event, frames: &FrameBytes<'_>) {
        match event {
            // For rules alone: no parser gets it.
            Event::Packet(nth) => {
                let packet = (nth, at.to_server);
                self.identify_for_rules();
                let rules = self.rules.as_mut();
                if rules.is_some_and(|rules| rules.passes_over(self.handle, packet)) {
                    return;
                }
                return self.examine(|rules, handle, ends| {
                    rules.packet(handle, ends, packet, frames);
                });
            }
            Event::Bytes(stretch) => self.examine_bytes(at, frames.stretch(stretch)),
            Event::Gap(_) | Event::Closed => self.examine_end(at.to_server),
            Event::Over => {
                self.examine_end(true);
                self.examine_end(false);
            }
            Event::Reset => self.examine(|rules, handle, ends| rules.reset(handle, ends)),
            _ => {}
        }
        self.take_alone(at, event, frames);
        self.examine_messages(match event {
            Event::Datagram(_, stretch, _) => Some((at.to_server, frames.stretch(stretch))),
            _ => None,
        });
        match event {
            Event::Gap(_) => self.examine_odd(at.to_server, Odd::Gap),
            Event::Odd(what) => self.examine_odd(at.to_server, Odd::Segment(reason(what))),
            _ => {}
        }
    }

    /// The next bytes of a stream.
    #[inline]
    pub(super) fn examine_bytes(&mut self, at: Span, bytes: &[u8]) {
        let place = (at.to_server, at.offset);
        self.examine(|rules, handle, ends| rules.bytes(handle, ends, place, bytes));
    }

    #[cold]
    fn examine_odd(&mut self, to_server: bool, odd: Odd) {
        self.examine(|rules, handle, ends| rules.odd(handle, ends, odd, to_server));
    }

    fn examine_end(&mut self, to_server: bool) {
        self.examine(|rules, handle, ends| rules.stop(handle, ends, to_server));
    }

    /// What the parser has said since the last time, of a datagram if it was one.
    #[inline]
    pub(super) fn examine_messages(&mut self, datagram: Option<(bool, &[u8])>) {
        let tap = self.parse.as_mut().and_then(|parse| parse.tap());
        if self.rules.is_none() || tap.is_none_or(|tap| tap.is_empty()) {
            return;
        }
        self.identify_for_rules();
        let ends = self.ends();
        let tap = self.parse.as_mut().and_then(|parse| parse.tap());
        if let (Some(rules), Some(tap)) = (&mut self.rules, tap) {
            rules.messages(self.handle, &ends, (tap, datagram));
            tap.clear();
        }
        self.hand_on();
    }

    /// Shows something to rules that know what the connection speaks, and hands on what fits.
    #[inline]
    fn examine(&mut self, show: impl FnOnce(&mut Rules, u32, &Ends)) {
        self.identify_for_rules();
        let ends = self.ends();
        if let Some(rules) = &mut self.rules {
            show(rules, self.handle, &ends);
        }
        self.hand_on();
    }

    /// The connection has ended.
    pub(super) fn end_rules(&mut self) {
        if self.rules.is_none() {
            return;
        }
        self.examine_messages(None);
        self.examine(|rules, handle, ends| rules.end(handle, ends));
    }

    /// Tells rules what the connection speaks, once that is known.
    fn identify_for_rules(&mut self) {
        let is_known = self.state.identity.is_known();
        let verdict = self.state.identity.rule.0;
        let is_told = |rules: &&mut Rules| !is_known || rules.is_identified(self.handle, verdict);
        if self.rules.as_ref().is_none_or(is_told) {
            return;
        }
        let protocol = self.context.peers(self.handle).protocol;
        if let (Some(app), Some(rules)) = (self.app(), &mut self.rules) {
            rules.identified(self.handle, &app, protocol, verdict);
        }
    }

    fn app(&self) -> Option<App> {
        let mut app = None;
        self.identify.write(&self.state.identity, &mut app);
        app
    }

    fn hand_on(&mut self) {
        if self.rules.as_ref().is_some_and(|rules| rules.has_found()) {
            let app = self.app();
            if let Some(rules) = &mut self.rules {
                rules.hand_on(self.handle, app, &mut self.context);
            }
        }
    }

    fn ends(&self) -> Ends {
        let (protocol, client, server) = self.context.ends(self.handle);
        Ends {
            protocol,
            client: (client.address, client.port),
            server: (server.address, server.port),
        }
    }
}
