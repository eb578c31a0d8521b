//! Fragments put together slowly and obviously.
//!
//! For most rules each byte remembers the piece that it came from, and a piece is a start and an
//! end. For the two systems whose sources are public, 4.4BSD and Linux 2.x, the oracle does as
//! they do: a sorted list of entries that do not overlap, in which a new entry is trimmed by the
//! one before it and trims those behind it.

/// Which bytes count where pieces overlap; the names are those of the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// What came first stays.
    First,
    /// What came last wins.
    Last,
    /// As 4.4BSD.
    Bsd,
    /// As the printer in Novak's paper.
    BsdRight,
    /// As Linux 2.x.
    Linux,
    /// As Windows in Novak's paper.
    Windows,
    /// As Solaris in Novak's paper.
    Solaris,
    /// The datagram is given up, unless the new piece lies inside old ones: as Linux since 4.19.
    Refuse,
}

impl Rule {
    /// All of them.
    pub const ALL: [(Self, &'static str); 8] = [
        (Self::First, "first"),
        (Self::Last, "last"),
        (Self::Bsd, "bsd"),
        (Self::BsdRight, "bsd-right"),
        (Self::Linux, "linux"),
        (Self::Windows, "windows"),
        (Self::Solaris, "solaris"),
        (Self::Refuse, "refuse"),
    ];
}

/// A fragment: where it belongs, whether others follow, what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where the bytes belong: a multiple of 8.
    pub offset: usize,
    /// Whether it is not the last one.
    pub more: bool,
    /// The payload, at least one byte.
    pub bytes: Vec<u8>,
}

impl Piece {
    fn end(&self) -> usize {
        self.offset + self.bytes.len()
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }
}

/// What came of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It waits.
    Held,
    /// It completed the datagram, which was this. The next piece starts another one.
    Complete(Vec<u8>),
    /// It contradicts those before it.
    Refused,
}

/// One datagram under way.
#[derive(Clone, Debug)]
pub struct Fragments {
    rule: Rule,
    len: Option<usize>,
    accepted: Vec<Piece>,
    /// Where overlaps are refused: from where to where pieces came one after the other; the last
    /// run reaches farthest.
    runs: Vec<(usize, usize)>,
}

impl Fragments {
    /// Nothing yet.
    pub const fn new(rule: Rule) -> Self {
        Self {
            rule,
            len: None,
            accepted: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Adds a piece.
    pub fn insert(&mut self, piece: Piece) -> Outcome {
        let contradicts = self.contradicts(&piece);
        if self.rule == Rule::Refuse {
            let is_inside =
                |&(start, end): &(usize, usize)| start <= piece.offset && piece.end() <= end;
            if contradicts {
                return self.give_up();
            }
            if self.runs.iter().any(is_inside) {
                self.note_len(&piece);
                return Outcome::Held;
            }
            if self.accepted.iter().any(|old| old.overlaps(&piece)) {
                return self.give_up();
            }
            self.note_run(&piece);
        }
        if contradicts {
            return Outcome::Refused;
        }
        self.note_len(&piece);
        self.accepted.push(piece);
        self.conclude()
    }

    /// What comes then is another datagram.
    fn give_up(&mut self) -> Outcome {
        *self = Self::new(self.rule);
        Outcome::Refused
    }

    fn note_run(&mut self, piece: &Piece) {
        let run = (piece.offset, piece.end());
        match self.runs.last_mut() {
            Some((_, end)) if *end == piece.offset => *end = piece.end(),
            Some((_, end)) if *end > piece.offset => self.runs.insert(0, run),
            _ => self.runs.push(run),
        }
    }

    fn contradicts(&self, piece: &Piece) -> bool {
        let reach = self.accepted.iter().map(Piece::end).max().unwrap_or(0);
        match self.len {
            Some(len) => piece.end() > len || (!piece.more && piece.end() != len),
            None => !piece.more && piece.end() < reach,
        }
    }

    fn note_len(&mut self, piece: &Piece) {
        if !piece.more {
            self.len = Some(piece.end());
        }
    }

    fn conclude(&mut self) -> Outcome {
        let Some(len) = self.len else {
            return Outcome::Held;
        };
        let bytes = match self.rule {
            Rule::Bsd | Rule::Linux => listed(&self.accepted, self.rule, len),
            _ => painted(&self.accepted, self.rule, len),
        };
        let Some(bytes) = bytes.into_iter().collect::<Option<Vec<u8>>>() else {
            return Outcome::Held;
        };
        *self = Self::new(self.rule);
        Outcome::Complete(bytes)
    }
}

/// Each byte by the rule for the two pieces that want it: the one that has it and the later one.
fn painted(pieces: &[Piece], rule: Rule, len: usize) -> Vec<Option<u8>> {
    let mut owners: Vec<Option<&Piece>> = vec![None; len];
    for new in pieces {
        for owner in &mut owners[new.offset..new.end()] {
            let wins = owner.is_none_or(|old| match rule {
                Rule::Last => true,
                Rule::BsdRight => old.offset <= new.offset,
                Rule::Windows => new.offset < old.offset && new.end() > old.end(),
                Rule::Solaris => new.offset < old.offset && new.end() >= old.end(),
                _ => false,
            });
            if wins {
                *owner = Some(new);
            }
        }
    }
    let bytes = owners.iter().enumerate();
    bytes
        .map(|(at, owner)| owner.map(|piece| piece.bytes[at - piece.offset]))
        .collect()
}

/// A sorted list of entries, as the two systems keep it.
fn listed(pieces: &[Piece], rule: Rule, len: usize) -> Vec<Option<u8>> {
    let mut list: Vec<(usize, Vec<u8>)> = Vec::new();
    for piece in pieces {
        let (mut offset, mut bytes) = (piece.offset, piece.bytes.clone());
        // Where the new entry goes: BSD puts it behind those that start with it, Linux before.
        let at = list.partition_point(|(start, _)| match rule {
            Rule::Bsd => *start <= offset,
            _ => *start < offset,
        });
        if at > 0 {
            let (start, before) = &list[at - 1];
            let covered = (start + before.len()).saturating_sub(offset);
            if covered >= bytes.len() {
                continue;
            }
            bytes.drain(..covered);
            offset += covered;
        }
        let end = offset + bytes.len();
        while let Some((start, behind)) = list.get_mut(at) {
            if *start >= end {
                break;
            }
            let covered = end - *start;
            if covered >= behind.len() {
                list.remove(at);
            } else {
                behind.drain(..covered);
                *start += covered;
            }
        }
        list.insert(at, (offset, bytes));
    }
    let mut whole = vec![None; len];
    for (offset, bytes) in list {
        for (to, byte) in whole[offset..].iter_mut().zip(bytes) {
            *to = Some(byte);
        }
    }
    whole
}
