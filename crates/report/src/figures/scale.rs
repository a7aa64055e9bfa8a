//! Axes: which numbers stand at them, and where a value lies.

/// An axis from one number to another, in the pixels of the picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
    logarithmic: bool,
}

impl Scale {
    /// An axis with equal steps. `from` must lie below `to`.
    pub(super) const fn linear(from: f64, to: f64, start: f64, end: f64) -> Self {
        Self { from, to, start, end, logarithmic: false }
    }

    /// An axis with equal factors. `from` must lie above 0 and below `to`.
    pub(super) const fn logarithmic(from: f64, to: f64, start: f64, end: f64) -> Self {
        Self { from, to, start, end, logarithmic: true }
    }

    /// Where a value lies; one beyond the ends lies at the end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = value.clamp(self.from, self.to);
        let part = if self.logarithmic {
            libm::log(value / self.from) / libm::log(self.to / self.from)
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.start + part * (self.end - self.start)
    }

    /// Round numbers for the axis, with what is written there; at least so many pixels apart.
    pub(super) fn ticks(&self, apart: f64) -> Vec<(f64, String)> {
        let mut ticks = if self.logarithmic { self.factors() } else { self.steps(apart) };
        let mut last: Option<f64> = None;
        ticks.retain(|(value, _)| {
            let at = self.at(*value);
            let keep = last.is_none_or(|last| (at - last).abs() >= apart);
            if keep {
                last = Some(at);
            }
            keep
        });
        ticks
    }

    /// Powers of ten for an axis by factors, at least so many pixels apart; where fewer than two of them lie on
    /// it, the round numbers that do.
    pub(super) fn powers(&self, apart: f64) -> Vec<f64> {
        let is_power = |(mantissa, power, _): (f64, f64, usize)| (mantissa == 1.0).then_some(power);
        let mut powers: Vec<f64> = mantissas().filter_map(is_power).filter(|power| self.has(*power)).collect();
        if let [one, next, ..] = powers[..] {
            let every = (apart / (self.at(next) - self.at(one)).abs()).ceil().max(1.0);
            let mut place = 0.0;
            powers.retain(|_| {
                place += 1.0;
                (place - 1.0) % every == 0.0
            });
            return powers;
        }
        self.ticks(apart).into_iter().map(|(value, _)| value).collect()
    }

    /// Whether a value lies between the ends.
    fn has(&self, value: f64) -> bool {
        (self.from * 0.999_999..=self.to * 1.000_001).contains(&value)
    }

    fn steps(&self, apart: f64) -> Vec<(f64, String)> {
        let most = ((self.end - self.start).abs() / apart).max(1.0);
        let wide = |step: &(f64, f64, usize)| (self.to - self.from) / (step.0 * step.1) <= most;
        let Some((mantissa, power, decimals)) = mantissas().find(wide) else { return Vec::new() };
        let step = mantissa * power;
        // The sum with 0 takes the sign from a negative zero.
        let mut number = (self.from / step - 1e-9).ceil() + 0.0;
        let mut ticks = Vec::new();
        // An axis has no more steps than pixels.
        while number * step <= self.to + step * 1e-9 && ticks.len() < 1000 {
            ticks.push((number * step, format!("{:.decimals$}", number * step)));
            number += 1.0;
        }
        ticks
    }

    fn factors(&self) -> Vec<(f64, String)> {
        let within = mantissas().map(|(mantissa, power, decimals)| (mantissa * power, decimals));
        let within = within.filter(|(value, _)| self.has(*value));
        within.map(|(value, decimals)| (value, format!("{value:.decimals$}"))).collect()
    }
}

/// 1, 2 and 5 of each power of ten, with the decimals that they need, ascending.
fn mantissas() -> impl Iterator<Item = (f64, f64, usize)> {
    let small = (1..=9_usize).rev().map(|decimals| (1.0 / ten_to(decimals), decimals));
    let powers = small.chain((0..=18).map(|zeros| (ten_to(zeros), 0)));
    powers.flat_map(|(power, decimals)| [1.0, 2.0, 5.0].map(|mantissa| (mantissa, power, decimals)))
}

/// A power of ten, the same bits on every platform.
fn ten_to(power: usize) -> f64 {
    (0..power).fold(1.0, |product, _| product * 10.0)
}

/// Places for labels that belong at given heights, moved as little as keeps them apart and between two
/// ends, in the order of the heights given.
pub(super) fn apart(wanted: &[f64], distance: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut placed = wanted.to_vec();
    let mut least = top;
    for &label in &order {
        placed[label] = placed[label].max(least);
        least = placed[label] + distance;
    }
    let mut most = bottom;
    for &label in order.iter().rev() {
        placed[label] = placed[label].min(most);
        most = placed[label] - distance;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(scale: Scale) -> Vec<String> {
        scale.ticks(50.0).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn ticks_are_round_and_have_the_decimals_they_need() {
        assert_eq!(words(Scale::linear(0.97, 1.03, 0.0, 200.0)), ["0.98", "1.00", "1.02"]);
        assert_eq!(words(Scale::linear(0.0, 1.0, 0.0, 300.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(words(Scale::logarithmic(1.0, 1000.0, 0.0, 200.0)), ["1", "10", "100", "1000"]);
    }

    #[test]
    fn powers_of_ten_stand_where_there_are_two_and_other_round_numbers_where_there_are_not() {
        assert_eq!(Scale::logarithmic(8.0, 2e4, 0.0, 340.0).powers(50.0), [10.0, 100.0, 1e3, 1e4]);
        assert_eq!(Scale::logarithmic(0.5, 2e6, 300.0, 0.0).powers(50.0), [1.0, 100.0, 1e4, 1e6]);
        assert_eq!(Scale::logarithmic(3.0, 30.0, 0.0, 300.0).powers(50.0), [5.0, 10.0, 20.0]);
    }

    #[test]
    fn values_beyond_the_ends_lie_at_the_ends() {
        let scale = Scale::logarithmic(1.0, 100.0, 10.0, 210.0);
        assert_eq!([scale.at(0.0), scale.at(10.0), scale.at(1e9)], [10.0, 110.0, 210.0]);
        assert_eq!(Scale::linear(0.0, 1.0, 100.0, 0.0).at(0.25), 75.0);
    }

    #[test]
    fn labels_at_one_height_are_moved_apart() {
        assert_eq!(apart(&[50.0, 50.0, 10.0], 14.0, 0.0, 100.0), [50.0, 64.0, 10.0]);
        assert_eq!(apart(&[99.0, 98.0], 14.0, 0.0, 100.0), [100.0, 86.0]);
    }
}
