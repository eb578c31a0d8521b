//! Requests and responses: their first line, their fields, and the framing of their body.

mod fields;
mod framing;
mod head;
mod request;
mod response;
