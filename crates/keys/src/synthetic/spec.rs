use std::fmt;

/// Milliseconds since 1970 at which time-based sets start: 2023-11-14T22:13:20Z.
pub const START_MS: u64 = 1_700_000_000_000;

/// Milliseconds since 1970 from which a snowflake id counts its time: Twitter's epoch,
/// 2010-11-04T01:42:54.657Z.
pub const SNOWFLAKE_EPOCH_MS: u64 = 1_288_834_974_657;

/// Bits of a snowflake id below its time: ten of the machine and twelve of the sequence.
pub(super) const SNOWFLAKE_TIME_SHIFT: u32 = 22;

/// The most tenants: their cumulative weights are a table of eight bytes each.
pub const MAX_TENANTS: u64 = 16_777_216;

/// The most digits of a padded number, the length of the longest id that Elasticsearch takes.
pub const MAX_WIDTH: u64 = 512;

/// The kinds of synthetic sets, each with its form, for help texts.
pub const FORMS: &[(&str, &str)] = &[
    ("sequential", "sequential:N[,start=0]"),
    ("padded", "padded:N[,width=12]"),
    ("uuid4", "uuid4:N"),
    ("uuid7", "uuid7:N"),
    ("snowflake", "snowflake:N[,step_ms=37]"),
    ("unix-ms", "unix-ms:N[,step=1000]"),
    ("zipf-tenants", "zipf-tenants:N[,tenants=1000][,s=1.1]"),
    ("random", "random:N"),
];

/// A set of made-up documents: a kind, its options and how many.
///
/// The text form is `kind:N[,option=value]…`; [`Display`](fmt::Display) writes the canonical one,
/// which lists the options that differ from their defaults in alphabetical order. A set of N
/// documents is the beginning of every larger set of the same kind, options and seed.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticSpec {
    pub(super) kind: Kind,
    pub(super) count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Sequential { start: u64 },
    Padded { width: usize },
    Uuid4,
    Uuid7,
    Snowflake { step_ms: u64 },
    UnixMs { step: u64 },
    ZipfTenants { tenants: u32, s: f64 },
    Random,
}

/// Why a text is no spec of a synthetic set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntheticError {
    /// There is no such kind.
    #[error("there is no synthetic set \"{kind}\"; the sets are {}", forms())]
    UnknownKind {
        /// What was asked for.
        kind: String,
    },
    /// The number of documents is missing or no number.
    #[error("\"{text}\" is no number of documents; write {form} with N from 1 to 18446744073709551615, digits alone")]
    Count {
        /// What stands in its place.
        text: String,
        /// The form of this kind.
        form: &'static str,
    },
    /// The kind has no such option.
    #[error("{kind} has no option \"{option}\"; it takes {known}")]
    UnknownOption {
        /// The kind.
        kind: &'static str,
        /// What was written.
        option: String,
        /// The options there are.
        known: String,
    },
    /// An option is given twice.
    #[error("{kind}: the option {option} is given twice; it takes {known}, each once")]
    DoubledOption {
        /// The kind.
        kind: &'static str,
        /// The option.
        option: String,
        /// The options there are.
        known: String,
    },
    /// The value is none that the option takes.
    #[error("{option}=\"{value}\" is not valid: {expected}")]
    BadValue {
        /// The option.
        option: &'static str,
        /// What was written.
        value: String,
        /// What would be right.
        expected: String,
    },
    /// The last document would have a number that does not fit.
    #[error("{kind}: {count} documents do not fit: {why}; at most {most} do")]
    TooMany {
        /// The kind.
        kind: &'static str,
        /// Documents asked for.
        count: u64,
        /// The limit that is passed.
        why: &'static str,
        /// Documents that fit with these options.
        most: u64,
    },
    /// The numbers are wider than their padding.
    #[error("padded: the largest of {count} numbers has {needed} digits, but width={width}; say width={needed}")]
    TooNarrow {
        /// Documents asked for.
        count: u64,
        /// The width in force.
        width: usize,
        /// The width that is needed.
        needed: usize,
    },
}

fn forms() -> String {
    FORMS.iter().map(|(_, form)| *form).collect::<Vec<_>>().join(", ")
}

impl SyntheticSpec {
    /// Reads a spec such as `padded:1000,width=8`.
    ///
    /// # Errors
    /// An unknown kind, an unknown or doubled option, a value out of range, no documents at all, or
    /// more than have numbers.
    pub fn parse(text: &str) -> Result<Self, SyntheticError> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let Some(&(kind, form)) = FORMS.iter().find(|(kind, _)| *kind == name) else {
            return Err(SyntheticError::UnknownKind { kind: shown(name) });
        };
        let mut parts = rest.split(',');
        let first = parts.next().unwrap_or_default();
        let count = whole(first)
            .filter(|&count| count > 0)
            .ok_or_else(|| SyntheticError::Count { text: shown(first), form })?;
        let options = Options::read(kind, parts)?;
        let kind = match kind {
            "sequential" => Kind::Sequential { start: options.whole("start", 0, 0, u64::MAX)? },
            "padded" => {
                let width = options.whole("width", 12, 1, MAX_WIDTH)?;
                Kind::Padded { width: usize::try_from(width).unwrap_or(usize::MAX) }
            }
            "uuid4" => Kind::Uuid4,
            "uuid7" => Kind::Uuid7,
            "snowflake" => Kind::Snowflake { step_ms: options.whole("step_ms", 37, 1, u64::MAX)? },
            "unix-ms" => Kind::UnixMs { step: options.whole("step", 1000, 1, u64::MAX)? },
            "zipf-tenants" => {
                let tenants = options.whole("tenants", 1000, 1, MAX_TENANTS)?;
                Kind::ZipfTenants { tenants: u32::try_from(tenants).unwrap_or(u32::MAX), s: options.exponent()? }
            }
            _ => Kind::Random,
        };
        let spec = Self { kind, count };
        spec.check_range()?;
        Ok(spec)
    }

    /// How many documents the set has, at least 1.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Whether the text begins like a spec, so that it is not taken for the name of a file.
    #[must_use]
    pub fn looks_like_one(text: &str) -> bool {
        text.split_once(':').is_some_and(|(name, _)| FORMS.iter().any(|(kind, _)| *kind == name))
    }

    /// Refuses sets whose last document would overflow, so that making them cannot fail.
    fn check_range(&self) -> Result<(), SyntheticError> {
        let count = self.count;
        let last = count - 1;
        let at_most = |kind, steps: u64, why| {
            if last > steps {
                return Err(SyntheticError::TooMany { kind, count, why, most: steps.saturating_add(1) });
            }
            Ok(())
        };
        match self.kind {
            Kind::Sequential { start } => {
                at_most("sequential", u64::MAX - start, "the last number would pass 2^64 - 1")
            }
            Kind::Padded { width } => {
                let needed = itoa::Buffer::new().format(last).len();
                if needed > width {
                    return Err(SyntheticError::TooNarrow { count, width, needed });
                }
                Ok(())
            }
            Kind::Uuid7 => at_most("uuid7", (1 << 48) - 1 - START_MS, "the time of a UUID has 48 bits"),
            Kind::Snowflake { step_ms } => {
                let room = (1 << 41) - 1 - (START_MS - SNOWFLAKE_EPOCH_MS);
                at_most("snowflake", room / step_ms, "the time of a snowflake id has 41 bits")
            }
            Kind::UnixMs { step } => {
                at_most("unix-ms", (u64::MAX - START_MS) / step, "the last time would pass 2^64 - 1")
            }
            Kind::Uuid4 | Kind::ZipfTenants { .. } | Kind::Random => Ok(()),
        }
    }
}

impl fmt::Display for SyntheticSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.count;
        match self.kind {
            Kind::Sequential { start: 0 } => write!(f, "sequential:{count}"),
            Kind::Sequential { start } => write!(f, "sequential:{count},start={start}"),
            Kind::Padded { width: 12 } => write!(f, "padded:{count}"),
            Kind::Padded { width } => write!(f, "padded:{count},width={width}"),
            Kind::Uuid4 => write!(f, "uuid4:{count}"),
            Kind::Uuid7 => write!(f, "uuid7:{count}"),
            Kind::Snowflake { step_ms: 37 } => write!(f, "snowflake:{count}"),
            Kind::Snowflake { step_ms } => write!(f, "snowflake:{count},step_ms={step_ms}"),
            Kind::UnixMs { step: 1000 } => write!(f, "unix-ms:{count}"),
            Kind::UnixMs { step } => write!(f, "unix-ms:{count},step={step}"),
            Kind::ZipfTenants { tenants, s } => {
                write!(f, "zipf-tenants:{count}")?;
                if s != DEFAULT_EXPONENT {
                    write!(f, ",s={s}")?;
                }
                if tenants != 1000 {
                    write!(f, ",tenants={tenants}")?;
                }
                Ok(())
            }
            Kind::Random => write!(f, "random:{count}"),
        }
    }
}

impl std::str::FromStr for SyntheticSpec {
    type Err = SyntheticError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

const DEFAULT_EXPONENT: f64 = 1.1;

/// The options of a spec as they are written, each known and given once.
struct Options<'a>(Vec<(&'static str, &'a str)>);

impl<'a> Options<'a> {
    fn read(kind: &'static str, parts: impl Iterator<Item = &'a str>) -> Result<Self, SyntheticError> {
        let known: &[&'static str] = match kind {
            "sequential" => &["start"],
            "padded" => &["width"],
            "snowflake" => &["step_ms"],
            "unix-ms" => &["step"],
            "zipf-tenants" => &["s", "tenants"],
            _ => &[],
        };
        let listed = || if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let mut options: Vec<(&'static str, &'a str)> = Vec::new();
        for part in parts {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let Some(&option) = known.iter().find(|known| **known == name) else {
                return Err(SyntheticError::UnknownOption { kind, option: shown(name), known: listed() });
            };
            if options.iter().any(|(given, _)| *given == option) {
                return Err(SyntheticError::DoubledOption { kind, option: option.to_owned(), known: listed() });
            }
            options.push((option, value));
        }
        Ok(Self(options))
    }

    fn get(&self, option: &str) -> Option<&'a str> {
        self.0.iter().find(|(given, _)| *given == option).map(|(_, value)| *value)
    }

    fn whole(&self, option: &'static str, default: u64, least: u64, most: u64) -> Result<u64, SyntheticError> {
        let Some(value) = self.get(option) else { return Ok(default) };
        whole(value).filter(|number| (least..=most).contains(number)).ok_or_else(|| SyntheticError::BadValue {
            option,
            value: shown(value),
            expected: format!("a whole number from {least} to {most}, digits alone"),
        })
    }

    fn exponent(&self) -> Result<f64, SyntheticError> {
        let Some(value) = self.get("s") else { return Ok(DEFAULT_EXPONENT) };
        let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // Rust reads more forms of a number ("inf", "1e3"), which a spec does not have.
        let number = if digits(whole) && digits(fraction) { value.parse().ok() } else { None };
        number.filter(|s| (0.0..=100.0).contains(s)).ok_or_else(|| SyntheticError::BadValue {
            option: "s",
            value: shown(value),
            expected: "the exponent of Zipf's law, a decimal number from 0 to 100 such as 1.1".to_owned(),
        })
    }
}

/// Digits alone, below 2^64.
fn whole(text: &str) -> Option<u64> {
    // Rust's own parser would take a leading plus.
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn shown(text: &str) -> String {
    crate::shown::short(text.as_bytes())
}
