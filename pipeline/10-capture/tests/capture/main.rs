//! The capture stage from outside: bytes in, frames out.

#[cfg(test)]
mod ahead;
#[cfg(test)]
mod attention;
#[cfg(test)]
mod build;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod filter;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod merge;
#[cfg(test)]
mod pcapng;
#[cfg(test)]
mod windows;
#[cfg(test)]
mod writers;
