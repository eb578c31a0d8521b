//! HTTP: what other tools make of the same bytes.
//!
//! | module | holds the records to |
//! | --- | --- |
//! | `grammar` | the lines that the scanner generated from `http.l` finds |
//! | `libhtp` | conversations that another parser is tested with, each with what must come of it |

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod grammar;
mod libhtp;
