use shardlab_core::rows::{ConstantBits, NumberFacts};

use super::clock::{self, SNOWFLAKE_TIME_SHIFT};
use super::values::Values;

/// Beyond 2^53 a double does not hold every whole number.
const DOUBLE_BITS: u32 = 53;

/// The part of all numbers that makes a bit nearly constant.
const NEARLY: f64 = 0.95;

/// The facts with numbers that findings reckon with.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    pub(super) facts: NumberFacts,
    /// 0 where there is one number alone.
    pub(super) divisor_of_differences: u64,
    pub(super) min: u64,
    pub(super) max: u64,
    /// The lowest bits that are the same in all numbers, and their value.
    pub(super) low_bits: (u32, u64),
    /// Zeros at the end that all numbers share.
    pub(super) low_zeros: u32,
}

impl Numbers {
    /// Whether all values are numbers.
    pub(super) fn is_all(&self) -> bool {
        self.facts.count == self.facts.of
    }

    /// Bits after which a double of the largest number holds no digit.
    pub(super) fn lost_bits(&self) -> u32 {
        (u64::BITS - self.max.leading_zeros()).saturating_sub(DOUBLE_BITS)
    }
}

/// The greatest common divisor; 0 divides nothing and is divided by everything.
pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// What the different values are as numbers; none where no value is one.
pub(super) fn facts(values: &Values) -> Option<Numbers> {
    let mut numbers = (0..values.len()).filter_map(|value| values.number(value));
    let first = numbers.next()?;
    let (mut min, mut max) = (first, first);
    let (mut all, mut any) = (first, first);
    let (mut of_differences, mut of_values) = (0, first);
    let mut ones = [0_u64; 64];
    let (mut count, mut beyond, mut held) = (0_u64, 0_u64, 0_u64);
    for number in std::iter::once(first).chain(numbers) {
        count += 1;
        min = min.min(number);
        max = max.max(number);
        all &= number;
        any |= number;
        of_differences = gcd(number.abs_diff(first), of_differences);
        of_values = gcd(number, of_values);
        for (bit, ones) in ones.iter_mut().enumerate() {
            *ones += number >> bit & 1;
        }
        let length = u64::BITS - number.leading_zeros();
        beyond += u64::from(number > 1 << DOUBLE_BITS);
        held += u64::from(number > 1 << DOUBLE_BITS && number.trailing_zeros() >= length.saturating_sub(DOUBLE_BITS));
    }
    let varying = all ^ any;
    let low_constant = if varying == 0 { 0 } else { varying.trailing_zeros() };
    let nearly = |ones: u64| ones.max(count - ones) as f64 >= NEARLY * count as f64;
    let low_nearly = ones.iter().take_while(|&&ones| count > 1 && nearly(ones)).count();
    let flat = |bits: std::ops::Range<usize>| count > 1 && ones[bits].iter().all(|&ones| nearly(ones));
    let leading_zeros =
        if values.are_keys() { 0 } else { (0..values.len()).filter(|&value| is_padded(values.text(value))).count() };
    let mask = |bits: u32| 1_u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1);
    let facts = NumberFacts {
        count,
        of: u64::try_from(values.len()).unwrap_or(u64::MAX),
        min: min.to_string(),
        max: max.to_string(),
        constant_bits: runs(varying, all),
        low_constant_bits: low_constant,
        low_nearly_constant_bits: u32::try_from(low_nearly).unwrap_or(u64::BITS).max(low_constant),
        divisor_of_differences: of_differences.to_string(),
        divisor: of_values.to_string(),
        beyond_double: beyond,
        held_by_a_double: held,
        leading_zeros: u64::try_from(leading_zeros).unwrap_or(u64::MAX),
        // Machines are few and sequences short, so that some of their bits hardly vary.
        looks_like: clock::guesses(min, max, of_values, flat(17..SNOWFLAKE_TIME_SHIFT as usize) || flat(6..12)),
    };
    Some(Numbers {
        facts,
        divisor_of_differences: of_differences,
        min,
        max,
        low_bits: (low_constant, all & mask(low_constant)),
        low_zeros: any.trailing_zeros().min(u64::BITS - 1),
    })
}

/// Digits with a zero in front, which is another text for the same number.
fn is_padded(text: &[u8]) -> bool {
    text.len() > 1 && text[0] == b'0' && text.iter().all(u8::is_ascii_digit)
}

/// Runs of constant bits below the highest bit that varies: above it every small number has zeros.
fn runs(varying: u64, value: u64) -> Vec<ConstantBits> {
    let mut runs: Vec<ConstantBits> = Vec::new();
    let highest = if varying == 0 { return runs } else { u64::BITS - varying.leading_zeros() };
    let mut bit = 0;
    while bit < highest {
        if varying >> bit & 1 == 1 {
            bit += 1;
            continue;
        }
        let length = (varying >> bit).trailing_zeros();
        let part = value >> bit & ((1 << length) - 1);
        runs.push(ConstantBits { from: bit, to: bit + length - 1, value: part.to_string() });
        bit += length;
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn constant_bits_are_those_that_never_change(
            numbers in prop::collection::vec(any::<u64>(), 2..6),
            keep in any::<u64>(),
        ) {
            let numbers: Vec<u64> = numbers.iter().map(|number| number & keep | numbers[0] & !keep).collect();
            let all = numbers.iter().fold(u64::MAX, |all, number| all & number);
            let varying = all ^ numbers.iter().fold(0, |any, number| any | number);
            let runs = runs(varying, all);
            for bit in 0..64 {
                let constant = numbers.iter().all(|number| number >> bit & 1 == numbers[0] >> bit & 1);
                let run = runs.iter().find(|run| (run.from..=run.to).contains(&bit));
                let below_the_highest = varying >> bit > 1;
                prop_assert_eq!(run.is_some(), constant && below_the_highest);
                if let Some(run) = run {
                    prop_assert_eq!(run.value.parse::<u64>().unwrap() >> (bit - run.from) & 1, numbers[0] >> bit & 1);
                }
            }
        }
    }

    #[test]
    fn the_common_divisor_is_euclids() {
        assert_eq!(gcd(12, 18), 6);
        assert_eq!((gcd(0, 5), gcd(5, 0), gcd(0, 0)), (5, 5, 0));
    }
}
