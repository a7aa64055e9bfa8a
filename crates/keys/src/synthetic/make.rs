use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use shardlab_core::rows::KeySet;
use shardlab_core::{KeyFault, KeyRules, RawChunk, RawKey};
use shardlab_hash::mix64;

use super::SyntheticSpec;
use super::spec::{Kind, SNOWFLAKE_EPOCH_MS, SNOWFLAKE_TIME_SHIFT, START_MS};
use crate::tally::Tally;
use crate::{BLOCK, Documents, Progress, ReadError, Unit};

/// The documents of a synthetic set.
///
/// Random parts come from Xoshiro256++ by raw 64-bit draws. The generator starts anew for each block
/// of [`BLOCK`] documents from the seed and the number of the block, so that every block can be made
/// on its own and no block depends on how many there are.
///
/// A document that breaks one of the `rules` is an error when it is made. Sets of the kind `random`
/// have no raw keys for rules to look at; they refuse `routing_required` alone.
#[must_use]
pub fn synthetic(spec: &SyntheticSpec, seed: u64, rules: KeyRules) -> Box<dyn Documents> {
    Box::new(Synthetic {
        maker: Maker::new(spec.kind),
        spec: spec.clone(),
        seed,
        rules,
        made: 0,
        ended: false,
        tally: Tally::default(),
    })
}

struct Synthetic {
    spec: SyntheticSpec,
    maker: Maker,
    seed: u64,
    rules: KeyRules,
    made: u64,
    ended: bool,
    tally: Tally,
}

impl Synthetic {
    fn fill(&mut self, chunk: &mut RawChunk) -> Result<(), (u64, KeyFault)> {
        let block = u64::try_from(BLOCK).unwrap_or(u64::MAX);
        let end = self.spec.count.min(self.made.saturating_add(block));
        let mut random = block_generator(self.seed, self.made / block);
        if let Kind::Random = self.spec.kind {
            if self.rules.routing_required {
                return Err((0, KeyFault::NoRawKeys));
            }
            self.tally.accept_hashed((self.made..end).map(|_| random.next_u64()), chunk);
        } else {
            let checked = self.rules != KeyRules::default();
            for number in self.made..end {
                let key = self.maker.make(number, &mut random);
                if checked {
                    self.rules.check(&key).map_err(|fault| (number, fault))?;
                }
                self.tally.accept(key, None, None, chunk);
            }
        }
        self.made = end;
        Ok(())
    }
}

impl Documents for Synthetic {
    fn are_hashed(&self) -> bool {
        matches!(self.spec.kind, Kind::Random)
    }

    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError> {
        chunk.clear();
        if self.ended || self.made == self.spec.count {
            return Ok(false);
        }
        self.fill(chunk).map_err(|(document, fault)| {
            self.ended = true;
            chunk.clear();
            ReadError::Synthetic { spec: self.spec.to_string(), document, fault }
        })?;
        Ok(true)
    }

    fn progress(&self) -> Progress {
        Progress { done: self.made, total: Some(self.spec.count), unit: Unit::Documents }
    }

    fn key_set(&self) -> KeySet {
        self.tally.key_set(&self.spec.to_string(), Vec::new())
    }
}

/// The generator of one block. Each word of its state depends on all of the seed and all of the
/// block's number, so that neighbouring blocks have nothing in common.
fn block_generator(seed: u64, block: u64) -> Xoshiro256PlusPlus {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut state = [0; 32];
    let mut lane = 0_u64;
    for word in state.as_chunks_mut::<8>().0 {
        lane = lane.wrapping_add(GOLDEN);
        *word = mix64(mix64(seed.wrapping_add(lane)).wrapping_add(block)).to_le_bytes();
    }
    Xoshiro256PlusPlus::from_seed(state)
}

/// Makes single documents in buffers of its own.
struct Maker {
    kind: Kind,
    digits: itoa::Buffer,
    uuid: [u8; 36],
    id: Vec<u8>,
    routing: Vec<u8>,
    /// For tenants: the sum of the weights of ranks 0 to k.
    cumulative: Vec<f64>,
}

impl Maker {
    fn new(kind: Kind) -> Self {
        let cumulative = if let Kind::ZipfTenants { tenants, s } = kind { zipf(tenants, s) } else { Vec::new() };
        Self { kind, digits: itoa::Buffer::new(), uuid: [0; 36], id: Vec::new(), routing: Vec::new(), cumulative }
    }

    /// Document `number`, with the draws it needs. The numbers fit, which the spec has checked.
    fn make(&mut self, number: u64, random: &mut Xoshiro256PlusPlus) -> RawKey<'_> {
        match self.kind {
            Kind::Sequential { start } => RawKey::id(self.digits.format(start + number).as_bytes()),
            Kind::Padded { width } => {
                let digits = self.digits.format(number).as_bytes();
                self.id.clear();
                self.id.resize(width.saturating_sub(digits.len()), b'0');
                self.id.extend_from_slice(digits);
                RawKey::id(&self.id)
            }
            Kind::Uuid4 => {
                let (high, low) = (random.next_u64(), random.next_u64());
                self.uuid = uuid(high, 4, low);
                RawKey::id(&self.uuid)
            }
            Kind::Uuid7 => {
                let (high, low) = (random.next_u64(), random.next_u64());
                self.uuid = uuid((START_MS + number) << 16 | high & 0xFFFF, 7, low);
                RawKey::id(&self.uuid)
            }
            Kind::Snowflake { step_ms } => {
                let ms = START_MS - SNOWFLAKE_EPOCH_MS + number * step_ms;
                // Machine 1, and a sequence that is always 0 since there is one id a millisecond.
                RawKey::id(self.digits.format(ms << SNOWFLAKE_TIME_SHIFT | 1 << 12).as_bytes())
            }
            Kind::UnixMs { step } => RawKey::id(self.digits.format(START_MS + number * step).as_bytes()),
            Kind::ZipfTenants { .. } => {
                let rank = draw(&self.cumulative, random.next_u64());
                self.routing.clear();
                self.routing.extend_from_slice(b"tenant-");
                self.routing.extend_from_slice(self.digits.format(rank).as_bytes());
                self.id.clear();
                self.id.extend_from_slice(&self.routing);
                self.id.push(b':');
                self.id.extend_from_slice(self.digits.format(number).as_bytes());
                RawKey { id: &self.id, routing: &self.routing }
            }
            Kind::Random => unreachable!("a random set has no raw keys and is made elsewhere"),
        }
    }
}

/// The running sums of the weights (k + 1)^-s of the ranks k. Powers are taken by libm, which
/// computes the same bits on every machine.
fn zipf(tenants: u32, s: f64) -> Vec<f64> {
    let mut sum = 0.0;
    (1..=tenants)
        .map(|place| {
            sum += libm::pow(f64::from(place), -s);
            sum
        })
        .collect()
}

/// The first rank whose running sum lies above a uniform point.
fn draw(cumulative: &[f64], random: u64) -> usize {
    // The upper 52 bits as the fraction of a number in [1, 2): exact, and without a conversion.
    let uniform = f64::from_bits(1.0_f64.to_bits() | random >> 12) - 1.0;
    let point = uniform * cumulative.last().copied().unwrap_or_default();
    // Rounding can lift the point onto the last sum.
    cumulative.partition_point(|&sum| sum <= point).min(cumulative.len().saturating_sub(1))
}

/// The hexadecimal digits of every byte.
const HEX_PAIRS: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// A UUID of RFC 9562 in lower case: `high` with the version in place of bits 12 to 15, `low` with the
/// variant in place of its two highest bits.
fn uuid(high: u64, version: u64, low: u64) -> [u8; 36] {
    const PLACES: [usize; 16] = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
    let high = high & !0xF000 | version << 12;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    let bytes = u128::from(high) << 64 | u128::from(low);
    let mut text = [b'-'; 36];
    for (place, byte) in PLACES.into_iter().zip(bytes.to_be_bytes()) {
        text[place..place + 2].copy_from_slice(&HEX_PAIRS[usize::from(byte)]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(spec: &str, seed: u64) -> Vec<RawChunk> {
        let mut documents = synthetic(&SyntheticSpec::parse(spec).unwrap(), seed, KeyRules::default());
        let mut chunks = vec![RawChunk::default()];
        while documents.next_chunk(chunks.last_mut().unwrap()).unwrap() {
            chunks.push(RawChunk::default());
        }
        chunks.pop();
        chunks
    }

    #[test]
    fn a_block_made_alone_is_the_block_of_the_stream() {
        for kind in ["uuid4", "uuid7", "zipf-tenants", "sequential"] {
            let streamed = all(&format!("{kind}:200000"), 9);
            let mut maker = Maker::new(SyntheticSpec::parse(&format!("{kind}:1")).unwrap().kind);
            let mut random = block_generator(9, 2);
            let mut alone = RawChunk::default();
            for number in 2 * 65_536..3 * 65_536 {
                alone.push(maker.make(number, &mut random), None);
            }
            assert!(streamed[2] == alone, "{kind}");
        }
        let mut random = block_generator(9, 1);
        let mut alone = RawChunk::default();
        (0..BLOCK).for_each(|_| alone.push_hashed(random.next_u64()));
        assert!(all("random:200000", 9)[1] == alone);
    }

    #[test]
    fn the_generator_of_a_block_is_fixed() {
        // From a second implementation of the seeding and of xoshiro256++ 1.0, in Python integers.
        for (seed, block, first, second) in [
            (0, 0, 0xE8D0_CA5F_197D_9247, 0x7F57_92EE_A15C_5F24),
            (1, 0, 0x232D_C888_C9EA_96B5, 0x30D6_7EEC_40FD_4EF3),
            (0, 1, 0x3D89_6F1E_EA52_F6B6, 0xA36E_899A_E145_9FC2),
            (u64::MAX, 7, 0xA825_81F0_409E_ACED, 0x3ECE_A4AD_F3BA_9BE2),
        ] {
            let mut random = block_generator(seed, block);
            assert_eq!([random.next_u64(), random.next_u64()], [first, second], "seed {seed}, block {block}");
        }
    }

    #[test]
    fn a_point_on_the_last_sum_still_has_a_rank() {
        assert_eq!(draw(&[1.0, 1.0], u64::MAX), 0);
        assert_eq!(draw(&[0.5, 1.0], u64::MAX), 1);
        assert_eq!(draw(&[0.5, 1.0], 0), 0);
        // Weights too small to add to the sum are never drawn, and nothing falls off the end.
        assert_eq!(draw(&zipf(1000, 100.0), u64::MAX), 0);
    }
}
