//! The messages of a handshake in their order, by Zeek's letters (`ssl_history`).

/// The letters so far: upper case for the client's messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct History {
    letters: [u8; LEN_MAX],
    len: u8,
}

/// Later messages are left out, as in Zeek.
const LEN_MAX: usize = 15;

impl History {
    /// The letters.
    pub(crate) fn get(&self) -> &[u8] {
        self.letters
            .get(..usize::from(self.len))
            .unwrap_or_default()
    }

    /// A handshake message of this type (RFC 8446 §4, RFC 5246 §7.4) begins.
    #[inline]
    pub(crate) fn message(&mut self, kind: u8, to_server: bool) {
        self.push(letter(kind), to_server);
    }

    /// A change of cipher specifications.
    pub(crate) fn change_cipher(&mut self, to_server: bool) {
        self.push(b'I', to_server);
    }

    /// An alert in clear.
    pub(crate) fn alert(&mut self, to_server: bool) {
        self.push(b'L', to_server);
    }

    /// The connection's server is the client of the handshake.
    pub(crate) fn flip(&mut self) {
        self.push(b'^', true);
    }

    fn push(&mut self, letter: u8, to_server: bool) {
        if let Some(place) = self.letters.get_mut(usize::from(self.len)) {
            *place = if to_server {
                letter
            } else {
                letter.to_ascii_lowercase()
            };
            self.len = self.len.saturating_add(1);
        }
    }
}

const fn letter(kind: u8) -> u8 {
    match kind {
        0 => b'H',
        1 => b'C',
        2 => b'S',
        3 => b'V',
        4 => b'T',
        5 => b'E',
        6 => b'J',
        8 => b'O',
        11 => b'X',
        12 => b'K',
        13 => b'R',
        14 => b'N',
        15 => b'Y',
        16 => b'G',
        20 => b'F',
        21 => b'W',
        22 => b'U',
        23 => b'A',
        24 => b'P',
        254 => b'M',
        _ => b'Z',
    }
}

#[cfg(test)]
mod tests {
    use super::History;

    /// A usual handshake has the letters that readers of Zeek know, and no more than fit.
    #[test]
    fn letters_are_zeeks() {
        let mut history = History::default();
        for (kind, to_server) in [(1, true), (2, false), (11, false), (14, false), (16, true)] {
            history.message(kind, to_server);
        }
        history.change_cipher(true);
        history.change_cipher(false);
        assert_eq!(history.get(), b"CsxnGIi");
        (0..20).for_each(|_| history.alert(true));
        assert_eq!(history.get(), b"CsxnGIiLLLLLLLL");
    }
}
