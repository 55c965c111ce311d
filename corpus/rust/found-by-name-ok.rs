// expect: safe
// A function of the C library that is looked up by its name, as crates for random numbers do.
use std::ffi::{c_char, c_uint, c_void, CStr};
use std::ptr::null_mut;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

type GetRandom = unsafe extern "C" fn(*mut c_void, usize, c_uint) -> isize;

fn find(name: &CStr) -> *mut c_void {
    unsafe { dlsym(null_mut(), name.as_ptr()) }
}

pub fn main() {
    assert!(find(c"getrandom_s").is_null());
    let found = find(c"getrandom");
    assert!(!found.is_null());
    let get: GetRandom = unsafe { std::mem::transmute(found) };
    let mut bytes = [0u8; 4];
    assert_eq!(unsafe { get(bytes.as_mut_ptr().cast(), 4, 0) }, 4);
}
