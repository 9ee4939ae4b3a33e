//! Writes a page: `page OUT.html RESULTS…`.

use std::path::PathBuf;

fn main() {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let out = arguments.next().expect("a file");
    lsmbench_page::Page::of(&arguments.collect::<Vec<_>>()).expect("results").write(&out).expect("written");
}
