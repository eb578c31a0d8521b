//! What passes between stages: timestamps, frames, packet descriptors, reasons for refusal.
//!
//! ```text
//!  capture ──Frame──► dispatch ──PacketMeta──► handoff ──► flow ──► …
//!     │                                                     ▲
//!     └────────────── Piece (the bytes, read once) ─────────┘
//! ```
//!
//! Owns plain data only. A stage never depends on another stage: it depends on the types here,
//! and the engine joins the stages. Nothing here allocates per packet.

#[macro_use]
mod named_enum;

mod calendar;
mod flags;
mod fragment;
mod frame;
mod interface;
mod layer;
mod link;
mod lives;
mod malformed;
mod meta;
mod network_map;
mod seq;
mod tick;
mod time;

pub use calendar::{date_of_day, day_of_date};
pub use flags::{PacketFlags, TcpFlags};
pub use fragment::{Datagram, FragmentRef, PeelContext};
pub use frame::{Frame, FrameBytes, Piece, Stretch};
pub use interface::{InterfaceId, InterfaceName, InterfaceNames};
pub use layer::{Layer, NumberScope, TunnelKind};
pub use link::LinkType;
pub use lives::{Lifetimes, Lives};
pub use malformed::{Malformed, Reason, bad};
pub use meta::{Endpoints, FlowKey, PacketKind, PacketMeta, SHARD_COUNT, Shard};
pub use network_map::{Network, NetworkError, NetworkMap};
pub use seq::Seq;
pub use tick::Tick;
pub use time::Timestamp;
