//! `SHARDLAB_SIMD` changes how fast answers come, never which.

use crate::common::{printed, refusal, shardlab};

fn with_simd(value: &str, line: &str) -> std::process::Output {
    shardlab().env("SHARDLAB_SIMD", value).args(line.split_whitespace()).output().unwrap()
}

#[test]
fn every_level_that_the_machine_has_gives_the_same_bytes() {
    for line in [
        "compare --timing off --nodes 97 --synthetic uuid4:20000 --format json",
        "what-if jump:nodes=12 ring:nodes=13 --synthetic random:30000 --format json",
        "compare --timing off --nodes 12 --synthetic zipf-tenants:20000 --scheme elastic:created=8.15 --format json",
    ] {
        let plain = printed(&with_simd("portable", line));
        for level in ["avx2", "avx512"] {
            let output = with_simd(level, line);
            // Where the machine lacks the instructions, saying so is the right answer.
            if output.status.code() == Some(2) {
                assert!(refusal(&output).contains("this machine lacks"));
            } else {
                assert_eq!(printed(&output), plain, "{level}: {line}");
            }
        }
    }
}

#[test]
fn a_level_that_does_not_exist_is_refused_with_those_that_do() {
    for value in ["", "sse", "AVX512", "avx512 "] {
        let said = refusal(&with_simd(value, "schemes"));
        assert!(said.contains("SHARDLAB_SIMD") && said.contains("portable, avx2, avx512 or avx512ifma"), "{said}");
    }
}
