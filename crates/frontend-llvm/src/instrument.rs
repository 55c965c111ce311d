//! Native code of a Rust program that tells ThreadSanitizer's runtime, or ours, of every access.
//!
//! LLVM's own pass instruments the bitcode of the whole program, std included: no unstable option of the
//! compiler and no source of std is needed. Local variables that nobody else can see become registers first.
//! Cost: 4 to 5 s of CPU time for a crate's tests with std and libtest.

use crate::llvm::Module;
use crate::{Error, rust};
use std::path::Path;

/// From the merged bitcode of a program to an object file for x86-64 Linux.
pub fn instrument(bitcode: &Path, object: &Path) -> Result<(), Error> {
    rust::use_its_llvm()?;
    let name = bitcode.display().to_string();
    let bytes = std::fs::read(bitcode).map_err(|source| Error::Io { file: name.clone(), source })?;
    let mut module = Module::parse(&name, &bytes)?;
    module.verify(&name)?;
    module.run_passes("internalize<preserve-gv=main>,globaldce,function(sroa)")?;
    module.add_attribute("sanitize_thread");
    module.run_passes("tsan-module,function(tsan)")?;
    module.write_object(object)
}
