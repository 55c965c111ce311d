//! The parts of a global variable, and their names.
//!
//! Cost: one look-up per name that is shown; none in a search.

use serde::{Deserialize, Serialize};

/// The parts of a type. Other shapes are meant by their place in [`crate::layout::Image::shapes`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// No parts.
    Plain,
    /// Elements of one type.
    Array {
        /// The size of an element.
        stride: u64,
        /// The shape of an element.
        element: u32,
    },
    /// Fields in order. Of some the name is not known.
    Record(Vec<Field>),
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// From the start of the record.
    pub offset: u64,
    /// Empty if it is not known.
    pub name: String,
    /// Its shape.
    pub shape: u32,
}

/// How the part at an offset is called: `[2].seq`. A `whole` part that begins there is enough: `[2]`. The only field
/// of a record goes without a name, and so does a first field whose name is not known, as a base class.
pub(crate) fn part(shapes: &[Shape], shape: u32, offset: u64, whole: bool) -> String {
    match shapes.get(shape as usize) {
        _ if whole && offset == 0 => String::new(),
        Some(Shape::Array { stride, element }) if *stride > 0 => {
            format!("[{}]{}", offset / stride, part(shapes, *element, offset % stride, whole))
        }
        Some(Shape::Record(fields)) => match fields.iter().rfind(|field| field.offset <= offset) {
            Some(field) if fields.len() == 1 || (field.offset == 0 && field.name.is_empty()) => {
                part(shapes, field.shape, offset - field.offset, whole)
            }
            Some(field) if !field.name.is_empty() => {
                let rest = part(shapes, field.shape, offset - field.offset, whole);
                format!(".{}{rest}", field.name)
            }
            _ => format!("+{offset}"),
        },
        _ if offset == 0 => String::new(),
        _ => format!("+{offset}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_names_of_fields() {
        let field = |offset, name: &str, shape| Field { offset, name: name.to_string(), shape };
        let shapes = [
            Shape::Plain,
            Shape::Record(vec![field(0, "value", 0)]),
            Shape::Record(vec![field(0, "next", 1), field(8, "locked", 1), field(12, "", 0)]),
            Shape::Array { stride: 16, element: 2 },
        ];
        let part = |offset, whole| part(&shapes, 3, offset, whole);
        assert_eq!(part(0, true), "");
        assert_eq!(part(0, false), "[0].next");
        assert_eq!(part(16, true), "[1]");
        assert_eq!(part(24, true), "[1].locked");
        assert_eq!(part(26, false), "[1].locked+2");
        assert_eq!(part(44, false), "[2]+12");
    }
}
