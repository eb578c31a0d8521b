//! One rule's text to a rule.

use crate::builder::{AllNames, Builder};
use crate::header::header;
use crate::keyword::{Classes, read};
use crate::option::{RuleOption, Word, options};
use crate::problem::Fault;
use crate::requires::unmet;
use crate::text::{RULE_BYTES_MAX, RuleText};
use crate::variables::Variables;
use flowpin_rule::{BufferId, Class, FlowCheck, Place, Protocol, Rule};
use std::sync::Arc;

/// What a rule's text is.
pub(crate) enum Outcome {
    Rule(Box<Rule>),
    /// It needs what this engine does not have: why.
    LeftOut(String),
}

/// What rules refer to.
pub(crate) struct Context {
    pub(crate) variables: Variables,
    pub(crate) classes: Classes,
    pub(crate) names: AllNames,
}

/// Reads a rule.
pub(crate) fn rule(
    source: &RuleText,
    file: &Arc<str>,
    context: &mut Context,
) -> Result<Outcome, Fault> {
    let text = source.text.as_str();
    let whole = Word { text, at: 0 };
    if text.len() > RULE_BYTES_MAX {
        let why = format!("longer than {RULE_BYTES_MAX} bytes");
        return Err(Fault::new(0, 1, why));
    }
    let open = text
        .find('(')
        .ok_or_else(|| whole.fault("a rule is a header and options in parentheses"))?;
    let Some(body) = text.strip_suffix(')').filter(|body| body.len() > open) else {
        return Err(Fault::new(
            text.len(),
            1,
            "the closing parenthesis is missing",
        ));
    };
    let body = whole.part(open + 1, body.len());
    let options = options(body)?;
    if let Some(why) = options.iter().find_map(unmet) {
        return Ok(Outcome::LeftOut(why));
    }
    let read_header = header(whole.part(0, open).trim(), &mut context.variables)?;
    let is_snort3 = read_header.is_bare || options.iter().any(is_of_snort3);
    let (line, column) = source.place(0);
    let place = Place {
        file: Arc::clone(file),
        line,
        column,
    };
    let rule = Rule {
        gid: 1,
        sid: 0,
        rev: 0,
        action: read_header.action,
        header: read_header.header,
        message: String::new(),
        class: Arc::new(Class::default()),
        priority: 0,
        references: Vec::new(),
        metadata: Vec::new(),
        target_is_source: None,
        flow: FlowCheck::default(),
        conditions: Vec::new(),
        inspections: Vec::new(),
        counts: Vec::new(),
        noalert: false,
        variables: 0,
        place,
        text: Arc::from(text),
    };
    let mut builder = Builder::new(rule, &mut context.names, is_snort3);
    for option in options {
        read(&mut builder, option, &context.classes)?;
    }
    finish(builder, body)
}

/// Snort 3 has modifiers behind a comma, and names of services and buffers of its own.
fn is_of_snort3(option: &RuleOption<'_>) -> bool {
    let value = option.value.map_or("", |value| value.text);
    match option.name.text {
        "content" => value
            .rsplit_once('"')
            .is_some_and(|(_, more)| more.contains(',')),
        "service" => true,
        "http_header" => value.starts_with("field "),
        _ => false,
    }
}

fn finish(builder: Builder<'_>, body: Word<'_>) -> Result<Outcome, Fault> {
    if let Some(at) = builder.open {
        return Err(Fault::new(at, 1, "nothing is asked of this buffer"));
    }
    let alerts = builder.alerts;
    let mut rule = builder.rule;
    if rule.sid == 0 {
        return Err(Fault::new(
            body.at.saturating_sub(1),
            1,
            "a rule needs a sid above 0",
        ));
    }
    if alerts {
        rule.noalert = false;
    }
    if rule.priority == 0 {
        rule.priority = PRIORITY;
    }
    rule.inspections
        .retain(|one| !one.terms.is_empty() || one.absent.is_some());
    if rule.header.transactional {
        of_both_sides(&rule, body)?;
        protocols(&mut rule).map_err(|why| Fault::new(0, 1, why))?;
        return Ok(Outcome::Rule(Box::new(rule)));
    }
    let mut directions: Vec<bool> = rule
        .inspections
        .iter()
        .filter(|one| one.absent.is_none())
        .filter_map(|one| one.buffer.info().to_server)
        .collect();
    directions.extend(rule.flow.to_server);
    directions.dedup();
    if directions.len() > 1 {
        let why = match rule.flow.to_server {
            Some(_) => "a buffer of the rule is sent in the direction that \"flow\" excludes",
            None => "what the client and what the server send is compared apart: => is for both",
        };
        return Err(Fault::new(body.at, 1, why));
    }
    protocols(&mut rule).map_err(|why| Fault::new(0, 1, why))?;
    Ok(Outcome::Rule(Box::new(rule)))
}

/// What a rule on both directions (`=>`) may ask: of requests with their responses, and of each
/// buffer it has to be known whose it is.
fn of_both_sides(rule: &Rule, body: Word<'_>) -> Result<(), Fault> {
    let fault = |why: String| Err(Fault::new(body.at, 1, why));
    if rule.flow.to_server.is_some() {
        return fault("\"flow\" has one direction, and => is about both".to_owned());
    }
    let of_pairs = ["http", "ftp", ""];
    for one in &rule.inspections {
        let info = one.buffer.info();
        if one.buffer == BufferId::PAYLOAD || !of_pairs.contains(&info.protocol) {
            return fault(format!("{} has no pairs that => compares", info.name));
        }
        if one.to_server.is_none() {
            let name = info.name;
            return fault(format!(
                "either side sends {name}: {name}:to_server or :to_client"
            ));
        }
    }
    let sides = |to_server| {
        rule.inspections
            .iter()
            .any(|one| one.to_server == Some(to_server))
    };
    if !(sides(true) && sides(false)) {
        return fault("=> needs a buffer of the client and one of the server".to_owned());
    }
    Ok(())
}

/// The protocol that a rule's buffers are of becomes the header's, if that says less.
fn protocols(rule: &mut Rule) -> Result<(), String> {
    let of_buffers = rule
        .inspections
        .iter()
        .map(|one| one.buffer.info().protocol);
    let mut of_buffers = of_buffers.filter(|name| !name.is_empty());
    let Some(first) = of_buffers.next() else {
        return Ok(());
    };
    if let Some(other) = of_buffers.find(|&other| other != first) {
        return Err(format!(
            "buffers of {first} and of {other} are never in one message"
        ));
    }
    match &rule.header.protocol {
        Protocol::App(name) => {
            let name = if name == "ssl" { "tls" } else { name.as_str() };
            let is_one = name == first
                || name == "file"
                || name == "http2" && first == "http"
                || name == "quic" && first == "tls"
                || name == "doh2" && first == "dns";
            if !is_one {
                return Err(format!(
                    "the rule is for {name}, and its buffers are of {first}"
                ));
            }
        }
        Protocol::Ip | Protocol::Tcp | Protocol::Udp | Protocol::TcpStream => {
            rule.header.transport = match rule.header.protocol {
                Protocol::Tcp | Protocol::TcpStream => Some(TCP),
                Protocol::Udp => Some(UDP),
                _ => None,
            };
            rule.header.protocol = Protocol::App(first.to_owned());
        }
        _ => return Err(format!("a rule for packets cannot have buffers of {first}")),
    }
    Ok(())
}

// IP's numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;

/// As in Suricata: of a rule that has neither class nor priority.
const PRIORITY: u8 = 3;
