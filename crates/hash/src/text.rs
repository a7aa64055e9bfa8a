//! Hashes that are defined on text, code unit by code unit.

use shardlab_core::{KeyFault, KeyForm, KeyHasher, KeyRules, RawKey, Step};

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

macro_rules! text_hasher {
    ($(#[$doc:meta])* $type:ident, $name:literal, $hash:path) => {
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
                Ok(widen($hash(placed_text(key)?)))
            }

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
    EsMurmur3, "es-murmur3", murmur3_utf16
}
text_hasher! {
    /// The hash of Elasticsearch 0.x and 1.x; see [`djb2`].
    Djb2, "djb2", djb2
}
text_hasher! {
    /// Java's `String.hashCode`; see [`java_hash_code`].
    Java, "java", java_hash_code
}

/// The count and the units in hex, shortened in the middle of long texts.
fn show_units(units: &[u16]) -> String {
    const SHOWN: usize = 24;
    let hex: Vec<String> = units.iter().take(SHOWN).map(|unit| format!("{unit:04x}")).collect();
    let more = if units.len() > SHOWN { " …" } else { "" };
    format!("{} [{}{more}]", units.len(), hex.join(" "))
}
