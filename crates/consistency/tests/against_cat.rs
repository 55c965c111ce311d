//! The fast checkers against the cat texts of their models: every candidate of small random shapes.

mod support;

use porf_consistency::{
    Closure, MemoryModel, Mo, Porf, Pso, Ra, Rc11, Rc11Hb, Rc11Weak, Rf, RfSc, Sc, Sra, Tso, WeakMo,
};
use porf_event::Dialect;
use std::collections::HashMap;
use support::{Modes, cat, random_shape};

/// Shapes that are tried; 50 times as many in the full run.
fn shapes(default: u64) -> u64 {
    if std::env::var_os("PORF_FULL").is_some() { default * 50 } else { default }
}

/// A checker that sees co says of every candidate what the cat text says.
fn agrees<M: MemoryModel + Default>(name: &str, modes: Modes) {
    let model = porf_cat::CatModel::shipped(name.parse().unwrap());
    let mut judge = cat(&model, Dialect::C);
    let (mut consistent, mut others) = (0, 0);
    for seed in 0..shapes(120) {
        let shape = random_shape(seed, modes);
        for candidate in shape.candidates() {
            let Some(expected) = candidate.is_consistent(&mut judge) else { continue };
            assert_eq!(candidate.is_allowed::<M>(), Some(expected), "{name} {candidate:#?}");
            *if expected { &mut consistent } else { &mut others } += 1;
        }
    }
    assert!(consistent > 300 && others > 300, "{consistent} consistent, {others} not");
}

/// A checker that does not see co allows what some co makes consistent.
fn agrees_up_to_rf<M: MemoryModel + Default>(name: &str, modes: Modes) {
    let model = porf_cat::CatModel::shipped(name.parse().unwrap());
    let mut judge = cat(&model, Dialect::C);
    let (mut consistent, mut others) = (0, 0);
    for seed in 0..shapes(80) {
        let shape = random_shape(seed, modes);
        let mut by_rf: HashMap<Vec<Option<usize>>, (bool, bool)> = HashMap::new();
        for candidate in shape.candidates() {
            let Some(expected) = candidate.is_consistent(&mut judge) else { continue };
            let entry = by_rf
                .entry(candidate.rf.clone())
                .or_insert_with(|| (candidate.is_allowed::<M>().unwrap(), false));
            entry.1 |= expected;
        }
        for (rf, (allowed, expected)) in by_rf {
            assert_eq!(allowed, expected, "{name} {rf:?} {shape:#?}");
            *if expected { &mut consistent } else { &mut others } += 1;
        }
    }
    assert!(consistent > 100 && others > 100, "{consistent} consistent, {others} not");
}

#[test]
fn sc() {
    agrees::<Mo<Closure<Sc>>>("sc", Modes::Relaxed);
}

#[test]
fn sra() {
    agrees::<Mo<Closure<Sra>>>("sra", Modes::Relaxed);
}

#[test]
fn tso() {
    agrees::<Mo<Closure<Tso>>>("tso", Modes::Relaxed);
}

#[test]
fn pso() {
    agrees::<Mo<Closure<Pso>>>("pso", Modes::Weak);
}

#[test]
fn ra() {
    agrees::<Mo<Ra>>("ra", Modes::Relaxed);
}

#[test]
fn rc11() {
    agrees::<Mo<Rc11<Rc11Hb<true>>>>("rc11", Modes::All);
    agrees::<Mo<Rc11<Rc11Hb<true, true>>>>("c20", Modes::All);
    agrees::<Mo<Rc11Weak<Rc11Hb<true>>>>("rc11", Modes::Weak);
}

#[test]
fn up_to_rf() {
    agrees_up_to_rf::<Rf<Porf>>("ra", Modes::Relaxed);
    agrees_up_to_rf::<Rf<Rc11Hb<true>>>("rc11", Modes::Weak);
    agrees_up_to_rf::<RfSc<Rc11Hb<true>>>("rc11", Modes::All);
    agrees_up_to_rf::<RfSc<Rc11Hb<true, true>>>("c20", Modes::All);
}

#[test]
fn wrc11() {
    agrees_up_to_rf::<WeakMo<false>>("wrc11", Modes::Weak);
    agrees_up_to_rf::<WeakMo<true>>("wrc11", Modes::All);
}
