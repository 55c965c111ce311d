//! Parts of the C and C++ libraries, and of what lies below them: our own, in C and C++.
//!
//! A part is a file of `runtime/`. Its first lines say what it defines, in words behind `defines:`; a word with
//! a `*` at its end stands for every name that begins so. Words behind `flags:` are for the compiler. A part is
//! compiled by the user's compiler, so that it fits the headers that are there, and linked if the program needs
//! something of it and does not bring it along. It has no line numbers: what goes wrong inside is told where the
//! program calls it. What has to do with threads is not here but in `library`, in our IR; what is in both is taken
//! from here. Only libc++'s threads are here: they are POSIX threads behind functions. Rust brings its own library.
//!
//! Cost: a run of the compiler, up to a second, for each part that a program needs; what it makes is kept in the
//! user's cache.

use crate::llvm::Module;
use crate::{Error, Options, cache, compile};
use std::path::PathBuf;

pub(crate) struct Part {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! parts {
    ($($name:literal)*) => {
        pub(crate) const PARTS: &[Part] = &[
            $(Part { name: $name, text: include_str!(concat!("../runtime/", $name)) }),*
        ];
    };
}

parts! {
    "atomic.c"
    "cancel.c"
    "containers.cpp"
    "ctype.c"
    "exceptions.cpp"
    "fenv.c"
    "future.cpp"
    "input.c"
    "libcxx.cpp"
    "numbers.c"
    "pmr.cpp"
    "signal.c"
    "sort.c"
    "stdio.c"
    "string.cpp"
    "strings.c"
    "system.c"
    "time.c"
}

/// Links what the module needs, and what that needs in turn.
pub(crate) fn link(module: &mut Module, options: &Options) -> Result<(), Error> {
    let mut linked: Vec<&str> = Vec::new();
    while let Some(part) = PARTS.iter().find(|part| !linked.contains(&part.name) && part.is_needed(module)) {
        linked.push(part.name);
        module.link(part.name, &part.compile(options)?)?;
    }
    Ok(())
}

impl Part {
    /// Whether it defines something that the module declares and does not define.
    fn is_needed(&self, module: &Module) -> bool {
        let mut functions = module.functions().filter(|function| function.is_declaration());
        let mut globals = module.globals().filter(|global| global.is_declaration());
        functions.any(|function| self.defines(function.name()))
            || globals.any(|global| self.defines(global.name()))
    }

    /// Whether a name is among those of the first lines.
    fn defines(&self, name: &str) -> bool {
        self.words("// defines:").any(|word| match word.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name == word,
        })
    }

    /// The words of those of the first lines that begin like this.
    fn words(&self, begin: &str) -> impl Iterator<Item = &'static str> {
        let first = self.text.lines().take_while(|line| line.starts_with("// "));
        first.filter_map(move |line| line.strip_prefix(begin)).flat_map(str::split_whitespace)
    }

    /// Its bitcode: what was made earlier, if compiler and text are the same.
    fn compile(&self, options: &Options) -> Result<Vec<u8>, Error> {
        let kept = self.kept(options);
        if let Some(bitcode) = kept.as_ref().and_then(|path| std::fs::read(path).ok()) {
            return Ok(bitcode);
        }
        let path = compile::include_directory()?.join(self.name);
        let standard = if self.name.ends_with(".cpp") { "-std=gnu++20" } else { "-std=gnu17" };
        // 16-byte atomics are instructions on x86-64 only if they are asked for.
        let wide = cfg!(target_arch = "x86_64").then_some("-mcx16");
        let flags: Vec<&str> = std::iter::once(standard).chain(wide).chain(self.words("// flags:")).collect();
        let bitcode = compile::part(self.name, &path, &flags, options)?;
        if let Some(path) = kept {
            // A failure to write costs only time.
            let aside = path.with_extension(std::process::id().to_string());
            let _ = std::fs::write(&aside, &bitcode).and_then(|()| std::fs::rename(aside, path));
        }
        Ok(bitcode)
    }

    /// Where its bitcode is kept: by its text, and by the compiler as it is on the disk.
    fn kept(&self, options: &Options) -> Option<PathBuf> {
        let clang = options.clang.clone().or_else(compile::find_clang)?;
        let file = std::fs::canonicalize(compile::on_path(&clang)?).ok()?;
        let found = std::fs::metadata(&file).ok()?;
        let key = (self.text, &file, found.len(), found.modified().ok()?, options.overflow);
        Some(cache::keyed("part", &key).ok()?.join("part.bc"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_says_what_it_defines() {
        assert!(PARTS.iter().all(|part| part.text.starts_with("// defines: ")));
        let of = |name: &str| PARTS.iter().filter(|part| part.defines(name)).count();
        let names =
            ["strtol", "qsort", "strncpy", "__cxa_throw", "_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base"];
        assert!(names.into_iter().all(|name| of(name) == 1));
        assert_eq!(of("no_such_function"), 0);
    }
}
