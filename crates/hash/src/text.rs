//! Hashes that are defined on text, code unit by code unit.

use shardlab_core::{KeyError, KeyFault, KeyForm, KeyHasher, KeyRules, RawBatch, RawKey, Step};
use shardlab_kernels::{Simd, murmur3};

use crate::murmur3::murmur3_ascii;
use crate::murmur3_utf16;

/// DJB2 as Elasticsearch 0.x and 1.x computed it: h = 33 h + unit from 5381, over UTF-16 code units,
/// cut to 32 bits and signed.
#[must_use]
pub fn djb2(text: &str) -> i32 {
    // The server keeps 64 bits and cuts at the end; wrapping 32 bits give the same low half.
    text.encode_utf16().fold(5381_u32, |hash, unit| hash.wrapping_mul(33).wrapping_add(unit.into())).cast_signed()
}

/// Java's `String.hashCode`: h = 31 h + unit from 0, over UTF-16 code units, in wrapping 32 bits.
#[must_use]
pub fn java_hash_code(text: &str) -> i32 {
    text.encode_utf16().fold(0_u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into())).cast_signed()
}

/// The text that decides the place.
fn placed_text<'a>(key: &RawKey<'a>) -> Result<&'a str, KeyFault> {
    let what = if key.routing.is_empty() { "id" } else { "routing value" };
    std::str::from_utf8(key.placed()).map_err(|error| KeyFault::NotUtf8 { what, at: error.valid_up_to() })
}

/// Widens with zeros: the low 32 bits hold the signed hash.
const fn widen(hash: i32) -> u64 {
    hash.cast_unsigned() as u64
}

/// Elasticsearch's hash of the text that decides the place.
fn es_murmur3(key: &RawKey<'_>) -> Result<u64, KeyFault> {
    let placed = key.placed();
    // What is ASCII needs no look for broken UTF-8.
    let hash = if placed.is_ascii() { murmur3_ascii(placed) } else { murmur3_utf16(placed_text(key)?) };
    Ok(widen(hash))
}

/// Many ids, or routing values where documents have them, in the lanes of vectors.
fn es_murmur3_many(batch: &RawBatch<'_>, out: &mut [u64]) -> Result<(), KeyError> {
    let (bytes, ends) = batch.routing().unwrap_or(batch.ids()).parts();
    murmur3::utf16_many(Simd::best(), bytes, ends, out, |row, _| {
        let hash = es_murmur3(&batch.get(row)).map_err(|fault| KeyError { row, fault })?;
        Ok(low_half(hash))
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a hash of 32 bits, widened with zeros")]
const fn low_half(hash: u64) -> u32 {
    hash as u32
}

macro_rules! text_hasher {
    ($(#[$doc:meta])* $type:ident, $name:literal, $hash:expr $(, many: $many:path)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct $type;

        impl KeyHasher for $type {
            fn name(&self) -> String {
                $name.to_owned()
            }

            fn bits(&self) -> u32 {
                32
            }

            fn form(&self) -> KeyForm {
                KeyForm::Signed32
            }

            fn rules(&self) -> KeyRules {
                KeyRules { text: true, ..KeyRules::default() }
            }

            fn hash(&self, key: &RawKey<'_>) -> Result<u64, KeyFault> {
                $hash(key)
            }

            $(
                fn hash_many(&self, batch: &RawBatch<'_>, out: &mut [u64]) -> Result<(), KeyError> {
                    $many(batch, out)
                }
            )?

            fn explain(&self, key: &RawKey<'_>) -> Result<Vec<Step>, KeyFault> {
                let units: Vec<u16> = placed_text(key)?.encode_utf16().collect();
                Ok(vec![
                    Step::new("UTF-16 code units", show_units(&units)),
                    Step::new(concat!("hash (", $name, ")"), self.form().show(self.hash(key)?)),
                ])
            }

            fn box_clone(&self) -> Box<dyn KeyHasher> {
                Box::new(*self)
            }
        }
    };
}

text_hasher! {
    /// The hash of Elasticsearch since 2.0 and of OpenSearch; see [`murmur3_utf16`].
    EsMurmur3, "es-murmur3", es_murmur3, many: es_murmur3_many
}
text_hasher! {
    /// The hash of Elasticsearch 0.x and 1.x; see [`djb2`].
    Djb2, "djb2", |key| Ok(widen(djb2(placed_text(key)?)))
}
text_hasher! {
    /// Java's `String.hashCode`; see [`java_hash_code`].
    Java, "java", |key| Ok(widen(java_hash_code(placed_text(key)?)))
}

/// The count and the units in hex, shortened in the middle of long texts.
fn show_units(units: &[u16]) -> String {
    const SHOWN: usize = 24;
    let hex: Vec<String> = units.iter().take(SHOWN).map(|unit| format!("{unit:04x}")).collect();
    let more = if units.len() > SHOWN { " …" } else { "" };
    format!("{} [{}{more}]", units.len(), hex.join(" "))
}
