//! Keywords about what is odd: of packets, segments and messages, by Suricata's names.

use super::value;
use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_record::{header_event, messages_of_event, packets_of_event, segment_of_event};
use flowpin_rule::{Condition, EventOf, SEQUENCE_GAP, Spoken};

/// Reads an option of these.
pub(super) fn read(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?.unquoted();
    let name = word.text.to_ascii_lowercase();
    match option.name.text {
        "app-layer-event" => of_message(builder, word, &name),
        "stream-event" => {
            let name = name.strip_prefix("stream.").unwrap_or(&name);
            let is_known = segment_of_event(name).is_some() || name == SEQUENCE_GAP;
            push(builder, word, EventOf::Segment, name, is_known)
        }
        _ => {
            let name = name.strip_prefix("decoder.").unwrap_or(&name);
            push(
                builder,
                word,
                EventOf::Packet,
                name,
                packets_of_event(name).next().is_some() || header_event(name).is_some(),
            )
        }
    }
}

/// `PROTOCOL.EVENT`: the connection has to speak the protocol.
fn of_message(builder: &mut Builder<'_>, word: Word<'_>, name: &str) -> Result<(), Fault> {
    let Some((protocol, event)) = name.split_once('.') else {
        return push(builder, word, EventOf::Message, name, false);
    };
    let is_known = messages_of_event(event).next().is_some();
    push(builder, word, EventOf::Message, event, is_known)?;
    builder.rule.conditions.push(Condition::AppProtocol {
        name: protocol.to_owned(),
        spoken: Spoken::Ever,
        negated: false,
    });
    Ok(())
}

fn push(
    builder: &mut Builder<'_>,
    word: Word<'_>,
    of: EventOf,
    name: &str,
    is_known: bool,
) -> Result<(), Fault> {
    if !is_known {
        let why = format!("\"{}\" is no event that is noticed here", word.text);
        return Err(word.fault(why));
    }
    let condition = Condition::Event(of, name.to_owned());
    builder.rule.conditions.push(condition);
    Ok(())
}
