//! Whether a text is meant as a program.

use crate::lex::{Kind, Lexer};

/// Whether a text begins as one with programs does: with a module, with a function or another member of a module, or with the
/// definition of an alias. Says nothing of the rest, which [`super::parse_module`] may refuse; takes a short time for all texts.
#[must_use]
pub fn begins_as_program(text: &str) -> bool {
    let mut lexer = Lexer::new(text);
    let (first, second) = (lexer.next(), lexer.next());
    let slice = |token: crate::lex::Token| text.get(token.start()..token.end()).unwrap_or_default();
    match (first.kind, slice(first), second.kind) {
        (Kind::Hash | Kind::Bang, _, second) => second == Kind::Equal,
        (Kind::Word, "module" | "builtin.module", Kind::Symbol | Kind::LeftBrace) => true,
        (Kind::Word, "module" | "builtin.module", Kind::Word) => slice(second) == "attributes",
        (Kind::Word, "func.func", Kind::Word) => matches!(slice(second), "private" | "public"),
        (Kind::Word, name, Kind::Symbol) | (Kind::String, name, Kind::LeftParen) => name.contains('.'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_other_texts() {
        let check = |text: &str, expected: bool| assert_eq!(begins_as_program(text), expected, "{text}");
        check("// RUN: nothing\n\nmodule @jit_f attributes {a = 1} {", true);
        check("module {", true);
        check("builtin.module attributes {} {}", true);
        check("#loc = loc(unknown)\nmodule {}", true);
        check("!t = tensor<f32>", true);
        check("func.func @main() {", true);
        check("func.func private @f(", true);
        check("\"func.func\"() <{", true);
        check("\"builtin.module\"() ({", true);
        check("sdy.mesh @mesh = <[]>", true);
        check("vhlo.func_v1 @main() -> () {", true);
        check("", false);
        check("// only a remark", false);
        check("# A title\n\nSome text.", false);
        check("#include <stdio.h>", false);
        check("#!/bin/sh\nx=1", false);
        check("module Main where", false);
        check("module = \"main\"", false);
        check("{\"programs\": {}}", false);
        check("Module docs. Then more.", false);
        check("func.func", false);
        check("\u{7f}ELF", false);
    }
}
