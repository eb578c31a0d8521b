//! FIX 4.2: orders and their execution reports, length and checksum right.

use super::{Dialogue, Piece, Step};
use crate::options::Service;

pub(super) fn dialogues() -> Vec<Dialogue> {
    let desks = [("BUYSIDE1", "MSFT"), ("DESK07", "IBM"), ("ALGO3", "VOD.L")];
    desks
        .iter()
        .map(|(desk, symbol)| dialogue(desk, symbol))
        .collect()
}

fn dialogue(desk: &str, symbol: &str) -> Dialogue {
    let to = format!("49={desk}\x0156=EXCH\x0152=20240117-14:30:05.123\x01");
    let from = format!("49=EXCH\x0156={desk}\x0152=20240117-14:30:05.127\x01");
    let order = format!("{to}21=1\x0155={symbol}\x0154=1\x0138=100\x0140=2\x0144=41.5\x01");
    let report =
        format!("{from}37=E9\x0117=1\x0120=0\x0139=0\x0155={symbol}\x0154=1\x01151=100\x01");
    let turn = vec![
        Step::client(message("D", &order)),
        Step::server(message("8", &report)),
    ];
    Dialogue::new(Service::Fix, 9878, Vec::new(), turn, Vec::new())
}

/// Tags 8, 9, 35 and 34, the fields, ClOrdID (11), free text (58), tag 10. Each turn is an order
/// and its report, so that both have the same number, which is the order's name, too.
fn message(kind: &str, fields: &str) -> Vec<Piece> {
    let begin = "8=FIX.4.2\x019=";
    let head = format!("\x0135={kind}\x0134=");
    let name = format!("\x01{fields}11=A");
    let middle = "\x0158=";
    // BodyLength counts from behind its own field up to tag 10.
    let counted = head.len() - 1 + 6 + name.len() + 6 + middle.len() + 1;
    let sum_of = |text: &str| text.bytes().map(u32::from).sum::<u32>();
    let sum = sum_of(begin) + sum_of(&head) + sum_of(&name) + sum_of(middle) + 1;
    let more = u32::try_from(counted).unwrap_or(0);
    vec![
        Piece::text(begin),
        Piece::LenAnd(more),
        Piece::text(&head),
        Piece::Number,
        Piece::text(&name),
        Piece::Number,
        Piece::text(middle),
        Piece::Letters,
        Piece::text("\x0110="),
        Piece::FixSum(more << 16 | sum & 0xffff),
        Piece::text("\x01"),
    ]
}
