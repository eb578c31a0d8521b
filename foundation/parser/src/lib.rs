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
//!    - [`Parser::SIGNATURES`]: how identification finds a protocol that is not in its table
//!      (`pipeline/70-identify/src/protocols`);
//!    - [`Parser::SCHEMAS`]: its records, in every format at once, and in the documentation;
//!    - [`Parser::BUFFERS`]: which of their columns rules may look at;
//!    - [`Parser::CONNECTION_BYTES`] and [`ParserMemory`]: its part of the memory. Every cap needs
//!      a counter: [`Loss::ParserConnections`] and [`Loss::ParserBytes`] serve all parsers that
//!      have none of their own.
//! 2. A line in the registry, `engine/src/worker/parse/registry.rs`, and the dependency in
//!    `engine/Cargo.toml`.
//! 3. `cargo run -p flowpin-engine --example records_page > docs/user/records.md`.
//!
//! # What a parser guarantees
//!
//! - What it reports depends on the bytes of each direction and on the order in which the
//!   directions took turns: never on how segments cut them.
//! - It holds no more than its part of the memory in each shard, whatever the bytes are; nothing
//!   makes it panic; the work for a byte is bounded.
//! - It reports what is open when the connection ends.
//!
//! # Example
//!
//! A protocol of lines, complete: each line of the client is a record.
//!
//! ```
//! use flowpin_counters::{Loss, Losses};
//! use flowpin_packet::Timestamp;
//! use flowpin_parser::{Begin, Ends, Next, Parser, ParserSetup, Reads};
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
//! #[derive(Debug, Default)]
//! struct Shout {
//!     /// By connection: the beginning of a line.
//!     lines: Vec<Vec<u8>>,
//!     free: Vec<u32>,
//!     losses: Losses,
//! }
//!
//! impl Parser for Shout {
//!     const PROTOCOLS: &'static [Reads] = &[Reads::own("shout")];
//!     const SIGNATURES: &'static [&'static Protocol] = &[&SIGNATURE];
//!     const SCHEMAS: &'static [&'static MessageSchema] = &[&SHOUT];
//!     const CONNECTION_BYTES: u32 = 256;
//!
//!     fn new(_: &ParserSetup) -> io::Result<Self> {
//!         Ok(Self::default())
//!     }
//!
//!     fn begin(&mut self, _: Begin, _: impl FnOnce() -> Ends) -> Option<u32> {
//!         self.free.pop().or_else(|| {
//!             self.lines.push(Vec::new());
//!             u32::try_from(self.lines.len() - 1).ok()
//!         })
//!     }
//!
//!     fn data<S: MessageSink>(
//!         &mut self,
//!         connection: u32,
//!         at: Timestamp,
//!         to_server: bool,
//!         bytes: &[u8],
//!         sink: &mut S,
//!     ) -> Next {
//!         let Some(line) = self.lines.get_mut(connection as usize) else {
//!             return Next::Nothing;
//!         };
//!         for &byte in bytes.iter().filter(|_| to_server) {
//!             match byte {
//!                 b'\n' => {
//!                     let text = line.strip_prefix(b"SHOUT ");
//!                     sink.fits(text.is_some());
//!                     if let Some(text) = text {
//!                         sink.message(&SHOUT, at, &[Value::Bytes(text)]);
//!                     }
//!                     line.clear();
//!                 }
//!                 _ if line.len() < 200 => line.push(byte),
//!                 _ => self.losses.count(Loss::ParserBytes, 1),
//!             }
//!         }
//!         Next::More
//!     }
//!
//!     fn end<S: MessageSink>(&mut self, connection: u32, _: Timestamp, _: &mut S) {
//!         if let Some(line) = self.lines.get_mut(connection as usize) {
//!             line.clear();
//!             self.free.push(connection);
//!         }
//!     }
//!
//!     fn losses(&self) -> Losses {
//!         self.losses
//!     }
//! }
//!
//! # use flowpin_packet::Shard;
//! struct Texts(Vec<Vec<u8>>);
//! impl MessageSink for Texts {
//!     fn message(&mut self, _: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
//!         if let [Value::Bytes(text)] = values {
//!             self.0.push(text.to_vec());
//!         }
//!     }
//!     fn anomaly(&mut self, event: &'static str) {
//!         panic!("{event}");
//!     }
//! }
//!
//! let mut parser = Shout::new(&ParserSetup::default())?;
//! let begin = Begin { protocol: 0, shard: Shard(0), at: Timestamp(0) };
//! let connection = parser.begin(begin, || unreachable!()).unwrap();
//! let mut sink = Texts(Vec::new());
//! for part in [&b"SHOUT hel"[..], b"lo\nSHOUT again\n"] {
//!     parser.data(connection, Timestamp(0), true, part, &mut sink);
//! }
//! parser.end(connection, Timestamp(0), &mut sink);
//! assert_eq!(sink.0, [&b"hello"[..], b"again"]);
//! # Ok::<(), io::Error>(())
//! ```
//!
//! [`Loss::ParserConnections`]: flowpin_counters::Loss::ParserConnections
//! [`Loss::ParserBytes`]: flowpin_counters::Loss::ParserBytes

mod buffer;
mod kept;
mod lines;
mod memory;
mod next;
mod parser;
mod queues;
mod setup;
pub mod testing;

pub use buffer::{Buffer, Sender};
pub use kept::{KeptBytes, slot_bytes};
pub use lines::{Line, Lines, PartialLine};
pub use memory::{MESSAGE_BYTES_MIN, ParserMemory};
pub use next::{Continues, Next, Successor};
pub use parser::{Begin, Ends, Parser, Reads};
pub use queues::{Queue, Queues};
pub use setup::{ParserSetup, SetupError};
