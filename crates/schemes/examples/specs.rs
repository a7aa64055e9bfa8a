//! Prints the canonical spec of every row of a comparison of everything, one a line.
//!
//! ```sh
//! cargo run -p shardlab-schemes --example specs
//! ```

fn main() {
    for scheme in shardlab_schemes::comparison_rows() {
        println!("{}", scheme.spec());
    }
}
