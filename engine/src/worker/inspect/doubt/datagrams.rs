//! Datagrams of a connection whose verdict is doubted.

use crate::worker::identify::again;
use crate::worker::inspect::connection::Connection;
use crate::worker::parse::Parse;
use flowpin_identify::{On, ProtocolId, Step};
use flowpin_record::RecordSink;

impl<S: RecordSink> Connection<'_, S> {
    /// The parser has read a datagram.
    pub(in crate::worker::inspect) fn weigh_datagram(
        &mut self,
        on: On,
        to_server: bool,
        payload: (&[u8], usize),
    ) {
        let fits = self.parse.as_deref_mut().and_then(Parse::fits);
        let identity = &mut self.state.identity;
        match fits {
            Some(true) if identity.is_doubted() => self.identify.fit(identity, to_server),
            Some(false) => {
                let row = identity.trust.refuse();
                if identity.trust.is_settled() && row >= REFUSED_MAX {
                    identity.trust.doubt();
                }
                if identity.is_doubted() {
                    let but = self.identify.protocol(identity);
                    // If no rule knows better: versions that no parser reads are of the protocol,
                    // too.
                    self.search_again(on, to_server, payload, Some(but));
                }
            }
            Some(true) | None => {}
        }
    }

    /// A datagram that no parser reads, of a connection whose verdict is doubted.
    pub(in crate::worker::inspect) fn doubt_datagram(
        &mut self,
        on: On,
        to_server: bool,
        payload: (&[u8], usize),
    ) {
        let is_replaced = self.search_again(on, to_server, payload, None);
        let identity = &mut self.state.identity;
        if !is_replaced && identity.is_doubted() && identity.trust.refuse() >= SEARCHES_MAX {
            self.identify.settle(identity);
        }
    }

    /// Whether the rules say that a datagram is of another protocol, the connection's from now on.
    fn search_again(
        &mut self,
        on: On,
        to_server: bool,
        payload: (&[u8], usize),
        but: Option<ProtocolId>,
    ) -> bool {
        let whose = again(self.whose(on, to_server, 0), but);
        let identity = &mut self.state.identity;
        let step = self.identify.search_datagram(identity, whose, payload);
        match step {
            Step::Verdict(verdict) => {
                let protocol = self.identify.protocol(identity);
                if self.identify.names.agree(protocol, verdict.protocol) {
                    self.identify.fit(identity, to_server);
                    return false;
                }
                let is_replaced = self.replace(verdict);
                if is_replaced {
                    self.parse_datagram(to_server, payload);
                    self.note_fit(to_server);
                }
                is_replaced
            }
            Step::GaveUp(_) => {
                self.identify.release(identity);
                false
            }
            Step::Undecided => false,
        }
    }
}

/// After this many datagrams in a row that its parser refuses, a verdict is doubted once more.
const REFUSED_MAX: u8 = 4;

/// How many datagrams after a verdict are searched where no parser reads them.
const SEARCHES_MAX: u8 = 7;
