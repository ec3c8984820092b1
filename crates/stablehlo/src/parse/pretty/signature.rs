//! The types at the end of pretty forms, most of which leave out what follows from the rest.

use artifact_ir::attribute::Attribute;
use artifact_ir::types::{Element, ElementType, TensorType, Type};

use crate::lex::Kind;
use crate::parse::cursor::{Parser, Read};
use crate::parse::operation::Draft;

/// Which types are written.
#[derive(Clone, Copy, Debug)]
pub(in crate::parse) enum Signature {
    /// `(A, B) -> C`.
    Functional,
    /// One type for all operands and the result, or `(A, B) -> C`.
    Same,
    /// One type for the operand and the result.
    One,
    /// The result's.
    Result,
    /// The result's, of complex elements, where operands are the parts; or `(A, B) -> C`.
    Complex,
    /// `P, T` for pred and the others, or `(P, A, B) -> C`.
    Select,
    /// The result's, a tuple of the operands'.
    Tuple,
    /// `A, B -> C`, with or without parentheses.
    Arrow,
    /// One type for all operands; no result.
    AllOperands,
    /// A type for each operand; no result.
    EachOperand,
    /// Nothing: the attribute `value` has the result's type.
    OfValue,
}

impl<'a> Parser<'a> {
    pub(super) fn signature(&mut self, signature: Signature, draft: &mut Draft<'a>) -> Read<()> {
        match signature {
            Signature::Functional => self.functional_types(draft),
            Signature::Same => self.same_type(draft),
            Signature::One => {
                let ty = self.ty()?;
                self.all_operands(draft, &ty)?;
                draft.results.push(ty);
                Ok(())
            }
            Signature::Result => {
                draft.results = self.result_types()?;
                Ok(())
            }
            Signature::Complex => self.complex_type(draft),
            Signature::Select => self.select_types(draft),
            Signature::Tuple => self.tuple_type(draft),
            Signature::Arrow => self.arrow_types(draft),
            Signature::AllOperands => {
                let ty = self.ty()?;
                self.all_operands(draft, &ty)
            }
            Signature::EachOperand => {
                let offset = self.token.start();
                let types = self.type_list()?;
                self.check_operands(draft, &types, offset)
            }
            Signature::OfValue => {
                if let Some(Attribute::Elements(literal)) = draft.attributes.get("value") {
                    draft.results.push(Type::Tensor(literal.ty().clone()));
                }
                Ok(())
            }
        }
    }

    fn all_operands(&mut self, draft: &Draft<'_>, ty: &Type) -> Read<()> {
        (0..draft.operands.len()).try_for_each(|index| self.check_operand(draft, index, ty))
    }

    fn same_type(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.at(Kind::LeftParen) {
            return self.one_result(draft);
        }
        let ty = self.ty()?;
        self.all_operands(draft, &ty)?;
        draft.results.push(ty);
        Ok(())
    }

    /// `(A, B) -> C` with one result.
    fn one_result(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        let offset = self.token.start();
        self.functional_types(draft)?;
        if draft.results.len() == 1 {
            Ok(())
        } else {
            Err(self.error(offset, "expected single output"))
        }
    }

    fn complex_type(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.at(Kind::LeftParen) {
            return self.one_result(draft);
        }
        let offset = self.token.start();
        let ty = self.ty()?;
        let real = ty.as_tensor().and_then(|tensor| match tensor.element {
            Element::Plain(element) if element.is_complex() => Some(tensor.with_element(element.part())),
            _ => None,
        });
        let Some(real) = real else {
            return Err(self.error(offset, "expected tensor with complex element type"));
        };
        self.all_operands(draft, &real.into())?;
        draft.results.push(ty);
        Ok(())
    }

    fn select_types(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.at(Kind::LeftParen) {
            return self.one_result(draft);
        }
        let offset = self.token.start();
        let types = self.type_list()?;
        let [pred, ty] = types.as_slice() else {
            return Err(self.error(offset, "expected functional type or list of two types"));
        };
        self.check_operands(draft, &[pred.clone(), ty.clone(), ty.clone()], offset)?;
        draft.results.push(ty.clone());
        Ok(())
    }

    fn tuple_type(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        let offset = self.token.start();
        let ty = self.ty()?;
        let Type::Tuple(items) = &ty else {
            return Err(self.error(offset, "expected tuple type"));
        };
        self.check_operands(draft, items, offset)?;
        draft.results.push(ty);
        Ok(())
    }

    fn arrow_types(&mut self, draft: &mut Draft<'a>) -> Read<()> {
        if self.at(Kind::LeftParen) {
            return self.functional_types(draft);
        }
        let offset = self.token.start();
        let types = self.type_list()?;
        self.check_operands(draft, &types, offset)?;
        self.expect(Kind::Arrow)?;
        draft.results = self.result_types()?;
        Ok(())
    }
}

/// A scalar tensor of the elements of `ty`.
pub(super) fn scalar_of(ty: &Type) -> Option<Type> {
    let element = match ty {
        Type::Tensor(tensor) | Type::Buffer(tensor) => tensor.element.clone(),
        Type::UnrankedTensor(element) => element.clone(),
        Type::Scalar(element) => Element::from(*element),
        _ => return None,
    };
    Some(TensorType::of_static(&[], element).into())
}

/// The type of sizes and positions.
pub(super) const INDEX: Type = Type::Scalar(ElementType::Index);
