//! The interface of parsers: what each implements, and what the engine gives it.
//!
//! ```text
//!  first bytes ─► identification ─► verdict ─► registry: which parser reads this protocol
//!                                                 │ begin
//!  bytes, gaps, ends of streams; datagrams ───────┴─► Parser ─► MessageSink ─► records
//! ```
//!
//! # How to add a parser
//!
//! 1. A crate under `pipeline/80-parse`, with this one as a dependency, and a type that implements
//!    [`Parser`]. Everything that the product needs to know of the protocol is an item of that
//!    implementation:
//!    - [`Parser::PROTOCOLS`]: which identified protocols it reads, and what `--parse` calls them;
//!    - [`Parser::SIGNATURES`]: how identification finds a protocol that it does not know yet (see
//!      below);
//!    - [`Parser::SCHEMAS`]: its records, in every format at once, and in the documentation;
//!    - [`Parser::BUFFERS`]: which of their columns rules may look at;
//!    - [`Parser::CONNECTION_BYTES`]: what a connection takes when it begins.
//! 2. A line in the registry, `engine/src/worker/parse/registry.rs`, and the dependency in
//!    `engine/Cargo.toml`; path dependencies join the workspace by themselves.
//! 3. A fuzz target: a function `fuzz_NAME(&[u8])` in the crate, hidden from the documentation. It
//!    is listed in `fuzz/src/lib.rs`, `fuzz/Cargo.toml`, `fuzz/fuzz_targets` and `fuzz/README.md`;
//!    in `tests/regressions/main.rs`, which runs what it has found once, and in `tests/Cargo.toml`.
//!    [`testing`] has what such
//!    a target and the tests of a parser need.
//! 4. `cargo run -p flowpin-engine --example records_page > docs/user/records.md`.
//!
//! **How the protocol is found.** Identification has a table of most protocols
//! (`pipeline/70-identify/src/protocols`). If the protocol is in it, it remains there: a rule that
//! is missing is added to the table, whose tests know what else looks alike. [`Parser::SIGNATURES`]
//! is for a protocol that is not in the table; no protocol may be in both. The engine tests that
//! noise is none of these protocols (`registry.rs`).
//!
//! **Verdicts that may be wrong.** A few bytes can look like another protocol. By
//! [`MessageSink::fits`] a parser says, message by message, whether it reads its own protocol; a
//! verdict that its parser refuses is taken back. A parser that cannot tell, because it accepts
//! lines that other protocols know as well (a text protocol whose grammar has a rule for unknown
//! commands), sets [`Parser::ACCEPTS_OTHERS`]: where the verdict came from one side alone,
//! identification then searches the other side's first bytes, too, although the parser accepts
//! them.
//!
//! # Memory
//!
//! A shard has one budget for everything (`docs/decisions/0029-one-budget.md`). The engine charges
//! [`Parser::CONNECTION_BYTES`] when a connection begins, and ends the longest silent connections
//! when a shard has little left. What a parser keeps beyond that it takes from
//! [`ParserSetup::budget`], and gives back the moment it is done with it. It charges what it uses:
//! whole slots ([`slot_bytes`]) and blocks. Three stores do so by themselves: [`Lines`] (lines cut
//! anywhere), [`Queues`] (commands that wait for answers) and [`KeptBytes`] (everything else).
//! Their pools have address space for the whole budget, so only the budget refuses;
//! [`Parser::pools`] shows them to the engine, which gives pages that are no longer used back to
//! the system.
//!
//! - What is taken in one call is at most 64 bytes for each byte of the call, and 32 KiB more:
//!   [`testing::Trial`] checks it. A short message needs a small slot.
//! - What one connection or one message may have is limited beside that.
//! - What is refused is counted. [`Loss::ParserConnections`] and [`Loss::ParserBytes`] serve all
//!   parsers that have no counter of their own.
//!
//! # What a parser guarantees
//!
//! - What it reports depends on the bytes of each direction and on the order in which the
//!   directions took turns: never on how segments cut them.
//! - It keeps nothing that is not charged, whatever the bytes are; nothing makes it panic; the work
//!   for a byte is bounded.
//! - It reports what is open when the connection ends, and gives everything back.
//!
//! # Example
//!
//! A protocol of lines, complete: each line of the client is a record.
//!
//! ```
//! use flowpin_counters::{Loss, Losses};
//! use flowpin_memory::Slab;
//! use flowpin_packet::Timestamp;
//! use flowpin_parser::{
//!     Begin, Ends, Lines, Next, Parser, ParserSetup, PartialLine, Reads, slot_bytes, testing,
//! };
//! use flowpin_record::{Kind, MessageColumn, MessageSchema, MessageSink, Value};
//! use flowpin_signature::{Group, On, Protocol, Rule};
//! use std::io;
//!
//! static SIGNATURE: Protocol = Protocol {
//!     name: "shout",
//!     groups: &[Group::Chat],
//!     ports: &[4000],
//!     rules: &[Rule::pattern("shout-line", On::Tcp, r"SHOUT [!-~ ]+\n")],
//! };
//!
//! const COLUMNS: &[MessageColumn] =
//!     &[MessageColumn::new("text", "shout.text", Kind::Text, "What is shouted.")];
//! static SHOUT: MessageSchema =
//!     MessageSchema::new("shout", "A line that a client shouts.", COLUMNS);
//!
//! #[derive(Debug)]
//! struct Shout {
//!     connections: Slab<Connection>,
//!     lines: Lines,
//! }
//!
//! #[derive(Clone, Copy, Debug)]
//! struct Connection {
//!     shard: u8,
//!     client: PartialLine,
//! }
//!
//! impl Parser for Shout {
//!     const PROTOCOLS: &'static [Reads] = &[Reads::own("shout")];
//!     const SIGNATURES: &'static [&'static Protocol] = &[&SIGNATURE];
//!     const SCHEMAS: &'static [&'static MessageSchema] = &[&SHOUT];
//!     const CONNECTION_BYTES: u32 = slot_bytes::<Connection>();
//!
//!     fn new(setup: &ParserSetup) -> io::Result<Self> {
//!         let connections = setup.budget.capacity_of(Self::CONNECTION_BYTES.into(), 256);
//!         Ok(Self {
//!             connections: Slab::with_capacity(connections)?,
//!             lines: Lines::new(&setup.budget, 200)?,
//!         })
//!     }
//!
//!     fn begin(&mut self, begin: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
//!         let client = PartialLine::default();
//!         self.connections.insert(Connection { shard: begin.shard.0, client })
//!     }
//!
//!     fn data<S: MessageSink>(
//!         &mut self,
//!         connection: u32,
//!         at: Timestamp,
//!         to_server: bool,
//!         mut bytes: &[u8],
//!         sink: &mut S,
//!     ) -> Next {
//!         let Some(Connection { shard, client }) = self.connections.get_mut(connection) else {
//!             return Next::Nothing;
//!         };
//!         while to_server && !bytes.is_empty() {
//!             let (used, line) = self.lines.next(client, *shard, bytes);
//!             bytes = &bytes[used..];
//!             if let Some(line) = line {
//!                 let text = line.text.strip_prefix(b"SHOUT ");
//!                 sink.fits(text.is_some());
//!                 if let Some(text) = text {
//!                     sink.message(&SHOUT, at, &[Value::Bytes(text)]);
//!                 }
//!             }
//!         }
//!         Next::More
//!     }
//!
//!     fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, _: &mut S) {
//!         if let Some(Connection { shard, client }) = self.connections.get_mut(connection) {
//!             self.lines.release(client, *shard);
//!             self.connections.remove(connection);
//!         }
//!     }
//!
//!     fn losses(&self) -> Losses {
//!         let mut losses = Losses::default();
//!         losses.count(Loss::ParserBytes, self.lines.cut_count());
//!         losses
//!     }
//! }
//!
//! let turns: &[&[u8]] = &[b"SHOUT hello\nSHOUT again\n"];
//! for piece in [usize::MAX, 1, 7] {
//!     let setup = ParserSetup::default();
//!     let shout = Shout::new(&setup)?;
//!     let reported = testing::turns(shout, &setup, 0, turns, piece);
//!     assert_eq!(reported.records, ["shout hello", "shout again"]);
//! }
//! # Ok::<(), io::Error>(())
//! ```
//!
//! [`MessageSink::fits`]: flowpin_record::MessageSink::fits
//! [`Loss::ParserConnections`]: flowpin_counters::Loss::ParserConnections
//! [`Loss::ParserBytes`]: flowpin_counters::Loss::ParserBytes

mod anomalies;
mod buffer;
mod kept;
mod lines;
mod next;
mod parser;
mod queues;
mod setup;
pub mod testing;

pub use buffer::{Buffer, Sender};
pub use kept::{KeptBytes, slot_bytes};
pub use lines::{Line, Lines, PartialLine};
pub use next::{Continues, Next, Successor};
pub use parser::{Begin, Ends, Parser, Reads};
pub use queues::{Queue, Queues};
pub use setup::{ParserSetup, SetupError};
