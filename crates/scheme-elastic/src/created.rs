use std::fmt;

use shardlab_core::SpecError;

/// The version that created an index. An index keeps its routing function for life, whatever version
/// of the server serves it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Created {
    /// `MAJOR.MINOR` or `MAJOR.MINOR.PATCH` of Elasticsearch.
    Version {
        /// The first number.
        major: u32,
        /// The second number.
        minor: u32,
        /// The third number, which never decides anything.
        patch: Option<u32>,
    },
    /// Any version of one major, `MAJOR.x`, where all of them route alike.
    Major(u32),
    /// Any version of OpenSearch.
    OpenSearch,
}

/// Indices that place documents alike and take the same default number of routing shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// 0.x and 1.x: |DJB2(id) rem n|.
    Djb2,
    /// 2.0 to 6.x: floorMod(Murmur3(id), R) / (R / n), where R is n unless something else was said
    /// or the index was shrunk.
    ShardsAsRoutingShards,
    /// 7.0 to 9.3 and OpenSearch: as before, where R is n·2^k near 1024 unless something else was said.
    DefaultRoutingShards,
    /// 9.4 and later: floorMod(Murmur3(id), n). R keeps its meaning for resize rules and the bound
    /// of partitions alone.
    ShardCount,
}

impl Generation {
    /// Whether shard t of a split comes from shard t mod n, and not from t / (m / n).
    #[must_use]
    pub const fn is_modular(self) -> bool {
        matches!(self, Self::Djb2 | Self::ShardCount)
    }
}

const EXPECTED: &str = "MAJOR.MINOR or MAJOR.MINOR.PATCH of the Elasticsearch that created the index (8.15), \
     a whole major (8.x), or opensearch";

impl Created {
    /// What is assumed where nothing is said: the first version of the newest generation.
    pub const NEWEST: Self = Self::Version { major: 9, minor: 4, patch: None };

    /// Reads the value of the option `created`.
    ///
    /// # Errors
    /// It is no version, or a major whose minors route differently.
    pub fn parse(value: &str) -> Result<Self, SpecError> {
        let bad = |expected: &str| SpecError::bad_value("created", value, expected);
        if value.eq_ignore_ascii_case("opensearch") {
            return Ok(Self::OpenSearch);
        }
        let number = |text: &str| {
            let digits = text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u32>().ok().filter(|_| digits).ok_or_else(|| bad(EXPECTED))
        };
        let parts: Vec<&str> = value.split('.').collect();
        match *parts {
            [major] | [major, "x" | "X"] => match number(major)? {
                9 => Err(bad("9.x spans two generations: write 9.3 for an index created on 9.0 to 9.3, \
                     or 9.4 for one created on 9.4 or later")),
                major => Ok(Self::Major(major)),
            },
            [major, minor] => Ok(Self::Version { major: number(major)?, minor: number(minor)?, patch: None }),
            [major, minor, patch] => {
                Ok(Self::Version { major: number(major)?, minor: number(minor)?, patch: Some(number(patch)?) })
            }
            _ => Err(bad(EXPECTED)),
        }
    }

    /// How indices of this version route.
    #[must_use]
    pub const fn generation(self) -> Generation {
        match self {
            Self::Version { major: 0 | 1, .. } | Self::Major(0 | 1) => Generation::Djb2,
            Self::Version { major: 2..=6, .. } | Self::Major(2..=6) => Generation::ShardsAsRoutingShards,
            Self::Version { major: 7 | 8, .. }
            | Self::Version { major: 9, minor: 0..=3, .. }
            | Self::Major(7 | 8)
            | Self::OpenSearch => Generation::DefaultRoutingShards,
            Self::Version { .. } | Self::Major(_) => Generation::ShardCount,
        }
    }

    /// Whether an index can have other routing shards than its generation gives it: since 5.0, where
    /// a shrunk index keeps those of its source.
    #[must_use]
    pub const fn has_routing_shards(self) -> bool {
        self.is_at_least(5, 0)
    }

    /// Whether an index can be partitioned: since 5.3.
    #[must_use]
    pub const fn has_partitions(self) -> bool {
        self.is_at_least(5, 3)
    }

    /// Whether the version, or some version of the whole major, is at least this one.
    pub(crate) const fn is_at_least(self, major: u32, minor: u32) -> bool {
        match self {
            Self::Version { major: own, minor: own_minor, .. } => own > major || (own == major && own_minor >= minor),
            Self::Major(own) => own >= major,
            Self::OpenSearch => true,
        }
    }

    /// The major where an OpenSearch index could be mistaken for an Elasticsearch one.
    pub(crate) const fn may_mean_opensearch(self) -> bool {
        matches!(self, Self::Version { major: 1..=3, .. } | Self::Major(1..=3))
    }
}

impl fmt::Display for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { major, minor, patch: None } => write!(f, "{major}.{minor}"),
            Self::Version { major, minor, patch: Some(patch) } => write!(f, "{major}.{minor}.{patch}"),
            Self::Major(major) => write!(f, "{major}.x"),
            Self::OpenSearch => f.write_str("opensearch"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_version_has_one_normal_form() {
        for (written, normal) in [
            ("8.15", "8.15"),
            ("8.15.3", "8.15.3"),
            ("8", "8.x"),
            ("8.x", "8.x"),
            ("1.X", "1.x"),
            ("0.90", "0.90"),
            ("10", "10.x"),
            ("OpenSearch", "opensearch"),
        ] {
            assert_eq!(Created::parse(written).unwrap().to_string(), normal);
        }
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for written in ["", ".", "8.", "v8.15", "8.15.0.1", "8.15.x", "+8.1", "8. 1", "x", "99999999999.1", "latest"] {
            assert!(Created::parse(written).is_err(), "{written:?}");
        }
    }

    #[test]
    fn a_major_that_spans_two_generations_says_what_to_write() {
        for written in ["9", "9.x"] {
            let message = Created::parse(written).unwrap_err().to_string();
            assert!(message.contains("9.3") && message.contains("9.4"), "{message}");
        }
    }

    #[test]
    fn generations_change_at_2_0_and_7_0_and_9_4() {
        use Generation::{DefaultRoutingShards, Djb2, ShardCount, ShardsAsRoutingShards};
        for (written, generation) in [
            ("0.90.13", Djb2),
            ("1.7", Djb2),
            ("1.x", Djb2),
            ("2.0", ShardsAsRoutingShards),
            ("6.8.23", ShardsAsRoutingShards),
            ("7.0.0", DefaultRoutingShards),
            ("8", DefaultRoutingShards),
            ("9.3.9", DefaultRoutingShards),
            ("opensearch", DefaultRoutingShards),
            ("9.4.0", ShardCount),
            ("9.10", ShardCount),
            ("10.0", ShardCount),
            ("11.x", ShardCount),
        ] {
            assert_eq!(Created::parse(written).unwrap().generation(), generation, "{written}");
        }
    }
}
