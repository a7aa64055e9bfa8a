//! The embedded sample against its recipe.

use std::io::Read;

#[path = "../../examples/make_sample.rs"]
#[allow(dead_code, reason = "the recipe's main writes the file, which a test must not")]
mod make_sample;

#[test]
fn the_sample_is_what_its_recipe_makes() {
    let mut text = String::new();
    let stored: &[u8] = include_bytes!("../../data/sample-ids.txt.gz");
    flate2::read::MultiGzDecoder::new(stored).read_to_string(&mut text).unwrap();
    assert!(text == make_sample::sample_text(), "run: cargo run -p shardlab-keys --example make_sample");
    assert_eq!(text.lines().count(), make_sample::COUNT);
}
