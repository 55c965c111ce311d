//! Orderings that are arguments: `x.store(1, std::memory_order_release)` of C++ and
//! `x.store(1, Ordering::Release)` of Rust are calls of a library, which looks at its argument.
//!
//! Such a call is recognised by the mangled name of what it calls and by an argument that is a constant.

use super::{MemoryOrder, Operation};
use crate::{Function, Operand};
use porf_event::Value;

/// The library that a call goes to.
#[derive(Clone, Copy)]
enum Library {
    Cpp,
    Rust,
}

/// Where the orderings stand among the arguments of a call, counted from the last one.
struct Arguments {
    library: Library,
    operation: Operation,
    /// Whether the failure of a compare-and-swap has an ordering of its own: it is the last argument then.
    failure: bool,
}

/// What a call does that has an ordering: at most two things.
pub(super) fn orders(callee: &Function, arguments: &[Operand]) -> [Option<(Operation, MemoryOrder)>; 2] {
    let Some(known) = Arguments::of(&callee.name) else { return [None, None] };
    let order = |operation: Operation| {
        let at = known.index(operation, arguments.len())?;
        let Operand::Const(value) = arguments[at] else { return None };
        Some((operation, known.library.order(value)?))
    };
    [order(known.operation), if known.failure { order(Operation::Failure) } else { None }]
}

/// Gives a call another ordering.
pub(super) fn set(args: &mut [Operand], callee: &str, operation: Operation, order: MemoryOrder) {
    let Some(known) = Arguments::of(callee) else { return };
    if let Some(at) = known.index(operation, args.len()) {
        args[at] = Operand::Const(known.library.value(order));
    }
}

impl Arguments {
    fn of(name: &str) -> Option<Arguments> {
        let library = if name.contains("St12memory_order")
            && (name.starts_with("_ZNSt")
                || name.starts_with("_ZNKSt")
                || name.starts_with("_ZNVSt")
                || name.starts_with("_ZSt"))
        {
            Library::Cpp
        } else if name.contains("4core4sync6atomic") {
            Library::Rust
        } else {
            return None;
        };
        // Names are mangled with their length before them.
        let operation = match () {
            _ if name.contains("19atomic_thread_fence") || name.contains("atomic5fence") => Operation::Fence,
            _ if name.contains("16compare_exchange")
                || name.contains("21compare_exchange_weak")
                || name.contains("23compare_exchange_strong") =>
            {
                Operation::Update
            }
            _ if name.contains("12fetch_update") => return None,
            _ if name.contains("8exchange") || name.contains("4swap") || name.contains("12test_and_set") => {
                Operation::Update
            }
            _ if [
                "fetch_add",
                "fetch_sub",
                "fetch_and",
                "fetch_or",
                "fetch_xor",
                "fetch_nand",
                "fetch_max",
                "fetch_min",
            ]
            .iter()
            .any(|update| name.contains(&format!("{}{update}", update.len()))) =>
            {
                Operation::Update
            }
            _ if name.contains("5store") || name.contains("5clear") => Operation::Store,
            _ if name.contains("4load") || name.contains("4test") => Operation::Load,
            () => return None,
        };
        let compares = name.contains("compare_exchange");
        let failure = match library {
            // The second ordering is mangled as a repetition of the first.
            Library::Cpp => compares && name.ends_with('_'),
            Library::Rust => compares,
        };
        Some(Arguments { library, operation, failure })
    }

    fn index(&self, operation: Operation, arguments: usize) -> Option<usize> {
        let behind = usize::from(self.failure && operation != Operation::Failure);
        arguments.checked_sub(1 + behind)
    }
}

impl Library {
    /// The numbers of the orderings, weakest first as in [`MemoryOrder`].
    fn numbers(self) -> [(MemoryOrder, Value); 5] {
        use MemoryOrder::*;
        match self {
            Library::Cpp => [(Relaxed, 0), (Acquire, 2), (Release, 3), (AcqRel, 4), (SeqCst, 5)],
            Library::Rust => [(Relaxed, 0), (Acquire, 2), (Release, 1), (AcqRel, 3), (SeqCst, 4)],
        }
    }

    fn order(self, number: Value) -> Option<MemoryOrder> {
        self.numbers().into_iter().find(|(_, value)| *value == number).map(|(order, _)| order)
    }

    fn value(self, order: MemoryOrder) -> Value {
        self.numbers().into_iter().find(|(known, _)| *known == order).map_or(0, |(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_the_standard_libraries_are_known() {
        let known = |name: &str| Arguments::of(name).map(|known| (known.operation, known.failure));
        assert_eq!(known("_ZNSt13__atomic_baseIiE5storeEiSt12memory_order"), Some((Operation::Store, false)));
        assert_eq!(known("_ZNKSt13__atomic_baseIiE4loadESt12memory_order"), Some((Operation::Load, false)));
        assert_eq!(
            known("_ZNSt13__atomic_baseIiE23compare_exchange_strongERiiSt12memory_orderS2_"),
            Some((Operation::Update, true))
        );
        assert_eq!(
            known("_ZNSt13__atomic_baseIiE23compare_exchange_strongERiiSt12memory_order"),
            Some((Operation::Update, false))
        );
        assert_eq!(known("_ZSt19atomic_thread_fenceSt12memory_order"), Some((Operation::Fence, false)));
        assert_eq!(
            known("_ZN4core4sync6atomic11AtomicUsize5store17h0123456789abcdefE"),
            Some((Operation::Store, false))
        );
        assert_eq!(known("_ZN5queue5storeEiSt12memory_order"), None);
        assert_eq!(known("_ZNSt6thread4joinEv"), None);
    }
}
