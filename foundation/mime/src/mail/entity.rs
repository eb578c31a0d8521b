//! The entities of a mail: what their heads say that they are, and where they begin and end.

use super::head::Kind;
use super::transfer::{Decoder, Encoding};
use super::{Boundary, Held, Mail, MailFlaw, MailParts, NAME_MAX, NESTED_MAX, PEEK_MAX, Place};
use crate::BOUNDARY_MAX;
use memchr::memchr2;

impl Mail {
    pub(super) fn begin_entity(&mut self) {
        self.count = self.count.saturating_add(1);
        self.is_part = false;
        self.head.clear();
        self.place = Place::Head;
    }

    pub(super) fn read_head<'b>(
        &mut self,
        bytes: &'b [u8],
        parts: &mut impl MailParts,
    ) -> &'b [u8] {
        let (rest, is_over) = self.head.feed(bytes);
        if is_over {
            self.head_over(parts);
        }
        rest
    }

    /// What the entity is: its content follows.
    pub(super) fn head_over(&mut self, parts: &mut impl MailParts) {
        self.is_line_start = true;
        self.held = Held::Nothing;
        let in_digest = self.is_part && self.boundaries.last().is_some_and(|last| last.is_digest);
        let head = core::mem::take(&mut self.head);
        if head.is_cut {
            parts.odd(MailFlaw::Head);
        }
        let said = head.said(in_digest);
        match said.kind {
            Kind::Message => self.begin_entity(),
            Kind::CodedMessage => {
                let name = said.name.as_deref();
                self.name = name.map(|name| name.get(..NAME_MAX).unwrap_or(name).to_vec());
                self.place = Place::Peek;
            }
            Kind::Multipart(boundary, is_digest) if self.enter(&boundary, is_digest, parts) => {
                self.place = Place::Between;
            }
            _ => self.begin_part(said.encoding, said.name.as_deref(), parts),
        }
        self.head = head;
        self.head.clear();
    }

    /// Reads the first line of what may be a message: base64 has no colon.
    pub(super) fn peek<'b>(&mut self, bytes: &'b [u8], parts: &mut impl MailParts) -> &'b [u8] {
        let room = PEEK_MAX.saturating_sub(self.first.len());
        let near = bytes.get(..room).unwrap_or(bytes);
        let end = memchr2(b':', b'\n', near);
        let len = end.map_or(near.len(), |end| end.saturating_add(1));
        let (more, rest) = bytes.split_at_checked(len).unwrap_or((bytes, &[]));
        self.first.extend_from_slice(more);
        if end.is_some() || self.first.len() >= PEEK_MAX {
            self.peeked(self.first.last() == Some(&b':'), parts);
        }
        rest
    }

    /// It is known what it is: what was read of it is the beginning.
    pub(super) fn peeked(&mut self, is_message: bool, parts: &mut impl MailParts) {
        let first = core::mem::take(&mut self.first);
        let name = self.name.take();
        if is_message {
            self.begin_entity();
        } else {
            self.begin_part(Encoding::Base64, name.as_deref(), parts);
        }
        let mut rest = first.as_slice();
        while !rest.is_empty() {
            rest = match self.place {
                Place::Head => self.read_head(rest, parts),
                _ => self.through_line_end(rest, parts),
            };
        }
    }

    /// A multipart begins; false if it cannot be divided.
    pub(super) fn enter(
        &mut self,
        boundary: &[u8],
        is_digest: bool,
        parts: &mut impl MailParts,
    ) -> bool {
        if boundary.len() > BOUNDARY_MAX || boundary.contains(&b'\r') {
            parts.odd(MailFlaw::Boundary);
            return false;
        }
        if self.boundaries.len() >= NESTED_MAX {
            parts.odd(MailFlaw::Nested);
            return false;
        }
        self.boundaries.push(Boundary {
            text: Box::from(boundary),
            is_digest,
        });
        true
    }

    pub(super) fn begin_part(
        &mut self,
        encoding: Encoding,
        name: Option<&[u8]>,
        parts: &mut impl MailParts,
    ) {
        self.place = Place::Content;
        self.is_flawed = false;
        self.decoder = encoding.decoder();
        parts.begin(self.count, name);
    }

    pub(super) fn end_part(&mut self, is_whole: bool, parts: &mut impl MailParts) {
        let is_valid = self.decoder.finish(&mut |made| parts.content(made));
        // Of what is not whole the end is missing, which is no fault of its sender.
        self.is_flawed |= !is_valid && is_whole;
        let decoder = core::mem::replace(&mut self.decoder, Decoder::Identity);
        match decoder {
            Decoder::Base64(_) if self.is_flawed => parts.odd(MailFlaw::Base64),
            Decoder::Quoted(_) if self.is_flawed => parts.odd(MailFlaw::QuotedPrintable),
            _ => {}
        }
        parts.over(is_whole);
    }
}
