//! Accesses of different sizes that overlap.
//!
//! Cells of an execution are equal or apart. When an access would break that, those that are too large
//! and not atomic have to be cut, here and where the older accesses come from, and the search begins
//! anew ([`anew`]). Pieces only get smaller, so that this comes to an end.
//!
//! Atomic accesses are one step each. What is done about them depends on the model:
//! - Where its text says what accesses of several cells are (`si`), such an access is several events
//!   ([`porf_ir::Split::Bounds`]). Bounds only get more. These programs are searched by [`weave`](crate::weave) with the
//!   model's cat text. A part of an access is in the graph before the rest of it, and a read may take its cells from
//!   several writes; the search that throws away what it wants to, and remembers what it has seen, loses nothing by
//!   that. Each event of an access always finds a source or a place: take the memory accesses in an order that the
//!   graph allows, and the one where the access stands. (The main search would need the co-last one to be consistent.)
//! - Under sc, and under the models of languages, which do not say what such a program means, accesses that lie inside of
//!   one are made on its whole word ([`porf_ir::Split::Word`]), of which there are ever more.
//! - Otherwise the program is refused.

use crate::error::Error;
use crate::history::{Place, Tag};
use crate::search::{Growing, Trail};
use crate::{Equivalence, Model, Options};
use porf_cat::CatModel;
use porf_consistency::Architecture;
use porf_graph::{Ev, Loc};
use porf_ir::{Instr, Program, Split};

/// Two cells that share some bytes, of which an atomic access needs one as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    cells: [(u64, u8); 2],
    /// The word that all accesses can be made on, if there is one.
    word: Option<Split>,
    /// What to say if nothing helps.
    message: String,
}

impl Overlap {
    /// How accesses are made to fit.
    pub(crate) fn resolve(self, program: &Program, sizes: &Sizes<'_>) -> Result<Vec<Split>, Error> {
        let has_cells = sizes.has_cells();
        let splits: Vec<Split> = match has_cells && can_have_cells(program) {
            true => self.cells.iter().filter_map(|cell| bounds(program, *cell)).collect(),
            false => self.word.into_iter().collect(),
        };
        if !splits.is_empty() {
            return Ok(splits);
        }
        let why = match has_cells {
            true => "one of them is not aligned, or of a kind that has no parts".into(),
            false => format!("{} does not say what that means", sizes.name()),
        };
        Err(Error::Unsupported(format!("{}; {why}", self.message)))
    }
}

/// Who says what accesses of different sizes are. It is asked only if some overlap: that takes the model's text.
pub(crate) enum Sizes<'m> {
    Of(Model, Equivalence),
    OfText(&'m CatModel),
    /// Where no access may be several events.
    WithoutCells(Model),
}

impl Sizes<'_> {
    /// Whether an access may be several events, and executions are searched by the model's text then.
    fn has_cells(&self) -> bool {
        match self {
            // Under sc one word is as good, and faster.
            Sizes::Of(Model::Sc, _) | Sizes::WithoutCells(_) => false,
            Sizes::Of(model, equivalence) => {
                *equivalence == Equivalence::Mo && CatModel::shipped(*model).takes_mixed_sizes()
            }
            Sizes::OfText(text) => text.takes_mixed_sizes(),
        }
    }

    fn name(&self) -> String {
        match self {
            Sizes::Of(model, _) | Sizes::WithoutCells(model) => model.to_string(),
            Sizes::OfText(text) => text.name().to_string(),
        }
    }
}

/// Whether all accesses of a program can be several events.
fn can_have_cells(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.code).all(|instr| match instr {
        Instr::LoadExclusive { .. } | Instr::StoreExclusive { .. } | Instr::AddUnless { .. } => false,
        // Arm's own instruction may write back what it has read.
        Instr::Cas { kind, .. } => {
            program.dialect != porf_event::Dialect::AArch64 || *kind == porf_event::RmwKind::Loop
        }
        _ => true,
    })
}

/// The ends of a cell, unless they are bounds already, or an access to it is not in one step anyway.
fn bounds(program: &Program, (first, size): (u64, u8)) -> Option<Split> {
    let end = first + u64::from(size);
    let is_new = |bound: u64| program.bounds.binary_search(&bound).is_err();
    (first.is_multiple_of(u64::from(size)) && (is_new(first) || is_new(end)))
        .then_some(Split::Bounds { first, end })
}

/// Runs a search. Where accesses of different sizes overlap it cuts them and runs the search anew, which is told
/// whether it is not the first one; so it does without a reduction that turns out not to fit the program.
pub(crate) fn anew<T>(
    program: &Program,
    options: &Options,
    sizes: &Sizes<'_>,
    mut search: impl FnMut(&Program, &Options, bool) -> Result<T, Error>,
) -> Result<T, Error> {
    let (mut cut, mut options, mut begun) = (None::<Program>, *options, false);
    loop {
        match search(cut.as_ref().unwrap_or(program), &options, begun) {
            Err(Error::Mixed(splits)) => cut.get_or_insert_with(|| program.clone()).split(&splits),
            Err(Error::Overlap(overlap)) => {
                let cut = cut.get_or_insert_with(|| program.clone());
                let splits = overlap.resolve(cut, sizes)?;
                cut.split(&splits);
            }
            Err(Error::Without(reduction)) => {
                options.reductions = options.reductions.without(reduction);
            }
            Err(Error::Flag(flag)) => options.flags.set(flag),
            Err(Error::Lock(lock)) => options.locks.set(lock),
            result => return result,
        }
        begun = true;
    }
}

/// What to do about a thread, at `tag`, whose next access to the cell `loc` overlaps others in part; `before` gives the
/// state of a thread just before an event.
pub(crate) fn error<G: Growing>(
    trail: &Trail<'_, G>,
    before: impl Fn(Ev) -> Tag,
    architecture: Option<Architecture>,
    tag: Tag,
    loc: Loc,
) -> Error {
    let (mut splits, program) = (Vec::new(), trail.history.interp.program());
    for other in trail.history.overlapping(loc).iter().copied().filter(|other| trail.is_used(*other)) {
        let cells = trail.history.cells();
        let (a, b) = (cells[loc.as_usize()], cells[other.as_usize()]);
        let apart = a.location.0.abs_diff(b.location.0);
        let piece =
            if apart == 0 { a.size.min(b.size) } else { a.size.min(b.size).min(1 << apart.trailing_zeros()) };
        let accesses = trail.graph().all().filter(|event| trail.graph().event(*event).loc == other);
        let older = accesses.map(|event| (before(event), b.size));
        for (tag, size) in std::iter::once((tag, a.size)).chain(older).filter(|(_, size)| *size > piece) {
            // In halves: a part that nothing smaller touches stays whole, as an atomic beside it may need.
            let piece = piece.max(size / 2);
            let place = trail.history.state(tag).place();
            match place {
                Some((function, at)) if program.can_split(function, at) => {
                    splits.push(Split::Pieces { function, at, piece });
                }
                _ => {
                    return Error::Overlap(Box::new(Overlap {
                        cells: [a, b].map(|cell| (cell.location.0, cell.size)),
                        word: place.and_then(|_| word(program, architecture, a, b)),
                        message: refusal(trail, tag, loc),
                    }));
                }
            }
        }
    }
    Error::Mixed(splits)
}

/// The larger one of two cells, if accesses to the smaller one can be made on the whole of it.
fn word(program: &Program, architecture: Option<Architecture>, a: Place, b: Place) -> Option<Split> {
    let (large, small) = if a.size > b.size { (a, b) } else { (b, a) };
    let (first, end) = (large.location.0, large.location.0 + u64::from(large.size));
    let inside = first <= small.location.0 && small.location.0 + u64::from(small.size) <= end;
    let fits = architecture.is_none() && first % u64::from(large.size) == 0;
    // What is no access of the program, such as a lock, cannot be made on a word.
    (inside && fits && !program.is_word(first, large.size))
        .then_some(Split::Word { address: first, word: large.size })
}

fn refusal<G: Growing>(trail: &Trail<'_, G>, tag: Tag, loc: Loc) -> String {
    let cell = trail.history.cells()[loc.as_usize()];
    let program = trail.history.interp.program();
    let name = program.name_of(cell.location.0, cell.size);
    let (file, line) = match trail.history.state(tag).stack(program).first() {
        Some((function, span)) => (program.file(*function), span.line),
        None => ("", 0),
    };
    let place = if line > 0 { format!(" ({file}:{line})") } else { String::new() };
    format!("atomic accesses that overlap but are not the same at {name}{place}")
}
