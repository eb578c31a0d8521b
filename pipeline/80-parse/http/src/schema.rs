//! What records of HTTP have: Zeek's columns of `http.log`, then what EVE has besides.

use crate::options::HttpOptions;
use flowpin_record::{Kind, MessageColumn, MessageSchema};

const fn column(
    name: &'static str,
    eve: &'static str,
    kind: Kind,
    doc: &'static str,
) -> MessageColumn {
    MessageColumn::new(name, eve, kind, doc)
}

const NAME: &str = "http";
const DOC: &str = "A request and its response; either may be missing.";

/// Columns of every record.
pub(crate) const PLAIN: usize = 24;
/// Columns with all fields besides.
pub(crate) const ALL: usize = 28;

const COLUMNS: [MessageColumn; ALL] = [
    column(
        "trans_depth",
        "",
        Kind::Count,
        "Which transaction of its connection it is, from 1.",
    ),
    column(
        "method",
        "http.http_method",
        Kind::Text,
        "The request's method.",
    ),
    column(
        "host",
        "http.hostname",
        Kind::Text,
        "Host that the request names, without its port.",
    ),
    column(
        "uri",
        "http.url",
        Kind::Text,
        "The request's target, as it was sent.",
    ),
    column(
        "referrer",
        "http.http_refer",
        Kind::Text,
        "The request's Referer.",
    ),
    column(
        "version",
        "",
        Kind::Text,
        "Version: the response's, else the request's.",
    ),
    column(
        "user_agent",
        "http.http_user_agent",
        Kind::Text,
        "The request's User-Agent.",
    ),
    column("origin", "", Kind::Text, "The request's Origin."),
    column(
        "request_body_len",
        "",
        Kind::Count,
        "Bytes of the request's body, without chunk lines; if bodies are decoded, then decoded.",
    ),
    column(
        "response_body_len",
        "",
        Kind::Count,
        "Bytes of the response's body, without chunk lines; if bodies are decoded, then decoded.",
    ),
    column(
        "",
        "http.length",
        Kind::Count,
        "Bytes of the response's body, without chunk lines, as it was sent: never decoded.",
    ),
    column(
        "status_code",
        "http.status",
        Kind::Count,
        "The response's status.",
    ),
    column(
        "status_msg",
        "",
        Kind::Text,
        "The reason behind the status.",
    ),
    column(
        "info_code",
        "",
        Kind::Count,
        "Status of the last interim response (1xx).",
    ),
    column("info_msg", "", Kind::Text, "The reason behind it."),
    column(
        "username",
        "",
        Kind::Text,
        "User of Basic authentication; the password is never kept.",
    ),
    column(
        "proxied",
        "",
        Kind::TextSet,
        "Fields that proxies add, as `NAME -> value`.",
    ),
    column(
        "",
        "http.protocol",
        Kind::Text,
        "Version with its name: of the request, else of the response.",
    ),
    column(
        "host_port",
        "http.http_port",
        Kind::Count,
        "Port that stands with the host.",
    ),
    column(
        "content_type",
        "http.http_content_type",
        Kind::Text,
        "The response's Content-Type, without parameters.",
    ),
    column(
        "location",
        "http.redirect",
        Kind::Text,
        "The response's Location.",
    ),
    column(
        "content_range",
        "http.content_range.raw",
        Kind::Text,
        "The response's Content-Range.",
    ),
    column(
        "forwarded_for",
        "http.xff",
        Kind::Text,
        "The request's X-Forwarded-For.",
    ),
    column("upgrade", "", Kind::Text, "Protocols that Upgrade names."),
    column(
        "client_header_names",
        "http.request_headers[].name",
        Kind::TextList,
        "Names of the request's fields (on request).",
    ),
    column(
        "client_header_values",
        "http.request_headers[].value",
        Kind::TextList,
        "Values of the request's fields (on request).",
    ),
    column(
        "server_header_names",
        "http.response_headers[].name",
        Kind::TextList,
        "Names of the response's fields (on request).",
    ),
    column(
        "server_header_values",
        "http.response_headers[].value",
        Kind::TextList,
        "Values of the response's fields (on request).",
    ),
];

static WITH_ALL: [MessageColumn; ALL] = COLUMNS;
static WITHOUT: &[MessageColumn] = WITH_ALL.split_at(PLAIN).0;

static HTTP: MessageSchema = MessageSchema::new(NAME, DOC, WITHOUT);
static HTTP_WITH_ALL_FIELDS: MessageSchema = MessageSchema::new(NAME, DOC, &WITH_ALL);

const FILE_COLUMNS: &[MessageColumn] = &[
    column("source", "", Kind::Text, "The protocol that carried it."),
    column(
        "depth",
        "",
        Kind::Count,
        "The transaction that carried it, from 1.",
    ),
    column(
        "mime_type",
        "fileinfo.mimetype",
        Kind::Text,
        "What its first bytes are.",
    ),
    column(
        "filename",
        "fileinfo.filename",
        Kind::Text,
        "The name that the sender gave it, or the target's path.",
    ),
    column("is_orig", "", Kind::Bool, "Whether the client sent it."),
    column(
        "seen_bytes",
        "fileinfo.size",
        Kind::Count,
        "Bytes that were seen, decoded.",
    ),
    column(
        "total_bytes",
        "",
        Kind::Count,
        "Bytes that its message announces.",
    ),
    column(
        "missing_bytes",
        "",
        Kind::Count,
        "Bytes that are missing in the capture.",
    ),
    column(
        "md5",
        "fileinfo.md5",
        Kind::Text,
        "MD5 of the bytes (on request).",
    ),
    column(
        "sha1",
        "fileinfo.sha1",
        Kind::Text,
        "SHA-1 of the bytes (on request).",
    ),
    column(
        "sha256",
        "fileinfo.sha256",
        Kind::Text,
        "SHA-256 of the bytes (on request).",
    ),
    column(
        "",
        "fileinfo.state",
        Kind::Enum,
        "CLOSED: all of it was seen. TRUNCATED: not all, or not all was to be written.",
    ),
    column(
        "",
        "fileinfo.gaps",
        Kind::Bool,
        "Whether bytes are missing.",
    ),
    column(
        "",
        "fileinfo.stored",
        Kind::Bool,
        "Whether it was written to a file.",
    ),
    column(
        "",
        "fileinfo.tx_id",
        Kind::Count,
        "The transaction that carried it, from 0.",
    ),
    in_event("http.hostname", Kind::Text, "Host that the request names."),
    in_event(
        "http.http_port",
        Kind::Count,
        "Port that stands with the host.",
    ),
    in_event("http.url", Kind::Text, "The request's target."),
    in_event(
        "http.http_user_agent",
        Kind::Text,
        "The request's User-Agent.",
    ),
    in_event("http.xff", Kind::Text, "The request's X-Forwarded-For."),
    in_event(
        "http.http_content_type",
        Kind::Text,
        "The response's Content-Type, if it has begun.",
    ),
    in_event(
        "http.content_range.raw",
        Kind::Text,
        "The response's Content-Range.",
    ),
    in_event("http.http_refer", Kind::Text, "The request's Referer."),
    in_event("http.http_method", Kind::Text, "The request's method."),
    in_event("http.protocol", Kind::Text, "Version with its name."),
    in_event(
        "http.status",
        Kind::Count,
        "The response's status, if it has begun.",
    ),
    in_event("http.redirect", Kind::Text, "The response's Location."),
    in_event(
        "http.length",
        Kind::Count,
        "Bytes of the response's body so far, as it was sent.",
    ),
];

/// A column of the transaction that carried a file: what goes by columns has it by `uid` and
/// `depth`.
const fn in_event(eve: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    column("", eve, kind, doc)
}

/// Those columns of a file's record that are a transaction's, by their number there.
pub(crate) const OF_TRANSACTION: [usize; 13] = [2, 18, 3, 6, 22, 19, 21, 4, 1, 17, 11, 20, 10];
/// Where they begin.
pub(crate) const OF_FILE: usize = 15;
/// Which says whether the client sent a file.
const IS_ORIG: usize = 4;
/// Which has the number of the transaction that carried it.
const TRANSACTION: usize = 14;

/// Records of bodies that somebody asked for.
pub static FILES: MessageSchema = MessageSchema::in_file(
    "fileinfo",
    "files",
    "A body that was looked at.",
    FILE_COLUMNS,
)
.sent_as_says(IS_ORIG)
.part_of(TRANSACTION);

/// The schema that these options ask for.
pub fn http(options: &HttpOptions) -> &'static MessageSchema {
    if options.all_fields {
        &HTTP_WITH_ALL_FIELDS
    } else {
        &HTTP
    }
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, FILE_COLUMNS, IS_ORIG, OF_FILE, OF_TRANSACTION, TRANSACTION};

    /// A file's record has the transaction's values under the names that they have there.
    #[test]
    fn files_have_the_columns_of_their_transaction() {
        assert_eq!(FILE_COLUMNS[IS_ORIG].name, "is_orig");
        assert_eq!(FILE_COLUMNS[TRANSACTION].eve, "fileinfo.tx_id");
        assert_eq!(FILE_COLUMNS.len(), OF_FILE + OF_TRANSACTION.len());
        for (place, number) in FILE_COLUMNS[OF_FILE..].iter().zip(OF_TRANSACTION) {
            let column = &COLUMNS[number];
            assert_eq!((&place.eve, place.kind), (&column.eve, column.kind));
            assert!(place.name.is_empty());
        }
    }
}
