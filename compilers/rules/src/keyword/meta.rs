//! Keywords that say what a rule is: its numbers, texts and class.

use super::value;
use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{Class, keyword};
use std::collections::HashMap;
use std::sync::Arc;

/// The classes of rules, by name.
#[derive(Clone, Debug)]
pub(crate) struct Classes(HashMap<String, Arc<Class>>);

impl Default for Classes {
    /// Those that rule sets use, as they come with them.
    fn default() -> Self {
        let mut classes = Self(HashMap::new());
        for &(name, text, priority) in CLASSES {
            classes.add(name, text, priority);
        }
        classes
    }
}

impl Classes {
    pub(crate) fn add(&mut self, name: &str, text: &str, priority: u8) {
        let class = Class {
            name: name.to_owned(),
            text: text.to_owned(),
            priority,
        };
        self.0.insert(name.to_ascii_lowercase(), Arc::new(class));
    }

    /// Whether a rule's class is one of these, or it has none.
    pub(crate) fn have(&self, class: &Class) -> bool {
        class.name.is_empty() || self.get(&class.name).is_some()
    }

    fn get(&self, name: &str) -> Option<Arc<Class>> {
        self.0.get(&name.to_ascii_lowercase()).cloned()
    }
}

/// Reads an option of these; none if it is not one.
pub(super) fn read(
    builder: &mut Builder<'_>,
    option: &RuleOption<'_>,
    classes: &Classes,
) -> Option<Result<(), Fault>> {
    let name = option.name.text;
    if name == "noalert" {
        builder.rule.noalert = true;
        return Some(Ok(()));
    }
    if name == "alert" {
        builder.alerts = true;
        return Some(Ok(()));
    }
    let is_one = [
        "msg",
        "sid",
        "gid",
        "rev",
        "classtype",
        "priority",
        "reference",
        "metadata",
        "target",
        "requires",
    ];
    if !is_one.contains(&name) {
        return None;
    }
    Some(value(option).and_then(|word| set(builder, name, word, classes)))
}

fn set(
    builder: &mut Builder<'_>,
    name: &str,
    word: Word<'_>,
    classes: &Classes,
) -> Result<(), Fault> {
    let rule = &mut builder.rule;
    match name {
        "msg" => {
            if let Some(behind) = behind_quotes(word) {
                return Err(behind.fault("a semicolon is missing before this"));
            }
            rule.message = unescaped(word.unquoted().text);
        }
        "sid" => rule.sid = number(word)?,
        "gid" => rule.gid = number(word)?,
        "rev" => rule.rev = number(word)?,
        "priority" => {
            rule.priority = word.number()?;
            if rule.priority == 0 {
                return Err(word.fault("priorities count from 1"));
            }
        }
        "classtype" => {
            // As in Suricata, a class that nobody has described stops no rule.
            let class = classes.get(word.text).unwrap_or_else(|| {
                Arc::new(Class {
                    name: word.text.to_owned(),
                    ..Class::default()
                })
            });
            if rule.priority == 0 {
                rule.priority = class.priority;
            }
            rule.class = class;
        }
        "reference" => {
            let (system, id) = word
                .split_once(',')
                .ok_or_else(|| word.fault("the form is reference:SYSTEM,IDENTIFIER"))?;
            let unquoted = id.unquoted().text.to_owned();
            rule.references.push((system.text.to_owned(), unquoted));
        }
        "metadata" => {
            for part in word.split_commas() {
                if let Some((key, text)) = part.text.split_once(char::is_whitespace) {
                    let pair = (key.to_owned(), text.trim().to_owned());
                    rule.metadata.push(pair);
                }
            }
        }
        "target" => {
            rule.target_is_source = Some(match word.text {
                "src_ip" => true,
                "dest_ip" => false,
                _ => return Err(word.fault("the target is src_ip or dest_ip")),
            });
        }
        // Answered before the rule is read.
        _ => {}
    }
    Ok(())
}

/// What follows the quotes of a message, if it is a keyword, or if the message is not quoted to its
/// end.
fn behind_quotes(word: Word<'_>) -> Option<Word<'_>> {
    let mut is_escaped = true;
    let end = word.text.char_indices().find(|&(_, c)| {
        let ends = c == '"' && !is_escaped;
        is_escaped = !is_escaped && c == '\\';
        ends
    });
    let behind = word.part(
        end.filter(|_| word.text.starts_with('"'))?.0 + 1,
        word.text.len(),
    );
    let behind = behind.trim();
    let name = behind.text.split(':').next().unwrap_or_default();
    let is_keyword = behind.text.contains(':') && keyword(name.trim()).is_some();
    let is_unquoted = !behind.text.is_empty() && !behind.text.ends_with('"');
    (is_keyword || is_unquoted).then_some(behind)
}

fn number(word: Word<'_>) -> Result<u32, Fault> {
    word.unquoted().number()
}

fn unescaped(text: &str) -> String {
    let mut found = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => found.extend(chars.next()),
            c => found.push(c),
        }
    }
    found
}

/// Name, text and priority of the classes that rule sets use.
const CLASSES: &[(&str, &str, u8)] = &[
    ("not-suspicious", "Not Suspicious Traffic", 3),
    ("unknown", "Unknown Traffic", 3),
    ("bad-unknown", "Potentially Bad Traffic", 2),
    ("attempted-recon", "Attempted Information Leak", 2),
    ("successful-recon-limited", "Information Leak", 2),
    (
        "successful-recon-largescale",
        "Large Scale Information Leak",
        2,
    ),
    ("attempted-dos", "Attempted Denial of Service", 2),
    ("successful-dos", "Denial of Service", 2),
    ("attempted-user", "Attempted User Privilege Gain", 1),
    ("unsuccessful-user", "Unsuccessful User Privilege Gain", 1),
    ("successful-user", "Successful User Privilege Gain", 1),
    (
        "attempted-admin",
        "Attempted Administrator Privilege Gain",
        1,
    ),
    (
        "successful-admin",
        "Successful Administrator Privilege Gain",
        1,
    ),
    ("rpc-portmap-decode", "Decode of an RPC Query", 2),
    ("shellcode-detect", "Executable code was detected", 1),
    ("string-detect", "A suspicious string was detected", 3),
    (
        "suspicious-filename-detect",
        "A suspicious filename was detected",
        2,
    ),
    (
        "suspicious-login",
        "An attempted login using a suspicious username was detected",
        2,
    ),
    ("system-call-detect", "A system call was detected", 2),
    ("tcp-connection", "A TCP connection was detected", 4),
    ("trojan-activity", "A Network Trojan was detected", 1),
    (
        "unusual-client-port-connection",
        "A client was using an unusual port",
        2,
    ),
    ("network-scan", "Detection of a Network Scan", 3),
    (
        "denial-of-service",
        "Detection of a Denial of Service Attack",
        2,
    ),
    (
        "non-standard-protocol",
        "Detection of a non-standard protocol or event",
        2,
    ),
    (
        "protocol-command-decode",
        "Generic Protocol Command Decode",
        3,
    ),
    (
        "web-application-activity",
        "access to a potentially vulnerable web application",
        2,
    ),
    ("web-application-attack", "Web Application Attack", 1),
    ("misc-activity", "Misc activity", 3),
    ("misc-attack", "Misc Attack", 2),
    ("icmp-event", "Generic ICMP event", 3),
    (
        "policy-violation",
        "Potential Corporate Privacy Violation",
        1,
    ),
    (
        "default-login-attempt",
        "Attempt to login by a default username and password",
        2,
    ),
    (
        "targeted-activity",
        "Targeted Malicious Activity was Detected",
        1,
    ),
    ("exploit-kit", "Exploit Kit Activity Detected", 1),
    (
        "external-ip-check",
        "Device Retrieving External IP Address Detected",
        2,
    ),
    ("domain-c2", "Domain Observed Used for C2 Detected", 1),
    ("pup-activity", "Possibly Unwanted Program Detected", 2),
    (
        "credential-theft",
        "Successful Credential Theft Detected",
        1,
    ),
    (
        "social-engineering",
        "Possible Social Engineering Attempted",
        2,
    ),
    ("coin-mining", "Crypto Currency Mining Activity Detected", 2),
    (
        "command-and-control",
        "Malware Command and Control Activity Detected",
        1,
    ),
];
