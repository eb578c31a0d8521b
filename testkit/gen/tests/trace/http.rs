//! A plain HTTP/1.1 reader: where lines and messages end.

/// One direction of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    line: Vec<u8>,
    state: State,
    body_len: u64,
    is_chunked: bool,
    /// Packets of this message whose header has not told yet how its body comes.
    waiting: u64,
    pub(crate) messages: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Between messages or in a header.
    #[default]
    Header,
    Body(u64),
    ChunkSize,
    Chunk(u64),
    LastLine,
}

/// What one packet's data was.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// It ends inside a header line.
    pub(crate) straddles: bool,
    /// So many packets, the last of them this, hold parts of a message whose body is in chunks.
    pub(crate) chunked: u64,
}

impl Reader {
    /// Reads the data of the next packet.
    pub(crate) fn read(&mut self, data: &[u8]) -> Seen {
        // No packet holds parts of two messages in these traces.
        let mut is_chunked = false;
        for &byte in data {
            self.byte(byte);
            is_chunked |= self.is_chunked;
        }
        self.waiting += 1;
        let chunked = if is_chunked { self.waiting } else { 0 };
        let is_between = self.state == State::Header && self.line.is_empty();
        if is_chunked || is_between {
            self.waiting = 0;
        }
        if is_between {
            self.is_chunked = false;
        }
        // Only what the last byte left can be cut.
        let straddles = self.state == State::Header && !self.line.is_empty();
        Seen { straddles, chunked }
    }

    fn byte(&mut self, byte: u8) {
        match self.state {
            State::Body(left) | State::Chunk(left) => {
                let left = left - 1;
                self.state = match self.state {
                    State::Body(_) if left == 0 => State::Header,
                    State::Body(_) => State::Body(left),
                    _ if left == 0 => State::ChunkSize,
                    _ => State::Chunk(left),
                };
            }
            _ => {
                self.line.push(byte);
                if self.line.ends_with(b"\r\n") {
                    let line = std::mem::take(&mut self.line);
                    self.end_line(&line[..line.len() - 2]);
                }
            }
        }
    }

    fn end_line(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        match self.state {
            State::ChunkSize => {
                let size = u64::from_str_radix(&text, 16).unwrap();
                // The line's end behind the data counts as data.
                self.state = if size == 0 {
                    State::LastLine
                } else {
                    State::Chunk(size + 2)
                };
            }
            State::LastLine => {
                assert_eq!(text, "");
                self.state = State::Header;
            }
            _ if text.is_empty() => {
                self.messages += 1;
                self.state = match (self.is_chunked, self.body_len) {
                    (true, _) => State::ChunkSize,
                    (false, 0) => State::Header,
                    (false, len) => State::Body(len),
                };
            }
            _ if text.starts_with("HTTP/") || text.ends_with(" HTTP/1.1") => {
                self.body_len = 0;
                self.is_chunked = false;
            }
            _ => {
                if let Some(len) = text.strip_prefix("Content-Length: ") {
                    self.body_len = len.parse().unwrap();
                }
                self.is_chunked |= text == "Transfer-Encoding: chunked";
            }
        }
    }
}
