use shardlab_core::rows::{Order, Trend};

use super::values::Values;

/// From this correlation on values follow the order of arrival, as MongoDB's analyzeShardKey has it.
const MONOTONE_FROM: f64 = 0.7;

/// How different values go as they arrive: numbers by their value, texts by the eight bytes behind
/// what all begin with, in which a time or a counter shows.
pub(super) fn facts(values: &Values, numbers_only: bool, prefix: usize) -> Order {
    let place = |value: usize| -> u64 {
        if numbers_only {
            return values.number(value).unwrap_or_default();
        }
        let mut head = [0; 8];
        let rest = values.text(value).get(prefix..).unwrap_or_default();
        for (byte, text) in head.iter_mut().zip(rest) {
            *byte = *text;
        }
        u64::from_be_bytes(head)
    };
    let (mut ascents, mut descents) = (0, 0);
    let mut pairs = Pairs::default();
    let mut before = None;
    for value in 0..values.len() {
        let number = place(value);
        match before.map(|before: u64| before.cmp(&number)) {
            Some(std::cmp::Ordering::Less) => ascents += 1,
            Some(std::cmp::Ordering::Greater) => descents += 1,
            _ => {}
        }
        before = Some(number);
        // Taking the first value off keeps digits that a double would lose.
        let offset = number.abs_diff(place(0)) as f64;
        pairs.add(value as f64, if number < place(0) { -offset } else { offset });
    }
    let correlation = if values.len() < 3 { None } else { pairs.correlation() };
    let trend = match correlation {
        Some(correlation) if correlation >= MONOTONE_FROM => Trend::Increasing,
        Some(correlation) if correlation <= -MONOTONE_FROM => Trend::Decreasing,
        _ => Trend::Neither,
    };
    Order { correlation, ascents, descents, trend }
}

/// Sums of squares and products about the running means (Welford), which large numbers do not spoil.
#[derive(Default)]
struct Pairs {
    count: f64,
    mean_x: f64,
    mean_y: f64,
    squares_x: f64,
    squares_y: f64,
    products: f64,
}

impl Pairs {
    fn add(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        let (old_x, old_y) = (x - self.mean_x, y - self.mean_y);
        self.mean_x += old_x / self.count;
        self.mean_y += old_y / self.count;
        self.squares_x += old_x * (x - self.mean_x);
        self.squares_y += old_y * (y - self.mean_y);
        self.products += old_x * (y - self.mean_y);
    }

    /// None where all values are the same.
    fn correlation(&self) -> Option<f64> {
        let scale = self.squares_x.sqrt() * self.squares_y.sqrt();
        (scale > 0.0).then(|| (self.products / scale).clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correlation(values: &[f64]) -> f64 {
        let mut pairs = Pairs::default();
        for (x, &y) in values.iter().enumerate() {
            pairs.add(x as f64, y);
        }
        pairs.correlation().unwrap_or(f64::NAN)
    }

    #[test]
    fn the_correlation_is_pearsons() {
        assert!((correlation(&[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!((correlation(&[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        // By hand: the sum of products is 4, the sums of squares are 5 and 4.
        assert!((correlation(&[1.0, 1.0, 3.0, 3.0]) - 4.0 / (5.0_f64 * 4.0).sqrt()).abs() < 1e-12);
        assert!(correlation(&[2.0, 2.0, 2.0]).is_nan());
    }
}
