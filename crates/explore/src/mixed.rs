//! Accesses of different sizes that overlap.
//!
//! Cells of an execution are equal or apart. When an access would break that, those that are too large
//! and not atomic have to be cut, here and where the older accesses come from, and the search begins
//! anew ([`anew`]). Pieces only get smaller, so that this comes to an end. Atomic accesses are never cut: those
//! that lie inside of one are made on its whole word ([`porf_ir::Split::Word`]), of which there are ever more. Where
//! dependencies count, or where two accesses overlap in part, the program is refused.

use crate::Options;
use crate::engine::Engine;
use crate::error::Error;
use crate::history::{Place, Tag};
use porf_consistency::MemoryModel;
use porf_graph::Loc;
use porf_ir::{Program, Split};

/// Runs a search. Where accesses of different sizes overlap it cuts them and runs the search anew, which is told
/// whether it is not the first one; so it does without a reduction that turns out not to fit the program.
pub(crate) fn anew<T>(
    program: &Program,
    options: &Options,
    mut search: impl FnMut(&Program, &Options, bool) -> Result<T, Error>,
) -> Result<T, Error> {
    let (mut cut, mut options, mut begun) = (None::<Program>, *options, false);
    loop {
        match search(cut.as_ref().unwrap_or(program), &options, begun) {
            Err(Error::Mixed(splits)) => cut.get_or_insert_with(|| program.clone()).split(&splits),
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

/// What to do about a thread, at `tag`, whose next access to the cell `loc` overlaps others in part.
pub(crate) fn error<M: MemoryModel>(engine: &Engine<'_, M>, tag: Tag, loc: Loc) -> Error {
    let mut splits = Vec::new();
    for other in
        engine.trail.history.overlapping(loc).iter().copied().filter(|other| engine.trail.is_used(*other))
    {
        let cells = engine.trail.history.cells();
        let (a, b) = (cells[loc.as_usize()], cells[other.as_usize()]);
        let apart = a.location.0.abs_diff(b.location.0);
        let piece =
            if apart == 0 { a.size.min(b.size) } else { a.size.min(b.size).min(1 << apart.trailing_zeros()) };
        let accesses = engine.trail.now.all().filter(|event| engine.trail.now.event(*event).loc == other);
        let older = accesses.map(|event| (engine.tag_before(event), b.size));
        for (tag, size) in std::iter::once((tag, a.size)).chain(older).filter(|(_, size)| *size > piece) {
            // In halves: a part that nothing smaller touches stays whole, as an atomic beside it may need.
            let piece = piece.max(size / 2);
            let program = engine.trail.history.interp.program();
            let Some((function, at)) = engine.trail.history.state(tag).place() else {
                return refused(engine, tag, loc);
            };
            if program.can_split(function, at) {
                splits.push(Split::Pieces { function, at, piece });
            } else if let Some((address, word)) = word::<M>(program, a, b) {
                splits.push(Split::Word { address, word });
                break;
            } else {
                return refused(engine, tag, loc);
            }
        }
    }
    Error::Mixed(splits)
}

/// The larger one of two cells, if accesses to the smaller one can be made on the whole of it.
fn word<M: MemoryModel>(program: &Program, a: Place, b: Place) -> Option<(u64, u8)> {
    let (large, small) = if a.size > b.size { (a, b) } else { (b, a) };
    let (first, end) = (large.location.0, large.location.0 + u64::from(large.size));
    let inside = first <= small.location.0 && small.location.0 + u64::from(small.size) <= end;
    let fits = M::ARCHITECTURE.is_none() && first % u64::from(large.size) == 0;
    // What is no access of the program, such as a lock, cannot be made on a word.
    (inside && fits && !program.is_word(first, large.size)).then_some((first, large.size))
}

fn refused<M: MemoryModel>(engine: &Engine<'_, M>, tag: Tag, loc: Loc) -> Error {
    let cell = engine.trail.history.cells()[loc.as_usize()];
    let program = engine.trail.history.interp.program();
    let name = program.name_of(cell.location.0, cell.size);
    let (file, line) = match engine.trail.history.state(tag).stack(program).first() {
        Some((function, span)) => (program.file(*function), span.line),
        None => ("", 0),
    };
    let place = if line > 0 { format!(" ({file}:{line})") } else { String::new() };
    Error::Unsupported(format!("atomic accesses that overlap but are not the same at {name}{place}"))
}
