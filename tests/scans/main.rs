//! Scans and floods: in public captures, and made for real by scanners in network namespaces.
//!
//! | module | holds detection to |
//! | --- | --- |
//! | `captures` | captures that have scans, and a great many that have none |
//! | `libnids` | whom libnids calls a scanner |
//! | `scanners` | nmap, hping3, ping and a SYN flood, run between two namespaces |

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod captures;
mod detect;
mod libnids;
mod scanners;
