//! `#[porf::test]`: `#[test]` with settings for Porf.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// A test, with settings as `[package.metadata.porf]` has them: `model`, `budget`, `unroll`.
#[proc_macro_attribute]
pub fn test(settings: TokenStream, function: TokenStream) -> TokenStream {
    let json = match json(settings) {
        Ok(json) => json,
        Err(wrong) => return format!("compile_error!({wrong:?});").parse().expect("an error parses"),
    };
    let mut tokens: Vec<TokenTree> = function.into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.last() {
        if body.delimiter() == Delimiter::Brace {
            let mut inside: TokenStream =
                format!("::porf::settings({json:?});").parse().expect("a call parses");
            inside.extend(body.stream());
            let mut group = Group::new(Delimiter::Brace, inside);
            group.set_span(body.span());
            tokens.pop();
            tokens.push(group.into());
        }
    }
    let mut result: TokenStream = "#[::core::prelude::v1::test]".parse().expect("an attribute parses");
    result.extend(tokens);
    result
}

/// `model = "c20", unroll = 3` as JSON.
fn json(settings: TokenStream) -> Result<String, String> {
    let mut fields = Vec::new();
    let mut tokens = settings.into_iter().peekable();
    while let Some(key) = tokens.next() {
        let (equals, value) = (tokens.next(), tokens.next());
        let known = ["model", "budget", "unroll"].contains(&key.to_string().as_str());
        match (equals, value) {
            (Some(TokenTree::Punct(equals)), Some(TokenTree::Literal(value)))
                if known && equals.as_char() == '=' =>
            {
                fields.push(format!("\"{key}\":{value}"));
            }
            _ => {
                return Err(format!(
                    "porf::test: {key}: model = \"…\", budget = \"…\" or unroll = N is expected"
                ))
            }
        }
        match tokens.next() {
            None => break,
            Some(TokenTree::Punct(comma)) if comma.as_char() == ',' => {}
            Some(other) => return Err(format!("porf::test: {other}: a comma is expected")),
        }
    }
    Ok(format!("{{{}}}", fields.join(",")))
}
