//! Numbers as people read them.

/// Three digits, and separators from a thousand on.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if size >= 999.5 {
        return grouped(value);
    }
    let digits = match size {
        // Also the sum of nothing, which is -0.
        _ if size == 0.0 => return "0".to_owned(),
        _ if size >= 99.95 => 0,
        _ if size >= 9.995 => 1,
        _ if size >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

fn grouped(value: f64) -> String {
    let text = format!("{:.0}", value.abs());
    let mut grouped = String::new();
    for (at, digit) in text.chars().enumerate() {
        if at > 0 && (text.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if value < 0.0 {
        grouped.insert(0, '-');
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn three_digits_are_kept() {
        let told = [
            -0.0,
            0.1234,
            2.0,
            45.67,
            253.4,
            999.7,
            1_234_567.0,
            -20_000.0,
        ]
        .map(short);
        let wanted = [
            "0",
            "0.123",
            "2.00",
            "45.7",
            "253",
            "1,000",
            "1,234,567",
            "-20,000",
        ];
        assert_eq!(told, wanted);
    }
}
