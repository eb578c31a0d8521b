//! DNS over UDP (RFC 1035): a question and its answer, filled up with EDNS padding (RFC 7830).

use super::{Dialogue, Piece, Step};
use crate::options::Service;

pub(super) fn dialogues() -> Vec<Dialogue> {
    NAMES.iter().map(|name| dialogue(name)).collect()
}

const NAMES: [&str; 5] = [
    "www.example.com",
    "mail.example.org",
    "a1.cdn.example.net",
    "time.example.edu",
    "harbour.north.example.com",
];

fn dialogue(name: &str) -> Dialogue {
    let mut question = Vec::new();
    for label in name.split('.') {
        question.push(u8::try_from(label.len()).unwrap_or(0));
        question.extend_from_slice(label.as_bytes());
    }
    // The root, type A, class IN.
    question.extend_from_slice(&[0, 0, 1, 0, 1]);
    // Recursion desired; one question, one additional record.
    let mut asks = vec![1, 0, 0, 1, 0, 0, 0, 0, 0, 1];
    asks.extend_from_slice(&question);
    let mut answers = vec![0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 1];
    answers.extend_from_slice(&question);
    // The same name (a pointer), type A, class IN, an hour, four bytes of address.
    answers.extend_from_slice(&[0xc0, 12, 0, 1, 0, 1, 0, 0, 0x0e, 0x10, 0, 4, 198, 18, 7, 9]);
    let message = |text| [Piece::Id, Piece::text(text)].into_iter().chain(padding());
    let turn = vec![
        Step::client(message(asks).collect()),
        Step::server(message(answers).collect()),
    ];
    Dialogue::new(Service::Dns, 53, Vec::new(), turn, Vec::new())
}

/// The OPT record (RFC 6891 §6.1) with the option Padding, as long as the body.
fn padding() -> [Piece; 5] {
    [
        Piece::text([0, 0, 41, 0x10, 0, 0, 0, 0, 0]),
        Piece::BodyLen16(4),
        Piece::text([0, 12]),
        Piece::BodyLen16(0),
        Piece::Zeros,
    ]
}
