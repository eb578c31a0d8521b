//! The fuzzing entry point: any bytes, whole and in pieces.

use crate::Ssh;
use flowpin_parser::testing::turns;
use flowpin_parser::{Parser, ParserSetup};

/// Splits `data` into turns: the records are the same for whole turns and for pieces, there is one
/// at most, no call takes much memory, and all of it is given back.
#[doc(hidden)]
pub fn fuzz_ssh(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let turns: Vec<&[u8]> = data.split(|&byte| byte == 0xa5).collect();
    let whole = records(&turns, usize::MAX);
    let piece = usize::from(settings).saturating_add(1);
    assert_eq!(whole, records(&turns, piece), "{turns:02x?}");
    let records = whole.iter().filter(|one| one.contains('|'));
    assert!(records.count() <= 1, "{whole:?}");
}

/// The records of alternating turns, the client's first, cut into pieces. An empty turn is a gap.
pub(crate) fn records(all: &[&[u8]], piece: usize) -> Vec<String> {
    let setup = ParserSetup::default();
    let Ok(ssh) = Ssh::new(&setup) else {
        return Vec::new();
    };
    let records = turns(ssh, &setup, 0, all, piece).records.into_iter();
    let values = records.map(|one| one.strip_prefix("ssh ").unwrap_or(&one).to_owned());
    values.collect()
}
