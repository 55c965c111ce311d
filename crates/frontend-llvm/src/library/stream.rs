//! `iostream`: what is written to a stream is not looked at. Everything that writes gives back the
//! stream; other uses of streams are refused by their name. Ours are taken although clang may give
//! along the header's own text.

use super::table::{KEEPS, Row, nothing, row};

pub const FUNCTIONS: &[Row] = &[
    // Members and functions that write to a `std::ostream` (libstdc++), by the begin of their names.
    row(
        &[
            // basic_ostream::operator<<, put, write, flush, _M_insert
            "_ZNSols*",
            "_ZNSo3put*",
            "_ZNSo5write*",
            "_ZNSo5flush*",
            "_ZNSo9_M_insert*",
            // operator<<(ostream&, const char*), (ostream&, char), (ostream&, const string&)
            "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_E*",
            "_ZStlsIcSt11char_traitsIcE*",
            "_ZSt16__ostream_insertIcSt11char_traitsIcEE*",
            // endl, flush, ends
            "_ZSt4endlI*",
            "_ZSt5flushI*",
            "_ZSt4endsI*",
        ],
        KEEPS,
        |c| Ok(c.args.first().copied().into_iter().collect()),
    )
    .replacing(),
    // Constructors and destructors of the object that opens the standard streams.
    row(&["_ZNSt8ios_base4InitC1Ev", "_ZNSt8ios_base4InitC2Ev", "_ZNSt8ios_base4InitD1Ev"], KEEPS, nothing)
        .replacing(),
];
