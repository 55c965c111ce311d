//! `thread_local!` and `lazy_static!`.

/// `std::thread_local!`.
#[macro_export]
macro_rules! thread_local {
    ($($declarations:tt)*) => {
        ::std::thread_local! { $($declarations)* }
    };
}

/// Values that are made on first use.
#[macro_export]
macro_rules! lazy_static {
    () => {};
    ($(#[$attribute:meta])* $visibility:vis static ref $name:ident : $type:ty = $init:expr; $($rest:tt)*) => {
        #[allow(non_camel_case_types, dead_code)]
        $(#[$attribute])*
        $visibility struct $name {
            private: (),
        }
        #[doc(hidden)]
        $visibility static $name: $name = $name { private: () };
        impl ::std::ops::Deref for $name {
            type Target = $type;
            fn deref(&self) -> &$type {
                fn init() -> $type {
                    $init
                }
                static VALUE: $crate::lazy_static::Lazy<$type> = $crate::lazy_static::Lazy::new(init);
                VALUE.get()
            }
        }
        $crate::lazy_static!($($rest)*);
    };
}
