//! What a parser has said in one call: bodies are kept, messages compared.

use super::forms::FormFile;
use super::http::{Field, Texts, part};
use super::occasion::{Message, Occasion, Shown};
use super::state::Connection;
use super::{Detector, Ends, Found};
use crate::columns::SHOWN;
use crate::database::{Odd, Place, is_body};
use crate::tap::{HttpText, Item, Tap, Which};
use flowpin_counters::Loss;
use flowpin_rule::{BufferId, BufferSource, HttpPart};
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
        connection.apps |= self.database.apps([said.protocol, ""]);
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
        connection.apps |= self.database.apps([said.protocol, ""]);
        if is_encrypted {
            connection.note(Connection::ENCRYPTED);
        }
        let mut bodies = [Vec::new(), Vec::new()];
        if said.protocol == "http" {
            for (side, body) in (0_u64..).zip(&mut bodies) {
                let number = said.depth.wrapping_mul(2).wrapping_add(side);
                self.bodies.take(handle, connection, number, body);
            }
        }
        if connection.has(Connection::PASSED) {
            return;
        }
        let mut sides: [Buffers; 2] = Default::default();
        for ((to_server, body), made) in [true, false].into_iter().zip(&bodies).zip(&mut sides) {
            let mut is_cut = false;
            let form = said.form(&self.database.used, to_server, body, &mut is_cut);
            self.losses.count(Loss::RuleForms, u64::from(is_cut));
            // Each file of a form with all that is not a file; rules about no file once.
            for nth in 0..form.len().max(1) {
                let files = match form.get(nth) {
                    Some(file) => Files::Form(core::slice::from_ref(file)),
                    None => Files::Body,
                };
                let buffers = said.buffers(&self.database.used, to_server, (body, files));
                let about = (said, to_server, body.as_slice());
                let about_files = match (form.len(), nth) {
                    (0 | 1, _) => None,
                    (_, 0) => Some(Among::NotAcross),
                    _ => Some(Among::EachFile),
                };
                self.one_side(handle, ends, about, (&buffers, about_files), found);
            }
            if form.len() > 1 {
                let files = Files::Form(&form);
                let buffers = said.buffers(&self.database.used, to_server, (body, files));
                let about = (said, to_server, body.as_slice());
                let rules = (&buffers, Some(Among::Across));
                self.one_side(handle, ends, about, rules, found);
            }
            if self.database.transactions.contains_key(said.protocol) {
                let files = match form.is_empty() {
                    true => Files::Body,
                    false => Files::Form(&form),
                };
                *made = said.buffers(&self.database.used, to_server, (body, files));
            }
        }
        self.both_sides(handle, ends, said, &sides, found);
        if let Some(connection) = self.connections.get_mut(handle) {
            connection.odd = 0;
        }
    }

    /// Compares rules with what one side has sent of a message: all, or some of them.
    fn one_side(
        &mut self,
        handle: u32,
        ends: &Ends,
        (said, to_server, body): (&Said<'_>, bool, &[u8]),
        ((buffers, arena), among): (&Buffers, Option<Among>),
        found: &mut Vec<Found>,
    ) {
        if buffers.is_empty() {
            return;
        }
        let side = usize::from(!to_server);
        self.scratch.begin();
        let place = Occasion::new(ends, to_server).place();
        if let Some(group) = self.database.bodies.get(side).filter(|_| !body.is_empty()) {
            self.scratch.search("bodies", group, body, place);
        }
        self.candidates((buffers, arena), [said.protocol, ""], side, place);
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
        // The other side, or the file before, may have let it pass.
        let connection = self.connections.get_mut(handle);
        let Some(connection) = connection.filter(|one| !one.has(Connection::PASSED)) else {
            return;
        };
        let shown = OnceCell::new();
        let message = Message {
            buffers,
            arena,
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
                    self.windows.read(&side.window, &mut window);
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

/// What the files of a message are.
#[derive(Clone, Copy)]
enum Files<'a> {
    /// Its body, if it has one.
    Body,
    /// These parts of its body.
    Form(&'a [FormFile]),
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

    /// The files of a form that the client sends, if rules read files.
    fn form<'b>(
        &self,
        used: impl IntoIterator<Item = &'b BufferId>,
        to_server: bool,
        body: &[u8],
        is_cut: &mut bool,
    ) -> Vec<FormFile> {
        let mut sources = used.into_iter().map(|one| one.info().source);
        let is_of_files =
            |one: BufferSource| matches!(one, BufferSource::File | BufferSource::OfFile(_));
        match self.protocol == "http" && to_server && sources.any(is_of_files) {
            true => super::forms::files(&self.fields(to_server), body, is_cut),
            false => Vec::new(),
        }
    }

    /// Makes the buffers of one direction that rules use.
    fn buffers<'b>(
        &self,
        used: impl IntoIterator<Item = &'b BufferId>,
        to_server: bool,
        (body, files): (&[u8], Files<'_>),
    ) -> Buffers {
        let (mut made, mut bytes) = Buffers::default();
        let (buffers, arena) = (&mut made, &mut bytes);
        let has_command = self.shows("ftp.command");
        for (which, bytes) in self.values() {
            let Which::Buffer(buffer) = which else {
                continue;
            };
            // A greeting replies to no command.
            if buffer.info().name == "ftp.reply_received" && !has_command {
                continue;
            }
            // A command with its replies is examined in both directions, as is a handshake.
            let is_of_either = buffer.info().to_server.is_none();
            let is_of_both =
                is_of_either && (self.protocol == "ftp" || buffer.info().name == "ssl_state");
            let sender = buffer.info().to_server.unwrap_or(!self.from_server);
            if is_of_both || sender == to_server {
                let begin = arena.len();
                arena.extend_from_slice(bytes);
                buffers.push((buffer, begin..arena.len()));
            }
        }
        self.sent(to_server, buffers, arena);
        if self.protocol != "http" {
            return (made, bytes);
        }
        let texts = self.texts();
        let fields = self.fields(to_server);
        let form = match files {
            Files::Form(form) => form,
            Files::Body => &[],
        };
        if !form.is_empty() {
            // They are the files, not the body.
            buffers.retain(|one| !matches!(one.0.info().source, BufferSource::OfFile(_)));
        }
        let mut body_at: Option<Range<usize>> = None;
        for &buffer in used {
            let info = buffer.info();
            if info.to_server.is_some_and(|sender| sender != to_server) {
                continue;
            }
            let begin = arena.len();
            match info.source {
                BufferSource::File | BufferSource::OfFile(_) if !form.is_empty() => {
                    for file in form {
                        let begin = arena.len();
                        match info.source {
                            BufferSource::OfFile("fileinfo.filename") => {
                                arena.extend_from_slice(&file.name);
                            }
                            BufferSource::OfFile(_) => arena.extend(file.size().into_bytes()),
                            _ => arena.extend_from_slice(&file.content),
                        }
                        buffers.push((buffer, begin..arena.len()));
                    }
                }
                _ if is_body(buffer) && !body.is_empty() => {
                    // One text, by whatever name.
                    let range = body_at.get_or_insert_with(|| {
                        arena.extend_from_slice(body);
                        begin..arena.len()
                    });
                    buffers.push((buffer, range.clone()));
                }
                BufferSource::Http(HttpPart::EachField) => {
                    for (name, value) in &fields {
                        let begin = arena.len();
                        arena.extend([*name, b": ", value.trim_ascii()].concat());
                        buffers.push((buffer, begin..arena.len()));
                    }
                }
                BufferSource::Http(which) => {
                    let is_there = part(which, &texts, &fields, to_server, arena);
                    if is_there {
                        buffers.push((buffer, begin..arena.len()));
                    }
                }
                _ => {}
            }
        }
        (made, bytes)
    }
}
