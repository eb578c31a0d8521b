//! FTP's data connections, where they show a listing. RFC 959 §4.1.3 leaves its form to the server.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ftp-data",
    groups: &[Group::Files],
    ports: &[20],
    rules: &[Rule::pattern(
        "ftp-listing",
        On::Tcp,
        r"(total [0-9]+\r?\n)?[-dlbcps][-rwxsStT]{9}[.+ ] *[0-9]+ +[!-~]+ +[!-~]+ +[0-9]+ [A-Z]",
    )],
};
