//! Numbers for people: three digits that count, and a sign on what changed.

/// `value` with about three significant digits and without an exponent.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    let digits = match size {
        _ if size >= 100.0 || size == 0.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 1.0 => 2,
        _ => 3,
    };
    grouped(&format!("{value:.digits$}"))
}

/// `value` as on an axis: [`short`] without zeros at the end.
pub(super) fn tick(value: f64) -> String {
    let text = short(value);
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `value` microseconds in the unit in which it is short.
pub(super) fn duration_us(value: f64) -> String {
    match value {
        _ if value >= 1_000_000.0 => format!("{} s", short(value / 1_000_000.0)),
        _ if value >= 1_000.0 => format!("{} ms", short(value / 1_000.0)),
        _ => format!("{} µs", short(value)),
    }
}

/// A share such as `0.083` as `8.3 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = usize::from(percent.abs() < 10.0);
    format!("{percent:.digits$} %")
}

/// A ratio such as `1.083` as `+8.3 %`; far from 1 as a factor.
pub(super) fn change(ratio: f64) -> String {
    if ratio >= 3.0 {
        return format!("×{}", short(ratio));
    }
    let percent = (ratio - 1.0) * 100.0;
    // A minus as wide as a plus, and no sign on what rounds to nothing.
    let shown = format!("{:.1} %", percent.abs());
    match percent {
        _ if shown == "0.0 %" => shown,
        _ if percent < 0.0 => format!("−{shown}"),
        _ => format!("+{shown}"),
    }
}

/// Thousands apart, with a space that does not break.
fn grouped(number: &str) -> String {
    let (whole, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let mut text = String::from(sign);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) && whole.len() > 4 {
            text.push('\u{202F}');
        }
        text.push(digit);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0.0, 0.1234, 1.234, 12.34, 1_234.0, 12_345.6, -1_234_567.0].map(short);
        let expected =
            ["0", "0.123", "1.23", "12.3", "1234", "12\u{202F}346", "-1\u{202F}234\u{202F}567"];
        assert_eq!(shown, expected);
        assert_eq!([0.0, 0.5, 2.0, 15.0, 1_500.0].map(tick), ["0", "0.5", "2", "15", "1500"]);
        assert_eq!(duration_us(950.0), "950 µs");
        assert_eq!(duration_us(1_500.0), "1.50 ms");
        assert_eq!(duration_us(2_000_000.0), "2.00 s");
    }

    #[test]
    fn changes_have_a_sign() {
        let shown = [1.0, 1.083, 0.9, 4.0, 0.0].map(change);
        assert_eq!(shown, ["0.0 %", "+8.3 %", "−10.0 %", "×4.00", "−100.0 %"]);
        assert_eq!(percent(0.083), "8.3 %");
    }
}
