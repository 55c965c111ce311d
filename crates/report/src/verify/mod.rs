//! The answer of `porf verify`: text, JSON, HTML, DOT, SARIF, witnesses.

mod dot;
pub(crate) mod hints;
mod html;
pub(crate) mod json;
mod sarif;
pub(crate) mod text;
mod witness;

pub use dot::dot;
pub use html::{difference_html, html};
pub use json::{difference_json, estimate_json, json};
pub use sarif::sarif;
pub use text::{difference_text, estimate_text, text};
pub use witness::{Witness, witness};
