use std::borrow::Cow;
use std::fmt;

use memchr::memchr;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::ReadOptions;
use crate::{RecordFault, shown};

/// The id's field where none is named.
pub(super) const DEFAULT_ID: &str = "_id";

/// The fields that hold the routing value where none is named.
pub(super) const DEFAULT_ROUTING: [&str; 2] = ["_routing", "routing"];

/// A field that is looked for: a name at the top level, or else a path through objects.
struct Wanted {
    name: String,
    /// The name as it is shown.
    shown: String,
    /// The parts between dots, where there are several.
    path: Vec<String>,
    /// The flag that names it.
    flag: &'static str,
}

impl Wanted {
    fn new(name: &str, flag: &'static str) -> Self {
        let path: Vec<String> = name.split('.').map(str::to_owned).collect();
        let path = if path.len() > 1 { path } else { Vec::new() };
        Self { name: name.to_owned(), shown: shown::short(name.as_bytes()), path, flag }
    }
}

/// The most fields that are ever wanted: an id, two that may hold the routing value, a weight, and
/// requests.
pub(super) const MOST_WANTED: usize = 5;

/// The fields of NDJSON records that are read: the id first, then those that may hold the routing
/// value, then the weight, then the requests.
pub(super) struct Fields {
    wanted: Vec<Wanted>,
}

/// A fault of a field, by its place among the wanted ones, or of the whole line.
pub(super) type FieldFault = (Option<usize>, RecordFault);

impl Fields {
    pub(super) fn new(options: &ReadOptions) -> Self {
        let mut wanted = vec![Wanted::new(options.id_field.as_deref().unwrap_or(DEFAULT_ID), "--id-field")];
        let routing = |name: &str| Wanted::new(name, "--routing-field");
        match &options.routing_field {
            Some(name) => wanted.push(routing(name)),
            None => wanted.extend(DEFAULT_ROUTING.map(routing)),
        }
        wanted.extend(options.weight_field.as_deref().map(|name| Wanted::new(name, "--weight-field")));
        wanted.extend(options.requests_field.as_deref().map(|name| Wanted::new(name, "--requests-field")));
        Self { wanted }
    }

    /// A field as it is shown.
    pub(super) fn shown(&self, place: usize) -> &str {
        self.wanted.get(place).map_or("", |wanted| &wanted.shown)
    }

    /// The name of a wanted field, and the flag that gives it another.
    pub(super) fn name_and_flag(&self, place: usize) -> (&str, &'static str) {
        self.wanted.get(place).map_or(("", "--id-field"), |wanted| (&wanted.name, wanted.flag))
    }

    /// How many fields are looked for.
    pub(super) fn len(&self) -> usize {
        self.wanted.len()
    }

    /// Takes the wanted values out of one line, without building the rest. They come in the order
    /// in which the fields are wanted.
    pub(super) fn values<'a>(&self, line: &'a str) -> Result<[Option<&'a str>; MOST_WANTED], FieldFault> {
        self.plain_values(line).map_or_else(|| self.any_values(line), Ok)
    }

    /// The values of a line that is as plain as programs write them: one object of strings without escapes,
    /// integers, truth values and nulls, with no blank but one behind a comma or a colon. Nothing for every
    /// other line, be it good or bad, and where a wanted name stands twice or could be a path.
    pub(super) fn plain_values<'a>(&self, line: &'a str) -> Option<[Option<&'a str>; MOST_WANTED]> {
        let mut values = [None; MOST_WANTED];
        let bytes = line.as_bytes();
        let mut at = plain::byte(bytes, 0, b'{')?;
        loop {
            let end = plain::string(bytes, at)?;
            let name = &bytes[at + 1..end - 1];
            at = plain::blank(bytes, plain::byte(bytes, end, b':')?);
            let end = plain::scalar(bytes, at)?;
            for (wanted, value) in self.wanted.iter().zip(&mut values) {
                if wanted.name.as_bytes() == name {
                    if value.replace(&line[at..end]).is_some() {
                        return None;
                    }
                } else if wanted.path.first().is_some_and(|head| head.as_bytes() == name) {
                    return None;
                }
            }
            match bytes.get(end)? {
                b',' => at = plain::blank(bytes, end + 1),
                b'}' if end + 1 == bytes.len() => return Some(values),
                _ => return None,
            }
        }
    }

    /// As [`values`](Self::values), for every line.
    pub(super) fn any_values<'a>(&self, line: &'a str) -> Result<[Option<&'a str>; MOST_WANTED], FieldFault> {
        let mut found = [Found::default(); MOST_WANTED];
        let mut deserializer = serde_json::Deserializer::from_str(line);
        deserializer
            .deserialize_map(Top { wanted: &self.wanted, found: &mut found })
            .and_then(|()| deserializer.end())
            .map_err(|error| (None, json_fault(&error)))?;
        let mut values = [None; MOST_WANTED];
        for (place, wanted) in self.wanted.iter().enumerate() {
            values[place] =
                found[place].resolve(&wanted.path).map_err(|fault| (Some(place), fault))?.map(RawValue::get);
        }
        Ok(values)
    }
}

/// The parts of lines that are plain, by their places: each gives the place behind it, or nothing where
/// there is no such part or it is not plain.
mod plain {
    /// This byte.
    pub(super) fn byte(line: &[u8], at: usize, byte: u8) -> Option<usize> {
        (line.get(at) == Some(&byte)).then_some(at + 1)
    }

    /// A blank, if there is one.
    pub(super) fn blank(line: &[u8], at: usize) -> usize {
        at + usize::from(line.get(at) == Some(&b' '))
    }

    /// A string without escapes.
    pub(super) fn string(line: &[u8], at: usize) -> Option<usize> {
        let text = line.get(byte(line, at, b'"')?..)?;
        let (words, rest) = text.as_chunks::<8>();
        let mut length = 0;
        for word in words {
            let ends = ends(*word);
            if ends != 0 {
                length += (ends.trailing_zeros() / 8) as usize;
                return (text[length] == b'"').then_some(at + length + 2);
            }
            length += 8;
        }
        length += rest.iter().position(|&byte| byte == b'"' || byte == b'\\' || byte < b' ')?;
        (text[length] == b'"').then_some(at + length + 2)
    }

    /// The highest bit of each byte that ends a string or is not plain in it. The lowest of them is right; where
    /// there is one, bits above it may be set for nothing.
    fn ends(word: [u8; 8]) -> u64 {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let word = u64::from_le_bytes(word);
        let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
        let is = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
        (below(word, b' ') | is(b'"') | is(b'\\')) & (ONES << 7)
    }

    /// A string, an integer, a truth value or null.
    pub(super) fn scalar(line: &[u8], at: usize) -> Option<usize> {
        let word = |word: &[u8]| line[at..].starts_with(word).then_some(at + word.len());
        match line.get(at)? {
            b'"' => string(line, at),
            b't' => word(b"true"),
            b'f' => word(b"false"),
            b'n' => word(b"null"),
            _ => integer(line, at),
        }
    }

    /// An integer without leading zeros.
    fn integer(line: &[u8], at: usize) -> Option<usize> {
        let start = at + usize::from(line.get(at) == Some(&b'-'));
        let digits = line[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        match (digits, line.get(start)) {
            (0, _) | (2.., Some(b'0')) => None,
            // What follows is a comma or the end of the object for the caller, or else not plain.
            _ => Some(start + digits),
        }
    }
}

/// What was found for one wanted field at the top level.
#[derive(Clone, Copy, Default)]
struct Found<'a> {
    exact: Option<&'a RawValue>,
    exact_twice: bool,
    head: Option<&'a RawValue>,
    head_twice: bool,
}

impl<'a> Found<'a> {
    /// The value: that of the exact name, else that at the end of the path.
    fn resolve(&self, path: &[String]) -> Result<Option<&'a RawValue>, RecordFault> {
        if self.exact_twice {
            return Err(RecordFault::Doubled);
        }
        if self.exact.is_some() {
            return Ok(self.exact);
        }
        if self.head_twice {
            return Err(RecordFault::Doubled);
        }
        let mut value = self.head;
        for name in path.iter().skip(1) {
            let Some(object) = value.filter(|value| value.get().starts_with('{')) else { return Ok(None) };
            let mut step = Step { name, value: None, twice: false };
            // The object has been read once already, so the only errors left are those of its names.
            serde_json::Deserializer::from_str(object.get())
                .deserialize_map(&mut step)
                .map_err(|error| json_fault(&error))?;
            if step.twice {
                return Err(RecordFault::Doubled);
            }
            value = step.value;
        }
        Ok(value)
    }
}

/// Visits the object of a line.
struct Top<'w, 'f, 'a> {
    wanted: &'w [Wanted],
    found: &'f mut [Found<'a>; MOST_WANTED],
}

impl<'a> Visitor<'a> for Top<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(matches) = map.next_key_seed(Name(|name: &str| {
            // Two bits for each of the wanted fields.
            let mut matches = 0_u16;
            for (place, wanted) in self.wanted.iter().enumerate() {
                if wanted.name == name {
                    matches |= 1 << (2 * place);
                } else if wanted.path.first().is_some_and(|head| head == name) {
                    matches |= 2 << (2 * place);
                }
            }
            matches
        }))? {
            if matches == 0 {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let value: &'a RawValue = map.next_value()?;
            for (place, found) in self.found.iter_mut().enumerate() {
                match matches >> (2 * place) & 3 {
                    1 => found.exact_twice |= found.exact.replace(value).is_some(),
                    2 => found.head_twice |= found.head.replace(value).is_some(),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// Visits an object on the way along a path.
struct Step<'n, 'a> {
    name: &'n str,
    value: Option<&'a RawValue>,
    twice: bool,
}

impl<'a> Visitor<'a> for &mut Step<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(wanted) = map.next_key_seed(Name(|name: &str| name == self.name))? {
            if wanted {
                self.twice |= self.value.replace(map.next_value()?).is_some();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Looks at a name without keeping it.
struct Name<F>(F);

impl<'a, T, F: FnOnce(&str) -> T> DeserializeSeed<'a> for Name<F> {
    type Value = T;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<T, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<T, F: FnOnce(&str) -> T> Visitor<'_> for Name<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<T, E> {
        Ok((self.0)(name))
    }
}

fn json_fault(error: &serde_json::Error) -> RecordFault {
    RecordFault::Json { what: words(error), column: error.column() }
}

/// The parser's words without its place, which counts every line as the first.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(words, _)| words);
    shown::short(text.as_bytes())
}

/// A value as text.
pub(super) struct Text<'a> {
    pub(super) text: Cow<'a, str>,
    /// Whether it is a number that a double does not hold.
    pub(super) beyond_double: bool,
}

/// The text of a string, or an integer as it is written; none for null. The value is JSON.
pub(super) fn text(raw: &str) -> Result<Option<Text<'_>>, RecordFault> {
    let plain = |text| Ok(Some(Text { text: Cow::Borrowed(text), beyond_double: false }));
    match raw.as_bytes().first() {
        Some(b'"') => match raw.get(1..raw.len() - 1) {
            Some(inner) if memchr(b'\\', inner.as_bytes()).is_none() => plain(inner),
            _ => {
                let text: String =
                    serde_json::from_str(raw).map_err(|error| RecordFault::NotText { what: words(&error) })?;
                Ok(Some(Text { text: Cow::Owned(text), beyond_double: false }))
            }
        },
        Some(b'-' | b'0'..=b'9') => {
            if raw.contains(['.', 'e', 'E']) {
                return Err(RecordFault::NotWhole { number: shown::short(raw.as_bytes()) });
            }
            Ok(Some(Text { text: Cow::Borrowed(raw), beyond_double: beyond_double(raw) }))
        }
        Some(b'n') => Ok(None),
        Some(b't' | b'f') => Err(RecordFault::Kind { found: "a truth value" }),
        Some(b'[') => Err(RecordFault::Kind { found: "a list" }),
        _ => Err(RecordFault::Kind { found: "an object" }),
    }
}

/// Whether an integer lies beyond 2^53 in either direction, where doubles begin to skip numbers.
fn beyond_double(integer: &str) -> bool {
    const LIMIT: &str = "9007199254740992";
    let digits = integer.trim_start_matches('-');
    // JSON writes no leading zeros, so the longer number is the larger one.
    (digits.len(), digits) > (LIMIT.len(), LIMIT)
}

/// The fields of a line that lacks the wanted one, and a hint at the one that may have been meant: the
/// same in other letters, or for an id what looks like one. It looks one level into objects, where
/// exports keep the document and bulk files the id.
pub(super) fn present(line: &str, wanted: &str, flag: &str) -> Option<String> {
    let fields = entries(line);
    if fields.is_empty() {
        return None;
    }
    let mut text = shown::listed(fields.iter().map(|(name, _)| name.as_bytes()));
    let mut paths = Vec::new();
    for (name, value) in &fields {
        if is_key(value) {
            paths.push(name.clone());
        }
        let inner = entries(value.get()).into_iter().filter(|(_, value)| is_key(value));
        paths.extend(inner.map(|(inner, _)| format!("{name}.{inner}")));
    }
    if let Some(name) = shown::misspelled(paths.iter().map(String::as_bytes), wanted.as_bytes()) {
        text.push_str(&format!("; names are taken letter by letter: {flag} \"{}\"", shown::short(name)));
    } else if flag == "--id-field"
        && let Some(best) = shown::likely_id(paths.iter().map(String::as_bytes))
    {
        text.push_str(&format!("; hint: --id-field {}", shown::short(best)));
    }
    Some(text)
}

/// Whether a value could be an id.
fn is_key(value: &RawValue) -> bool {
    text(value.get()).is_ok_and(|text| text.is_some())
}

/// The names and values of an object, if it is one. Only faults need them all.
fn entries(object: &str) -> Vec<(String, &RawValue)> {
    struct Entries;

    impl<'a> Visitor<'a> for Entries {
        type Value = Vec<(String, &'a RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }

    serde_json::Deserializer::from_str(object).deserialize_map(Entries).unwrap_or_default()
}
