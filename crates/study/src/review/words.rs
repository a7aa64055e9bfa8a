//! Numbers of a review as its sentences show them.

use shardlab_core::rows::ReviewUnit;

/// A bound as its author would write it: without zeros at its end.
pub(super) fn bound(value: f64, unit: ReviewUnit) -> String {
    match unit {
        // People write 1.10, not 1.1.
        ReviewUnit::Ratio => {
            Some(format!("{value:.2}")).filter(|text| text.parse() == Ok(value)).unwrap_or(value.to_string())
        }
        ReviewUnit::Fraction => format!("{} %", trimmed(value * 100.0)),
        ReviewUnit::Nanoseconds => format!("{} ns", trimmed(value)),
        ReviewUnit::Bytes => match unit.shown(value).split_once(' ') {
            Some((number, unit)) if number.contains('.') => {
                format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
            }
            _ => unit.shown(value),
        },
        ReviewUnit::None => String::new(),
    }
}

/// At most four decimals, and none that are not needed.
fn trimmed(value: f64) -> String {
    format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Names with commas and an "and" before the last.
pub(super) fn list<T: AsRef<str>>(names: &[T]) -> String {
    match names {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_no_digits_that_say_nothing() {
        assert_eq!(bound(1.1, ReviewUnit::Ratio), "1.10");
        assert_eq!(bound(0.15, ReviewUnit::Fraction), "15 %");
        assert_eq!(bound(0.0, ReviewUnit::Fraction), "0 %");
        assert_eq!(bound(1e6, ReviewUnit::Bytes), "1 MB");
        assert_eq!(bound(131_072.0, ReviewUnit::Bytes), "131 kB");
        assert_eq!(bound(50.0, ReviewUnit::Nanoseconds), "50 ns");
    }

    #[test]
    fn lists_read_as_people_say_them() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
