//! Whole words in the text of a test, for those who turn litmus tests into programs.

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where a word stands.
pub fn word_positions<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |at| !text[..*at].ends_with(is_word) && !text[at + word.len()..].starts_with(is_word))
}

/// The text with another word in the place of one.
pub fn replace_word(text: &str, word: &str, by: &str) -> String {
    let (mut out, mut last) = (String::new(), 0);
    for at in word_positions(text, word) {
        out.push_str(&text[last..at]);
        out.push_str(by);
        last = at + word.len();
    }
    out + &text[last..]
}
