//! libatomic's functions, which compilers call for atomics that they do not inline: clang's 16-byte ones,
//! and objects of other sizes.
//!
//! The sized functions are the same operations as the compilers' callbacks. An object whose size is no
//! power of two up to 16 is kept under a lock of its own, as libatomic does: every access acquires and
//! releases, whatever its order says, and its races with plain accesses are not looked for.

use crate::atomic::{self, bits8, bits16, bits32, bits64, bits128};
use crate::call::{CALLER, caller};
use crate::entry;
use crate::sync::object;
use crate::world::{Step, visible, world};

/// Runs `body` as one atomic step on the object.
unsafe fn locked(address: usize, body: impl FnOnce()) {
    // SAFETY: the program's own atomic access; running when tracked.
    unsafe {
        if !atomic::tracked() {
            return body();
        }
        let pc = caller();
        visible(Step::Other);
        *CALLER.get() = pc;
        let index = object(address, |_| {});
        world().acquire_from(index);
        body();
        world().release_to(index);
    }
}

unsafe fn copy(from: usize, to: usize, size: usize) {
    // SAFETY: the caller's objects of this size.
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, size) }
}

unsafe fn same(a: usize, b: usize, size: usize) -> bool {
    // SAFETY: the caller's objects of this size.
    unsafe {
        std::slice::from_raw_parts(a as *const u8, size) == std::slice::from_raw_parts(b as *const u8, size)
    }
}

/// `$body` for the sizes that have functions of their own, with the module of that size as `$sized`.
macro_rules! by_size {
    ($size:expr, $address:expr, $sized:ident => $body:expr, else $other:expr) => {
        match $size {
            1 => {
                use bits8 as $sized;
                $body
            }
            2 if $address % 2 == 0 => {
                use bits16 as $sized;
                $body
            }
            4 if $address % 4 == 0 => {
                use bits32 as $sized;
                $body
            }
            8 if $address % 8 == 0 => {
                use bits64 as $sized;
                $body
            }
            16 if $address % 16 == 0 => {
                use bits128 as $sized;
                $body
            }
            _ => $other,
        }
    };
}

unsafe extern "C" fn load(size: usize, from: usize, to: usize, order: i32) {
    // SAFETY: the program's own atomic access.
    unsafe {
        by_size!(size, from, sized => (to as *mut sized::T).write_unaligned(sized::load(from, order)),
            else locked(from, || copy(from, to, size)))
    }
}

unsafe extern "C" fn store(size: usize, to: usize, from: usize, order: i32) {
    // SAFETY: the program's own atomic access.
    unsafe {
        by_size!(size, to, sized => sized::store(to, (from as *const sized::T).read_unaligned(), order),
            else locked(to, || copy(from, to, size)))
    }
}

unsafe extern "C" fn exchange(size: usize, object: usize, new: usize, old: usize, order: i32) {
    // SAFETY: the program's own atomic access.
    unsafe {
        by_size!(size, object, sized => {
            let value = sized::exchange(object, (new as *const sized::T).read_unaligned(), order);
            (old as *mut sized::T).write_unaligned(value)
        }, else locked(object, || {
            // `new` and `old` may be the same object.
            let value = std::slice::from_raw_parts(new as *const u8, size).to_vec();
            copy(object, old, size);
            copy(value.as_ptr() as usize, object, size);
        }))
    }
}

unsafe extern "C" fn compare_exchange(
    size: usize,
    object: usize,
    expected: usize,
    desired: usize,
    success: i32,
    failure: i32,
) -> i32 {
    let mut done = 0;
    // SAFETY: the program's own atomic access.
    unsafe {
        by_size!(size, object, sized => {
            let new = (desired as *const sized::T).read_unaligned();
            done = sized::strong(object, expected as *mut sized::T, new, success, failure);
        }, else locked(object, || {
            if same(object, expected, size) {
                copy(desired, object, size);
                done = 1;
            } else {
                copy(object, expected, size);
            }
        }));
    }
    done
}

unsafe extern "C" fn is_lock_free(size: usize, _object: usize) -> i32 {
    i32::from(matches!(size, 1 | 2 | 4 | 8 | 16))
}

entry! {
    __atomic_load => load; __atomic_store => store; __atomic_exchange => exchange;
    __atomic_compare_exchange => compare_exchange; __atomic_is_lock_free => is_lock_free;
    __atomic_load_1 => bits8::load; __atomic_load_2 => bits16::load; __atomic_load_4 => bits32::load;
    __atomic_load_8 => bits64::load; __atomic_load_16 => bits128::load;
    __atomic_store_1 => bits8::store; __atomic_store_2 => bits16::store; __atomic_store_4 => bits32::store;
    __atomic_store_8 => bits64::store; __atomic_store_16 => bits128::store;
    __atomic_exchange_1 => bits8::exchange; __atomic_exchange_2 => bits16::exchange;
    __atomic_exchange_4 => bits32::exchange; __atomic_exchange_8 => bits64::exchange;
    __atomic_exchange_16 => bits128::exchange;
    __atomic_compare_exchange_1 => bits8::strong; __atomic_compare_exchange_2 => bits16::strong;
    __atomic_compare_exchange_4 => bits32::strong; __atomic_compare_exchange_8 => bits64::strong;
    __atomic_compare_exchange_16 => bits128::strong;
    __atomic_fetch_add_1 => bits8::add; __atomic_fetch_add_2 => bits16::add; __atomic_fetch_add_4 => bits32::add;
    __atomic_fetch_add_8 => bits64::add; __atomic_fetch_add_16 => bits128::add;
    __atomic_fetch_sub_1 => bits8::sub; __atomic_fetch_sub_2 => bits16::sub; __atomic_fetch_sub_4 => bits32::sub;
    __atomic_fetch_sub_8 => bits64::sub; __atomic_fetch_sub_16 => bits128::sub;
    __atomic_fetch_and_1 => bits8::and; __atomic_fetch_and_2 => bits16::and; __atomic_fetch_and_4 => bits32::and;
    __atomic_fetch_and_8 => bits64::and; __atomic_fetch_and_16 => bits128::and;
    __atomic_fetch_or_1 => bits8::or; __atomic_fetch_or_2 => bits16::or; __atomic_fetch_or_4 => bits32::or;
    __atomic_fetch_or_8 => bits64::or; __atomic_fetch_or_16 => bits128::or;
    __atomic_fetch_xor_1 => bits8::xor; __atomic_fetch_xor_2 => bits16::xor; __atomic_fetch_xor_4 => bits32::xor;
    __atomic_fetch_xor_8 => bits64::xor; __atomic_fetch_xor_16 => bits128::xor;
    __atomic_fetch_nand_1 => bits8::nand; __atomic_fetch_nand_2 => bits16::nand; __atomic_fetch_nand_4 => bits32::nand;
    __atomic_fetch_nand_8 => bits64::nand; __atomic_fetch_nand_16 => bits128::nand;
}
