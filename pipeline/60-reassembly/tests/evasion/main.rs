//! Segments that claim an end which their receiver does not believe, and what follows them.
//!
//! The receivers' behaviour is that of RFC 9293 §3.10.7, RFC 5961 §3 and RFC 7323 §5. For Linux it
//! was also observed: an open connection of 6.18 received each of these, then data, over a tunnel
//! device:
//!
//! | segment | data after it is |
//! | --- | --- |
//! | RST at −1, +1, +300, beyond the window | acknowledged |
//! | RST at the exact number, of any acknowledgement or time stamp | answered by RST |
//! | RST at the end of what was acknowledged selectively, not at its start | answered by RST |
//! | RST one before the number that is expected after a FIN | answered by RST |
//! | FIN of old, beyond the window, without ACK, an old stamp, after a hole | acknowledged |
//! | FIN that acknowledges what was never sent, or something very old | acknowledged |
//! | SYN in the window; data without ACK | acknowledged |
//! | before the handshake is complete: RST at any number but the exact one, FIN | acknowledged |

mod closes;
mod handshake;
mod ignored;
mod premature;
mod refused;
#[path = "../support/mod.rs"]
mod support;

use flowpin_config::SegmentOverlap;
use support::{World, client, options, server};

/// An open connection: the client has sent "GET /ev" and continues at 107.
fn begun(policy: SegmentOverlap) -> World {
    let mut world = World::new(&options(policy));
    world.handshake(100, 500, 1000);
    world.send(&client(100, "GET /ev"));
    world.send(&server(500, 107, ""));
    world
}

/// The rest of the request, and the answer, which acknowledges it.
fn go_on(world: &mut World) {
    world.send(&client(107, "il\r\n"));
    world.send(&server(500, 111, "200 OK"));
}
