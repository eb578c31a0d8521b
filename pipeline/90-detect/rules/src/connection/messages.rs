//! What a parser has said in one call: bodies are kept, messages compared.

use super::http::{Field, Texts};
use super::occasion::{Message, Occasion, Shown};
use super::sent::{Files, Sent};
use super::state::Connection;
use super::{Detector, Ends, Found};
use crate::columns::SHOWN;
use crate::database::{Database, Odd, Place};
use crate::tap::{HttpText, Item, Tap, Which};
use flowpin_counters::Loss;
use flowpin_rule::{BufferId, BufferSource};
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::Arc;

impl Detector {
    /// Compares rules with what the connection's parser has just said; `datagram`: of which
    /// datagram, and whether it was sent to the server.
    pub fn messages(
        &mut self,
        handle: u32,
        ends: &Ends,
        (tap, datagram): (&Tap, Option<(bool, &[u8])>),
        found: &mut Vec<Found>,
    ) {
        let mut from = 0;
        for (at, item) in tap.items.iter().enumerate() {
            match item {
                Item::FileData(number, range) => self.body(handle, *number, tap.bytes(range)),
                &Item::Carried(to_server, number, transaction) => {
                    let said = Said {
                        items: tap.items.get(from..at).unwrap_or_default(),
                        tap,
                        protocol: MAIL,
                        from_server: !to_server,
                        depth: 0,
                        transaction,
                        datagram,
                    };
                    self.carried(handle, ends, &said, number, found);
                    from = at + 1;
                }
                &Item::Anomaly(own, to_server) => {
                    let odd = Odd::Message(own, to_server);
                    if let Some(connection) = self.connections.get_mut(handle) {
                        connection.odd |= self.database.events.awaited(own, to_server);
                    }
                    let before = found.len();
                    self.odd(handle, ends, odd, to_server, found);
                    if found.len() > before {
                        let items = tap.items.get(from..at).unwrap_or_default();
                        let shown: Shown = tap.shown(items).collect();
                        let alerts = found.iter_mut().skip(before);
                        alerts.for_each(|one| one.shown = Arc::clone(&shown));
                    }
                }
                Item::Message {
                    protocol,
                    from_server,
                    depth,
                    transaction,
                } => {
                    let said = tap.items.get(from..at).unwrap_or_default();
                    let message = Said {
                        items: said,
                        tap,
                        protocol,
                        from_server: *from_server,
                        depth: *depth,
                        transaction: *transaction,
                        datagram,
                    };
                    self.message(handle, ends, &message, found);
                    from = at + 1;
                }
                _ => {}
            }
        }
    }

    fn body(&mut self, handle: u32, number: u64, bytes: &[u8]) {
        if let Some(connection) = self.connections.get_mut(handle) {
            let lost = self.bodies.add(handle, connection, number, bytes);
            self.losses.count(Loss::RuleBodyBytes, lost);
        }
    }

    /// Compares rules about files with one that a mail carries.
    fn carried(
        &mut self,
        handle: u32,
        ends: &Ends,
        said: &Said<'_>,
        number: u64,
        found: &mut Vec<Found>,
    ) {
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        connection.apps |= self.database.apps_of(said.protocol);
        let mut body = Vec::new();
        self.bodies.take(handle, connection, number, &mut body);
        if connection.has(Connection::PASSED) {
            return;
        }
        let to_server = !said.from_server;
        let (mut buffers, mut arena) = (Vec::new(), Vec::new());
        said.sent(to_server, &mut buffers, &mut arena);
        let mut used = self.database.used.iter();
        let data = used.find(|one| one.info().source == BufferSource::File);
        if let Some(&data) = data.filter(|_| !body.is_empty()) {
            let begin = arena.len();
            arena.extend_from_slice(&body);
            buffers.push((data, begin..arena.len()));
        }
        if buffers.is_empty() {
            return;
        }
        let side = usize::from(!to_server);
        self.scratch.begin();
        let place = Occasion::new(ends, to_server).place();
        if let Some(group) = self.database.bodies.get(side).filter(|_| !body.is_empty()) {
            self.scratch.search("bodies", group, &body, place);
        }
        // Rules about files alone: those about the mail's own parts are compared when it is told.
        self.candidates((&buffers, &arena), [""], side, place);
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        let shown = OnceCell::from(Shown::default());
        let message = Message {
            buffers: &buffers,
            arena: &arena,
            other: None,
            transaction: said.transaction,
            said,
            shown: &shown,
        };
        let occasion = Occasion {
            message: Some(&message),
            ..Occasion::new(ends, to_server)
        };
        let (database, losses) = (&self.database, &mut self.losses);
        self.scratch
            .evaluate(database, connection, &occasion, losses, found);
    }

    /// Collects the rules that may fit these buffers.
    pub(super) fn candidates(
        &mut self,
        (buffers, arena): (&[(BufferId, Range<usize>)], &[u8]),
        protocols: impl IntoIterator<Item = &'static str>,
        side: usize,
        place: Place,
    ) {
        for (buffer, range) in buffers {
            let groups = self.database.buffers.get(buffer);
            if let Some(group) = groups.and_then(|both| both.get(side)) {
                let bytes = arena.get(range.clone()).unwrap_or_default();
                let name = buffer.info().name;
                self.scratch.search(name, group, bytes, place);
            }
        }
        for protocol in protocols {
            let others = self.database.messages.get(protocol);
            let others = others.and_then(|both| both.get(side));
            others
                .into_iter()
                .flatten()
                .for_each(|&rule| self.scratch.add(rule));
        }
    }

    fn message(&mut self, handle: u32, ends: &Ends, said: &Said<'_>, found: &mut Vec<Found>) {
        let is_encrypted = said.protocol == "tls";
        if is_encrypted {
            // What was sent in clear before is compared first.
            for to_server in [true, false] {
                self.compare(handle, ends, to_server, found);
            }
        }
        let Some(connection) = self.connections.get_mut(handle) else {
            return;
        };
        // Whatever identification says of it: its parser knows.
        connection.apps |= self.database.apps_of(said.protocol);
        if is_encrypted {
            connection.note(Connection::ENCRYPTED);
        }
        let mut space = core::mem::take(&mut self.space);
        space.bodies.iter_mut().for_each(Vec::clear);
        if said.protocol == "http" {
            for (side, body) in (0_u64..).zip(&mut space.bodies) {
                let number = said.depth.wrapping_mul(2).wrapping_add(side);
                self.bodies.take(handle, connection, number, body);
            }
        }
        if !connection.has(Connection::PASSED) {
            self.both(handle, ends, said, &mut space, found);
        }
        self.space = space;
    }

    /// Compares rules with what each side has sent of a message, and with both.
    fn both(
        &mut self,
        handle: u32,
        ends: &Ends,
        said: &Said<'_>,
        space: &mut Space,
        found: &mut Vec<Found>,
    ) {
        let is_transactional = self.database.transactions.contains_key(said.protocol);
        let mut sides: [Buffers; 2] = Default::default();
        let Space { bodies, buffers } = space;
        for ((to_server, body), made) in [true, false].into_iter().zip(&*bodies).zip(&mut sides) {
            let fields = said.fields(to_server);
            let mut is_cut = false;
            let form = match to_server && said.protocol == "http" && self.database.reads_files {
                true => super::forms::files(&fields, body, &mut is_cut),
                false => Vec::new(),
            };
            self.losses.count(Loss::RuleForms, u64::from(is_cut));
            let mut sent = Sent {
                to_server,
                body,
                texts: said.texts(),
                fields: &fields,
                files: Files::Body,
            };
            // Each file of a form with all that is not a file; rules about no file once.
            for nth in 0..form.len().max(1) {
                if let Some(file) = form.get(nth) {
                    sent.files = Files::Form(core::slice::from_ref(file));
                }
                let about_files = match (form.len(), nth) {
                    (0 | 1, _) => None,
                    (_, 0) => Some(Among::NotAcross),
                    _ => Some(Among::EachFile),
                };
                let about = (said, &sent, about_files);
                self.one_side(handle, ends, about, buffers, found);
            }
            if form.len() > 1 {
                sent.files = Files::Form(&form);
                let about = (said, &sent, Some(Among::Across));
                self.one_side(handle, ends, about, buffers, found);
            }
            if is_transactional {
                if !form.is_empty() {
                    sent.files = Files::Form(&form);
                }
                said.put_searched(&self.database, &sent, made);
                said.put_others(&self.database, &sent, made);
            }
        }
        self.both_sides(handle, ends, said, &sides, found);
        if let Some(connection) = self.connections.get_mut(handle) {
            connection.odd = 0;
        }
    }

    /// Compares rules with what one side has sent of a message: all, or some of them.
    // PERF: buffers that are not searched are made if there is a candidate: mostly there is none.
    fn one_side(
        &mut self,
        handle: u32,
        ends: &Ends,
        (said, sent, among): (&Said<'_>, &Sent<'_>, Option<Among>),
        made: &mut Buffers,
        found: &mut Vec<Found>,
    ) {
        let (to_server, side) = (sent.to_server, usize::from(!sent.to_server));
        made.0.clear();
        made.1.clear();
        said.put_searched(&self.database, sent, made);
        let is_all = made.0.is_empty();
        if is_all {
            said.put_others(&self.database, sent, made);
            if made.0.is_empty() {
                return;
            }
        }
        self.scratch.begin();
        let place = Occasion::new(ends, to_server).place();
        let group = self.database.bodies.get(side);
        if let Some(group) = group.filter(|_| !sent.body.is_empty()) {
            self.scratch.search("bodies", group, sent.body, place);
        }
        self.candidates((&made.0, &made.1), [said.protocol, ""], side, place);
        if let Some(among) = among {
            let rules = &self.database.rules;
            self.scratch.retain(|rule| {
                let compiled = rules.get(rule as usize);
                compiled.is_some_and(|compiled| match (among, compiled.is_across_files()) {
                    (Among::Across, is_across) => is_across,
                    (_, true) => false,
                    (Among::NotAcross, false) => true,
                    (Among::EachFile, false) => compiled.is_about_files(),
                })
            });
        }
        if self.scratch.is_empty() {
            return;
        }
        // The other side, or the file before, may have let it pass.
        let connection = self.connections.get_mut(handle);
        let Some(connection) = connection.filter(|one| !one.has(Connection::PASSED)) else {
            return;
        };
        if !is_all {
            said.put_others(&self.database, sent, made);
        }
        let shown = OnceCell::new();
        let message = Message {
            buffers: &made.0,
            arena: &made.1,
            other: None,
            transaction: said.transaction,
            said,
            shown: &shown,
        };
        let mut window = core::mem::take(&mut self.scratch.window);
        window.clear();
        match said.datagram {
            // What the other side has sent is not what the rule fits.
            Some((by_client, bytes)) if by_client == to_server => window.extend_from_slice(bytes),
            Some(_) => {}
            None => {
                if let Some(side) = connection.sides.get(side) {
                    side.read(&self.windows, 0, usize::MAX, &mut window);
                }
            }
        }
        let occasion = Occasion {
            payload: &window,
            message: Some(&message),
            ..Occasion::new(ends, to_server)
        };
        let (database, losses) = (&self.database, &mut self.losses);
        self.scratch
            .evaluate(database, connection, &occasion, losses, found);
        self.scratch.window = window;
    }

    /// Compares rules on both directions with a request and its response.
    fn both_sides(
        &mut self,
        handle: u32,
        ends: &Ends,
        said: &Said<'_>,
        sides: &[Buffers; 2],
        found: &mut Vec<Found>,
    ) {
        let rules = self.database.transactions.get(said.protocol);
        let (Some(rules), Some(connection)) = (rules, self.connections.get_mut(handle)) else {
            return;
        };
        let [(buffers, arena), (of_server, server_arena)] = sides;
        if of_server.is_empty() || buffers.is_empty() || connection.has(Connection::PASSED) {
            return;
        }
        self.scratch.begin();
        rules.iter().for_each(|&rule| self.scratch.add(rule));
        let shown = OnceCell::new();
        let message = Message {
            buffers,
            arena,
            other: Some((of_server, server_arena)),
            transaction: said.transaction,
            said,
            shown: &shown,
        };
        let occasion = Occasion {
            message: Some(&message),
            ..Occasion::new(ends, true)
        };
        let (database, losses) = (&self.database, &mut self.losses);
        self.scratch
            .evaluate(database, connection, &occasion, losses, found);
    }
}

/// Which rules are compared with a form of several files.
#[derive(Clone, Copy)]
enum Among {
    /// All but those that ask for more than one file: with the first one.
    NotAcross,
    /// Of those the ones about files: with each other one.
    EachFile,
    /// Those that ask for more than one file: with all.
    Across,
}

/// Buffers of one side, and the bytes that they lie in.
type Buffers = (Vec<(BufferId, Range<usize>)>, Vec<u8>);

/// What the protocol of mails is called.
const MAIL: &str = "smtp";

/// What belongs to one message.
pub(super) struct Said<'a> {
    items: &'a [Item],
    tap: &'a Tap,
    protocol: &'static str,
    from_server: bool,
    depth: u64,
    transaction: u32,
    /// The datagram that completes it, and whether the client has sent that.
    datagram: Option<(bool, &'a [u8])>,
}

impl<'a> Said<'a> {
    /// What no parser has said; `silence` is empty.
    pub(super) const fn nothing(silence: &'a Tap) -> Self {
        Said {
            items: &[],
            tap: silence,
            protocol: "",
            from_server: false,
            depth: 0,
            transaction: 0,
            datagram: None,
        }
    }
}

impl Said<'_> {
    fn values(&self) -> impl Iterator<Item = (Which, &[u8])> {
        self.items.iter().filter_map(|item| match item {
            Item::Value(which, range) => Some((*which, self.tap.bytes(range))),
            _ => None,
        })
    }

    /// What alerts show of it.
    pub(super) fn shown(&self) -> Vec<(u8, Vec<u8>)> {
        self.tap.shown(self.items).collect()
    }

    /// Whether a column that alerts show has a value, by its path in events.
    fn shows(&self, path: &str) -> bool {
        let is_it = |nth: u8| SHOWN.get(usize::from(nth)) == Some(&path);
        self.values()
            .any(|(which, _)| matches!(which, Which::Shown(nth) if is_it(nth)))
    }

    fn texts(&self) -> Texts<'_> {
        let mut texts = Texts::default();
        for (which, bytes) in self.values() {
            let Which::Text(text) = which else { continue };
            *match text {
                HttpText::Method => &mut texts.method,
                HttpText::Uri => &mut texts.uri,
                HttpText::Host => &mut texts.host,
                HttpText::Protocol => &mut texts.protocol,
                HttpText::Status => &mut texts.status,
                HttpText::Reason => &mut texts.reason,
            } = bytes;
        }
        texts
    }

    /// Adds the buffers of what one side sent.
    fn sent(
        &self,
        to_server: bool,
        buffers: &mut Vec<(BufferId, Range<usize>)>,
        arena: &mut Vec<u8>,
    ) {
        for item in self.items {
            if let Item::Sent(sender, buffer, range) = item
                && *sender == to_server
            {
                let begin = arena.len();
                arena.extend_from_slice(self.tap.bytes(range));
                buffers.push((*buffer, begin..arena.len()));
            }
        }
    }

    /// The fields of a request, or of a response.
    fn fields(&self, to_server: bool) -> Vec<Field<'_>> {
        let fields = self.items.iter().filter_map(|item| match item {
            Item::Field(of_request, name, value) if *of_request == to_server => {
                Some((self.tap.bytes(name), self.tap.bytes(value)))
            }
            _ => None,
        });
        fields.collect()
    }

    /// Adds what one side has sent, as far as it is searched, and all values.
    fn put_searched(&self, database: &Database, sent: &Sent<'_>, (buffers, arena): &mut Buffers) {
        let to_server = sent.to_server;
        let has_command = self.protocol == "ftp" && self.shows("ftp.command");
        for (which, bytes) in self.values() {
            let Which::Buffer(buffer) = which else {
                continue;
            };
            let info = buffer.info();
            // A greeting replies to no command.
            if info.name == "ftp.reply_received" && !has_command {
                continue;
            }
            // A command with its replies is examined in both directions, as is a handshake.
            let is_of_either = info.to_server.is_none();
            let is_of_both = is_of_either && (self.protocol == "ftp" || info.name == "ssl_state");
            let sender = info.to_server.unwrap_or(!self.from_server);
            if is_of_both || sender == to_server {
                let begin = arena.len();
                arena.extend_from_slice(bytes);
                buffers.push((buffer, begin..arena.len()));
            }
        }
        self.sent(to_server, buffers, arena);
        if self.protocol == "http" {
            if !sent.form().is_empty() {
                // They are the files, not the body.
                buffers.retain(|one| !matches!(one.0.info().source, BufferSource::OfFile(_)));
            }
            if let Some(of_side) = database.http.get(usize::from(!to_server)) {
                sent.put(&of_side.searched, buffers, arena);
            }
        }
    }

    /// Adds what else one side has sent, which rules examine.
    fn put_others(&self, database: &Database, sent: &Sent<'_>, (buffers, arena): &mut Buffers) {
        let of_side = database.http.get(usize::from(!sent.to_server));
        if let Some(of_side) = of_side.filter(|_| self.protocol == "http") {
            sent.put(&of_side.others, buffers, arena);
        }
    }
}

/// Space for what one message consists of, used again.
#[derive(Debug, Default)]
pub(super) struct Space {
    /// The client's body, and the server's.
    bodies: [Vec<u8>; 2],
    buffers: Buffers,
}
