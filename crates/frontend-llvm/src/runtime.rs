//! Parts of the C++ library, and of what lies below it, that are not in its headers: our own, in C++.
//!
//! A part is compiled by the user's compiler, so that it fits the headers that are there, and linked if
//! the program needs something of it and does not bring it along. What has to do with threads is not
//! here but in `library`, in our IR. Cost: a run of the compiler, up to half a second, for each part
//! that a program needs.

use crate::compile;
use crate::llvm::Module;
use crate::{Error, Options};

pub(crate) struct Part {
    pub name: &'static str,
    pub text: &'static str,
    /// How the names begin that are defined here.
    names: &'static [&'static str],
}

pub(crate) const PARTS: [Part; 2] = [
    Part {
        name: "containers.cpp",
        text: include_str!("../runtime/containers.cpp"),
        names: &[
            "_ZNSt8__detail15_List_node_base",
            "_ZNKSt8__detail20_Prime_rehash_policy",
            "_ZSt18_Rb_tree_increment",
            "_ZSt18_Rb_tree_decrement",
            "_ZSt29_Rb_tree_insert_and_rebalance",
            "_ZSt28_Rb_tree_rebalance_for_erase",
            "_ZSt11_Hash_bytes",
            "_ZSt15_Fnv_hash_bytes",
        ],
    },
    Part {
        name: "future.cpp",
        text: include_str!("../runtime/future.cpp"),
        names: &[
            "__once_proxy",
            "_ZNSt28__atomic_futex_unsigned_base",
            "_ZNSt13__future_base12_Result_base",
            "_ZNSt15__exception_ptr13exception_ptr",
        ],
    },
];

/// The parts that define something that the module does not.
pub(crate) fn needed(module: &Module) -> Vec<&'static Part> {
    let missing: Vec<&str> = module
        .functions()
        .filter(|function| function.is_declaration())
        .map(|function| function.name())
        .collect();
    let wanted =
        |part: &&Part| part.names.iter().any(|name| missing.iter().any(|missing| missing.starts_with(name)));
    PARTS.iter().filter(wanted).collect()
}

impl Part {
    pub fn compile(&self, options: &Options) -> Result<Vec<u8>, Error> {
        let cpp = self.name.ends_with(".cpp");
        let path = compile::include_directory()?.join(self.name);
        compile::run(options, cpp, self.name, |command| command.arg(path))
    }
}
