//! Fields of heads: their names and values.

use super::fold::is_blank;
use crate::anomaly::Anomaly;
use crate::parser::forwarded::FORWARDED_FOR;
use crate::parser::turn::Turn;
use crate::state::{Phase, Side, Text, Transaction};
use crate::syntax::{
    Field, USER_MAX, authority, basic_user, coding, field, is_known_scheme, length, might_be_known,
    split_port, trimmed,
};
use flowpin_mime::parameter;
use flowpin_record::MessageSink;
use memchr::{memchr, memchr2};

impl<S: MessageSink> Turn<'_, S> {
    /// One field: its line, the position of its colon, and whether it may contain control bytes.
    /// There is no space before the colon.
    #[inline]
    pub(crate) fn field(&mut self, line: &[u8], colon: usize, is_odd: bool) {
        let (name, after) = line.split_at_checked(colon).unwrap_or((line, &[]));
        // The colon may be beyond the limit of the line.
        let Some((_, value)) = after.split_first().filter(|_| !is_odd && !name.is_empty()) else {
            return self.odd_line(line);
        };
        if self.options.all_fields || self.options.rules {
            self.keep_field(name, value);
        }
        if might_be_known(name) {
            self.maybe_known(name, value);
        }
    }

    /// A line without a colon, or with spaces or control bytes before it, or with control bytes
    /// anywhere.
    #[cold]
    pub(crate) fn odd_line(&mut self, line: &[u8]) {
        let colon = memchr(b':', line);
        // A line that continues another one has come with it: this is the first one. RFC 9112 §2.2:
        // it is ignored, with those that continue it.
        if matches!(line.first(), Some(b' ' | b'\t')) && colon.is_some() {
            self.tell_bytes(line);
            return self.report(Anomaly::FieldIndented);
        }
        let Some((name, after)) = colon.and_then(|at| line.split_at_checked(at)) else {
            self.tell_bytes(line);
            if is_blank(line) {
                self.report(Anomaly::HeadEndOdd);
                self.maybe_over();
            }
            self.continued(line);
            return self.report(Anomaly::ColonMissing);
        };
        self.odd_field(name, after.get(1..).unwrap_or_default());
    }

    /// Some receivers fold a line that begins with a NUL byte: the coding of a field without a
    /// value before it counts if the body is coded so.
    fn continued(&mut self, line: &[u8]) {
        let open = core::mem::take(&mut self.mine.framing.open);
        let Some(value) = line.strip_prefix(b"\0") else {
            return;
        };
        let value = trimmed(value);
        match open {
            Some(Field::TransferEncoding) => {
                let found = coding(value);
                self.mine.framing.disguised |= found.chunked || found.disguised;
            }
            Some(Field::ContentEncoding) => {
                self.mine.framing.encodings.content.add_content(value);
            }
            _ => {}
        }
    }

    fn maybe_known(&mut self, name: &[u8], value: &[u8]) {
        if let Some(field) = field(name) {
            self.known(field, trimmed(value));
        }
    }

    /// A field with a strange name, or with control bytes that may be anywhere.
    fn odd_field(&mut self, name: &[u8], value: &[u8]) {
        self.tell_bytes(name);
        self.tell_bytes(value);
        let plain = trimmed(name).trim_ascii();
        if plain.is_empty() {
            self.report(Anomaly::NameEmpty);
        } else if plain.iter().any(|&byte| byte <= b' ') {
            self.report(Anomaly::NameOdd);
        }
        if matches!(name, [.., b' ' | b'\t']) && !plain.is_empty() {
            self.report(Anomaly::SpaceBeforeColon);
        }
        if self.options.all_fields || self.options.rules {
            self.keep_field(name, value);
        }
        self.hidden_fields(value);
        // Some receivers drop bytes that are not allowed in names. A field hidden this way counts,
        // and is reported.
        let is_control = |byte: &u8| *byte < b' ' || *byte == 0x7f;
        if plain.iter().any(is_control) && plain.len() <= NAME_MAX {
            let mut room = [0u8; NAME_MAX];
            let mut len = 0usize;
            for (place, &byte) in room
                .iter_mut()
                .zip(plain.iter().filter(|&b| !is_control(b)))
            {
                *place = byte;
                len = len.wrapping_add(1);
            }
            let seen = room.get(..len).unwrap_or_default();
            return self.maybe_known(seen, value);
        }
        self.maybe_known(plain, value);
    }

    /// Reports control bytes other than tabs.
    pub(crate) fn tell_bytes(&mut self, bytes: &[u8]) {
        // PERF: control bytes are rare, so many bytes are checked at once.
        let is_odd = |byte: u8| (byte < b' ') & (byte != b'\t');
        if !bytes.iter().fold(false, |odd, &byte| odd | is_odd(byte)) {
            return;
        }
        for &byte in bytes {
            match byte {
                0 => self.report(Anomaly::NulByte),
                b'\r' => self.report(Anomaly::BareReturn),
                b'\t' => {}
                0x01..b' ' => self.report(Anomaly::ControlByte),
                _ => {}
            }
        }
    }

    /// Some receivers end a line at a carriage return alone, or take a folded line that has a colon
    /// for a field: codings of the body that stand there count if the body is coded so.
    pub(crate) fn hidden_fields(&mut self, line: &[u8]) {
        if memchr2(b'\r', b'\n', line).is_none() {
            return;
        }
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        for part in line.split(is_end).skip(1) {
            let part = trimmed(part);
            let colon = memchr(b':', part);
            let Some((name, value)) = colon.and_then(|at| part.split_at_checked(at)) else {
                continue;
            };
            let value = trimmed(value.get(1..).unwrap_or_default());
            match field(name) {
                Some(Field::TransferEncoding) => {
                    let found = coding(value);
                    self.mine.framing.disguised |= found.chunked || found.disguised;
                }
                Some(Field::ContentEncoding) => {
                    self.mine.framing.encodings.content.add_content(value);
                }
                _ => {}
            }
        }
    }

    fn known(&mut self, field: Field, value: &[u8]) {
        if self.mine.phase == Phase::Trailer {
            use Field::{ContentEncoding, ContentLength, Host, TransferEncoding};
            if matches!(
                field,
                ContentEncoding | ContentLength | Host | TransferEncoding
            ) {
                self.report(Anomaly::TrailerForbidden);
            }
            return;
        }
        if value.is_empty() {
            self.mine.framing.open = Some(field);
        }
        match field {
            Field::ContentLength => self.content_length(value),
            Field::TransferEncoding => self.transfer_encoding(value),
            Field::ContentEncoding => {
                let content = &mut self.mine.framing.encodings.content;
                let is_list = value.contains(&b',') || !content.is_empty();
                content.add_content(value);
                if is_list {
                    self.report(Anomaly::EncodingList);
                }
            }
            Field::Upgrade => self.upgrade(value),
            _ if self.to_server => self.of_request(field, value),
            Field::ContentType => self.keep(Text::ContentType, value),
            Field::Location => self.keep(Text::Redirect, value),
            Field::ContentRange => self.keep(Text::ContentRange, value),
            Field::ContentDisposition if self.options.bodies.any() || self.options.rules => {
                // RFC 6266 §4.3: a receiver that knows both takes the extended form.
                let name = parameter(value, b"filename").extended_first();
                self.keep_always(Text::FileName, &name.unwrap_or_default());
            }
            _ => {}
        }
    }

    fn of_request(&mut self, field: Field, value: &[u8]) {
        match field {
            Field::Host => self.host(value),
            Field::Expect => self.expect(value),
            Field::ContentType if self.options.bodies.any() => self.parts_of_body(value),
            Field::Referrer => self.keep(Text::Referrer, value),
            Field::UserAgent => self.keep(Text::UserAgent, value),
            Field::Origin => self.keep(Text::Origin, value),
            Field::Authorization => {
                if !is_known_scheme(value) {
                    self.report(Anomaly::AuthUnknown);
                }
                let mut room = [0; USER_MAX];
                if let Some(user) = basic_user(value, &mut room) {
                    self.keep(Text::User, user);
                }
            }
            _ => self.of_proxy(field, value),
        }
    }

    fn of_proxy(&mut self, field: Field, value: &[u8]) {
        let name: &[u8] = match field {
            Field::ForwardedFor => FORWARDED_FOR,
            Field::ForwardedFrom => b"X-FORWARDED-FROM",
            Field::Forwarded => b"FORWARDED",
            Field::ClientIp => b"CLIENT-IP",
            Field::Via => b"VIA",
            Field::XroxyConnection => b"XROXY-CONNECTION",
            Field::ProxyConnection => b"PROXY-CONNECTION",
            _ => return,
        };
        let is_kept = self.keep_proxied(name, value);
        if field == Field::ForwardedFor && (!is_kept || self.mine.has(Side::FIELD_CUT)) {
            self.forwarded_cut();
        }
    }

    /// RFC 7578: a form is a body of several parts, and its type names what divides them.
    fn parts_of_body(&mut self, media_type: &[u8]) {
        let kind = media_type.get(..MULTIPART.len());
        if kind.is_some_and(|kind| kind.eq_ignore_ascii_case(MULTIPART)) {
            let boundary = parameter(media_type, b"boundary").plain_first();
            self.keep_always(Text::Boundary, &boundary.unwrap_or_default());
        }
    }

    /// RFC 9112 §6.3: of different lengths, the first is used.
    fn content_length(&mut self, value: &[u8]) {
        let found = length(value);
        if let Some(anomaly) = found.anomaly {
            self.report(anomaly);
        }
        let framing = &mut self.mine.framing;
        if framing.has_length {
            let same = framing.length == found.bytes;
            self.report(if same {
                Anomaly::LengthRepeated
            } else {
                Anomaly::LengthsContradict
            });
            return;
        }
        framing.has_length = true;
        framing.length = found.bytes;
    }

    fn transfer_encoding(&mut self, value: &[u8]) {
        let found = coding(value);
        if let Some(anomaly) = found.anomaly {
            self.report(anomaly);
        }
        if self.mine.framing.has_coding {
            self.report(Anomaly::CodingRepeated);
        }
        let framing = &mut self.mine.framing;
        framing.has_coding = true;
        if !framing.chunked {
            // Codings that follow `chunked` are not undone.
            framing.encodings.transfer.add_transfer(value);
        }
        framing.chunked |= found.chunked;
        framing.disguised |= found.disguised;
        // The fields form one list, which ends with the last field.
        framing.unchunked = found.unchunked;
    }

    fn upgrade(&mut self, value: &[u8]) {
        // A change of protocol is read from it later.
        self.keep_always(Text::Upgrade, value);
        if self.to_server
            && let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction)
        {
            transaction.bits |= Transaction::UPGRADE;
        }
    }

    /// RFC 9112 §3.2: one Host field, which matches the host of an absolute target.
    fn host(&mut self, value: &[u8]) {
        if self.mine.framing.has_host {
            return self.report(Anomaly::HostRepeated);
        }
        self.mine.framing.has_host = true;
        let (name, port) = split_port(value);
        let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) else {
            return;
        };
        let part = transaction.part(Text::Host);
        if part.is_empty() {
            transaction.port = port;
            return self.keep(Text::Host, name);
        }
        // The target has a host.
        let named = self.pools.text(self.mine.transaction, Text::Host);
        if !named.eq_ignore_ascii_case(name) {
            self.report(Anomaly::HostContradicts);
        }
    }

    /// The host of an absolute target.
    pub(crate) fn host_of_target(&mut self, uri: &[u8], is_connect: bool) {
        // RFC 9112 §3.2.3: CONNECT has a host and a port, and no path.
        let found = match uri.first() {
            Some(b'/') => None,
            _ if is_connect => Some(uri),
            _ => authority(uri),
        };
        let Some((name, port)) = found.map(split_port) else {
            return;
        };
        // A Host field is compared with it.
        self.keep_always(Text::Host, name);
        if let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) {
            transaction.port = port;
        }
    }
}

/// Longer names are not cleaned of control bytes.
const NAME_MAX: usize = 32;
/// The type of all bodies of several parts.
const MULTIPART: &[u8] = b"multipart/";
