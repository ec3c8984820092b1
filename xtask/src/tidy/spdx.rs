//! Licence expressions, as far as packages use them: names, `WITH`, `AND`, `OR`, parentheses, and the old `A/B`.

/// Whether an expression can be met with allowed licences only. A malformed expression is not met.
pub(super) fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        tokens: &tokens,
        allowed,
    };
    parser.any_of() == Some(true) && parser.tokens.is_empty()
}

/// Consumes tokens from the front; every method is `None` on a malformed expression.
#[derive(Debug)]
struct Parser<'a> {
    tokens: &'a [&'a str],
    allowed: &'a [String],
}

impl Parser<'_> {
    fn any_of(&mut self) -> Option<bool> {
        let mut met = self.all_of()?;
        while self.take("OR") {
            met |= self.all_of()?;
        }
        Some(met)
    }

    fn all_of(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.any_of()?;
            return self.take(")").then_some(met);
        }
        let mut name = self.next()?.to_owned();
        if self.take("WITH") {
            name = format!("{name} WITH {}", self.next()?);
        }
        Some(self.allowed.contains(&name))
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.tokens.first() == Some(&token);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn next(&mut self) -> Option<&str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_by_allowed_licences() {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        let check = |expression: &str, want: bool| {
            assert_eq!(is_allowed(expression, &allowed), want, "{expression}");
        };
        check("MIT", true);
        check("MIT OR GPL-3.0", true);
        check("MIT AND GPL-3.0", false);
        check("GPL-3.0 OR MIT AND Apache-2.0", true);
        check("(MIT OR GPL-3.0) AND Apache-2.0", true);
        check("(MIT OR Apache-2.0) AND GPL-3.0", false);
        check("MIT/Apache-2.0", true);
        check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
        check("GPL-2.0 WITH LLVM-exception", false);
        check("", false);
        check("MIT OR", false);
        check("(MIT", false);
        check("MIT MIT", false);
    }
}
