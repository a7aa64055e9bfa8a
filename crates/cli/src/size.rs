//! Sizes in bytes as people write them: decimal units, and binary ones where they are written so.

use crate::output::note;

/// The units, longest names first so that `MiB` is not read as `B`.
const UNITS: [(&str, u64); 9] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// Reads a size such as `300MB`, `2GiB`, `1.5GB` or `4096`.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text:?} is not a size; write for example 300MB, 1.5GB (10^9 bytes) or 2GiB (2^30)");
    let (number, unit) =
        UNITS.iter().find_map(|&(name, unit)| Some((text.strip_suffix(name)?, unit))).unwrap_or((text, 1));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 12 || number.ends_with('.') {
        return Err(wrong());
    }
    let scale = 10_u128.pow(u32::try_from(fraction.len()).map_err(|_| wrong())?);
    let units: u128 = format!("{whole}{fraction}").parse().map_err(|_| wrong())?;
    let bytes = units.checked_mul(u128::from(unit)).ok_or_else(wrong)? / scale;
    u64::try_from(bytes).map_err(|_| format!("{text:?} is more than 2^64 bytes"))
}

/// A size as a flag gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Bytes.
    pub(crate) bytes: u64,
    /// Whether no unit stood behind the number. People who leave it out rarely mean bytes.
    pub(crate) is_bare: bool,
}

impl Size {
    /// Reads a size and remembers whether it has a unit.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Ok(Self { bytes: parse(text)?, is_bare: text.ends_with(|last: char| last.is_ascii_digit()) })
    }

    /// The bytes, with a note where the unit was left out.
    pub(crate) fn noted(self, flag: &str) -> u64 {
        if self.is_bare {
            note(&format!("{flag}: {} has no unit and was taken as bytes; write for example 600GB", self.bytes));
        }
        self.bytes
    }
}

/// Requests as a flag gave them: in all, or those of a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Requests {
    /// How many.
    pub(crate) total: u64,
    /// Whether in a second.
    pub(crate) per_second: bool,
}

impl Requests {
    /// Reads `50000/s` or `50000`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (number, per_second) = text.strip_suffix("/s").map_or((text, false), |number| (number, true));
        match number.parse() {
            Ok(total) if number.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Self { total, per_second }),
            _ => Err(format!(
                "{text:?} is no number of requests; write a whole number, such as 50000/s, or 50000 for a count"
            )),
        }
    }
}

/// Seconds of each unit of time that a rate can have.
const TIMES: [(&str, u64); 4] = [("min", 60), ("s", 1), ("h", 3600), ("d", 86_400)];

/// Reads a rate such as `100MB/s`, or one that was measured, such as `200GB/12h`.
pub(crate) fn parse_rate(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "{text:?} is not a rate of at least one byte a second; write for example 100MB/s (10^6 bytes a second), 1GiB/s, \
             or what was measured, such as 200GB/12h"
        )
    };
    let (amount, time) = text.split_once('/').ok_or_else(wrong)?;
    let (count, unit) =
        TIMES.iter().find_map(|&(name, unit)| Some((time.strip_suffix(name)?, unit))).ok_or_else(wrong)?;
    let is_number = |count: &str| count.bytes().all(|byte| byte.is_ascii_digit());
    let count: u64 =
        if count.is_empty() { 1 } else { count.parse().ok().filter(|_| is_number(count)).ok_or_else(wrong)? };
    let seconds = count.checked_mul(unit).ok_or_else(wrong)?;
    let rate = parse(amount).map_err(|_| wrong())?.checked_div(seconds);
    rate.filter(|&rate| rate > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::{Requests, Size, parse, parse_rate};

    #[test]
    fn sizes_are_decimal_unless_written_otherwise() {
        assert_eq!(parse("300MB"), Ok(300_000_000));
        assert_eq!(parse("2GiB"), Ok(2 << 30));
        assert_eq!(parse("1.5GB"), Ok(1_500_000_000));
        assert_eq!(parse("4096"), Ok(4096));
        assert_eq!(parse("0.5KiB"), Ok(512));
    }

    #[test]
    fn a_size_without_a_unit_is_known_as_one() {
        assert_eq!(Size::parse("600"), Ok(Size { bytes: 600, is_bare: true }));
        assert_eq!(Size::parse("600B"), Ok(Size { bytes: 600, is_bare: false }));
        assert!(Size::parse("600G").is_err());
    }

    #[test]
    fn requests_are_a_count_or_a_rate() {
        assert_eq!(Requests::parse("50000/s"), Ok(Requests { total: 50_000, per_second: true }));
        assert_eq!(Requests::parse("7"), Ok(Requests { total: 7, per_second: false }));
        for text in ["", "/s", "-1", "+1", "1.5", "5k/s", "5/m", "18446744073709551616"] {
            assert!(Requests::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_rate_is_an_amount_in_a_time() {
        assert_eq!(parse_rate("100MB/s"), Ok(100_000_000));
        assert_eq!(parse_rate("200GB/12h"), Ok(4_629_629));
        assert_eq!(parse_rate("6GB/min"), Ok(100_000_000));
        assert_eq!(parse_rate("1TB/2d"), Ok(5_787_037));
        for text in ["100MB", "0MB/s", "1GB/0s", "5/min/s", "1GB/ms", "1GB/-1s", "1GB/+1s", "1B/h", "/s", "1GB/"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "GB", "-1GB", "1e9", "1.GB", ".5GB", "1 GB", "1gb", "99999999999999TB", "٣GB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
