//! The models that ship with Porf.

/// A shipped model.
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its full name.
    pub title: &'static str,
    /// The text of `models/NAME.cat`.
    pub source: &'static str,
    /// Where its axioms come from.
    pub citation: &'static str,
    /// The litmus dialects that it makes sense for.
    pub dialects: &'static [&'static str],
}

/// All shipped models.
pub fn models() -> &'static [Entry] {
    MODELS
}

/// Every dialect of litmus tests.
const ALL: &[&str] = &["C", "LKMM", "AArch64", "ARM", "PPC", "RISCV", "X86", "X86_64"];

const MODELS: &[Entry] = &[
    Entry {
        name: "sc",
        title: "Sequential consistency",
        source: include_str!("../../../models/sc.cat"),
        citation: "Lamport, IEEE Transactions on Computers 1979",
        dialects: ALL,
    },
    Entry {
        name: "tso",
        title: "Total store order",
        source: include_str!("../../../models/tso.cat"),
        citation: "Owens, Sarkar, Sewell, TPHOLs 2009",
        dialects: &["C", "X86", "X86_64"],
    },
    Entry {
        name: "pso",
        title: "Partial store order",
        source: include_str!("../../../models/pso.cat"),
        citation: "The SPARC Architecture Manual, version 8, 1992",
        dialects: &["C"],
    },
    Entry {
        name: "ra",
        title: "Release/acquire",
        source: include_str!("../../../models/ra.cat"),
        citation: "Lahav, Giannarakis, Vafeiadis, POPL 2016",
        dialects: &["C"],
    },
    Entry {
        name: "sra",
        title: "Strong release/acquire",
        source: include_str!("../../../models/sra.cat"),
        citation: "Lahav, Giannarakis, Vafeiadis, POPL 2016",
        dialects: &["C"],
    },
    Entry {
        name: "rc11",
        title: "Repaired C11",
        source: include_str!("../../../models/rc11.cat"),
        citation: "Lahav, Vafeiadis, Kang, Hur, Dreyer, PLDI 2017",
        dialects: &["C"],
    },
    Entry {
        name: "wrc11",
        title: "Weak RC11",
        source: include_str!("../../../models/wrc11.cat"),
        citation: "Kokologiannakis, Lahav, Sagonas, Vafeiadis, POPL 2018",
        dialects: &["C"],
    },
    Entry {
        name: "imm",
        title: "Intermediate memory model",
        source: include_str!("../../../models/imm.cat"),
        citation: "Podkopaev, Lahav, Vafeiadis, POPL 2019",
        dialects: &["C"],
    },
    Entry {
        name: "armv8",
        title: "Arm, version 8",
        source: include_str!("../../../models/armv8.cat"),
        citation: "Pulte, Flur, Deacon, French, Sarkar, Sewell, POPL 2018",
        dialects: &["AArch64"],
    },
    Entry {
        name: "armv7",
        title: "Arm, version 7",
        source: include_str!("../../../models/armv7.cat"),
        citation: "Alglave, Maranget, Tautschnig, TOPLAS 2014",
        dialects: &["ARM"],
    },
    Entry {
        name: "power",
        title: "Power",
        source: include_str!("../../../models/power.cat"),
        citation: "Alglave, Maranget, Tautschnig, TOPLAS 2014",
        dialects: &["PPC"],
    },
    Entry {
        name: "riscv",
        title: "RISC-V, RVWMO",
        source: include_str!("../../../models/riscv.cat"),
        citation: "The RISC-V Instruction Set Manual, volume I",
        dialects: &["RISCV"],
    },
    Entry {
        name: "lkmm",
        title: "Linux kernel memory model",
        source: include_str!("../../../models/lkmm.cat"),
        citation: "Alglave, Maranget, McKenney, Parri, Stern, ASPLOS 2018",
        dialects: &["LKMM"],
    },
];
