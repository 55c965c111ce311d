//! `iostream`: what is written to a stream is not looked at. Everything that writes gives back the
//! stream; other uses of streams are refused by their name.

use crate::translate::Body;
use crate::translate::types::Unsupported;
use porf_ir::Operand;

/// Members and functions that write to a `std::ostream` (libstdc++), by the begin of their names.
const WRITES: &[&str] = &[
    // basic_ostream::operator<<, put, write, flush, _M_insert
    "_ZNSols",
    "_ZNSo3put",
    "_ZNSo5write",
    "_ZNSo5flush",
    "_ZNSo9_M_insert",
    // operator<<(ostream&, const char*), (ostream&, char), (ostream&, const string&)
    "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_E",
    "_ZStlsIcSt11char_traitsIcE",
    "_ZSt16__ostream_insertIcSt11char_traitsIcEE",
    // endl, flush, ends
    "_ZSt4endlI",
    "_ZSt5flushI",
    "_ZSt4endsI",
];

/// Constructors and destructors of the object that opens the standard streams.
const OPENS: &[&str] = &["_ZNSt8ios_base4InitC1Ev", "_ZNSt8ios_base4InitC2Ev", "_ZNSt8ios_base4InitD1Ev"];

/// Whether we know better than the header's own text, which clang may give along.
pub fn is_known(name: &str) -> bool {
    OPENS.contains(&name) || WRITES.iter().any(|begin| name.starts_with(begin))
}

pub fn call(_: &mut Body<'_, '_>, name: &str, args: &[Operand]) -> Option<Result<Vec<Operand>, Unsupported>> {
    if OPENS.contains(&name) {
        return Some(Ok(Vec::new()));
    }
    let writes = WRITES.iter().any(|begin| name.starts_with(begin));
    writes.then(|| Ok(args.first().copied().into_iter().collect()))
}
