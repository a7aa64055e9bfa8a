use std::borrow::Cow;

use base64::engine::general_purpose::{STANDARD, STANDARD_PAD_INDIFFERENT, URL_SAFE_PAD_INDIFFERENT};
use base64::{DecodeError, Engine};

use crate::RecordFault;

/// How ids and routing values are written in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// The bytes as they stand.
    #[default]
    Utf8,
    /// Two hexadecimal digits a byte, in either case.
    Hex,
    /// Base64 in the standard or the URL-safe alphabet (RFC 4648), with or without padding.
    Base64,
}

impl Encoding {
    /// The name in `--encoding`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "utf8",
            Self::Hex => "hex",
            Self::Base64 => "base64",
        }
    }

    /// The bytes as text of this encoding: lower-case hex, or base64 in the standard alphabet with
    /// padding. As `utf8`, bytes that are no UTF-8 become replacement characters.
    #[must_use]
    pub fn encode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Utf8 => String::from_utf8_lossy(bytes),
            Self::Hex => {
                let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
                bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
            }
            Self::Base64 => STANDARD.encode(bytes).into(),
        }
    }

    /// The bytes behind the text, in `scratch` unless they are the text itself.
    ///
    /// # Errors
    /// The text is not of this encoding.
    #[inline]
    pub fn decode<'a>(self, text: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<&'a [u8], RecordFault> {
        if self == Self::Utf8 { Ok(text) } else { self.decode_digits(text, scratch) }
    }

    fn decode_digits<'a>(self, text: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<&'a [u8], RecordFault> {
        let bad = |what: String| RecordFault::Encoding { what, encoding: self.name() };
        scratch.clear();
        match self {
            Self::Utf8 => scratch.extend_from_slice(text),
            Self::Hex => {
                let (pairs, rest) = text.as_chunks::<2>();
                if !rest.is_empty() {
                    return Err(bad(format!("{} hexadecimal digits do not make whole bytes", text.len())));
                }
                for (place, pair) in pairs.iter().enumerate() {
                    let [high, low] = pair.map(hex_digit);
                    let (Some(high), Some(low)) = (high, low) else {
                        let place = 2 * place + usize::from(high.is_some());
                        let byte = text.get(place..=place).unwrap_or_default();
                        let found = crate::shown::escaped(byte);
                        return Err(bad(format!("\"{found}\" at byte {place} is no hexadecimal digit")));
                    };
                    scratch.push(high << 4 | low);
                }
            }
            Self::Base64 => {
                let url_safe = text.iter().any(|byte| matches!(byte, b'-' | b'_'));
                let engine = if url_safe { &URL_SAFE_PAD_INDIFFERENT } else { &STANDARD_PAD_INDIFFERENT };
                engine.decode_vec(text, scratch).map_err(|error| bad(base64_fault(&error, text)))?;
            }
        }
        Ok(scratch)
    }
}

/// The decoder's error in our words, with the place counted from 0 as for hex.
fn base64_fault(error: &DecodeError, text: &[u8]) -> String {
    let shown = |at: usize| crate::shown::escaped(text.get(at..=at).unwrap_or_default());
    match *error {
        DecodeError::InvalidByte(at, _) => {
            format!("\"{}\" at byte {at} does not belong into base64 there", shown(at))
        }
        DecodeError::InvalidLastSymbol { offset: at, .. } => {
            format!("\"{}\" at byte {at} ends the text with bits that belong to no byte", shown(at))
        }
        DecodeError::InvalidLength(_) => format!("{} base64 digits do not make whole bytes", text.len()),
        DecodeError::InvalidPadding => "the padding is not whole".to_owned(),
    }
}

const fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(encoding: Encoding, text: &str) -> Result<Vec<u8>, RecordFault> {
        encoding.decode(text.as_bytes(), &mut Vec::new()).map(<[u8]>::to_vec)
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_the_same_bytes(bytes: Vec<u8>) {
            for encoding in [Encoding::Hex, Encoding::Base64] {
                prop_assert_eq!(decode(encoding, &encoding.encode(&bytes)), Ok(bytes.clone()));
            }
        }
    }

    #[test]
    fn both_cases_both_alphabets_and_missing_padding_are_read() {
        assert_eq!(decode(Encoding::Hex, "00fFAb"), Ok(vec![0, 255, 171]));
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            assert_eq!(decode(Encoding::Base64, text), Ok(vec![0xFB, 0xFF]), "{text}");
        }
    }

    #[test]
    fn text_of_another_encoding_is_refused() {
        for (encoding, text, what) in [
            (Encoding::Hex, "abc", "3 hexadecimal digits do not make whole bytes"),
            (Encoding::Hex, "0x", "\"x\" at byte 1 is no hexadecimal digit"),
            (Encoding::Hex, "g0", "\"g\" at byte 0 is no hexadecimal digit"),
        ] {
            assert_eq!(decode(encoding, text), Err(RecordFault::Encoding { what: what.into(), encoding: "hex" }));
        }
        // A mixed alphabet, a lone character, text behind the padding, and bits that would be lost.
        for text in ["+_8=", "A", "AA==A", "AB==", "A A="] {
            assert!(decode(Encoding::Base64, text).is_err(), "{text}");
        }
        for (text, what) in [
            ("A==B", "\"=\" at byte 1 does not belong into base64 there"),
            ("A", "1 base64 digits do not make whole bytes"),
            ("AB==", "\"B\" at byte 1 ends the text with bits that belong to no byte"),
        ] {
            let fault = RecordFault::Encoding { what: what.into(), encoding: "base64" };
            assert_eq!(decode(Encoding::Base64, text), Err(fault), "{text}");
        }
    }
}
