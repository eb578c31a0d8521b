//! The records of conversations, cut anywhere.

use crate::Gopher;
use crate::fuzz::{fuzz_gopher, records};
use flowpin_counters::Loss;
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::{Records, Trial};
use flowpin_parser::{Next, Parser, ParserSetup};
use proptest::prelude::*;

const ALL: usize = usize::MAX;

/// RFC 1436 §2: a selector, perhaps words to search for, and whatever the server answers.
#[test]
fn a_request_has_a_record_with_the_size_of_its_answer() {
    for (request, answer, expected) in [
        (
            &b"\r\n"[..],
            &b"1About\t1/about\ta.example\t70\r\n.\r\n"[..],
            "|-|-|32|false",
        ),
        (
            b"1/about\r\n",
            b"iHi\t\t\t0\r\n.\r\n",
            "1/about|1|-|12|false",
        ),
        (b"0/a.txt\n", b"hello\n", "0/a.txt|0|-|6|false"),
        (
            b"7/find\tred fish\r\n",
            b".\r\n",
            "7/find|7|red fish|3|false",
        ),
        (b"0/a.txt\t+\r\n", b"+-1\r\n", "0/a.txt|0|+|5|false"),
        (b"/old\r\nmore\r\n", b"x", "/old|-|-|1|false"),
        (b"half", b"x", "half|-|-|1|true"),
    ] {
        for piece in [ALL, 1, 3] {
            let got = records(&[request, answer], piece);
            assert_eq!(got, [expected], "pieces of {piece}");
        }
    }
}

/// Missing bytes of the server are of its answer; of a request that is not whole, nothing is known.
#[test]
fn a_gap_costs_what_it_covers() {
    assert_eq!(
        records(&[b"0/a\r\n", b"", b"", b"abc"], ALL),
        ["0/a|0|-|8|false"]
    );
    assert_eq!(
        records(&[b"0/a", b"x", b"", b"abc"], ALL),
        ["-|-|-|4|false"]
    );
    assert_eq!(
        records(&[b"", b"", b"rest\r\n", b"abc"], ALL),
        ["-|-|-|8|false"]
    );
    assert!(records(&[], ALL).is_empty());
}

/// A request that is longer than is kept, or for which there is no memory, is cut and counted; the
/// answer is counted all the same.
#[test]
fn what_is_beyond_the_caps_is_counted() {
    for (memory, len_max) in [(64 << 10, 512), (100, 0)] {
        let bytes = u64::from(Gopher::CONNECTION_BYTES) + memory;
        let setup = ParserSetup::default().with_budgets(Budget::new(bytes), Budget::new(0));
        let mut trial = Trial::new(Gopher::new(&setup).unwrap(), &setup);
        let connection = trial.begin(0).unwrap();
        let (mut sink, at) = (Records::default(), Timestamp(1));
        for part in [&[b'x'; 5000][..], b"\r\nmore\r\n"] {
            trial.data(connection, at, true, part, &mut sink);
        }
        trial.data(connection, at, false, b"abc", &mut sink);
        let expected = format!("gopher {}|-|-|3|true", "x".repeat(len_max));
        assert!(trial.parser.losses().of(Loss::ParserBytes) >= 1);
        trial.finish(&mut sink);
        assert_eq!(sink.records, [expected]);
    }
}

/// The record is written when the server has closed, and only once.
#[test]
fn the_end_of_the_answer_is_the_end_of_the_request() {
    let setup = ParserSetup::default();
    let mut trial = Trial::new(Gopher::new(&setup).unwrap(), &setup);
    let connection = trial.begin(0).unwrap();
    let (mut sink, at) = (Records::default(), Timestamp(1));
    assert!(trial.parser.is_idle(connection));
    trial.data(connection, at, true, b"0/a\r\n", &mut sink);
    assert_eq!(trial.closed(connection, at, true, &mut sink), Next::More);
    trial.data(connection, at, false, b"abc", &mut sink);
    assert!(sink.records.is_empty() && !trial.parser.is_idle(connection));
    trial.closed(connection, at, false, &mut sink);
    assert!(trial.parser.is_idle(connection));
    trial.data(connection, at, true, b"0/b\r\n", &mut sink);
    trial.finish(&mut sink);
    assert_eq!(sink.records, ["gopher 0/a|0|-|3|false"]);
}

proptest! {
    /// The records do not depend on where bytes are cut.
    #[test]
    fn cuts_do_not_matter(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..40),
        piece in 0u8..40,
    ) {
        let mut data = vec![piece];
        data.extend(words.concat());
        fuzz_gopher(&data);
    }

    /// No input causes a panic.
    #[test]
    fn no_bytes_cause_a_panic(data in prop::collection::vec(any::<u8>(), 0..600)) {
        fuzz_gopher(&data);
    }
}

const WORDS: &[&[u8]] = &[
    b"0/a",
    b"\t",
    b"\r",
    b"\n",
    b"\xa5",
    b"\xa5\xa5",
    b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    b"iHi\t\t\t0\r\n",
];
