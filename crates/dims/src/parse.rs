//! The parser: JAX's grammar, and beyond it parentheses, `//`, `%` and every comparison.
//!
//! ```text
//! comparison := expr comparator expr { comparator expr }
//! expr       := [ "+" | "-" ] term { ( "+" | "-" ) term }
//! term       := power { ( "*" | "//" | "%" ) power }
//! power      := factor [ "^" NUMBER ]
//! factor     := ( "floordiv" | "max" | "min" | "mod" ) "(" expr "," expr ")" | NAME | [ "-" ] NUMBER | "(" expr ")"
//! ```
//!
//! As in JAX, a sign before a term belongs to the term and one within a term to its number: `-2^2*a` is `-4*a` and
//! `3*-2^2*a` is `12*a`.

use std::collections::BTreeSet;
use std::str::FromStr;

use crate::constraint::{Comparison, Constraint};
use crate::expr::{Expr, ExprError};
use crate::limits;
use crate::monomial::Kind;
use crate::parse_error::{ParseError, ParseProblem};
use crate::token::{Lexer, Token};
use crate::variable::Variable;

/// Reads one text. Every step is paid for, so that a short text cannot cost much.
#[derive(Debug)]
pub(crate) struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    token: Token<'t>,
    /// Where the token starts, in bytes.
    offset: usize,
    depth: u64,
    work: u64,
    names: BTreeSet<&'t str>,
}

impl<'t> Parser<'t> {
    /// Starts reading a text of allowed length.
    pub(crate) fn new(text: &'t str) -> Result<Self, ParseError> {
        limits::TEXT
            .check(text.len() as u64)
            .map_err(|limit| ParseError::new(text, 0, limit))?;
        let mut lexer = Lexer::new(text);
        let (token, offset) = lexer.next()?;
        Ok(Self {
            text,
            lexer,
            token,
            offset,
            depth: 0,
            work: 0,
            names: BTreeSet::new(),
        })
    }

    /// A located error at the current token.
    pub(crate) fn error(&self, problem: impl Into<ParseProblem>) -> ParseError {
        ParseError::new(self.text, self.offset, problem)
    }

    /// Where the current token starts, in bytes.
    pub(crate) const fn offset(&self) -> usize {
        self.offset
    }

    /// An error at an earlier place.
    pub(crate) fn error_at(&self, offset: usize, problem: impl Into<ParseProblem>) -> ParseError {
        ParseError::new(self.text, offset, problem)
    }

    /// The error that something else is expected at the current token.
    pub(crate) fn unexpected(&self, expected: &'static str) -> ParseError {
        self.error(ParseProblem::Unexpected {
            expected,
            found: self.token.quoted(),
        })
    }

    /// Takes the symbol if it comes next.
    pub(crate) fn take(&mut self, symbol: &str) -> Result<bool, ParseError> {
        let found = self.is_at(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Whether the symbol comes next.
    pub(crate) fn is_at(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(next) if next == symbol)
    }

    /// Whether nothing is left.
    pub(crate) fn at_end(&self) -> bool {
        self.token == Token::End
    }

    /// The placeholder that comes next, if one does.
    pub(crate) fn placeholder(&self) -> Option<&'static str> {
        match self.token {
            Token::Name("_") => Some("_"),
            Token::Symbol("...") => Some("..."),
            _ => None,
        }
    }

    /// Goes to the next token.
    pub(crate) fn advance(&mut self) -> Result<(), ParseError> {
        (self.token, self.offset) = self.lexer.next()?;
        Ok(())
    }

    /// `expr`
    pub(crate) fn expr(&mut self) -> Result<Expr, ParseError> {
        let mut negative = self.take("-")?;
        if !negative {
            self.take("+")?;
        }
        let mut parts = Vec::new();
        loop {
            let term = self.term()?;
            self.pay(1, term.terms().len())?;
            let sign = if negative { -1 } else { 1 };
            parts.extend(
                term.parts()
                    .map(|(monomial, coefficient)| (monomial, coefficient * sign)),
            );
            negative = match self.token {
                Token::Symbol("+") => false,
                Token::Symbol("-") => true,
                _ => return Expr::sum(parts).map_err(|error| self.error(error)),
            };
            self.advance()?;
        }
    }

    fn term(&mut self) -> Result<Expr, ParseError> {
        let mut product = self.power()?;
        loop {
            let Token::Symbol(symbol @ ("*" | "//" | "%")) = self.token else {
                return Ok(product);
            };
            self.advance()?;
            let right = self.power()?;
            product = match symbol {
                "*" => self.paid(product.terms().len(), right.terms().len(), || product.mul(&right))?,
                "//" => self.operation(Kind::FloorDiv, &product, &right)?,
                _ => self.operation(Kind::Mod, &product, &right)?,
            };
        }
    }

    fn power(&mut self) -> Result<Expr, ParseError> {
        let base = self.factor()?;
        if !self.take("^")? {
            return Ok(base);
        }
        let Token::Number(number) = self.token else {
            return Err(self.unexpected("a number as exponent"));
        };
        limits::EXPONENT
            .check(number.unsigned_abs())
            .map_err(|limit| self.error(limit))?;
        let exponent = u32::try_from(number).unwrap_or_default();
        let power = match base.terms().len() {
            0 | 1 => self.paid(1, 1, || base.pow(exponent))?,
            terms => {
                let mut power = Expr::constant(1);
                for _ in 0..exponent {
                    power = self.paid(terms, power.terms().len(), || power.mul(&base))?;
                }
                power
            }
        };
        self.advance()?;
        Ok(power)
    }

    fn factor(&mut self) -> Result<Expr, ParseError> {
        const EXPECTED: &str = "a name, a number, an operation or '('";
        match self.token {
            Token::Name("_") => Err(self.error(ParseProblem::Placeholder { placeholder: "_" })),
            Token::Symbol("...") => Err(self.error(ParseProblem::Placeholder { placeholder: "..." })),
            Token::Name(name) => match operation_named(name) {
                Some(kind) => self.call(kind),
                None => self.variable(name),
            },
            Token::Number(value) => {
                self.advance()?;
                Ok(Expr::constant(value))
            }
            Token::Symbol("-") => {
                self.advance()?;
                let Token::Number(value) = self.token else {
                    return Err(self.unexpected("a number after '-' within a product"));
                };
                self.advance()?;
                Ok(Expr::constant(-value))
            }
            Token::Symbol("(") => self.nested(|parser| {
                parser.advance()?;
                let inner = parser.expr()?;
                parser.require(")", "an operator or ')'")?;
                Ok(inner)
            }),
            Token::Symbol(_) | Token::End => Err(self.unexpected(EXPECTED)),
        }
    }

    fn variable(&mut self, name: &'t str) -> Result<Expr, ParseError> {
        let variable = Variable::new(name).map_err(|error| self.error(error))?;
        self.names.insert(name);
        limits::VARIABLES
            .check(self.names.len() as u64)
            .map_err(|limit| self.error(limit))?;
        self.advance()?;
        Ok(Expr::variable(variable))
    }

    fn call(&mut self, kind: Kind) -> Result<Expr, ParseError> {
        self.nested(|parser| {
            parser.advance()?;
            parser.require("(", "'(' and two operands")?;
            let left = parser.expr()?;
            parser.require(",", "',' and a second operand")?;
            let right = parser.expr()?;
            if parser.token != Token::Symbol(")") {
                return Err(parser.unexpected("an operator or ')': an operation has two operands"));
            }
            let result = parser.operation(kind, &left, &right)?;
            parser.advance()?;
            Ok(result)
        })
    }

    fn operation(&mut self, kind: Kind, left: &Expr, right: &Expr) -> Result<Expr, ParseError> {
        // Only polynomial division takes several steps a term.
        let steps = if right.as_constant().is_some() { 1 } else { 8 };
        self.paid(steps, left.terms().len() + right.terms().len(), || match kind {
            Kind::FloorDiv => left.floordiv(right),
            Kind::Mod => left.modulo(right),
            Kind::Max => left.maximum(right),
            Kind::Min => left.minimum(right),
        })
    }

    fn require(&mut self, symbol: &str, expected: &'static str) -> Result<(), ParseError> {
        if self.take(symbol)? {
            Ok(())
        } else {
            Err(self.unexpected(expected))
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        self.depth += 1;
        limits::NESTING
            .check(self.depth)
            .map_err(|limit| self.error(limit))?;
        let result = read(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// Forms an expression after adding `a*b` to the work.
    fn paid(
        &mut self,
        a: usize,
        b: usize,
        form: impl FnOnce() -> Result<Expr, ExprError>,
    ) -> Result<Expr, ParseError> {
        self.pay(a, b)?;
        form().map_err(|error| self.error(error))
    }

    /// Adds `a*b` to the work.
    fn pay(&mut self, a: usize, b: usize) -> Result<(), ParseError> {
        self.work = self.work.saturating_add((a as u64).saturating_mul(b as u64));
        limits::PARSE_WORK
            .check(self.work)
            .map_err(|limit| self.error(limit))
    }

    fn comparison(&mut self) -> Result<Option<Comparison>, ParseError> {
        let Token::Symbol(symbol) = self.token else {
            return Ok(None);
        };
        let found = Comparison::from_symbol(symbol);
        if found.is_some() {
            self.advance()?;
        }
        Ok(found)
    }
}

fn operation_named(name: &str) -> Option<Kind> {
    [Kind::FloorDiv, Kind::Max, Kind::Min, Kind::Mod]
        .into_iter()
        .find(|kind| kind.name() == name)
}

impl FromStr for Expr {
    type Err = ParseError;

    /// Reads one expression, such as `2*b + 1` or `floordiv(b + 3, 4)`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser::new(text)?;
        let expr = parser.expr()?;
        if parser.at_end() {
            Ok(expr)
        } else {
            Err(parser.unexpected("an operator or the end"))
        }
    }
}

impl Constraint {
    /// Reads one comparison or a chain of them: `1 <= b <= 8` gives two constraints.
    ///
    /// # Errors
    /// [`ParseError`] with the place, also when there is no comparison.
    pub fn parse(text: &str) -> Result<Vec<Self>, ParseError> {
        let mut parser = Parser::new(text)?;
        let mut left = parser.expr()?;
        let mut constraints = Vec::new();
        while let Some(comparison) = parser.comparison()? {
            let right = parser.expr()?;
            constraints.push(Self::new(left, comparison, right.clone()));
            left = right;
        }
        if constraints.is_empty() || !parser.at_end() {
            return Err(parser.unexpected("an operator or one of '==', '!=', '<', '<=', '>', '>='"));
        }
        Ok(constraints)
    }
}
