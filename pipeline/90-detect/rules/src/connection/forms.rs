//! The files of a form (RFC 7578) that a request carries: each is a file of its own to rules.

use super::bodies::BYTES_MAX;
use super::http::Field;
use flowpin_mime::{Multipart, Parts, field, parameter};

/// A part of a form that gives a file's name.
#[derive(Debug, Default)]
pub(super) struct FormFile {
    pub(super) name: Vec<u8>,
    pub(super) content: Vec<u8>,
    /// Whether its end is there: else it has at least `sure` bytes.
    pub(super) is_whole: bool,
    /// Bytes that are no beginning of a delimiter.
    sure: usize,
}

impl FormFile {
    /// Its length in digits, and behind that of a beginning `+`.
    pub(super) fn size(&self) -> String {
        match self.is_whole {
            true => self.content.len().to_string(),
            false => format!("{}+", self.sure),
        }
    }
}

/// The files of a body, by the fields of its request; none, so that the body is examined as one, if
/// they are more than [`FILES_MAX`]. `is_cut`: whether the form goes on behind what is kept of it.
pub(super) fn files(fields: &[Field<'_>], body: &[u8], is_cut: &mut bool) -> Vec<FormFile> {
    let is_type = |name: &[u8]| name.eq_ignore_ascii_case(b"content-type");
    let media_type = fields.iter().find(|(name, _)| is_type(name));
    let Some(media_type) = media_type.map(|(_, value)| value.trim_ascii()) else {
        return Vec::new();
    };
    let kind = media_type.get(..FORM.len());
    if body.is_empty() || !kind.is_some_and(|kind| kind.eq_ignore_ascii_case(FORM)) {
        return Vec::new();
    }
    let boundary = parameter(media_type, b"boundary").plain_first();
    let Some(mut form) = boundary.and_then(|boundary| Multipart::new(&boundary)) else {
        return Vec::new();
    };
    let mut found = Found::default();
    form.feed(body, &mut found);
    *is_cut = body.len() >= BYTES_MAX && !form.is_over();
    if let Some(file) = found.files.last_mut() {
        file.sure = file.content.len();
    }
    form.finish(&mut found);
    match found.has_more {
        true => Vec::new(),
        false => found.files,
    }
}

#[derive(Default)]
struct Found {
    files: Vec<FormFile>,
    is_file: bool,
    has_more: bool,
}

impl Parts for Found {
    fn head(&mut self, head: &[u8]) {
        self.is_file = false;
        let Some(disposition) = field(head, b"content-disposition") else {
            return;
        };
        let name = parameter(&disposition, b"filename").plain_first();
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            if self.files.len() == FILES_MAX {
                self.has_more = true;
                return;
            }
            self.is_file = true;
            self.files.push(FormFile {
                name: name.into_owned(),
                ..FormFile::default()
            });
        }
    }

    fn content(&mut self, bytes: &[u8]) {
        if let Some(file) = self.files.last_mut().filter(|_| self.is_file) {
            file.content.extend_from_slice(bytes);
        }
    }

    fn over(&mut self, is_whole: bool) {
        if let Some(file) = self.files.last_mut().filter(|_| self.is_file) {
            file.is_whole = is_whole;
        }
        self.is_file = false;
    }
}

const FORM: &[u8] = b"multipart/form-data";
/// As many as have records.
const FILES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, FILES_MAX, files};

    const FORM: &[(&[u8], &[u8])] = &[(b"Content-Type", b" multipart/form-data; boundary=x")];

    /// Only parts with a file's name are files, and one that the body cuts has no known length.
    #[test]
    fn forms_have_files_of_their_own() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nno file\r\n--x\r\n\
            Content-Disposition: form-data; name=\"b\"; filename=\"b.txt\"\r\n\r\nbytes\r\n--x\r\n\
            Content-Disposition: form-data; filename=\"c.txt\"\r\n\r\ncut";
        let found = files(FORM, body, &mut false);
        let told: Vec<_> = found
            .iter()
            .map(|one| (&one.name[..], &one.content[..], one.is_whole))
            .collect();
        let expected: [(&[u8], &[u8], bool); 2] =
            [(b"b.txt", b"bytes", true), (b"c.txt", b"cut", false)];
        assert_eq!(told, expected);
        assert!(files(&[], body, &mut false).is_empty());
    }

    /// What is cut within a delimiter does not count it as the file's.
    #[test]
    fn the_length_of_a_beginning_is_a_lower_bound() {
        let part = b"--x\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\n";
        for (rest, size) in [
            (&b"abc\r\n--x--\r\n"[..], "3"),
            (b"abc", "3+"),
            (b"abc\r\n-", "3+"),
            (b"abc\r\n--x", "3+"),
        ] {
            let found = files(FORM, &[&part[..], rest].concat(), &mut false);
            assert_eq!(found[0].size(), size, "{rest:?}");
        }
    }

    /// Nobody hides a file behind many others: the body is examined whole then.
    #[test]
    fn too_many_files_are_a_body() {
        let form = |count: usize| {
            let part = b"--x\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\nb\r\n";
            [&part.repeat(count)[..], b"--x--\r\n"].concat()
        };
        assert_eq!(files(FORM, &form(FILES_MAX), &mut false).len(), FILES_MAX);
        assert!(files(FORM, &form(FILES_MAX + 1), &mut false).is_empty());
    }

    /// A form is cut where its last delimiter is not among what is kept: not by what follows that.
    #[test]
    fn forms_are_cut_behind_what_is_kept() {
        let part = b"--x\r\nContent-Disposition: form-data; filename=\"a\"\r\n\r\n";
        let long = vec![b'a'; BYTES_MAX];
        for (body, is_cut) in [
            ([&part[..], b"short"].concat(), false),
            ([&part[..], &long].concat(), true),
            ([&part[..], b"a\r\n--x--\r\n", &long].concat(), false),
        ] {
            let body = &body[..body.len().min(BYTES_MAX)];
            let mut found = false;
            assert_eq!(files(FORM, body, &mut found).len(), 1);
            assert_eq!(found, is_cut);
        }
    }
}
