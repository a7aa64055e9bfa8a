//! Sizes in bytes as people write them: decimal units, and binary ones where they are written so.

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

/// Reads a rate such as `100MB/s`.
pub(crate) fn parse_rate(text: &str) -> Result<u64, String> {
    let rate = text.strip_suffix("/s").map(parse);
    match rate {
        Some(Ok(rate)) if rate > 0 => Ok(rate),
        _ => Err(format!("{text:?} is not a rate above 0; write for example 100MB/s (10^6 bytes a second) or 1GiB/s")),
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_are_decimal_unless_written_otherwise() {
        assert_eq!(parse("300MB"), Ok(300_000_000));
        assert_eq!(parse("2GiB"), Ok(2 << 30));
        assert_eq!(parse("1.5GB"), Ok(1_500_000_000));
        assert_eq!(parse("4096"), Ok(4096));
        assert_eq!(parse("0.5KiB"), Ok(512));
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "GB", "-1GB", "1e9", "1.GB", ".5GB", "1 GB", "1gb", "99999999999999TB", "٣GB"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
