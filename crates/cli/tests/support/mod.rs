//! A folder with a program, and `porf` on it.

#![allow(dead_code, reason = "every test takes what it needs of it")]

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

pub struct Folder {
    folder: PathBuf,
    program: String,
}

impl Folder {
    /// A folder of its own for a test.
    pub fn new(test: &str, program: &str, text: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("porf-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(program), text).unwrap();
        Folder { folder, program: program.to_string() }
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_string()
    }

    /// The exit code, and all that was said.
    pub fn porf(&self, args: &[&str]) -> (i32, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_porf")).args(args).output().unwrap();
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code().unwrap_or(-1), text)
    }

    /// The report on the program.
    pub fn verify(&self, args: &[&str]) -> Value {
        let program = self.path(&self.program);
        let (code, text) = self.porf(&[&["verify", "--format", "json", &program], args].concat());
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}, exit code {code}: {text}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
