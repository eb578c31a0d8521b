//! Packets of a network interface: rings that the kernel fills.
//!
//! ```text
//!  interface ─► packet socket ─► filter ─► ring of blocks (shared memory)
//!                (AF_PACKET)    (BPF, in    │ full, or some time after its first packet:
//!                                the kernel)▼ ours, until its last packet is taken
//!                                          Packet, Packet, …
//! ```
//!
//! A [`Ring`] is one socket with one ring in the kernel's third format (packet(7),
//! `TPACKET_V3`). Its packets are looked at where the kernel put them; a block goes back when its
//! last packet is taken. What finds no room is dropped by the kernel and counted once
//! ([`RingStats`]). An [`XdpSocket`] is the same for one receive queue by AF_XDP, which takes
//! packets away before the kernel's protocols get them. Owns the socket and its mapping; does not
//! wait, copy or decode.

mod driver;
mod error;
mod filter;
mod interface;
mod memory;
mod packet;
mod ring;
mod socket;
mod state;
mod xdp;

pub use driver::{Driver, driver};
pub use error::SocketError;
pub use filter::{INSTRUCTIONS_MAX, Instruction};
pub use interface::{Link, interfaces};
pub use packet::Packet;
pub use ring::{Ring, RingOptions, RingStats};
pub use state::State;
pub use xdp::{Grip, XdpSocket};

/// Four bytes as the kernel of this machine writes a number; 0 where there are not so many.
fn word(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes.get(at..).and_then(|rest| rest.first_chunk());
    u32::from_ne_bytes(bytes.copied().unwrap_or_default())
}
