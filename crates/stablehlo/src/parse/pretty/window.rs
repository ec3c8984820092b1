//! Dimensions and windows of convolutions.

use artifact_ir::attribute::{AttributeValue, ConvDimensionNumbers, Padding};

use crate::lex::Kind;
use crate::parse::cursor::{Parser, Read};
use crate::parse::operation::Draft;

/// Where the dimensions of one tensor of a convolution are.
struct Roles {
    /// The two that are not spatial, in the order of their letters.
    letters: [i64; 2],
    spatial: Vec<i64>,
}

impl Parser<'_> {
    /// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
    pub(in crate::parse) fn conv_dimensions(&mut self) -> Read<ConvDimensionNumbers> {
        let input = self.roles(["b", "f"])?;
        self.expect_word("x")?;
        let kernel = self.roles(["i", "o"])?;
        self.expect(Kind::Arrow)?;
        let output = self.roles(["b", "f"])?;
        Ok(ConvDimensionNumbers {
            input_batch_dimension: input.letters[0],
            input_feature_dimension: input.letters[1],
            input_spatial_dimensions: input.spatial,
            kernel_input_feature_dimension: kernel.letters[0],
            kernel_output_feature_dimension: kernel.letters[1],
            kernel_spatial_dimensions: kernel.spatial,
            output_batch_dimension: output.letters[0],
            output_feature_dimension: output.letters[1],
            output_spatial_dimensions: output.spatial,
        })
    }

    /// `[b, 0, 1, f]`: for each dimension in order, a letter or the number of a spatial dimension.
    fn roles(&mut self, letters: [&str; 2]) -> Read<Roles> {
        let mut found = [None; 2];
        let mut numbers: Vec<(i64, i64, usize)> = Vec::new();
        let mut index = 0;
        self.list(Kind::LeftSquare, |parser| {
            let offset = parser.token.start();
            if parser.at(Kind::Word) {
                let token = parser.bump();
                let word = parser.slice(token);
                let open = |letter: usize| found[letter].is_none();
                let Some(letter) = (0..2).find(|letter| letters[*letter] == word && open(*letter)) else {
                    let expected: Vec<&str> = (0..2)
                        .filter(|letter| open(*letter))
                        .map(|letter| letters[letter])
                        .collect();
                    let message = if expected.is_empty() {
                        format!("Unexpected keyword {word}")
                    } else {
                        format!("Unexpected dimension {word}, expecting {}", expected.join(", "))
                    };
                    return Err(parser.error(offset, message));
                };
                found[letter] = Some(index);
            } else {
                let number = parser.i64_value()?;
                if number < 0 {
                    return Err(parser.error(offset, format!("Unexpected dimension {number}")));
                }
                numbers.push((number, index, offset));
            }
            index += 1;
            Ok(())
        })?;
        self.finish_roles(letters, found, numbers)
    }

    fn finish_roles(
        &mut self,
        letters: [&str; 2],
        found: [Option<i64>; 2],
        numbers: Vec<(i64, i64, usize)>,
    ) -> Read<Roles> {
        let [Some(first), Some(second)] = found else {
            let missing: Vec<&str> = (0..2)
                .filter(|letter| found[*letter].is_none())
                .map(|letter| letters[letter])
                .collect();
            return Err(self.error_here(format!(
                "Expected dimensions {} not specified",
                missing.join(", ")
            )));
        };
        let mut numbers = numbers;
        numbers.sort_unstable();
        if let Some(pair) = numbers.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let (number, _, offset) = pair[1];
            return Err(self.error(
                offset,
                format!("Duplicate entries for spatial dimension {number}"),
            ));
        }
        let expected = (0..)
            .zip(&numbers)
            .find(|(expected, (number, ..))| expected != number);
        if let Some((missing, _)) = expected {
            return Err(self.error_here(format!("Expected spatial dimensions {missing} not specified")));
        }
        Ok(Roles {
            letters: [first, second],
            spatial: numbers.into_iter().map(|(_, index, _)| index).collect(),
        })
    }

    /// `stride = [...], pad = [[...], ...], lhs_dilate = [...], rhs_dilate = [...], reverse = [...]`, each perhaps absent.
    pub(super) fn window(&mut self, draft: &mut Draft<'_>) -> Read<()> {
        while self.at(Kind::Word) {
            let token = self.bump();
            let word = self.slice(token);
            let known = WINDOW_FIELDS.iter().find(|(written, _)| *written == word);
            let Some((_, name)) = known.filter(|(_, name)| draft.attributes.get(name).is_none()) else {
                return Err(self.error(token.start(), format!("Unexpected keyword {word}")));
            };
            self.expect(Kind::Equal)?;
            let value = match word {
                "pad" => self.padding()?.to_attribute(),
                "reverse" => {
                    let flags: Vec<bool> = self.i64_list()?.into_iter().map(|value| value != 0).collect();
                    flags.to_attribute()
                }
                _ => self.i64_list()?.to_attribute(),
            };
            draft.attributes.insert(self.name(name), value);
            if !self.take(Kind::Comma) {
                break;
            }
        }
        Ok(())
    }

    fn padding(&mut self) -> Read<Padding> {
        let mut padding = Padding::default();
        self.list(Kind::LeftSquare, |parser| {
            let values = parser.i64_list()?;
            let Ok(pair) = <[i64; 2]>::try_from(values.as_slice()) else {
                let message = format!(
                    "Expected array with 2 elements, got {} elements instead",
                    values.len()
                );
                return Err(parser.error_here(message));
            };
            padding.0.push(pair);
            Ok(())
        })?;
        Ok(padding)
    }
}

const WINDOW_FIELDS: [(&str, &str); 5] = [
    ("stride", "window_strides"),
    ("pad", "padding"),
    ("lhs_dilate", "lhs_dilation"),
    ("rhs_dilate", "rhs_dilation"),
    ("reverse", "window_reversal"),
];
