//! Prime table sizes. Only in a table of prime size does every skip reach all slots.

/// Whether a number is prime: Miller and Rabin's test with the bases 2, 7 and 61, which is exact
/// below 4,759,123,141 (Jaeschke 1993).
#[must_use]
pub fn is_prime(n: u32) -> bool {
    const BASES: [u64; 3] = [2, 7, 61];
    if n < 2 {
        return false;
    }
    let n = u64::from(n);
    if let Some(divisor) = [2, 3, 5, 7, 61].into_iter().find(|divisor| n.is_multiple_of(*divisor)) {
        return n == divisor;
    }
    let twos = (n - 1).trailing_zeros();
    BASES.into_iter().all(|base| {
        let mut x = power(base, (n - 1) >> twos, n);
        let mut witness = x != 1 && x != n - 1;
        for _ in 1..twos {
            x = x * x % n;
            witness &= x != n - 1;
        }
        !witness
    })
}

/// base^exponent mod n. Products of two numbers below 2^32 fit 64 bits.
fn power(mut base: u64, mut exponent: u64, n: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % n;
        }
        base = base * base % n;
        exponent >>= 1;
    }
    result
}

/// The smallest prime that is at least `n`, if a u32 holds it.
#[must_use]
pub fn next_prime(n: u32) -> Option<u32> {
    (n..=u32::MAX).find(|&candidate| is_prime(candidate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_agrees_with_trial_division() {
        let trial = |n: u32| n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        for n in 0..20_000 {
            assert_eq!(is_prime(n), trial(n), "{n}");
        }
    }

    #[test]
    fn strong_pseudoprimes_and_known_primes_are_told_apart() {
        // Strong pseudoprimes to one or two of the bases, and the ends of the range.
        for n in [2047, 3_215_031_751, 1_373_653, 25_326_001, 314_821, 65_535, u32::MAX, 2_147_483_649] {
            assert!(!is_prime(n), "{n}");
        }
        for n in [2, 3, 65_537, 655_373, 2_147_483_647, 4_294_967_291] {
            assert!(is_prime(n), "{n}");
        }
    }

    #[test]
    fn the_next_prime_is_the_smallest_that_is_not_smaller() {
        assert_eq!([0, 8, 10, 11, 65_536].map(next_prime), [2, 11, 11, 11, 65_537].map(Some));
        assert_eq!(next_prime(4_294_967_292), None);
    }
}
