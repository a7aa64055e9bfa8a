use std::fmt;

use crate::{RawBatch, RawKey, Step};

/// Turns raw keys into the 64-bit keys that a sharder takes.
///
/// Hashing is a step of its own with a cost of its own. It can fail, since some hashes are defined
/// on text or numbers alone; placing cannot.
pub trait KeyHasher: fmt::Debug + Send + Sync {
    /// The name in `--hash` and in results; a wrapper adds its own words.
    fn name(&self) -> String;

    /// How many bits of the key it fills: 32 or 64. Hashes of 32 bits widen with zeros.
    fn bits(&self) -> u32;

    /// How a key is written for people and in JSON.
    fn form(&self) -> KeyForm;

    /// What it demands of a raw key.
    fn rules(&self) -> KeyRules;

    /// The key of one document.
    ///
    /// # Errors
    /// The document breaks one of the [`rules`](KeyHasher::rules).
    fn hash(&self, key: &RawKey<'_>) -> Result<u64, KeyFault>;

    /// The keys of a batch of documents with ids, equal to calling [`hash`](KeyHasher::hash) for each.
    ///
    /// # Errors
    /// The first document that breaks a rule, with its row.
    ///
    /// # Panics
    /// `out` is not as long as the batch has ids.
    fn hash_many(&self, batch: &RawBatch<'_>, out: &mut [u64]) -> Result<(), KeyError> {
        assert_eq!(batch.ids().len(), out.len(), "as many keys as documents");
        for (row, (slot, key)) in out.iter_mut().zip(batch.iter()).enumerate() {
            *slot = self.hash(&key).map_err(|fault| KeyError { row, fault })?;
        }
        Ok(())
    }

    /// The working behind [`hash`](KeyHasher::hash), for people.
    ///
    /// # Errors
    /// As for [`hash`](KeyHasher::hash).
    fn explain(&self, key: &RawKey<'_>) -> Result<Vec<Step>, KeyFault> {
        let hash = self.hash(key)?;
        Ok(vec![Step::new(format!("hash ({})", self.name()), self.form().show(hash))])
    }

    /// All keys under which documents of one routing value may stand, where that is more than one.
    ///
    /// # Errors
    /// The routing value breaks a rule.
    fn searched(&self, routing: &[u8]) -> Result<Option<Vec<u64>>, KeyFault> {
        let _ = routing;
        Ok(None)
    }

    /// A copy behind a new box.
    fn box_clone(&self) -> Box<dyn KeyHasher>;
}

/// The word for no hash at all: the keys are numbers already.
pub const NO_HASH: &str = "none";

/// How a key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyForm {
    /// The low 32 bits as a signed number.
    Signed32,
    /// The low 32 bits as an unsigned number.
    Unsigned32,
    /// All 64 bits; a string in JSON, whose numbers end at 2^53.
    Unsigned64,
}

impl KeyForm {
    /// The key in decimal.
    #[must_use]
    pub fn show(self, key: u64) -> String {
        match self {
            Self::Signed32 => low_signed(key).to_string(),
            Self::Unsigned32 | Self::Unsigned64 => key.to_string(),
        }
    }

    /// Whether JSON can carry the key as a number.
    #[must_use]
    pub const fn is_json_number(self) -> bool {
        !matches!(self, Self::Unsigned64)
    }
}

/// The low 32 bits as a signed number.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "dropping the high bits is the point")]
const fn low_signed(key: u64) -> i32 {
    key as u32 as i32
}

/// What is demanded of a document before it can be placed. Rules of several schemes and hashes add
/// up, so that a set of documents can be checked once for all rows of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyRules {
    /// Id and routing value must be valid UTF-8.
    pub text: bool,
    /// What is placed must be a decimal number below 2^64.
    pub decimal: bool,
    /// The id must not be empty.
    pub id_not_empty: bool,
    /// The id must not be longer than this many bytes.
    pub id_max_bytes: Option<usize>,
    /// There must be a routing value.
    pub routing_required: bool,
}

impl KeyRules {
    /// Both sets of rules at once.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            text: self.text || other.text,
            decimal: self.decimal || other.decimal,
            id_not_empty: self.id_not_empty || other.id_not_empty,
            id_max_bytes: match (self.id_max_bytes, other.id_max_bytes) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            routing_required: self.routing_required || other.routing_required,
        }
    }

    /// Whether a document keeps the rules.
    ///
    /// # Errors
    /// The first rule it breaks.
    pub fn check(&self, key: &RawKey<'_>) -> Result<(), KeyFault> {
        if self.id_not_empty && key.id.is_empty() {
            return Err(KeyFault::EmptyId);
        }
        if let Some(max) = self.id_max_bytes
            && key.id.len() > max
        {
            return Err(KeyFault::IdTooLong { bytes: key.id.len(), max });
        }
        if self.routing_required && key.routing.is_empty() {
            return Err(KeyFault::RoutingRequired);
        }
        if self.text {
            for (what, bytes) in [("id", key.id), ("routing value", key.routing)] {
                if let Err(error) = std::str::from_utf8(bytes) {
                    return Err(KeyFault::NotUtf8 { what, at: error.valid_up_to() });
                }
            }
        }
        if self.decimal {
            parse_decimal(key.placed())?;
        }
        Ok(())
    }
}

/// Reads a whole decimal number below 2^64: digits alone, leading zeros allowed.
pub(crate) fn parse_decimal(text: &[u8]) -> Result<u64, KeyFault> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return Err(KeyFault::NotDecimal);
    }
    text.iter()
        .try_fold(0_u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
        .ok_or(KeyFault::DecimalTooLarge)
}

impl KeyFault {
    /// Reads a whole decimal number below 2^64: digits alone, leading zeros allowed.
    ///
    /// # Errors
    /// [`KeyFault::NotDecimal`] or [`KeyFault::DecimalTooLarge`].
    pub fn decimal(text: &[u8]) -> Result<u64, Self> {
        parse_decimal(text)
    }
}

/// Why a document cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// A hash of text was given bytes that are no text.
    #[error("the {what} is not valid UTF-8 from byte {at} on, and this hash or system takes text only")]
    NotUtf8 {
        /// "id" or "routing value".
        what: &'static str,
        /// How many bytes are valid.
        at: usize,
    },
    /// The identity hash was given something else than decimal digits.
    #[error("not a decimal number, which the hash \"identity\" needs")]
    NotDecimal,
    /// The number does not fit 64 bits.
    #[error("the number is 2^64 or more, and the hash \"identity\" takes 64 bits; reduce it, or choose another hash")]
    DecimalTooLarge,
    /// Elasticsearch refuses an empty id.
    #[error("the id is empty, which Elasticsearch refuses")]
    EmptyId,
    /// Elasticsearch refuses a long id.
    #[error("the id has {bytes} bytes, more than the {max} that Elasticsearch allows")]
    IdTooLong {
        /// Bytes of the id.
        bytes: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// A partitioned index needs a routing value for every document.
    #[error("a partitioned index needs a routing value for every document")]
    RoutingRequired,
    /// A batch of ready keys cannot be combined with routing values.
    #[error("these keys are 64-bit numbers without ids or routing values, and a partitioned index needs both")]
    NoRawKeys,
}

/// A document of a batch that cannot be placed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {row}: {fault}")]
pub struct KeyError {
    /// The row in the batch, from 0.
    pub row: usize,
    /// What is wrong with it.
    pub fault: KeyFault,
}
