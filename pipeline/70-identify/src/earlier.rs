//! Datagrams before a verdict, one behind the other in the blocks of their search.
//!
//! Before each stand two bytes with its length as captured, two with that on the wire, and one that
//! tells who sent it. One that has no room is counted, and so are all behind it: a parser is told
//! the first ones.

use crate::kept::{Blocks, Kept, STREAM_BYTES_MAX};

/// What a search keeps of them: as much as of a stream's directions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Earlier {
    /// Those that had no room.
    unkept: u8,
}

const PREFIX_LEN: usize = 5;

impl Earlier {
    pub(crate) const NONE: Self = Self { unkept: 0 };

    /// Keeps a datagram in the first of two blocks that has room for the whole of it.
    pub(crate) fn keep(
        &mut self,
        blocks: &mut Blocks,
        shard: u8,
        logs: [&mut Kept; 2],
        datagram: Datagram<'_>,
    ) {
        if self.unkept > 0 || self.append(blocks, shard, logs, datagram).is_none() {
            self.unkept = self.unkept.saturating_add(1);
        }
    }

    fn append(
        &self,
        blocks: &mut Blocks,
        shard: u8,
        logs: [&mut Kept; 2],
        datagram: Datagram<'_>,
    ) -> Option<()> {
        let [first, second] = logs;
        let len = u16::try_from(datagram.bytes.len()).ok()?;
        let wire_len = u16::try_from(datagram.wire_len).ok()?;
        let whole = PREFIX_LEN.checked_add(usize::from(len))?;
        let has_room = |log: &Kept| log.len().saturating_add(whole) <= STREAM_BYTES_MAX;
        // What came later must not stand in the block before.
        let log = if second.len() == 0 && has_room(first) {
            first
        } else if has_room(second) {
            second
        } else {
            return None;
        };
        let mut prefix = [0; PREFIX_LEN];
        let [a, b, c, d, sender] = &mut prefix;
        [*a, *b] = len.to_le_bytes();
        [*c, *d] = wire_len.to_le_bytes();
        *sender = u8::from(datagram.to_server);
        blocks.append_both(log, shard, [&prefix, datagram.bytes])
    }

    /// Tells them in order of arrival; returns how many are missing behind them.
    pub(crate) fn tell<'a>(&self, logs: [&'a [u8]; 2], mut tell: impl FnMut(Datagram<'a>)) -> u8 {
        for log in logs {
            let mut rest = log;
            while let Some((&[a, b, c, d, sender], behind)) = rest.split_first_chunk() {
                let len = usize::from(u16::from_le_bytes([a, b]));
                let Some((bytes, behind)) = behind.split_at_checked(len) else {
                    break;
                };
                tell(Datagram {
                    to_server: sender != 0,
                    bytes,
                    wire_len: usize::from(u16::from_le_bytes([c, d])),
                });
                rest = behind;
            }
        }
        self.unkept
    }
}

/// A datagram, of which the capture may have cut the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// Whether the client sent it.
    pub to_server: bool,
    /// As much of it as was captured.
    pub bytes: &'a [u8],
    /// Its length on the wire.
    pub wire_len: usize,
}

#[cfg(test)]
mod tests {
    use crate::testing::{searches, whose};
    use crate::{Datagram, On, Search, SearchOptions, Searches, Step};
    use proptest::prelude::*;

    /// Shows datagrams until there is a verdict; what is told of those before, how many
    /// are missing.
    fn told(searches: &mut Searches, sent: &[(bool, Vec<u8>)]) -> (Vec<(bool, Vec<u8>)>, u8) {
        let mut search = Search::default();
        for (to_server, bytes) in sent {
            let whose = whose(On::Udp, *to_server, (50_000, 50_001));
            let step = searches.datagram(&mut search, whose, bytes, bytes.len());
            assert_eq!(step, Step::Undecided);
        }
        let mut told = Vec::new();
        let missing = searches.replay_datagrams(search, |one: Datagram<'_>| {
            assert_eq!(one.wire_len, one.bytes.len());
            told.push((one.to_server, one.bytes.to_vec()));
        });
        searches.replay(search, |_, _, _| panic!("datagrams are no stream"));
        searches.release(&mut search);
        (told, missing)
    }

    /// Bytes of no protocol.
    fn plain(len: usize, number: u8) -> Vec<u8> {
        vec![0xec + number % 3; len]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The first ones are told as they came, whoever sent them, and the others are counted.
        #[test]
        fn datagrams_before_a_verdict_are_told_in_order(
            lens in prop::collection::vec((any::<bool>(), 1usize..1500), 1..11),
        ) {
            let sent: Vec<(bool, Vec<u8>)> = lens
                .iter()
                .zip(0u8..)
                .map(|(&(to_server, len), number)| (to_server, plain(len, number)))
                .collect();
            let mut searches = searches();
            let (told, missing) = told(&mut searches, &sent);
            prop_assert_eq!(&told[..], &sent[..told.len()]);
            prop_assert_eq!(told.len() + usize::from(missing), sent.len());
            let whole: usize = sent.iter().map(|(_, bytes)| bytes.len() + 5).sum();
            prop_assert!(missing == 0 || whole > 4096);
            prop_assert_eq!(searches.live(), 0);
        }
    }

    /// Who has no parsers keeps nothing.
    #[test]
    fn nothing_is_kept_where_nothing_is_parsed() {
        let options = SearchOptions {
            keeps_datagrams: false,
            ..SearchOptions::default()
        };
        let mut searches = Searches::new(crate::testing::identifier(), options).unwrap();
        let sent = [(true, plain(20, 0))];
        assert_eq!(told(&mut searches, &sent), (Vec::new(), 0));
    }
}
