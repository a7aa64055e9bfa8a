//! Compressed files: several members, ends that are missing, bytes that are too many.

use crate::common::{gzip, read, skipping, strict, zstd};

type Compress = fn(&[u8]) -> Vec<u8>;

const CODECS: [(&str, Compress); 2] = [("gzip", gzip), ("zstd", zstd)];

#[test]
fn all_members_of_a_file_are_read_whatever_its_name() {
    for (name, compress) in CODECS {
        let bytes = [compress(b"a\nb\n"), compress(b"c"), compress(b""), compress(b"d\ne\n")].concat();
        let outcome = read("a.txt", &bytes, &strict());
        assert_eq!(outcome.ids(), ["a", "b", "cd", "e"], "{name}");
        // A byte order mark inside is no start of the file.
        let bytes = [compress(b"\xEF\xBB\xBFa\n"), compress(b"\xEF\xBB\xBFb\n")].concat();
        assert_eq!(read("a.txt", &bytes, &strict()).ids(), ["a", "\u{FEFF}b"], "{name}");
    }
    assert_eq!(read("x", &[gzip(b"a\n"), zstd(b"b\n")].concat(), &strict()).ids(), ["a", "b"]);
    // A skippable frame, as parallel compressors write in front.
    let bytes = [b"\x50\x2A\x4D\x18\x04\0\0\0abcd".as_slice(), &zstd(b"a\n")].concat();
    assert_eq!(read("x", &bytes, &strict()).ids(), ["a"]);
}

#[test]
fn many_members_make_one_file() {
    for (name, compress) in CODECS {
        let bytes: Vec<u8> = (0..3000).flat_map(|i| compress(format!("id-{i}\n").as_bytes())).collect();
        assert_eq!(
            read("a", &bytes, &strict()).ids(),
            (0..3000).map(|i| format!("id-{i}")).collect::<Vec<_>>(),
            "{name}"
        );
    }
}

#[test]
fn bytes_after_the_end_are_bad_and_what_stands_before_is_read() {
    for (name, compress) in CODECS {
        for tail in [b"plain\n".as_slice(), b"\0\0\0\0", b"x"] {
            for (content, line) in [(b"a\nb\n".as_slice(), 3), (b"a\nb", 3)] {
                let bytes = [&compress(content), tail].concat();
                let outcome = read("a.gz", &bytes, &strict());
                // A last line without a line feed counts as a line when the next place is told.
                assert_eq!(outcome.ids(), ["a", "b"], "{name}");
                let place = format!("a.gz:{line}: bytes follow the end of the compressed data");
                assert!(outcome.error().contains(&place), "{name}: {}", outcome.error());
                let outcome = read("a.gz", &bytes, &skipping());
                assert_eq!(outcome.ids(), ["a", "b"]);
                assert_eq!(outcome.skipped(), [("bytes follow the end of the compressed data".to_owned(), 1)]);
            }
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_is_bad_and_gives_whole_ids_alone() {
    let ids: Vec<String> = (0..200).map(|i| format!("id-{}", i * 7_919)).collect();
    let text = ids.join("\n") + "\n";
    for (name, compress) in CODECS {
        let whole = compress(text.as_bytes());
        for cut in 4..whole.len() {
            let outcome = read("a", &whole[..cut], &strict());
            let error = outcome.error();
            assert!(error.contains("the compressed file is truncated"), "{name} cut at {cut}: {error}");
            assert_eq!(outcome.ids(), ids[..outcome.documents.len()], "{name} cut at {cut}");
            assert!(error.contains(&format!("a:{}: ", outcome.documents.len() + 1)), "{name} cut at {cut}: {error}");
        }
        // The beginning of another member, too short to tell from other bytes.
        let outcome = read("a", &[&whole[..], &whole[..1]].concat(), &skipping());
        assert_eq!(outcome.ids(), ids);
        assert_eq!(outcome.skipped()[0].0, "compressed file is truncated; nothing after this line was read");
    }
}

#[test]
fn a_damaged_file_is_told_from_a_truncated_one() {
    let text: String = (0..5000).map(|i| format!("id-{}\n", i * 7_919)).collect();
    let mut gz = gzip(text.as_bytes());
    // The checksum stands eight bytes before the end.
    let at = gz.len() - 8;
    gz[at] ^= 1;
    assert!(read("a", &gz, &strict()).error().contains("the compressed file cannot be unpacked ("));
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
    let mut zst = encoder.finish().unwrap();
    *zst.last_mut().unwrap() ^= 1;
    assert!(read("a", &zst, &strict()).error().contains("the compressed file cannot be unpacked ("));
}

#[test]
fn what_is_packed_twice_or_for_a_larger_reader_is_told_from_damage() {
    for (name, compress) in CODECS {
        let twice = read("a.gz", &compress(&gzip(b"a\nb\n")), &skipping());
        assert!(twice.error().contains("compressed twice"), "{name}: {}", twice.error());
    }
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.long_distance_matching(true).unwrap();
    encoder.window_log(28).unwrap();
    let mut text = Vec::new();
    for i in 0..40_000_000_u32 / 8 {
        text.extend_from_slice(format!("{i:07}\n").as_bytes());
    }
    std::io::Write::write_all(&mut encoder, &text).unwrap();
    let outcome = read("a.zst", &encoder.finish().unwrap(), &strict());
    assert!(outcome.error().contains("needs a window above 128 MiB"), "{}", outcome.error());
    let plain = read("a.gz", b"a\nb\n", &strict());
    assert_eq!(plain.ids(), ["a", "b"]);
    assert!(plain.keys.notes.iter().any(|note| note.contains("is not compressed")), "{:?}", plain.keys.notes);
}
