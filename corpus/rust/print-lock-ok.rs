// expect: safe
use std::io::Write;
use std::thread;
pub fn main() {
    let t = thread::spawn(|| {
        println!("{:>8} {:?}", 1, Some("text"));
        writeln!(std::io::stderr(), "to standard error").unwrap();
    });
    let mut out = std::io::stdout().lock();
    writeln!(out, "to standard output").unwrap();
    out.flush().unwrap();
    drop(out);
    t.join().unwrap();
    assert_eq!(format!("{:#x} {:>4} {:.2}", 255, "ab", 1.5), "0xff   ab 1.50");
}
