//! Reply lines: a code of three digits, followed by a blank, or by a dash if more lines follow
//! (RFC 959 §4.2).

/// The beginning of a reply line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) code: [u8; 3],
    /// More lines follow.
    pub(crate) more: bool,
}

impl Head {
    /// Parses the beginning of a line; `None` if it is not that of a reply.
    pub(crate) fn of(line: &[u8]) -> Option<Self> {
        let (code, rest) = line.split_first_chunk()?;
        let [first, second, third] = *code;
        // RFC 2228 §3 adds the sixth kind.
        let is_code =
            matches!(first, b'1'..=b'6') && second.is_ascii_digit() && third.is_ascii_digit();
        let more = match rest.first() {
            None | Some(b' ') => false,
            Some(b'-') => true,
            Some(_) => return None,
        };
        is_code.then_some(Self { code: *code, more })
    }

    /// Whether another reply to the same command follows (RFC 959 §4.2, 1yz).
    pub(crate) const fn is_preliminary(self) -> bool {
        matches!(self.code, [b'1', ..])
    }

    /// Whether the command succeeded.
    pub(crate) const fn is_success(self) -> bool {
        matches!(self.code, [b'2', ..])
    }
}

/// The command that alone is answered with this code: commands waiting before it were not answered.
pub(crate) fn only_command(code: [u8; 3]) -> Option<&'static [u8]> {
    Some(match &code {
        b"221" => b"QUIT",
        b"227" => b"PASV",
        b"229" => b"EPSV",
        b"234" => b"AUTH",
        b"331" => b"USER",
        _ => return None,
    })
}

/// The text after the code of a line.
pub(crate) fn text_of(line: &[u8]) -> &[u8] {
    match Head::of(line) {
        Some(_) => line.get(4..).unwrap_or_default(),
        None => line,
    }
}

/// The size of the file that a reply to RETR announces: `… (1164 bytes).`
pub(crate) fn size_in(text: &[u8]) -> Option<u64> {
    let open = memchr::memrchr(b'(', text)?;
    let inner = text.get(open.checked_add(1)?..)?;
    let mut words = inner.split(|byte| *byte == b' ');
    let number = crate::syntax::address::decimal(words.next()?)?;
    words.next()?.starts_with(b"byte").then_some(number)
}

#[cfg(test)]
mod tests {
    use super::{Head, size_in, text_of};

    /// RFC 959 §4.2.
    #[test]
    fn a_reply_begins_with_three_digits() {
        let head = |text: &str| Head::of(text.as_bytes()).map(|head| (head.code, head.more));
        assert_eq!(head("226 Done"), Some((*b"226", false)));
        assert_eq!(head("211-Features"), Some((*b"211", true)));
        assert_eq!(head("200"), Some((*b"200", false)));
        for text in [
            "", "22", "2266 x", " 226 x", "026 x", "726 x", "22a x", "226x",
        ] {
            assert_eq!(head(text), None, "{text}");
        }
        assert_eq!(text_of(b"211-Features"), b"Features");
        assert_eq!(text_of(b" EPRT"), b" EPRT");
        assert_eq!(text_of(b"200"), b"");
    }

    /// Sizes in other units than bytes are ignored.
    #[test]
    fn sizes_are_in_bytes() {
        assert_eq!(size_in(b"Opening (x) for 'a' (77 bytes)."), Some(77));
        assert_eq!(size_in(b"Opening for a(1) (1 byte)"), Some(1));
        for text in ["Opening 77 bytes", "(7.5 kbytes)", "(77)", "(77 kB)", "("] {
            assert_eq!(size_in(text.as_bytes()), None, "{text}");
        }
    }
}
