//! What alerts do with the client that a proxy names, by `xff` of Suricata's `eve-log`.

use super::yaml::Node;
use flowpin_rule::{ForwardedAs, ForwardedHop};

/// What the outputs say; none if none says anything that is on. Of several the last counts, and
/// what an output says of its alerts before what it says of itself.
pub(super) fn forwarded(root: &Node) -> Result<Option<(ForwardedAs, ForwardedHop)>, String> {
    let mut found = None;
    let Some(outputs) = root.get("outputs")? else {
        return Ok(None);
    };
    for output in outputs.elements()?.iter().filter(|one| one.has_names()) {
        let Some(log) = output.get("eve-log")?.filter(|log| log.has_names()) else {
            continue;
        };
        let mut shown = said(log)?;
        let types = log.get("types")?.map_or(Ok(&[][..]), Node::elements)?;
        for one in types.iter().filter(|one| one.has_names()) {
            if let Some(alert) = one.get("alert")?.filter(|alert| alert.has_names()) {
                shown = said(alert)?.or(shown);
            }
        }
        found = shown.or(found);
    }
    Ok(found)
}

/// What the `xff` of a log or of its alerts says.
fn said(of: &Node) -> Result<Option<(ForwardedAs, ForwardedHop)>, String> {
    let Some(xff) = of.get("xff")? else {
        return Ok(None);
    };
    let is_on = |text: &str| ["yes", "true", "on", "1"].contains(&text);
    let enabled = xff.get("enabled")?.map_or(Ok(""), Node::text)?;
    if !is_on(&enabled.to_ascii_lowercase()) {
        return Ok(None);
    }
    let mode = word(xff, "mode", ["extra-data", "overwrite"])?;
    let deployment = word(xff, "deployment", ["reverse", "forward"])?;
    if let Some(header) = xff.get("header")?
        && !header.text()?.eq_ignore_ascii_case("X-Forwarded-For")
    {
        return Err(header.wrong("xff: header: no other field than X-Forwarded-For is read"));
    }
    let shown = [ForwardedAs::Extra, ForwardedAs::Overwrite];
    let hop = [ForwardedHop::Last, ForwardedHop::First];
    Ok(shown.get(mode).copied().zip(hop.get(deployment).copied()))
}

/// Which of two words a setting is; the first if it is not set.
fn word(xff: &Node, name: &str, words: [&str; 2]) -> Result<usize, String> {
    let Some(node) = xff.get(name)? else {
        return Ok(0);
    };
    let text = node.text()?;
    let place = words.iter().position(|word| *word == text);
    place.ok_or_else(|| {
        let [one, other] = words;
        node.wrong(format_args!(
            "xff: {name}: {text:?} is neither {one} nor {other}"
        ))
    })
}
