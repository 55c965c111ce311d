//! The files that models include, written for Porf, and the models that ship with Porf.

/// Included files with these names are always the built-in ones.
pub const PINNED: &[&str] = &["lock.cat", "aarch64deps.cat", "stdlib.cat", "cross.cat"];

/// The built-in file of that name.
pub fn library(name: &str) -> Option<&'static str> {
    LIBRARY.iter().find(|(other, _)| *other == name).map(|(_, source)| *source)
}

macro_rules! library {
    ($($name:literal),* $(,)?) => {
        const LIBRARY: &[(&str, &str)] = &[$(($name, include_str!(concat!("../stdlib/", $name)))),*];
    };
}

library![
    "stdlib.cat",
    "cross.cat",
    "cos.cat",
    "cos-opt.cat",
    "cos-no-opt.cat",
    "lock.cat",
    "filters.cat",
    "fences.cat",
    "x86fences.cat",
    "armfences.cat",
    "ppcfences.cat",
    "aarch64fences.cat",
    "aarch64deps.cat",
];
