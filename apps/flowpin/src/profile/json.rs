//! The profile as JSON, and the part that `flowpin plan` reads.

use super::{cut, shape, side};
use anyhow::Context;
use flowpin_engine::{Cost, Handover, Mapping, Profile, Rule};
use serde_json::{Map, Value, json};

const SCHEMA: u64 = 1;

/// All measurements. Cycles are ticks of the time stamp counter, costs are per packet.
pub(crate) fn json(profile: &Profile) -> Value {
    let stages = profile.stages.iter().map(|stage| {
        let mut object = cost(&stage.cost);
        object.insert("name".to_owned(), json!(stage.name));
        object.insert("thread".to_owned(), json!(side(stage.side)));
        Value::Object(object)
    });
    let rule = profile.rule();
    let inside = &profile.inside;
    json!({
        "schema": SCHEMA,
        "flowpin": env!("CARGO_PKG_VERSION"),
        "hertz": profile.hertz,
        "packets": profile.packets,
        "frame_bytes": profile.frame_bytes,
        "connections": profile.connections,
        "stages": stages.collect::<Vec<_>>(),
        "sum": cost(&profile.sum),
        "total_cycles": profile.total,
        "total_share": profile.share,
        "inside": {
            "read": inside.read, "input": inside.input, "worker": inside.worker,
            "ticks": inside.ticks, "output": inside.output, "stages": inside.stages,
        },
        "memory": profile.memory.map(|memory| json!({
            "connections": memory.connections, "bytes_per_connection": memory.bytes,
        })),
        "rule": {
            "packet_len": rule.packet_len, "read": rule.read,
            "read_in_turns": rule.read_in_turns,
            "checksums": rule.checksums, "input": rule.input, "worker": rule.worker,
            "output": rule.output,
            "handover": {
                "l3": handover(&rule.handover[0]), "l2": handover(&rule.handover[1]),
            },
        },
        "mappings": profile.mappings.iter().map(mapping).collect::<Vec<_>>(),
    })
}

fn cost(cost: &Cost) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("cycles".to_owned(), json!(cost.cycles));
    object.insert("instructions".to_owned(), json!(cost.instructions));
    object.insert("cache_misses".to_owned(), json!(cost.misses));
    object
}

fn handover(handover: &Handover) -> Value {
    json!({ "input": handover.input, "worker": handover.worker })
}

pub(super) fn mapping(mapping: &Mapping) -> Value {
    json!({
        "cores": mapping.cores,
        "pipeline": shape(mapping),
        "stages": mapping.stages,
        "ways": mapping.ways,
        "cut": cut(mapping.cut),
        "predicted_packets_per_s": mapping.predicted,
        "measured_packets_per_s": mapping.measured,
        "slowest": mapping.slowest,
    })
}

/// The costs in a saved profile.
///
/// # Errors
/// The text is not a profile, or of another version.
pub(crate) fn rule(text: &str) -> anyhow::Result<Rule> {
    let saved: Value = serde_json::from_str(text)?;
    anyhow::ensure!(
        saved["schema"] == SCHEMA,
        "not a profile of schema {SCHEMA}"
    );
    let number = |of: &Value, name: &str| of[name].as_f64().context(name.to_owned());
    let costs = &saved["rule"];
    // Profiles of earlier versions did not measure it.
    let handover = |cut: &str| {
        let (of, usual) = (&costs["handover"][cut], Handover::default());
        Handover {
            input: of["input"].as_f64().unwrap_or(usual.input),
            worker: of["worker"].as_f64().unwrap_or(usual.worker),
        }
    };
    Ok(Rule {
        hertz: number(&saved, "hertz")?,
        packet_len: number(costs, "packet_len")?,
        read: number(costs, "read")?,
        // Before, all of it was.
        read_in_turns: number(costs, "read_in_turns").or_else(|_| number(costs, "read"))?,
        checksums: number(costs, "checksums")?,
        input: number(costs, "input")?,
        worker: number(costs, "worker")?,
        output: number(costs, "output")?,
        handover: [handover("l3"), handover("l2")],
    })
}
