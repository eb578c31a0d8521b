//! What one side has sent of a message of HTTP, as the buffers that rules examine.

use super::forms::FormFile;
use super::http::{Field, Texts, part};
use crate::database::is_body;
use flowpin_rule::{BufferId, BufferSource, HttpPart};
use std::ops::Range;

/// What one side has sent of a message of HTTP.
pub(super) struct Sent<'a> {
    pub(super) to_server: bool,
    pub(super) body: &'a [u8],
    pub(super) texts: Texts<'a>,
    pub(super) fields: &'a [Field<'a>],
    pub(super) files: Files<'a>,
}

/// What the files of a message are.
#[derive(Clone, Copy)]
pub(super) enum Files<'a> {
    /// Its body, if it has one.
    Body,
    /// These parts of its body.
    Form(&'a [FormFile]),
}

impl Sent<'_> {
    pub(super) const fn form(&self) -> &[FormFile] {
        match self.files {
            Files::Form(form) => form,
            Files::Body => &[],
        }
    }

    /// Adds buffers.
    pub(super) fn put(
        &self,
        wanted: &[BufferId],
        buffers: &mut Vec<(BufferId, Range<usize>)>,
        arena: &mut Vec<u8>,
    ) {
        let form = self.form();
        let mut body_at: Option<Range<usize>> = None;
        for &buffer in wanted {
            let begin = arena.len();
            match buffer.info().source {
                source @ (BufferSource::File | BufferSource::OfFile(_)) if !form.is_empty() => {
                    for file in form {
                        let begin = arena.len();
                        match source {
                            BufferSource::OfFile("fileinfo.filename") => {
                                arena.extend_from_slice(&file.name);
                            }
                            BufferSource::OfFile(_) => arena.extend(file.size().into_bytes()),
                            _ => arena.extend_from_slice(&file.content),
                        }
                        buffers.push((buffer, begin..arena.len()));
                    }
                }
                _ if is_body(buffer) && !self.body.is_empty() => {
                    // One text, by whatever name.
                    let range = body_at.get_or_insert_with(|| {
                        arena.extend_from_slice(self.body);
                        begin..arena.len()
                    });
                    buffers.push((buffer, range.clone()));
                }
                BufferSource::Http(HttpPart::EachField) => {
                    for (name, value) in self.fields {
                        let begin = arena.len();
                        arena.extend_from_slice(name);
                        arena.extend_from_slice(b": ");
                        arena.extend_from_slice(value.trim_ascii());
                        buffers.push((buffer, begin..arena.len()));
                    }
                }
                BufferSource::Http(which) => {
                    let (texts, fields) = (&self.texts, self.fields);
                    let is_there = part(which, texts, fields, self.to_server, arena);
                    if is_there {
                        buffers.push((buffer, begin..arena.len()));
                    }
                }
                _ => {}
            }
        }
    }
}
