//! The cores that a link needs, as text and as JSON.

use super::{cut, json::mapping, shape};
use flowpin_engine::{Demand, Need, Rule};
use flowpin_words::number;
use serde_json::{Value, json};

pub(crate) fn need_json(demand: &Demand, need: &Need) -> Value {
    json!({
        "gbits_per_s": demand.gbits_per_s,
        "packet_len": demand.packet_len,
        "packets_per_s": need.packets_per_s,
        "cycles_per_packet_at_one_core": need.cycles,
        "cycles_a_packet_takes": need.takes,
        "one_input_thread": need.mapping.as_ref().map(mapping),
        "cores_with_a_queue_each": need.queues,
    })
}

pub(crate) fn need_text(demand: &Demand, need: &Need, rule: &Rule) -> String {
    let mut text = format!(
        "{} Gbit/s of {}-byte packets: {}, {:.0} cycles a packet on one core at {}\n\
         All stages together take {:.0} cycles for a packet.\n",
        demand.gbits_per_s,
        demand.packet_len,
        number::si(need.packets_per_s, "packets/s"),
        need.cycles,
        number::si(rule.hertz, "Hz"),
        need.takes,
    );
    match &need.mapping {
        Some(found) => text.push_str(&format!(
            "One input thread: {} cores, --pipeline {} --cut {}: {} predicted, {} set the pace\n",
            found.cores,
            shape(found),
            cut(found.cut),
            number::si(found.predicted, "packets/s"),
            found.slowest,
        )),
        None => text.push_str(
            "One input thread is too slow, with any number of workers: use several receive \
             queues.\n",
        ),
    }
    text.push_str(&format!(
        "A receive queue for each core: {}\n",
        number::things(need.queues, "core")
    ));
    text
}
