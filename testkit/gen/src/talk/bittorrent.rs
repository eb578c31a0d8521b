//! BitTorrent's peer protocol (BEP 3): handshakes, then pieces on request.

use super::{Dialogue, Piece, Step};
use crate::options::Service;

pub(super) fn dialogue() -> Dialogue {
    let handshake = |peer: &[u8; 20]| {
        let mut text = b"\x13BitTorrent protocol\0\0\0\0\0\0\0\0".to_vec();
        text.extend_from_slice(b"0123456789abcdefghij");
        text.extend_from_slice(peer);
        Piece::text(text)
    };
    // Message 7: index, begin, block; its length counts from the message's number.
    let block = vec![
        Piece::BodyLen32(9),
        Piece::text([7, 0, 0, 0, 1, 0, 0, 0, 0]),
        Piece::Noise,
    ];
    let request = [0, 0, 0, 13, 6, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x40, 0];
    let mut dialogue = Dialogue::new(
        Service::BitTorrent,
        6881,
        vec![
            Step::client(vec![handshake(b"-TR4050-abcdefghijkl")]),
            Step::server(vec![handshake(b"-qB4620-mnopqrstuvwx")]),
            // Interested; unchoke.
            Step::client(vec![Piece::text([0, 0, 0, 1, 2])]),
            Step::server(vec![Piece::text([0, 0, 0, 1, 1])]),
        ],
        vec![
            Step::client(vec![Piece::text(request)]),
            Step::server(block),
        ],
        Vec::new(),
    );
    dialogue.turn_segments = 10;
    dialogue
}
