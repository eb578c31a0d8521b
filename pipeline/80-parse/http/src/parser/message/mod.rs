//! Requests and responses: their first line, their fields, and what their head says of a body.

mod fields;
mod framing;
mod head;
mod request;
mod response;
