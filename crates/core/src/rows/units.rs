//! Numbers for people, with their units.

/// Bytes in decimal units.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    const STEPS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let value = bytes as f64;
    match STEPS.iter().find(|(_, size)| value >= *size) {
        Some((unit, size)) => format!("{} {unit}", three_digits(value / size)),
        None => format!("{bytes} B"),
    }
}

/// A time in the unit that keeps it legible.
#[must_use]
pub fn nanoseconds(ns: f64) -> String {
    const STEPS: [(&str, f64); 3] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
    match STEPS.iter().find(|(_, size)| ns >= *size) {
        Some((unit, size)) => format!("{} {unit}", three_digits(ns / size)),
        None => format!("{} ns", three_digits(ns)),
    }
}

/// A fraction as a percentage with two decimals.
#[must_use]
pub fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

/// A ratio with three decimals.
#[must_use]
pub fn ratio(value: f64) -> String {
    format!("{value:.3}")
}

fn three_digits(value: f64) -> String {
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_their_numbers() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(131_074), "131 kB");
        assert_eq!(bytes(2_560_000_000), "2.56 GB");
        assert_eq!(nanoseconds(0.85), "0.85 ns");
        assert_eq!(nanoseconds(13_365.0), "13.4 µs");
        assert_eq!(nanoseconds(2.5e9), "2.50 s");
        assert_eq!(percent(1.0 / 11.0), "9.09 %");
    }
}
