//! Lines of Zeek's `ftp.log`.

use super::HIDDEN;
use crate::exchange::Exchange;
use crate::syntax::address::decimal;
use crate::syntax::path;
use Kind::{Address, Bool, Count, Port, Text};
use core::net::IpAddr;
use flowpin_parser::Ends;
use flowpin_record::{Kind, MessageColumn, MessageSchema, MessageSink, Value};
use std::io::Write;

const fn log(name: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new(name, "", kind, doc)
}

const COLUMNS: &[MessageColumn] = &[
    log("user", Text, "Who has logged in, or tries to."),
    log(
        "password",
        Text,
        "A guest's password, usually a mail address; of others `<hidden>`.",
    ),
    log("command", Text, "The command, in upper case."),
    log(
        "arg",
        Text,
        "What stands behind it; of a file its whole address: `ftp://192.0.2.1/pub/a`.",
    ),
    log("mime_type", Text, "Zeek's: always unset."),
    log(
        "file_size",
        Count,
        "How many bytes the file has, if the server says so.",
    ),
    log("reply_code", Count, "The code of the last reply."),
    log("reply_msg", Text, "The text of its last line."),
    log(
        "data_channel.passive",
        Bool,
        "Whether the client opens the data connection that this command announces.",
    ),
    log("data_channel.orig_h", Address, "Who opens it."),
    log(
        "data_channel.resp_h",
        Address,
        "Where it is waited for, as it was said.",
    ),
    log("data_channel.resp_p", Port, "At which port."),
    log("fuid", Text, "Zeek's: always unset."),
];

/// The log of commands, in the file that Zeek uses.
pub static FTP_LOG: MessageSchema = MessageSchema::in_file(
    "ftp_log",
    "ftp",
    "An FTP command that moves files or opens data connections, with the reply to it; on request \
     every command.",
    COLUMNS,
)
.only_columns();

/// The properties of a session that its commands do not contain.
#[derive(Clone, Copy)]
pub(crate) struct SessionInfo<'a> {
    pub(crate) ends: Ends,
    pub(crate) user: &'a [u8],
    /// A guest's password; empty if there was none.
    pub(crate) password: &'a [u8],
    pub(crate) is_password_hidden: bool,
    pub(crate) directory: &'a [u8],
}

/// Builds log lines; one instance serves all commands, so that its buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct Log {
    path: Vec<u8>,
    address: Vec<u8>,
}

impl Log {
    pub(crate) fn report<S: MessageSink>(
        &mut self,
        exchange: &Exchange,
        info: &SessionInfo<'_>,
        sink: &mut S,
    ) {
        let argument = if FILE_COMMANDS.contains(&exchange.command()) {
            self.build_address(exchange.argument(), info);
            &self.address
        } else {
            exchange.argument()
        };
        let password = if info.is_password_hidden {
            HIDDEN
        } else {
            info.password
        };
        let channel = exchange.facts.channel;
        let code = exchange.facts.code.as_ref().and_then(|code| decimal(code));
        let unset = Value::Unset;
        let values = [
            Value::bytes(info.user),
            Value::bytes(password),
            Value::bytes(exchange.command()),
            Value::bytes(argument),
            Value::Unset,
            Value::count(exchange.facts.file_size),
            Value::count(code),
            Value::bytes(exchange.last_reply()),
            channel.map_or(unset, |channel| Value::Bool(channel.is_passive)),
            channel.map_or(unset, |channel| Value::Address(channel.opener)),
            channel.map_or(unset, |channel| Value::Address(channel.listener.address)),
            channel.map_or(unset, |channel| Value::Port(channel.listener.port)),
        ];
        sink.message(&FTP_LOG, exchange.at, &values);
    }

    /// Builds the URL of a file, as Zeek writes it.
    fn build_address(&mut self, file: &[u8], info: &SessionInfo<'_>) {
        path::join(info.directory, file, &mut self.path);
        self.address.clear();
        let to = &mut self.address;
        // Writing to memory cannot fail.
        let _ = match info.ends.server.address {
            IpAddr::V4(address) => write!(to, "ftp://{address}"),
            IpAddr::V6(address) => write!(to, "ftp://[{address}]"),
        };
        if !self.path.starts_with(b"/") {
            self.address.push(b'/');
        }
        self.address.extend_from_slice(&self.path);
    }
}

/// Whether Zeek logs a command.
pub(crate) fn is_logged(command: &[u8]) -> bool {
    LOGGED.contains(&command)
}

const LOGGED: [&[u8]; 10] = [
    b"APPE", b"DELE", b"RETR", b"STOR", b"STOU", b"ACCT", b"PORT", b"PASV", b"EPRT", b"EPSV",
];

/// Commands whose argument is a file or a directory.
const FILE_COMMANDS: [&[u8]; 13] = [
    b"APPE", b"CWD", b"DELE", b"MKD", b"RETR", b"RMD", b"RNFR", b"RNTO", b"STOR", b"STOU", b"REST",
    b"SIZE", b"MDTM",
];
