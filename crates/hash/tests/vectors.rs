//! Every hash against answers of other programs, and against published ones.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use shardlab_core::{KeyFault, KeyForm, KeyHasher, RawKey};
use shardlab_hash::{by_name, djb2, java_hash_code, murmur3_utf16, murmur3_utf16_units, murmur3_x86_32};

/// The columns of every row of a table; a header row without numbers is left to the caller.
fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| line.split('\t').collect())
}

fn hasher(name: &str) -> Box<dyn KeyHasher> {
    by_name(name).unwrap()
}

fn hash(name: &str, id: &[u8]) -> u64 {
    hasher(name).hash(&RawKey::id(id)).unwrap()
}

/// A hash as it is printed.
fn shown(name: &str, id: &str) -> String {
    hasher(name).form().show(hash(name, id.as_bytes()))
}

/// The code units of a JSON string in ASCII. Rust text cannot hold a lone surrogate, so no JSON
/// library reads these.
fn code_units(json: &str) -> Vec<u16> {
    let inner = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap();
    let mut units = Vec::new();
    let mut rest = inner.chars();
    while let Some(character) = rest.next() {
        let unit = match character {
            '\\' => match rest.next().unwrap() {
                'u' => {
                    let hex: String = rest.by_ref().take(4).collect();
                    u16::from_str_radix(&hex, 16).unwrap()
                }
                'n' => 0x0A,
                'r' => 0x0D,
                't' => 0x09,
                'b' => 0x08,
                'f' => 0x0C,
                escaped => u16::try_from(u32::from(escaped)).unwrap(),
            },
            plain => u16::try_from(u32::from(plain)).unwrap(),
        };
        units.push(unit);
    }
    units
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn es_murmur3_equals_elasticsearch_lone_surrogates_included() {
    let mut lone = 0;
    for row in rows(include_str!("data/es_murmur3.tsv")) {
        let [_, json, length, expected] = row[..] else { panic!("{row:?}") };
        let units = code_units(json);
        assert_eq!(units.len().to_string(), length, "{json}");
        assert_eq!(murmur3_utf16_units(units.iter().copied()).to_string(), expected, "{json}");
        match String::from_utf16(&units) {
            Ok(text) => {
                assert_eq!(text, serde_json::from_str::<String>(json).unwrap());
                assert_eq!(shown("es-murmur3", &text), expected, "{json}");
            }
            Err(_) => lone += 1,
        }
    }
    assert!(lone > 0, "the table has lone surrogates");
}

#[test]
fn es_murmur3_equals_the_answers_that_elasticsearch_publishes() {
    for row in rows(include_str!("data/es_murmur3_public.tsv")) {
        let [json, signed, hex, _] = row[..] else { panic!("{row:?}") };
        let text: String = serde_json::from_str(json).unwrap();
        assert_eq!(shown("es-murmur3", &text), signed);
        assert_eq!(format!("{:#010x}", hash("es-murmur3", text.as_bytes())), hex);
    }
}

#[test]
fn murmur3_equals_mmh3_for_every_seed() {
    let mut unseeded = 0;
    for row in rows(include_str!("data/murmur3.tsv")).skip(1) {
        let [key, seed, unsigned, signed, ..] = row[..] else { panic!("{row:?}") };
        let key = bytes(key);
        let found = murmur3_x86_32(&key, seed.parse().unwrap());
        assert_eq!((found.to_string(), found.cast_signed().to_string()), (unsigned.to_owned(), signed.to_owned()));
        if seed == "0" {
            unseeded += 1;
            assert_eq!(hasher("murmur3").form().show(hash("murmur3", &key)), unsigned);
        }
    }
    assert!(unseeded > 50, "{unseeded} rows have seed 0");
}

#[test]
fn xxh3_equals_libxxhash() {
    let mut unseeded = 0;
    for row in rows(include_str!("data/xxhash.tsv")).skip(1) {
        let [key, "0", _, _, expected] = row[..] else { continue };
        unseeded += 1;
        assert_eq!(hasher("xxh3").form().show(hash("xxh3", &bytes(key))), expected, "{key}");
    }
    assert!(unseeded > 50, "{unseeded} rows have seed 0");
}

/// From the test vectors that Landon Curt Noll publishes with the reference code of FNV.
#[test]
fn fnv1a_equals_its_published_answers() {
    for (text, expected) in [
        ("", 0xCBF2_9CE4_8422_2325),
        ("a", 0xAF63_DC4C_8601_EC8C),
        ("b", 0xAF63_DF4C_8601_F1A5),
        ("foo", 0xDCB2_7518_FED9_D577),
        ("foobar", 0x8594_4171_F739_67E8),
    ] {
        assert_eq!(hash("fnv1a", text.as_bytes()), expected, "{text}");
    }
}

/// "hello" is widely published; the others are small enough to follow by hand.
#[test]
fn djb2_equals_published_and_hand_made_answers() {
    for (text, expected) in [("", 5381), ("a", 177_670), ("ab", 5_863_208), ("hello", 261_238_937)] {
        assert_eq!(djb2(text), expected, "{text}");
        assert_eq!(shown("djb2", text), expected.to_string());
    }
    // Two code units, not one character and not four bytes.
    let (high, low) = (0xD83D_u32, 0xDE00_u32);
    let expected = (5381_u32 * 33).wrapping_add(high).wrapping_mul(33).wrapping_add(low);
    assert_eq!(djb2("😀"), expected.cast_signed());
}

/// From the documentation of Java and the collisions that everybody quotes.
#[test]
fn java_equals_string_hash_code() {
    for (text, expected) in [
        ("", 0),
        ("Aa", 2112),
        ("BB", 2112),
        ("hello", 99_162_322),
        ("Hello World", -862_545_276),
        ("polygenelubricants", i32::MIN),
        ("😀", 1_772_899),
    ] {
        assert_eq!(java_hash_code(text), expected, "{text}");
        assert_eq!(shown("java", text), expected.to_string());
    }
}

#[test]
fn identity_reads_decimal_numbers_below_2_to_the_64() {
    for (text, expected) in [("0", 0), ("007", 7), ("18446744073709551615", u64::MAX)] {
        assert_eq!(hash("identity", text.as_bytes()), expected);
    }
    let fault = |text: &str| hasher("identity").hash(&RawKey::id(text.as_bytes())).unwrap_err();
    for text in ["", "-1", "+1", "1.0", "1e3", " 1", "1 ", "0x1", "١"] {
        assert_eq!(fault(text), KeyFault::NotDecimal, "{text:?}");
    }
    assert_eq!(fault("18446744073709551616"), KeyFault::DecimalTooLarge);
    assert_eq!(fault("99999999999999999999999999"), KeyFault::DecimalTooLarge);
}

#[test]
fn hashes_of_text_refuse_other_bytes_and_say_where() {
    for name in ["es-murmur3", "djb2", "java"] {
        let hasher = hasher(name);
        assert!(hasher.rules().text, "{name}");
        let id = RawKey::id(b"id-\xFF");
        assert_eq!(hasher.hash(&id), Err(KeyFault::NotUtf8 { what: "id", at: 3 }), "{name}");
        assert_eq!(hasher.explain(&id), Err(KeyFault::NotUtf8 { what: "id", at: 3 }), "{name}");
        let routing = RawKey { id: b"a", routing: b"\xED\xA0\x80" };
        assert_eq!(hasher.hash(&routing), Err(KeyFault::NotUtf8 { what: "routing value", at: 0 }), "{name}");
    }
    for name in ["xxh3", "murmur3", "fnv1a"] {
        assert!(hasher(name).hash(&RawKey::id(b"\xFF")).is_ok(), "{name}");
    }
}

#[test]
fn the_routing_value_stands_in_for_the_id_and_an_empty_one_does_not() {
    for name in shardlab_hash::NAMES {
        let hasher = hasher(name);
        assert_eq!(hasher.name(), *name);
        let with = |routing| hasher.hash(&RawKey { id: b"17", routing }).unwrap();
        assert_eq!(with(b"4"), hash(name, b"4"), "{name}");
        assert_eq!(with(b""), hash(name, b"17"), "{name}");
    }
}

#[test]
fn hashes_of_32_bits_widen_with_zeros() {
    for name in shardlab_hash::NAMES {
        let hasher = hasher(name);
        if hasher.bits() == 32 {
            assert_ne!(hasher.form(), KeyForm::Unsigned64, "{name}");
            for id in ["user-42", "1", "hello", "😀", "polygenelubricants"] {
                assert!(u32::try_from(hash(name, id.as_bytes())).is_ok(), "{name}: {id}");
            }
        }
    }
}

proptest! {
    #[test]
    fn es_murmur3_without_a_buffer_equals_murmur3_over_a_utf_16le_buffer(units in prop::collection::vec(any::<u16>(), 0..600)) {
        let buffer: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let expected = murmur3_x86_32(&buffer, 0).cast_signed();
        prop_assert_eq!(murmur3_utf16_units(units.iter().copied()), expected);
        if let Ok(text) = String::from_utf16(&units) {
            prop_assert_eq!(murmur3_utf16(&text), expected);
        }
    }

    #[test]
    fn es_murmur3_of_any_text_is_that_of_its_code_units(text in any::<String>()) {
        let buffer: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        prop_assert_eq!(murmur3_utf16(&text), murmur3_x86_32(&buffer, 0).cast_signed());
    }

    #[test]
    fn djb2_in_32_bits_equals_the_servers_64_bits_cut_at_the_end(text in any::<String>()) {
        let wide = text.encode_utf16().fold(5381_i64, |hash, unit| hash.wrapping_mul(33).wrapping_add(unit.into()));
        let low = u32::try_from(wide & 0xFFFF_FFFF).unwrap();
        prop_assert_eq!(djb2(&text), low.cast_signed());
    }
}
