//! Text of no protocol, for traces that are about connections or datagrams as such.

use super::{Dialogue, Piece, Step};
use crate::options::Service;

/// The client speaks, the server acknowledges. Port 9 would be "discard" (RFC 863).
pub(super) fn tcp() -> Dialogue {
    let turn = vec![Step::client(vec![Piece::Body])];
    Dialogue::new(Service::Plain, 7009, Vec::new(), turn, Vec::new())
}

/// One datagram each way.
pub(super) fn datagrams() -> Dialogue {
    let turn = vec![
        Step::client(vec![Piece::Body]),
        Step::server(vec![Piece::Body]),
    ];
    Dialogue::new(Service::Plain, 7009, Vec::new(), turn, Vec::new())
}
