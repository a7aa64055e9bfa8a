//! Writes `data/sample-ids.txt.gz` again: `cargo run -p shardlab-keys --example make_sample`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use flate2::{Compression, GzBuilder};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many ids there are.
pub(crate) const COUNT: usize = 50_000;

const GIVEN: &[&str] = &[
    "anna", "ben", "carla", "david", "elena", "farid", "grace", "hiro", "ines", "jonas", "kavya", "liam", "mei",
    "nadia", "omar", "paula", "quentin", "rosa", "samuel", "tara", "uwe", "vera", "wanda", "xavier", "yusuf", "zara",
];
const FAMILY: &[&str] = &[
    "abbott", "becker", "costa", "dubois", "eriksen", "fischer", "garcia", "hansen", "ivanov", "jensen", "keller",
    "lopez", "martin", "novak", "okafor", "petrov", "quinn", "rossi", "silva", "tanaka", "ueda", "vogel", "weber",
    "xu", "yilmaz", "zimmer",
];
const DOMAINS: &[&str] = &["example.com", "example.org", "example.net", "mail.example.com"];
const WORDS: &[&str] = &[
    "autumn", "battery", "canvas", "desk", "electric", "folding", "garden", "handmade", "indoor", "jacket", "kettle",
    "leather", "mini", "notebook", "outdoor", "portable", "quiet", "retro", "solar", "travel", "ultra", "vintage",
    "wireless", "yellow", "organic", "ceramic", "lamp", "backpack", "charger", "table", "chair", "guide", "review",
];
const NAMES: &[&str] = &[
    "Zoë",
    "Łukasz",
    "Müller",
    "Søren",
    "Đặng",
    "Ångström",
    "Çelik",
    "Ñúñez",
    "Иван",
    "Ольга",
    "Γιώργος",
    "吉星",
    "王芳",
    "李伟",
    "さくら",
    "たけし",
    "김민준",
    "이서연",
    "محمد",
    "דניאל",
    "प्रिया",
    "สมชาย",
];

/// The ids, one a line.
pub(crate) fn sample_text() -> String {
    let mut recipe = Recipe { random: Xoshiro256PlusPlus::from_seed(*b"shardlab: made-up ids, recipe 1."), orders: 0 };
    let mut seen = BTreeSet::new();
    let mut text = String::new();
    while seen.len() < COUNT {
        let id = recipe.id();
        if seen.insert(id.clone()) {
            text.push_str(&id);
            text.push('\n');
        }
    }
    text
}

struct Recipe {
    random: Xoshiro256PlusPlus,
    /// The last order number; shops leave gaps, and so does this one.
    orders: u64,
}

impl Recipe {
    /// A number below `end`: the high half of a product, whose bias is far below anything seen here.
    fn below(&mut self, end: u64) -> u64 {
        u64::try_from((u128::from(self.random.next_u64()) * u128::from(end)) >> 64).unwrap_or(0)
    }

    fn one_of(&mut self, list: &[&'static str]) -> &'static str {
        let index = self.below(list.len() as u64);
        list[usize::try_from(index).unwrap_or(0)]
    }

    fn id(&mut self) -> String {
        match self.below(100) {
            0..28 => self.auto_id(),
            28..48 => self.uuid(),
            48..64 => {
                self.orders += 1 + self.below(4);
                format!("ORD-2025-{:07}", 100_000 + self.orders)
            }
            64..78 => self.slug(),
            78..90 => self.user_name(),
            90..95 => format!("{} {}", self.one_of(NAMES), 1 + self.below(9999)),
            _ => (1_000_000 + self.below(99_000_000)).to_string(),
        }
    }

    /// Twenty characters of URL-safe base64, as automatic ids have.
    fn auto_id(&mut self) -> String {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        (0..20).map(|_| char::from(ALPHABET[usize::try_from(self.below(64)).unwrap_or(0)])).collect()
    }

    fn uuid(&mut self) -> String {
        let (high, low) = (self.random.next_u64(), self.random.next_u64());
        let (high, low) = (high & !0xF000 | 0x4000, low >> 2 | 1 << 63);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            high >> 16 & 0xFFFF,
            high & 0xFFFF,
            low >> 48,
            low & 0xFFFF_FFFF_FFFF
        )
    }

    fn slug(&mut self) -> String {
        let words: Vec<&str> = (0..2 + self.below(3)).map(|_| self.one_of(WORDS)).collect();
        let slug = words.join("-");
        // About half of all slugs carry a number that keeps them apart.
        if self.below(2) == 0 { slug } else { format!("{slug}-{}", 2 + self.below(400)) }
    }

    fn user_name(&mut self) -> String {
        let (given, family, domain) = (self.one_of(GIVEN), self.one_of(FAMILY), self.one_of(DOMAINS));
        match self.below(3) {
            0 => format!("{given}.{family}@{domain}"),
            1 => format!("{given}.{family}{}@{domain}", 1950 + self.below(60)),
            _ => format!("{}{family}{}@{domain}", &given[..1], self.below(1000)),
        }
    }
}

fn main() -> std::io::Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample-ids.txt.gz");
    // No name and no time in the header, so that the file is the same whenever it is written.
    let mut file = GzBuilder::new().mtime(0).write(std::fs::File::create(path)?, Compression::best());
    file.write_all(sample_text().as_bytes())?;
    file.finish()?.sync_all()
}
