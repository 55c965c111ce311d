//! The part of `__sanitizer_…` that programs for ThreadSanitizer call: unaligned accesses, the heap, reports.
//!
//! What concerns other sanitizers (containers, fake stacks, coverage) is accepted and changes nothing.

use crate::call::caller;
use crate::entry;
use crate::finding;
use crate::heap;
use crate::modules;
use crate::plain::any_range;
use crate::standalone;
use crate::world::{is_initialised, is_running, world};
use porf_sample::protocol::FindingKind;
use porf_sample::race::Kind;
use std::ffi::{CStr, c_char};

macro_rules! unaligned {
    ($($load:ident $store:ident $ty:ty;)*) => {$(
        unsafe extern "C" fn $load(from: *const $ty) -> $ty {
            // SAFETY: the caller's bytes.
            unsafe {
                any_range(from as usize, size_of::<$ty>(), Kind::Read);
                from.read_unaligned()
            }
        }
        unsafe extern "C" fn $store(to: *mut $ty, value: $ty) {
            // SAFETY: the caller's bytes.
            unsafe {
                any_range(to as usize, size_of::<$ty>(), Kind::Write);
                to.write_unaligned(value);
            }
        }
    )*};
}

unaligned! { load16 store16 u16; load32 store32 u32; load64 store64 u64; }

entry! {
    __sanitizer_unaligned_load16 => load16; __sanitizer_unaligned_load32 => load32;
    __sanitizer_unaligned_load64 => load64; __sanitizer_unaligned_store16 => store16;
    __sanitizer_unaligned_store32 => store32; __sanitizer_unaligned_store64 => store64;
}

macro_rules! interface {
    ($($name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? $body:block)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $ty),*) $(-> $ret)? $body
    )*};
}

interface! {
    __sanitizer_get_estimated_allocated_size(size: usize) -> usize { heap::class(size).1 }
    __sanitizer_get_ownership(block: usize) -> i32 { i32::from(heap::live(block).is_some()) }
    __sanitizer_get_allocated_size(block: usize) -> usize { heap::live(block).unwrap_or(0) }
    __sanitizer_get_current_allocated_bytes() -> usize { heap::used().len() }
    __sanitizer_get_heap_size() -> usize { heap::used().len() }
    __sanitizer_get_free_bytes() -> usize { 0 }
    __sanitizer_get_unmapped_bytes() -> usize { 0 }
    __sanitizer_purge_allocator() {}
    __sanitizer_get_allocated_begin(address: usize) -> usize { heap::block_at(address).map_or(0, |(start, _)| start) }
    __sanitizer_get_allocated_size_fast(block: usize) -> usize { heap::live(block).unwrap_or(0) }
    __sanitizer_install_malloc_and_free_hooks(allocated: Option<heap::Malloc>, freed: Option<heap::Free>) -> i32 {
        heap::install((allocated, freed))
    }
    __sanitizer_set_report_path(path: *const c_char) {
        // SAFETY: the caller's string, or none.
        let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) });
        standalone::report_to(&path.unwrap_or(c"stderr").to_string_lossy());
    }
    __sanitizer_set_report_fd(descriptor: usize) { standalone::report_to_descriptor(descriptor) }
    __sanitizer_get_report_path() -> *const c_char { standalone::report_path() }
    __sanitizer_report_error_summary(text: *const c_char) {
        // SAFETY: the caller's string.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        standalone::say(&format!("{text}\n"));
    }
    __sanitizer_set_death_callback(_callback: usize) {}
    __sanitizer_acquire_crash_state() -> i32 { 1 }
    __sanitizer_print_memory_profile(_percent: usize, _contexts: usize) {}
    __sanitizer_print_stack_trace() {
        if is_initialised() {
            // SAFETY: initialised.
            let w = unsafe { world() };
            w.has_first_fiber();
            let (frames, depth) = finding::frames(w, w.current, 0);
            let frames: Vec<u64> = frames[..depth].iter().map(|&frame| frame as u64).collect();
            standalone::say(&standalone::places(&frames).0);
        }
    }
    __sanitizer_get_module_and_offset_for_pc(pc: usize, path: *mut u8, room: usize, offset: *mut usize) -> i32 {
        let Some((file, place)) = modules::file_at(pc) else { return 0 };
        // SAFETY: the caller's pointers.
        unsafe {
            if room > 0 {
                let length = file.len().min(room - 1);
                std::ptr::copy_nonoverlapping(file.as_ptr(), path, length);
                *path.add(length) = 0;
            }
            *offset = place;
        }
        1
    }
    __sanitizer_annotate_contiguous_container(_a: usize, _b: usize, _c: usize, _d: usize) {}
    __sanitizer_annotate_double_ended_contiguous_container(
        _a: usize, _b: usize, _c: usize, _d: usize, _e: usize, _f: usize
    ) {}
    __sanitizer_copy_contiguous_container_annotations(_a: usize, _b: usize, _c: usize, _d: usize) {}
    __sanitizer_verify_contiguous_container(_a: usize, _b: usize, _c: usize) -> i32 { 1 }
    __sanitizer_verify_double_ended_contiguous_container(_a: usize, _b: usize, _c: usize, _d: usize) -> i32 { 1 }
    __sanitizer_contiguous_container_find_bad_address(_a: usize, _b: usize, _c: usize) -> usize { 0 }
    __sanitizer_double_ended_contiguous_container_find_bad_address(
        _a: usize, _b: usize, _c: usize, _d: usize
    ) -> usize { 0 }
    __sanitizer_start_switch_fiber(_saved: usize, _bottom: usize, _size: usize) {}
    __sanitizer_finish_switch_fiber(_saved: usize, _bottom: usize, _size: usize) {}
    __sanitizer_sandbox_on_notify(_arguments: usize) {}
    __tsan_flush_memory() {}
    __tsan_check_no_mutexes_held() {
        if is_running() {
            // SAFETY: running.
            let w = unsafe { world() };
            if !w.fiber().held.is_empty() {
                finding::event(w, FindingKind::Lock, caller(), "a lock is held where none must be");
            }
        }
    }
}

/// Objects of libraries that say themselves when they are read and written.
mod external {
    use super::any_range;
    use crate::call::CALLER;
    use porf_sample::race::Kind;

    unsafe fn access(object: usize, pc: usize, kind: Kind) {
        // SAFETY: one kernel thread; an object stands for its first byte.
        unsafe {
            *CALLER.get() = pc;
            any_range(object, 1, kind);
        }
    }

    interface! {
        __tsan_external_register_tag(_name: usize) -> usize { 1 }
        __tsan_external_register_header(_tag: usize, _header: usize) {}
        __tsan_external_assign_tag(_object: usize, _tag: usize) {}
        __tsan_external_read(object: usize, pc: usize, _tag: usize) {
            // SAFETY: the contract of this function is that of the one it calls.
            unsafe { access(object, pc, Kind::Read) }
        }
        __tsan_external_write(object: usize, pc: usize, _tag: usize) {
            // SAFETY: the contract of this function is that of the one it calls.
            unsafe { access(object, pc, Kind::Write) }
        }
    }
}
