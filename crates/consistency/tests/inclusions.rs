//! Models that include one another: what the stronger one allows, the weaker one allows.
//!
//! Sources: SC ⊆ TSO ⊆ PSO: Adve, Gharachorloo, "Shared memory consistency models: a tutorial", 1996.
//! SC ⊆ SRA ⊆ RA and TSO ⊆ SRA: Lahav, Giannarakis, Vafeiadis, "Taming release-acquire consistency", POPL
//! 2016. RA ⊆ RC11 where nothing is seq_cst: RC11's hb is then part of RA's, and psc is empty. SC ⊆ RC11: Lahav et
//! al., "Repairing sequential consistency in C/C++11", PLDI 2017. RC11 ⊆ WRC11: Kokologiannakis et al., POPL 2018.

mod support;

use porf_event::Dialect;
use support::{Modes, cat, classic_shapes, random_shape};

/// Whether what the first model allows is allowed by the second one, and whether something else is.
fn includes(stronger: &str, weaker: &str, modes: Modes) -> (bool, bool) {
    let models = [stronger, weaker].map(|name| porf_cat::CatModel::shipped(name.parse().unwrap()));
    let (mut strong, mut weak) = (cat(&models[0], Dialect::C), cat(&models[1], Dialect::C));
    let (mut included, mut proper) = (true, false);
    let random = (1000..1100).map(|seed| random_shape(seed, modes));
    for shape in random.chain(classic_shapes(modes)) {
        for candidate in shape.candidates() {
            let Some(first) = candidate.is_consistent(&mut strong) else { continue };
            let second = candidate.is_consistent(&mut weak).unwrap();
            included &= !first || second;
            proper |= second && !first;
        }
    }
    (included, proper)
}

#[test]
fn stronger_models_allow_less() {
    for (stronger, weaker, modes) in [
        ("sc", "tso", Modes::Relaxed),
        ("tso", "pso", Modes::Weak),
        ("sc", "sra", Modes::Relaxed),
        ("tso", "sra", Modes::Relaxed),
        ("sra", "ra", Modes::Relaxed),
        ("ra", "rc11", Modes::Weak),
        ("sc", "rc11", Modes::All),
        ("rc11", "wrc11", Modes::All),
    ] {
        assert_eq!(includes(stronger, weaker, modes), (true, true), "{stronger} in {weaker}");
    }
}

/// What does not hold: the test above could fail.
#[test]
fn not_every_model_includes_another() {
    assert!(!includes("pso", "ra", Modes::Relaxed).0);
    assert!(!includes("ra", "tso", Modes::Relaxed).0);
    // RA does not know of seq_cst.
    assert!(!includes("ra", "rc11", Modes::All).0);
}
