//! The result: a table with the paper's figures beside ours, JSON, a picture.

use crate::measure::Work;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// What one queue takes.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    name: &'static str,
    /// Nanoseconds an item, by work as in [`Work::ALL`].
    pub(crate) item_ns: [f64; 3],
    pub(crate) latency_ns: f64,
}

impl Row {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            item_ns: [f64::MAX; 3],
            latency_ns: f64::MAX,
        }
    }
}

/// The ICS'09 paper, section 4.5, on an Intel Core 2 Quad of 2.3 GHz: nanoseconds an operation with
/// no work and with a spinning consumer. Its optimised FIFO is what ours goes back to.
const THEIRS: [(&str, f64, f64); 2] = [("flowpin", 35.0, 45.0), ("FastForward", 35.0, 70.0)];

pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "ns an item of 32 bytes, item by item     one way   theirs (ICS'09, 2.3 GHz)\n\
         queue         nothing  spinning    real  latency   nothing  spinning"
    );
    for row in rows {
        let [nothing, spinning, real] = row.item_ns;
        let latency = row.latency_ns;
        let _ = write!(
            text,
            "{:<12} {nothing:>8.1} {spinning:>9.1} {real:>7.1} {latency:>8.1}",
            row.name
        );
        if let Some((_, nothing, spinning)) = THEIRS.iter().find(|(name, ..)| *name == row.name) {
            let _ = write!(text, "  {nothing:>8.0} {spinning:>9.0}");
        }
        text.push('\n');
    }
    text
}

pub(crate) fn json(rows: &[Row]) -> String {
    let queues = rows.iter().map(|row| {
        let mut object = Map::new();
        object.insert("name".to_owned(), json!(row.name));
        for ((_, work), ns) in Work::ALL.iter().zip(row.item_ns) {
            object.insert(format!("{work}_ns"), json!(ns));
        }
        object.insert("latency_ns".to_owned(), json!(row.latency_ns));
        Value::Object(object)
    });
    let theirs = THEIRS.iter().map(|&(name, nothing, spinning)| {
        let name = if name == "flowpin" {
            "optimised FIFO"
        } else {
            name
        };
        (
            name.to_owned(),
            json!({"nothing": nothing, "spinning": spinning}),
        )
    });
    let result = json!({
        "schema": 1,
        "table": "fifo",
        "queues": queues.collect::<Vec<_>>(),
        "theirs": theirs.collect::<Map<_, _>>(),
    });
    format!("{result:#}\n")
}

/// Bars: nanoseconds an item under the spinning work.
pub(crate) fn picture(rows: &[Row]) -> String {
    const ROW: f64 = 28.0;
    const WIDE: f64 = 420.0;
    let most = rows.iter().map(|row| row.item_ns[1]).fold(1.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "seven rows")]
    let tall = 50.0 + rows.len() as f64 * ROW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 {tall}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"24\" font-size=\"15\">ns an item, both sides spinning</text>\n"
    );
    let mut y = 40.0;
    for row in rows {
        let wide = row.item_ns[1] / most * WIDE;
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<text x=\"10\" y=\"{:.0}\">{}</text>\
             <rect x=\"120\" y=\"{y:.0}\" width=\"{wide:.1}\" height=\"20\" fill=\"#7aa6cc\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{:.1}</text>",
            y + 15.0,
            row.name,
            126.0 + wide,
            y + 15.0,
            row.item_ns[1],
        );
        y += ROW;
    }
    svg.push_str("</svg>\n");
    svg
}
