//! Rules as a consumer: what each event is to them.

use super::connection::Connection;
use super::events::Event;
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
            Event::Bytes(stretch) => self.examine_bytes(at, frames.stretch(stretch)),
            Event::Gap(_) | Event::Closed => self.examine_end(at.to_server),
            Event::Over => {
                self.examine_end(true);
                self.examine_end(false);
            }
            Event::Reset => self.examine_reset(),
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
        if let Event::Packet(nth) = event {
            self.identify_for_rules();
            let ends = self.ends();
            if let Some(rules) = &mut self.rules {
                rules.packet(self.handle, &ends, (nth, at.to_server), frames);
            }
            self.hand_on();
        }
    }

    /// The next bytes of a stream.
    #[inline]
    pub(super) fn examine_bytes(&mut self, at: Span, bytes: &[u8]) {
        if self.rules.is_none() {
            return;
        }
        self.identify_for_rules();
        let ends = self.ends();
        if let Some(rules) = &mut self.rules {
            rules.bytes(self.handle, &ends, (at.to_server, at.offset), bytes);
        }
        self.hand_on();
    }

    #[cold]
    fn examine_odd(&mut self, to_server: bool, odd: Odd) {
        self.identify_for_rules();
        let ends = self.ends();
        if let Some(rules) = &mut self.rules {
            rules.odd(self.handle, &ends, odd, to_server);
        }
        self.hand_on();
    }

    fn examine_end(&mut self, to_server: bool) {
        self.identify_for_rules();
        let ends = self.ends();
        if let Some(rules) = &mut self.rules {
            rules.stop(self.handle, &ends, to_server);
        }
        self.hand_on();
    }

    fn examine_reset(&mut self) {
        self.identify_for_rules();
        let ends = self.ends();
        if let Some(rules) = &mut self.rules {
            rules.reset(self.handle, &ends);
        }
        self.hand_on();
    }

    /// What the parser has said since the last time, of a datagram if it was one.
    #[inline]
    pub(super) fn examine_messages(&mut self, datagram: Option<(bool, &[u8])>) {
        if self.rules.is_none() {
            return;
        }
        let ends = self.ends();
        self.identify_for_rules();
        let tap = self.parse.as_mut().and_then(|parse| parse.tap());
        if let (Some(rules), Some(tap)) = (&mut self.rules, tap)
            && !tap.is_empty()
        {
            rules.messages(self.handle, &ends, (tap, datagram));
            tap.clear();
        }
        self.hand_on();
    }

    /// The connection has ended.
    pub(super) fn end_rules(&mut self) {
        if self.rules.is_none() {
            return;
        }
        self.examine_messages(None);
        let ends = self.ends();
        if let Some(rules) = &mut self.rules {
            rules.end(self.handle, &ends);
        }
        self.hand_on();
    }

    /// Tells rules what the connection speaks, once that is known.
    fn identify_for_rules(&mut self) {
        let is_known = self.state.identity.is_known();
        let verdict = self.state.identity.rule.0;
        let is_told = |rules: &&mut crate::worker::rules::Rules| {
            !is_known || rules.is_identified(self.handle, verdict)
        };
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
        let peers = self.context.peers(self.handle);
        Ends {
            protocol: peers.protocol,
            client: (peers.client.address, peers.client.port),
            server: (peers.server.address, peers.server.port),
        }
    }
}
