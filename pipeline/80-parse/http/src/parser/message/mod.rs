//! Requests and responses: their first line, their fields, and the framing of their body.

mod fields;
mod fold;
mod framing;
mod head;
mod keep;
mod over;
mod request;
mod response;
