//! Runs a single-threaded C program in the interpreter: `run FILE.c [CFLAGS…]`.

use porf_frontend_llvm::{Options, load};

fn main() {
    let mut args = std::env::args().skip(1).peekable();
    let dump = args.next_if(|arg| arg == "--dump").is_some();
    let Some(file) = args.next() else { return };
    let options = Options { flags: args.collect(), ..Options::default() };
    match load(&[file.into()], &options) {
        Err(error) => eprintln!("{error}"),
        Ok(program) if dump => print!("{}", porf_ir::print(&program)),
        Ok(program) => {
            let alone = porf_interp::run_alone(&program);
            print!("{}", String::from_utf8_lossy(&alone.output));
            if alone.end != porf_interp::End::Finished {
                println!("{:?}", alone.end);
            }
        }
    }
}
