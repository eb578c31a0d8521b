//! HTTP: what other tools make of the same bytes.
//!
//! | module | holds the records to |
//! | --- | --- |
//! | `files` | themselves: extracted bodies are the same for every pipeline |
//! | `grammar` | the lines that the scanner generated from `http.l` finds |
//! | `handover` | what a connection goes on as: WebSocket, HTTP/2 |
//! | `libhtp` | conversations that another parser is tested with, each with what must come of it |
//! | `peers` | what servers say in their logs: Apache, nginx, Node, Go, Python |
//! | `suricata` | the `http` events that Suricata's tests expect |
//! | `tshark` | methods, targets and status codes that Wireshark shows |
//! | `zeek` | the `http.log` that Zeek's tests expect |

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../corpus/explained.rs"]
mod explained;
mod files;
mod grammar;
mod handover;
mod libhtp;
mod peers;
mod suricata;
mod tshark;
mod zeek;
