//! Telnet in lines (RFC 959 §5.3.1).

/// A line without leading Telnet commands: ABOR follows IP and DM (RFC 959 §4.1.3).
pub(crate) fn without_telnet(mut text: &[u8]) -> &[u8] {
    while let [IAC, rest @ ..] = text {
        text = match rest {
            // WILL, WON'T, DO, DON'T and the option (RFC 854).
            [251..=254, _, rest @ ..] | [240..=250, rest @ ..] => rest,
            // The byte after IAC was sent as urgent data, and is not in the stream.
            rest => rest,
        };
    }
    text.strip_prefix(&[DATA_MARK]).unwrap_or(text)
}

const IAC: u8 = 255;
const DATA_MARK: u8 = 242;

#[cfg(test)]
mod tests {
    use super::without_telnet;

    /// RFC 959 §4.1.3, steps 1 to 3; the last byte of urgent data may be missing in the stream.
    #[test]
    fn telnet_commands_before_abor_are_skipped() {
        for before in [
            &b"\xff\xf4\xff\xf2"[..],
            b"\xff\xf4\xff",
            b"\xff\xf4\xf2",
            b"\xf2",
            b"\xff\xfb\x01",
            b"",
        ] {
            assert_eq!(without_telnet(&[before, b"ABOR"].concat()), b"ABOR");
        }
    }
}
