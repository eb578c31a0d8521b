//! The run-time of scanners that were compiled from grammars (`compilers/grammar`).
//!
//! ```text
//!  next bytes ─► Scanner::scan ─► Sink::token(rule, text) ─► Then::{Go, Skip, Begin, Stop}
//!                    │   ▲
//!    Saved: 32 bytes,   └── Texts: beginnings of tokens that go on in the next segment
//!    a connection and direction
//! ```
//!
//! A scanner is pushed: it takes the bytes that there are, stops wherever they end, also within a
//! token, and goes on from [`Saved`] when the next bytes come. The longest match wins, of equally
//! long ones the first rule, as in flex.
//!
//! Guarantees: the same tokens for every division of the bytes into segments; no byte is looked at
//! twice but by flex's own backing up, which the token limit bounds; a token within one segment is
//! told without being copied; memory for the others never exceeds the cap of its shard. No
//! allocation once the pool has grown to what the input needs.
//!
//! Speed: a state that stays where it is for most bytes is a *run*; which bytes end it is
//! found out for 64 bytes at once. A run may begin where keywords do: then the word that was run
//! over is looked up (`words`), and the rest of its line is run over, whatever it was (`tail`).
//! Where a state has one likely successor, it is guessed, so that the next state need not wait for
//! the byte; what most often follows a run is compared at once (`leap`). Of a grammar that is known
//! when the program is built, what most often comes is written as instructions ([`Straight`]), and
//! only the rest goes by the table.
//!
//! Deliberately does not know what tokens mean: a [`Sink`] does. [`Program`] is what a grammar's
//! actions say; `pipeline/80-parse/text` runs it.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::indexing_slicing
    )
)]

mod backing_up;
mod cursor;
mod held;
mod leap;
mod program;
mod saved;
mod scan;
mod scanner;
mod sink;
mod table;
mod tail;
mod texts;
mod walk;
mod windows;
mod words;

pub use cursor::{Cursor, Straight};
pub use program::{
    ContentIn, Direction, FieldId, FieldKind, Grammar, GrammarField, GrammarMessage, Identify, Op,
    Program,
};
pub use saved::Saved;
pub use scanner::Scanner;
pub use sink::{Sink, Then, Token};
pub use table::{Condition, Parts, Rule, Run, Start, State, Table, Trail, WORD_LEN_MAX, Word};
pub use texts::{Texts, TextsLost};
pub use windows::RUN_SETS_MAX;
