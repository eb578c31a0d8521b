//! l7-filter's pattern files, as they are.
//!
//! ```text
//!  # comment            anywhere
//!  name                 the first line that is none
//!  expression           the second
//!  userspace pattern=…  for another regex library; read, not used
//!  userspace flags=…
//! ```
//!
//! The expression is an extended one with `\xHH`, matched as the kernel's filter did: letters in
//! either case, zero bytes left out of what is searched, `$` where a turn (or datagram, or stream)
//! ends.

mod expression;
mod file;

pub use expression::parse as parse_expression;
pub use file::{L7Pattern, PatternFileError, PatternFiles, files, parse as parse_file, read_paths};
