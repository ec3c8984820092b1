//! Attributes of the Shardy dialect.

use artifact_ir::attribute::sdy::{
    AllToAllParam, AllToAllParamList, AxisRefList, AxisToPropagationDetails, DimMapping, DimensionSharding,
    EdgeNodeType, EdgeValueRef, ListOfAxisRefLists, ManualAxes, Mesh, MeshOrRef, OpShardingRule,
    PropagationEdges, PropagationOneStep, ReductionOp, SdyAttribute, TensorMapping, TensorSharding,
    TensorShardingPerValue,
};
use artifact_ir::attribute::{Attribute, AxisRef, MeshAxis, SubAxisInfo};
use artifact_ir::verify::check_mesh;

use super::cursor::{Parser, Read};
use crate::lex::{Kind, Token};

/// Factors with a letter of their own: `i` to `z`. Later ones are `z_1`, `z_2` and so on.
const LETTERS: i64 = 18;

impl Parser<'_> {
    /// `#sdy.sharding<...>` or `#sdy<manual_axes{...}>`; the name is taken, what follows is ahead.
    pub(super) fn sdy_attribute(&mut self, token: Token, mnemonic: Option<&str>) -> Read<Attribute> {
        if let Some(mnemonic) = mnemonic {
            if !self.at(Kind::Less) {
                return Err(self.unexpected("'<'"));
            }
            return Ok(Attribute::Sdy(self.sdy_contents(token, mnemonic)?));
        }
        self.expect(Kind::Less)?;
        let inner = self.expect(Kind::Word)?;
        let attribute = self.sdy_contents(inner, self.slice(inner))?;
        self.expect(Kind::Greater)?;
        Ok(Attribute::Sdy(attribute))
    }

    fn sdy_contents(&mut self, token: Token, mnemonic: &str) -> Read<SdyAttribute> {
        use SdyAttribute as A;
        Ok(match mnemonic {
            "manual_axes" => A::ManualAxes(self.manual_axes()?),
            "mesh_axis" => A::MeshAxis(self.sdy_mesh_axis()?),
            "mesh" => A::Mesh(self.sdy_mesh()?),
            "sub_axis_info" => A::SubAxisInfo(self.sdy_sub_axis()?),
            "axis_ref" => A::AxisRef(self.sdy_axis()?),
            "dimension_sharding" => A::DimensionSharding(self.dimension_sharding()?),
            "sharding" => A::TensorSharding(self.tensor_sharding()?),
            "sharding_per_value" => {
                self.expect(Kind::Less)?;
                let shardings = self.shardings()?;
                self.expect(Kind::Greater)?;
                A::TensorShardingPerValue(shardings)
            }
            "dim_mapping" => A::DimMapping(self.dim_mapping()?),
            "tensor_mapping" => A::TensorMapping(self.tensor_mapping()?),
            "op_sharding_rule" => A::OpShardingRule(Box::new(self.op_sharding_rule()?)),
            "axis_ref_list" => A::AxisRefList(self.axis_ref_list()?),
            "list_of_axis_ref_lists" => A::ListOfAxisRefLists(self.list_of_axis_ref_lists()?),
            "all_to_all_param" => A::AllToAllParam(self.all_to_all_param()?),
            "all_to_all_param_list" => A::AllToAllParamList(self.all_to_all_param_list()?),
            "edge_value_ref" => A::EdgeValueRef(self.edge_value_ref()?),
            "axis_to_propagation_details" => A::AxisToPropagationDetails(self.propagation_details()?),
            "propagation_one_step" => A::PropagationOneStep(self.propagation_step()?),
            "propagation_edges" => A::PropagationEdges(self.propagation_edges()?),
            _ => return Err(self.error(token.start(), format!("unknown Shardy attribute '{mnemonic}'"))),
        })
    }

    /// Items between brackets.
    fn items<T>(&mut self, open: Kind, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        self.list(open, |parser| {
            items.push(item(parser)?);
            Ok(())
        })?;
        Ok(items)
    }

    /// Items between brackets, one at least.
    fn some_items<T>(&mut self, open: Kind, item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let start = self.token.start();
        let items = self.items(open, item)?;
        if items.is_empty() {
            return Err(self.error(start, "expected a list that is not empty"));
        }
        Ok(items)
    }

    /// `{"x", "y"}`.
    pub(super) fn manual_axes(&mut self) -> Read<ManualAxes> {
        self.items(Kind::LeftBrace, Self::byte_string).map(ManualAxes)
    }

    /// `"x"=2`.
    fn sdy_mesh_axis(&mut self) -> Read<MeshAxis> {
        let name = self.byte_string()?;
        self.expect(Kind::Equal)?;
        let size = self.i64_value()?;
        Ok(MeshAxis { name, size })
    }

    /// `<["x"=2, "y"=4], device_ids=[7, 6, 5, 4, 3, 2, 1, 0]>`.
    pub(super) fn sdy_mesh(&mut self) -> Read<Mesh> {
        let start = self.token.start();
        self.expect(Kind::Less)?;
        let axes = self.items(Kind::LeftSquare, Self::sdy_mesh_axis)?;
        let mut device_ids = Vec::new();
        if self.take(Kind::Comma) {
            self.expect_word("device_ids")?;
            self.expect(Kind::Equal)?;
            device_ids = self.some_items(Kind::LeftSquare, Self::i64_value)?;
        }
        self.expect(Kind::Greater)?;
        let mesh = Mesh::new(axes, device_ids);
        check_mesh(&mesh).map_err(|error| self.error(start, error.to_string()))?;
        Ok(mesh)
    }

    /// `(2)4`.
    fn sdy_sub_axis(&mut self) -> Read<SubAxisInfo> {
        self.expect(Kind::LeftParen)?;
        let pre_size = self.i64_value()?;
        self.expect(Kind::RightParen)?;
        let size = self.i64_value()?;
        Ok(SubAxisInfo { pre_size, size })
    }

    /// `"x"` or `"x":(2)4`.
    fn sdy_axis(&mut self) -> Read<AxisRef> {
        let name = self.byte_string()?;
        let part = self.take(Kind::Colon);
        let sub_axis_info = part.then(|| self.sdy_sub_axis()).transpose()?;
        Ok(AxisRef { name, sub_axis_info })
    }

    /// `{"x", "y":(1)2}`.
    fn sdy_axes(&mut self) -> Read<Vec<AxisRef>> {
        self.items(Kind::LeftBrace, Self::sdy_axis)
    }

    pub(super) fn axis_ref_list(&mut self) -> Read<AxisRefList> {
        self.sdy_axes().map(AxisRefList)
    }

    /// `[{"x"}, {}]`.
    pub(super) fn list_of_axis_ref_lists(&mut self) -> Read<ListOfAxisRefLists> {
        self.items(Kind::LeftSquare, Self::axis_ref_list)
            .map(ListOfAxisRefLists)
    }

    /// `{"x", ?}p1`.
    fn dimension_sharding(&mut self) -> Read<DimensionSharding> {
        let mut sharding = DimensionSharding {
            is_closed: true,
            ..DimensionSharding::default()
        };
        self.expect(Kind::LeftBrace)?;
        while !self.take(Kind::RightBrace) {
            if !sharding.axes.is_empty() {
                self.expect(Kind::Comma)?;
            }
            if self.take(Kind::Question) {
                sharding.is_closed = false;
                self.expect(Kind::RightBrace)?;
                break;
            }
            sharding.axes.push(self.sdy_axis()?);
        }
        if self.at(Kind::Word) {
            sharding.priority = Some(self.priority()?);
        }
        Ok(sharding)
    }

    fn priority(&mut self) -> Read<i64> {
        let token = self.bump();
        let text = self.slice(token);
        let digits = text
            .strip_prefix('p')
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(digits) = digits else {
            let message = format!("expecting priority in format 'p<number>', got: {text}");
            return Err(self.error(token.start(), message));
        };
        if digits.len() > 1 && digits.starts_with('0') {
            let message = format!("priorities with leading zeros are not allowed, got: {text}");
            return Err(self.error(token.start(), message));
        }
        digits
            .parse()
            .map_err(|_| self.error(token.start(), format!("expecting integer priority, got: {text}")))
    }

    /// `<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}>`.
    pub(super) fn tensor_sharding(&mut self) -> Read<TensorSharding> {
        self.expect(Kind::Less)?;
        let mesh = self.mesh_or_ref()?;
        self.expect(Kind::Comma)?;
        let mut sharding = TensorSharding {
            mesh,
            dim_shardings: self.items(Kind::LeftSquare, Self::dimension_sharding)?,
            replicated_axes: Vec::new(),
            unreduced_axes: Vec::new(),
            reduction_op: ReductionOp::Sum,
        };
        while self.take(Kind::Comma) {
            if sharding.replicated_axes.is_empty() && self.take_word("replicated") {
                self.expect(Kind::Equal)?;
                sharding.replicated_axes = self.some_items(Kind::LeftBrace, Self::sdy_axis)?;
            } else if sharding.unreduced_axes.is_empty() && self.take_word("unreduced") {
                if self.take(Kind::Equal) && self.at(Kind::Word) {
                    sharding.reduction_op = self.reduction_op()?;
                }
                sharding.unreduced_axes = self.some_items(Kind::LeftBrace, Self::sdy_axis)?;
            } else {
                return Err(self.unexpected("'replicated' or 'unreduced', each once"));
            }
        }
        self.expect(Kind::Greater)?;
        Ok(sharding)
    }

    /// `@mesh` or `mesh<["x"=2]>`.
    fn mesh_or_ref(&mut self) -> Read<MeshOrRef> {
        if self.take_word("mesh") {
            return Ok(MeshOrRef::Inline(self.sdy_mesh()?));
        }
        if !self.at(Kind::Symbol) {
            return Err(self.unexpected("a mesh such as '@mesh' or 'mesh<[\"x\"=2]>'"));
        }
        let token = self.bump();
        Ok(MeshOrRef::Symbol(self.symbol_text(token)?))
    }

    /// `[<@mesh, [...]>, ...]`.
    pub(super) fn shardings(&mut self) -> Read<TensorShardingPerValue> {
        self.items(Kind::LeftSquare, Self::tensor_sharding)
            .map(TensorShardingPerValue)
    }

    /// `sum`, `max` or `min`.
    pub(super) fn reduction_op(&mut self) -> Read<ReductionOp> {
        let token = self.expect(Kind::Word)?;
        ReductionOp::from_name(self.slice(token))
            .ok_or_else(|| self.error(token.start(), "expected a reduction: sum, max or min"))
    }

    /// `{"x"}: 0->1`.
    fn all_to_all_param(&mut self) -> Read<AllToAllParam> {
        let axes = self.some_items(Kind::LeftBrace, Self::sdy_axis)?;
        self.expect(Kind::Colon)?;
        let src_dim = self.i64_value()?;
        self.expect(Kind::Arrow)?;
        let tgt_dim = self.i64_value()?;
        Ok(AllToAllParam {
            axes,
            src_dim,
            tgt_dim,
        })
    }

    pub(super) fn all_to_all_param_list(&mut self) -> Read<AllToAllParamList> {
        self.items(Kind::LeftSquare, Self::all_to_all_param)
            .map(AllToAllParamList)
    }

    /// `ij`, or nothing.
    fn dim_mapping(&mut self) -> Read<DimMapping> {
        let mut factors = Vec::new();
        if self.at(Kind::Word) {
            let token = self.bump();
            let mut rest = self.slice(token);
            while !rest.is_empty() {
                factors.push(self.factor(&mut rest, token)?);
            }
        }
        Ok(DimMapping(factors))
    }

    /// Takes the first factor off a word such as `ijz_1`.
    fn factor(&mut self, rest: &mut &str, token: Token) -> Read<i64> {
        if let Some(digits) = rest.strip_prefix("z_") {
            let length = digits.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = digits.split_at(length);
            let index = number.parse::<i64>().ok().filter(|_| !number.starts_with('0'));
            let factor = index.and_then(|index| index.checked_add(LETTERS - 1));
            *rest = after;
            return factor.ok_or_else(|| {
                let message = format!(
                    "expecting positive integer without leading zeros after 'z_'. Received: '{number}'"
                );
                self.error(token.start(), message)
            });
        }
        let mut letters = rest.chars();
        match letters.next() {
            Some(letter @ 'i'..='z') => {
                *rest = letters.as_str();
                Ok(i64::from(u32::from(letter) - u32::from('i')))
            }
            other => {
                let received = other.map(String::from).unwrap_or_default();
                let message = format!("expecting symbol from 'i' to 'z'. Received: '{received}'");
                Err(self.error(token.start(), message))
            }
        }
    }

    /// A word that is one factor.
    fn only_factor(&mut self) -> Read<i64> {
        let token = self.expect(Kind::Word)?;
        let mut rest = self.slice(token);
        let factor = self.factor(&mut rest, token)?;
        if rest.is_empty() {
            return Ok(factor);
        }
        Err(self.error(token.start(), format!("expecting single factor symbol: {rest}")))
    }

    /// `[i, jk]`.
    fn tensor_mapping(&mut self) -> Read<TensorMapping> {
        self.items(Kind::LeftSquare, Self::dim_mapping).map(TensorMapping)
    }

    /// `<([i, k], [k, j])->([i, j]) {i=2, j=4, k=8} reduction={k}, custom>`.
    fn op_sharding_rule(&mut self) -> Read<OpShardingRule> {
        self.expect(Kind::Less)?;
        let operand_mappings = self.some_items(Kind::LeftParen, Self::tensor_mapping)?;
        self.expect(Kind::Arrow)?;
        let mut rule = OpShardingRule {
            operand_mappings,
            result_mappings: self.some_items(Kind::LeftParen, Self::tensor_mapping)?,
            ..OpShardingRule::default()
        };
        if self.at(Kind::LeftBrace) {
            rule.factor_sizes = self.factor_sizes()?;
        }
        for (name, factors) in [
            ("reduction", &mut rule.reduction_factors),
            ("need_replication", &mut rule.need_replication_factors),
            ("permutation", &mut rule.permutation_factors),
            ("blocked_propagation", &mut rule.blocked_propagation_factors),
        ] {
            if self.take_word(name) {
                self.expect(Kind::Equal)?;
                *factors = self.items(Kind::LeftBrace, Self::only_factor)?;
            }
        }
        if self.take(Kind::Comma) {
            self.expect_word("custom")?;
            rule.is_custom_rule = true;
        }
        self.expect(Kind::Greater)?;
        Ok(rule)
    }

    /// `{i=2, j=4}`: factors in order, from the first on.
    fn factor_sizes(&mut self) -> Read<Vec<i64>> {
        let mut next = 0_i64;
        self.items(Kind::LeftBrace, |parser| {
            let start = parser.token.start();
            if parser.only_factor()? != next {
                let message = format!(
                    "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. {{i=#, j=#, ...}}). Expecting factor #{next}"
                );
                return Err(parser.error(start, message));
            }
            next += 1;
            parser.expect(Kind::Equal)?;
            parser.i64_value()
        })
    }

    /// `operand-1`.
    fn edge_value_ref(&mut self) -> Read<EdgeValueRef> {
        let token = self.expect(Kind::Word)?;
        let Some(kind) = EdgeNodeType::from_name(self.slice(token)) else {
            return Err(self.error(token.start(), "expected 'operand' or 'result'"));
        };
        let index = self.after_minus()?;
        Ok(EdgeValueRef { kind, index })
    }

    fn after_minus(&mut self) -> Read<i64> {
        self.expect(Kind::Minus)?;
        self.i64_value()
    }

    /// `{"x" = operand-0 -> [result-0]}`.
    fn propagation_details(&mut self) -> Read<AxisToPropagationDetails> {
        self.expect(Kind::LeftBrace)?;
        let axis = self.sdy_axis()?;
        self.expect(Kind::Equal)?;
        let source = self.edge_value_ref()?;
        self.expect(Kind::Arrow)?;
        let targets = self.some_items(Kind::LeftSquare, Self::edge_value_ref)?;
        self.expect(Kind::RightBrace)?;
        Ok(AxisToPropagationDetails {
            axis,
            source,
            targets,
        })
    }

    /// `{step-1 = [...]}`.
    fn propagation_step(&mut self) -> Read<PropagationOneStep> {
        self.expect(Kind::LeftBrace)?;
        self.expect_word("step")?;
        let step_index = self.after_minus()?;
        self.expect(Kind::Equal)?;
        let axis_entries = self.some_items(Kind::LeftSquare, Self::propagation_details)?;
        self.expect(Kind::RightBrace)?;
        Ok(PropagationOneStep {
            step_index,
            axis_entries,
        })
    }

    /// `<[{step-1 = [...]}]>`.
    fn propagation_edges(&mut self) -> Read<PropagationEdges> {
        self.expect(Kind::Less)?;
        let steps = self.some_items(Kind::LeftSquare, Self::propagation_step)?;
        self.expect(Kind::Greater)?;
        Ok(PropagationEdges(steps))
    }
}
