//! What numbers may be: times since 1970 and ids that begin with a time.

use jiff::Timestamp;
use shardlab_core::rows::LooksLike;
use shardlab_keys::SNOWFLAKE_EPOCH_MS;

/// 2000-01-01 and 2040-01-01: numbers between them may be meant as times.
const FROM_S: u64 = 946_684_800;
const TO_S: u64 = 2_208_988_800;

const UNITS: [(&str, u64); 4] = [
    ("unix seconds", 1),
    ("unix milliseconds", 1_000),
    ("unix microseconds", 1_000_000),
    ("unix nanoseconds", 1_000_000_000),
];

/// Bits of a snowflake id below its time: ten of the machine and twelve of the sequence.
pub(super) const SNOWFLAKE_TIME_SHIFT: u32 = 22;

/// What numbers from `min` to `max` may be. `few_machines` says whether the bits that hold the machine
/// or the sequence in a snowflake id hardly vary, without which large numbers of any kind would pass.
pub(super) fn guesses(min: u64, max: u64, divisor: u64, few_machines: bool) -> Vec<LooksLike> {
    let snowflake_ms = |id: u64| (id >> SNOWFLAKE_TIME_SHIFT) + SNOWFLAKE_EPOCH_MS;
    let snowflake = few_machines && min >> SNOWFLAKE_TIME_SHIFT > 0 && snowflake_ms(max) <= TO_S * 1_000;
    let mut guesses = Vec::new();
    if snowflake {
        let shown = |id| date(snowflake_ms(id) / 1_000);
        guesses.push(LooksLike { kind: "snowflake", from: shown(min), to: shown(max) });
    }
    for (kind, unit) in UNITS {
        let inside = (FROM_S * unit..=TO_S * unit).contains(&min) && max <= TO_S * unit;
        // Ids of these years are as large as nanoseconds; clocks that count those tick in steps of 100
        // or more on most systems.
        let instead = snowflake && !divisor.is_multiple_of(100);
        if inside && !instead {
            guesses.push(LooksLike { kind, from: date(min / unit), to: date(max / unit) });
        }
    }
    guesses
}

/// Seconds since 1970 as a date and time in UTC.
fn date(seconds: u64) -> String {
    let known = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    // Nothing beyond the year 2040 is taken for a time, so that every one is known.
    known.map_or_else(|| format!("{seconds} s after 1970"), |time| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01T00:00:00Z");
        assert_eq!(date(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(date(1_700_000_000), "2023-11-14T22:13:20Z");
        assert_eq!(date(1_735_689_599), "2024-12-31T23:59:59Z");
    }

    #[test]
    fn each_unit_of_a_time_is_told() {
        for (kind, unit) in UNITS {
            let guesses = guesses(1_700_000_000 * unit, 1_700_000_900 * unit, unit, false);
            assert_eq!(guesses.iter().map(|guess| guess.kind).collect::<Vec<_>>(), [kind]);
        }
        assert!(guesses(0, 9_999_999, 1, false).is_empty());
    }

    #[test]
    fn ids_with_a_time_in_front_are_told_from_nanoseconds() {
        let id = |ms: u64| (ms - SNOWFLAKE_EPOCH_MS) << SNOWFLAKE_TIME_SHIFT | 1 << 12;
        let (min, max) = (id(1_700_000_000_000), id(1_700_000_037_000));
        assert_eq!(guesses(min, max, 4096, true)[0].from, "2023-11-14T22:13:20Z");
        assert_eq!(guesses(min, max, 4096, true).len(), 1);
    }
}
