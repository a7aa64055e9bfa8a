//! What the command prints, word for word: one group of cases a file in `cmd`.

#[test]
fn commands_print_what_their_cases_say() {
    let cases = trycmd::TestCases::new();
    cases.insert_var("[VERSION]", env!("CARGO_PKG_VERSION")).expect("the name of a variable stands in brackets");
    // Whoever runs the tests may have a terminal of another width, or want no colour.
    cases.env("NO_COLOR", "1").env("COLUMNS", "100").case("tests/cmd/*.trycmd");
}
