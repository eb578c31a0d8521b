//! The schemas of HTTP's records, and the records as structs with a field for each column.

use crate::options::HttpOptions;
use flowpin_record::{MessageColumn, MessageSchema, record};

// The columns of Zeek's `http.log`, then those that only EVE has.
record! {
    /// A request and its response.
    pub(crate) HttpRecord, HttpNumber, COLUMNS:
    trans_depth: "trans_depth", "", Count,
        "Which transaction of its connection it is, from 1.";
    method: "method", "http.http_method", Text,
        "The request's method.";
    host: "host", "http.hostname", Text,
        "Host that the request names, without its port.";
    uri: "uri", "http.url", Uri,
        "The request's target, as it was sent; in Zeek's logs with its `%XX` decoded.";
    referrer: "referrer", "http.http_refer", Text,
        "The request's Referer.";
    version: "version", "", Text,
        "Version: the response's, else the request's.";
    user_agent: "user_agent", "http.http_user_agent", Text,
        "The request's User-Agent.";
    origin: "origin", "", Text,
        "The request's Origin.";
    request_body_len: "request_body_len", "", Count,
        "Bytes of the request's body, without chunk lines; if bodies are decoded, then decoded.";
    response_body_len: "response_body_len", "", Count,
        "Bytes of the response's body, without chunk lines; if bodies are decoded, then decoded.";
    response_wire_len: "", "http.length", Count,
        "Bytes of the response's body, without chunk lines, as it was sent: never decoded.";
    status_code: "status_code", "http.status", Count,
        "The response's status.";
    status_msg: "status_msg", "", Text,
        "The reason phrase of the status.";
    info_code: "info_code", "", Count,
        "Status of the last interim response (1xx).";
    info_msg: "info_msg", "", Text,
        "Its reason phrase.";
    username: "username", "", Text,
        "User of Basic authentication; the password is never kept.";
    proxied: "proxied", "", TextSet,
        "Fields that proxies add, as `NAME -> value`.";
    protocol: "", "http.protocol", Text,
        "Version with its name: of the request, else of the response.";
    host_port: "host_port", "http.http_port", Count,
        "Port that stands with the host.";
    content_type: "content_type", "http.http_content_type", Text,
        "The response's Content-Type, without parameters.";
    location: "location", "http.redirect", Text,
        "The response's Location.";
    content_range: "content_range", "http.content_range.raw", Text,
        "The response's Content-Range.";
    forwarded_for: "forwarded_for", "http.xff", Text,
        "The request's X-Forwarded-For: all fields, as one list. Of one that is too long the \
        beginning is left out, up to a comma; it ends with a comma if its end is not known.";
    upgrade: "upgrade", "", Text,
        "Protocols that Upgrade names.";
    // Those of files, which only bodies that are looked at are.
    orig_fuids: "orig_fuids", "", FileIds,
        "The file of the request's body, or those of a form, as in `files` (where bodies are \
         examined).";
    orig_filenames: "orig_filenames", "", TextList,
        "The names that a form gives its files.";
    orig_mime_types: "orig_mime_types", "", TextList,
        "What their first bytes are.";
    resp_fuids: "resp_fuids", "", FileIds,
        "The file of the response's body.";
    resp_filenames: "resp_filenames", "", TextList,
        "The name that the server gave it.";
    resp_mime_types: "resp_mime_types", "", TextList,
        "What its first bytes are.";
    // New columns come before these, which are written only if all fields are asked for.
    client_header_names: "client_header_names", "http.request_headers[].name", TextList,
        "Names of the request's fields (on request).";
    client_header_values: "client_header_values", "http.request_headers[].value", TextList,
        "Values of the request's fields (on request).";
    server_header_names: "server_header_names", "http.response_headers[].name", TextList,
        "Names of the response's fields (on request).";
    server_header_values: "server_header_values", "http.response_headers[].value", TextList,
        "Values of the response's fields (on request).";
}

/// Columns without the lists of all fields, which come last.
pub(crate) const WITHOUT_FIELDS: usize = HttpNumber::client_header_names as usize;
/// Columns without those of files, which come before them.
pub(crate) const WITHOUT_FILES: usize = HttpNumber::orig_fuids as usize;

const NAME: &str = "http";
const DOC: &str = "A request and its response; either may be missing.";

static PLAIN: &[MessageColumn] = COLUMNS.split_at(WITHOUT_FILES).0;
static WITH_FILES: &[MessageColumn] = COLUMNS.split_at(WITHOUT_FIELDS).0;

static HTTP: MessageSchema = MessageSchema::new(NAME, DOC, PLAIN);
static HTTP_WITH_FILES: MessageSchema = MessageSchema::new(NAME, DOC, WITH_FILES);
static HTTP_WITH_ALL_FIELDS: MessageSchema = MessageSchema::new(NAME, DOC, &COLUMNS);

/// The schema that these options select.
pub fn http(options: &HttpOptions) -> &'static MessageSchema {
    if options.all_fields {
        &HTTP_WITH_ALL_FIELDS
    } else if options.bodies.any() {
        &HTTP_WITH_FILES
    } else {
        &HTTP
    }
}

#[cfg(test)]
mod tests {
    use super::COLUMNS;
    use flowpin_content::FILES;

    /// A file's record has the transaction's columns under the names that they have there.
    #[test]
    fn files_have_the_columns_of_their_transaction() {
        // Those of mails are the mail's.
        let of_others = ["fileinfo.", "smtp.", "email."];
        let of_transaction =
            |eve: &str| !eve.is_empty() && !of_others.iter().any(|one| eve.starts_with(one));
        let mut count = 0;
        for column in FILES.columns.iter().filter(|one| of_transaction(&one.eve)) {
            let mut there = COLUMNS.iter();
            let found = there.find(|one| one.eve == column.eve);
            assert_eq!(found.map(|one| one.kind), Some(column.kind), "{column:?}");
            assert!(column.name.is_empty());
            count += 1;
        }
        assert_eq!(count, 13, "columns of the transaction");
    }
}
