//! Work measured in turns, so that a noisy moment hits all of it alike.

use std::fmt;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// A piece of work that can be repeated: given a count, it does so many operations and returns
/// something that depends on all of them, so that none can be left out.
pub struct Task<'a> {
    work: Box<dyn FnMut(usize) -> u64 + 'a>,
    most: usize,
}

impl fmt::Debug for Task<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("most", &self.most).finish_non_exhaustive()
    }
}

impl<'a> Task<'a> {
    /// Work that takes any count.
    pub fn new(work: impl FnMut(usize) -> u64 + 'a) -> Self {
        Self { work: Box::new(work), most: 1 << 24 }
    }

    /// Work that is done once for each sample however short it is, such as a build.
    pub fn once(mut work: impl FnMut() -> u64 + 'a) -> Self {
        Self {
            work: Box::new(move |count| {
                let mut sum = 0_u64;
                for _ in 0..count {
                    sum = sum.wrapping_add(work());
                }
                sum
            }),
            most: 1,
        }
    }

    /// Does so many operations and returns what they returned.
    pub fn run(mut self, count: usize) -> u64 {
        (self.work)(count)
    }

    /// Nanoseconds for each of `count` operations.
    fn sample(&mut self, count: usize) -> (f64, Duration) {
        let start = Instant::now();
        black_box((self.work)(black_box(count)));
        let elapsed = start.elapsed();
        (elapsed.as_secs_f64() * 1e9 / count as f64, elapsed)
    }

    /// The smallest power of two of operations that fills a sample; finding it warms up the caches.
    fn calibrate(&mut self, least: Duration) -> usize {
        let mut count = 1;
        while count < self.most {
            // Twice, since a pause of the machine would make any count look long enough.
            if self.sample(count).1 >= least && self.sample(count).1 >= least {
                break;
            }
            count *= 2;
        }
        count
    }
}

/// How often and for how long work is measured.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Turns of each task.
    pub rounds: usize,
    /// How long a turn lasts; at least one sample is taken.
    pub turn: Duration,
    /// How long a sample lasts at least: long enough that reading the clock is nothing beside it.
    pub sample: Duration,
}

/// What one task took, in nanoseconds for one operation: the samples of each round. There is at least
/// one of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    rounds: Vec<Vec<f64>>,
}

impl Samples {
    /// Samples that were taken elsewhere, by round.
    ///
    /// # Panics
    /// There is no round, or a round without samples.
    #[must_use]
    pub fn from_rounds(rounds: Vec<Vec<f64>>) -> Self {
        assert!(!rounds.is_empty() && rounds.iter().all(|round| !round.is_empty()), "at least one sample a round");
        Self { rounds }
    }

    /// The median of all samples, in nanoseconds for one operation.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The sample at or below which the fraction `q` of all samples lies (nearest rank), in
    /// nanoseconds for one operation. With fewer than 100 samples the 99th percentile is the largest.
    ///
    /// # Panics
    /// `q` is not from 0 to 1.
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        nearest_rank(&mut self.rounds.concat(), q)
    }

    /// The median of each round, in nanoseconds for one operation.
    #[must_use]
    pub fn round_medians(&self) -> Vec<f64> {
        self.rounds.iter().map(|round| nearest_rank(&mut round.clone(), 0.5)).collect()
    }

    /// How far rounds differ: the quartiles of their medians apart, over the median of these.
    #[must_use]
    pub fn noise_fraction(&self) -> f64 {
        let mut medians = self.round_medians();
        let middle = nearest_rank(&mut medians, 0.5);
        (nearest_rank(&mut medians, 0.75) - nearest_rank(&mut medians, 0.25)) / middle
    }
}

/// The value at or below which the fraction `q` of all values lies; sorts them.
///
/// # Panics
/// There is no value, or `q` is not from 0 to 1.
pub fn nearest_rank(values: &mut [f64], q: f64) -> f64 {
    assert!((0.0..=1.0).contains(&q), "a fraction");
    values.sort_unstable_by(f64::total_cmp);
    // Counts of samples are small, and a product with a fraction cannot leave their range.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of samples")]
    let rank = (q * values.len() as f64).ceil() as usize;
    values[rank.max(1) - 1]
}

/// Measures all tasks in interleaved rounds; every other round goes backwards, so that no task always
/// follows the same one.
#[must_use]
pub fn interleaved(tasks: &mut [Task<'_>], schedule: Schedule) -> Vec<Samples> {
    let counts: Vec<usize> = tasks.iter_mut().map(|task| task.calibrate(schedule.sample)).collect();
    let mut samples = vec![Vec::with_capacity(schedule.rounds); tasks.len()];
    for round in 0..schedule.rounds.max(1) {
        for turn in 0..tasks.len() {
            let at = if round % 2 == 0 { turn } else { tasks.len() - 1 - turn };
            let mut taken = Vec::new();
            let mut spent = Duration::ZERO;
            while taken.is_empty() || spent < schedule.turn {
                let (ns, elapsed) = tasks[at].sample(counts[at]);
                taken.push(ns);
                spent += elapsed;
            }
            samples[at].push(taken);
        }
    }
    samples.into_iter().map(|rounds| Samples { rounds }).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const SHORT: Schedule = Schedule { rounds: 5, turn: Duration::ZERO, sample: Duration::ZERO };

    #[test]
    fn every_task_has_its_turn_in_every_round_and_the_order_alternates() {
        let order = Cell::new(String::new());
        let note = |name: char| {
            let order = &order;
            Task::once(move || {
                let mut text = order.take();
                text.push(name);
                order.set(text);
                1
            })
        };
        let samples = interleaved(&mut [note('a'), note('b'), note('c')], SHORT);
        assert_eq!(order.take(), "abccbaabccbaabc");
        assert!(samples.iter().all(|samples| samples.round_medians().len() == 5));
    }

    #[test]
    fn a_task_does_as_many_operations_as_it_is_charged_for() {
        let done = Cell::new(0);
        let mut task = Task::new(|count| {
            done.set(done.get() + count);
            done.get() as u64
        });
        let count = task.calibrate(Duration::from_nanos(1));
        let before = done.get();
        task.sample(count);
        assert_eq!(done.get() - before, count);
    }

    #[test]
    fn quantiles_are_samples_by_nearest_rank() {
        let samples = Samples::from_rounds(vec![vec![5.0, 1.0], vec![4.0], vec![2.0, 3.0]]);
        assert_eq!(samples.median(), 3.0);
        assert_eq!((samples.quantile(0.0), samples.quantile(0.2), samples.quantile(0.99)), (1.0, 1.0, 5.0));
        assert_eq!(samples.round_medians(), [1.0, 4.0, 2.0]);
        // Quartiles of 1, 2, 4 by nearest rank are 1 and 4, the median is 2.
        assert_eq!(samples.noise_fraction(), 1.5);
    }
}
