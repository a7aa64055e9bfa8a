use std::ffi::OsStr;
use std::fmt;
use std::sync::OnceLock;

/// The environment variable that limits which kernels run.
pub const VARIABLE: &str = "SHARDLAB_SIMD";

/// A set of instructions for which there are kernels, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plain Rust, on every machine.
    Portable,
    /// 256-bit vectors of x86-64: AVX2.
    Avx2,
    /// 512-bit vectors of x86-64: AVX-512 with F, BW, DQ and VL.
    Avx512,
    /// The same with IFMA, products of 52 bits: Ice Lake, Zen 4 and later.
    Avx512Ifma,
}

impl Level {
    /// All levels, the least first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Avx512, Self::Avx512Ifma];

    /// The name in [`VARIABLE`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Ifma => "avx512ifma",
        }
    }

    /// Whether this machine can run its kernels.
    fn is_here(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && Self::Avx2.is_here()
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Ifma => is_x86_feature_detected!("avx512ifma") && Self::Avx512.is_here(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 | Self::Avx512Ifma => false,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The proof that this machine can run the kernels of a [`Level`]: there is no other way to a value
/// than to ask the machine, so that a kernel that is handed one may use its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Simd(Level);

/// A [`VARIABLE`] that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SimdError {
    /// It names no level.
    #[error("{VARIABLE}={given:?} names no kernels; it can be portable, avx2, avx512 or avx512ifma, or be left out")]
    Unknown {
        /// What it says.
        given: String,
    },
    /// It names a level that this machine lacks.
    #[error("{VARIABLE}={level} asks for instructions that this machine lacks; it can run {best}")]
    NotHere {
        /// What it says.
        level: Level,
        /// The most this machine has.
        best: Level,
    },
}

impl Simd {
    /// Plain Rust.
    pub const PORTABLE: Self = Self(Level::Portable);

    /// The instructions that it stands for.
    #[must_use]
    pub const fn level(self) -> Level {
        self.0
    }

    /// All that this machine can run, the least first: what a test goes through.
    pub fn available() -> impl Iterator<Item = Self> {
        Level::ALL.into_iter().filter(|level| level.is_here()).map(Self)
    }

    /// The most that this machine can run, or the level that a value of [`VARIABLE`] names.
    ///
    /// # Errors
    /// The value names no level, or one that this machine lacks.
    pub fn named(value: Option<&OsStr>) -> Result<Self, SimdError> {
        let best = Self::available().last().unwrap_or(Self::PORTABLE);
        let Some(value) = value else { return Ok(best) };
        let level = Level::ALL
            .into_iter()
            .find(|level| value == level.name())
            .ok_or_else(|| SimdError::Unknown { given: value.to_string_lossy().into_owned() })?;
        Self::available().find(|simd| simd.0 == level).ok_or(SimdError::NotHere { level, best: best.0 })
    }

    /// What [`VARIABLE`] says in this process.
    ///
    /// # Errors
    /// As for [`named`](Self::named).
    pub fn from_environment() -> Result<Self, SimdError> {
        Self::named(std::env::var_os(VARIABLE).as_deref())
    }

    /// What sharders and hashes use: [`from_environment`](Self::from_environment), asked once.
    ///
    /// A variable that cannot be followed counts as `portable` here, where nobody can be told; a
    /// program asks `from_environment` first and says what is wrong.
    #[must_use]
    pub fn best() -> Self {
        static BEST: OnceLock<Simd> = OnceLock::new();
        *BEST.get_or_init(|| Self::from_environment().unwrap_or(Self::PORTABLE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_taken_by_its_name_or_refused_with_what_there_is() {
        for level in Level::ALL {
            match Simd::named(Some(OsStr::new(level.name()))) {
                Ok(simd) => assert_eq!(simd.level(), level),
                Err(error) => {
                    assert!(!level.is_here());
                    let best = Simd::available().last().map(Simd::level);
                    assert_eq!(Some(error), best.map(|best| SimdError::NotHere { level, best }));
                }
            }
        }
        assert_eq!(Simd::named(None).ok(), Simd::available().last());
    }

    #[test]
    fn an_unknown_name_is_an_error_that_lists_the_names() {
        for given in ["", "AVX2", "sse", "avx512 "] {
            let error = Simd::named(Some(OsStr::new(given))).expect_err("not a name");
            assert!(error.to_string().contains("portable, avx2, avx512 or avx512ifma"), "{error}");
        }
    }
}
