//! What an instruction asks for: an event and where its address and data come from.

use crate::taint::Sources;
use crate::{Step, ThreadState};
use porf_event::{Access, Label, ReadMode, RmwKind, Value, WriteMode};
use porf_ir::Operand;

/// What an instruction wants of the world in its present phase.
pub(crate) enum Request {
    Emit(Label, Sources),
    /// Nothing: it finished by itself.
    Skip,
    Stop(Step),
}

impl Request {
    pub fn plain(label: Label) -> Request {
        Request::Emit(label, Sources::default())
    }

    pub fn read(access: Access, mode: ReadMode, rmw: RmwKind, address: Operand) -> Request {
        let sources = Sources { address: Some(address), ..Sources::default() };
        Request::Emit(Label::Read { access, mode, rmw, value: 0 }, sources)
    }

    pub fn write(
        access: Access,
        mode: WriteMode,
        rmw: RmwKind,
        value: Value,
        address: Operand,
        data: Option<Operand>,
    ) -> Request {
        let sources = Sources { address: Some(address), data, ..Sources::default() };
        Request::Emit(Label::Write { access, mode, rmw, value }, sources)
    }

    /// The write happens only because the value just read equals `expected`.
    pub fn on_condition(self, state: &ThreadState, expected: Operand, tracked: bool) -> Request {
        match self {
            Request::Emit(label, sources) if tracked => {
                Request::Emit(label, Sources { condition: Some((expected, state.old_event)), ..sources })
            }
            other => other,
        }
    }

    /// The write comes after a branch that compares the value just read with `expected`.
    pub fn after_branch(self, state: &ThreadState, expected: Operand, is: bool) -> Request {
        match self {
            Request::Emit(label, sources) if is => {
                Request::Emit(label, Sources { branch: Some((expected, state.old_event)), ..sources })
            }
            other => other,
        }
    }

    /// Were `operand` another value, this would be another kind of event.
    pub fn identified_by(self, operand: Operand) -> Request {
        match self {
            Request::Emit(label, sources) => {
                Request::Emit(label, Sources { identity: Some(operand), ..sources })
            }
            other => other,
        }
    }

    /// The value written was computed from the value just read, where `uses` says so.
    pub fn using_old(self, state: &ThreadState, uses: bool) -> Request {
        match self {
            Request::Emit(label, sources) if uses => {
                Request::Emit(label, Sources { old: Some(state.old_event), ..sources })
            }
            other => other,
        }
    }
}
