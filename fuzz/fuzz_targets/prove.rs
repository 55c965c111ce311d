//! The language of array systems, and what is done with one: no input may panic, and what parses must survive
//! printing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use porf_param::syntax::{parse, print};
use porf_param::{Memory, Request, load, prove};

fuzz_target!(|text: &str| {
    let Ok(tree) = parse(text) else { return };
    let printed = print(&tree);
    assert_eq!(parse(&printed).as_ref(), Ok(&tree), "{printed}");
    let Ok(system) = load(text) else { return };
    for memory in Memory::ALL {
        let _ = prove(&system, Request { memory, max_nodes: 20, max_seconds: 1, ..Request::default() });
    }
});
