//! The meaning of base names that an execution does not define.

/// Names that are defined by other names.
pub const DEFINED: &[(&str, &str)] = &[
    ("M", "R | W"),
    ("FW", "W \\ domain(co)"),
    ("id", "[_]"),
    ("Exp", "M"),
    ("EXEC", "_"),
    ("rmw", "amo | lxsx"),
    ("EX", "domain(lxsx) | range(lxsx)"),
    ("X", "domain(amo) | range(amo)"),
    ("sm", "[M]"),
    ("si", "[M]"),
    ("same-instance", "id | amo | amo^-1"),
    ("partial_po", "po"),
    (
        "pco",
        "let rw = rf ; (po & loc & (R * W)) and wr = ((po & loc & (W * R)) ; rf^-1) \\ id \
              and rr = (rf ; (po & loc & (R * R)) ; rf^-1) \\ id \
              in (po & loc & (W * W)) | rw | wr | rr | co0",
    ),
    ("co0", "loc & ((IW * (W \\ IW)) | ((W \\ FW) * FW))"),
    ("fr", "(rf^-1 ; co) \\ id"),
    ("fre", "((rf^-1 ; co) \\ id) & ext"),
    ("fri", "((rf^-1 ; co) \\ id) & int"),
    ("coe", "co & ext"),
    ("coi", "co & int"),
    ("NA", "M \\ A"),
    ("RMW", "domain(rmw) | range(rmw)"),
    // The Linux kernel's newer spelling of its tags.
    ("ONCE", "Once"),
    ("ACQUIRE", "Acquire"),
    ("RELEASE", "Release"),
    ("NORETURN", "Noreturn"),
    ("MB", "Mb"),
    ("pick-addr-dep", "addr"),
    ("pick-data-dep", "data"),
    ("pick-ctrl-dep", "ctrl"),
    ("pick-dep", "addr | data | ctrl"),
];

/// Relations that are empty where an execution has nothing of the kind.
pub const EMPTY_RELATIONS: &[&str] = &[
    "addr",
    "data",
    "ctrl",
    "casdep",
    "amo",
    "lxsx",
    "depend",
    "success",
    "tst",
    "control",
    "iico_data",
    "iico_ctrl",
    "iico_order",
    "rf-reg",
    "inv-domain",
    "aligned",
    "equiv-spec",
    "same-tag-loc",
    "PTEtoPA",
    "same-low-order-bits",
];

/// Sets that are empty where an execution has nothing of the kind.
#[rustfmt::skip]
pub const EMPTY_SETS: &[&str] = &[
    // All dialects.
    "F", "NExp", "SPEC", "SPURIOUS", "B", "BCC", "PRED", "Rreg", "Wreg", "ADDR", "DATA", "FAULT", "IW",
    // C11.
    "RLX", "ACQ", "REL", "ACQ_REL", "SC", "CON", "LS", "LK", "UL", "V", "ATOMIC",
    // The Linux kernel, in the spelling of its model before and after the change of tags.
    "Once", "Acquire", "Release", "Noreturn", "Mb", "Rmb", "Wmb", "Barrier", "Rcu-lock", "Rcu-unlock", "Sync-rcu",
    "Before-atomic", "After-atomic", "After-spinlock", "After-unlock-lock", "After-srcu-read-unlock", "Srcu-lock",
    "Srcu-unlock", "Sync-srcu", "ONCE", "ACQUIRE", "RELEASE", "NORETURN", "MB", "LKR", "LKW", "LF", "RL", "RU",
    "Plain",
    // x86.
    "MFENCE", "LFENCE", "SFENCE",
    // Power, Arm v7.
    "SYNC", "LWSYNC", "EIEIO", "ISYNC", "DMB", "DSB", "ISB", "DMB.ST", "DSB.ST",
    // AArch64.
    "A", "L", "Q", "NoRet", "DMB.NSH", "DMB.NSHLD", "DMB.NSHST", "DMB.ISH", "DMB.ISHLD", "DMB.ISHST", "DMB.OSH",
    "DMB.OSHLD", "DMB.OSHST", "DMB.SY", "DMB.LD", "DSB.NSH", "DSB.NSHLD", "DSB.NSHST", "DSB.ISH", "DSB.ISHLD",
    "DSB.ISHST", "DSB.OSH", "DSB.OSHLD", "DSB.OSHST", "DSB.SY", "DSB.LD", "TLBI", "TLBInXS", "TLBIIS", "DC.CVAU",
    "IC.IALLU", "IC.IALLUIS", "IC.IVAU", "MMU", "D-MMU", "Translation", "AccessFlag", "TagCheck", "EXC-ENTRY",
    "EXC-RET", "SVC", "PTE", "PTEV", "PTEINV", "PTEAF0", "D-PTE", "I-PTE", "AF", "DB", "T", "Instr",
    "Restricted-CMODX",
    // RISC-V.
    "Fence.r.r", "Fence.r.w", "Fence.r.rw", "Fence.w.r", "Fence.w.w", "Fence.w.rw", "Fence.rw.r", "Fence.rw.w",
    "Fence.rw.rw", "Fence.tso", "Fence.i", "Acq", "Rel", "AcqRel", "Sc", "AMO",
];
