//! NumPy arrays (NEP 1): a header that is a Python dictionary of three known keys, then the elements.
//!
//! Read by hand: no crate reads and writes arrays whose element type is only known at run time, and the header comes from
//! outside, where a general parser of Python literals would recurse as deep as the file likes.

use std::io::{ErrorKind, Read};

use artifact_core::limit::{Limit, LimitExceeded};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header that is read; NumPy itself warns above 10,000.
const HEADER_BYTES: Limit = Limit::new("the header of an array", 64 << 10, "bytes");
const RANK: Limit = Limit::new("the rank of an array", 64, "dimensions");
/// NumPy aligns the elements to this.
const ALIGNMENT_BYTES: usize = 64;

/// What an array is, as its file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// NumPy's type string, such as `<f4`.
    pub(crate) descr: String,
    /// Size of each dimension.
    pub(crate) shape: Vec<u64>,
    /// Whether the elements lie in column-major order.
    fortran: bool,
    /// Bytes of an element.
    width: usize,
    /// Bytes of all elements.
    pub(crate) byte_count: u64,
}

/// An array of which only the header is read. Whether it is wanted shows there, before memory is spent on its elements.
pub(crate) struct ArrayReader<R> {
    pub(crate) header: Header,
    elements: R,
}

impl<R: Read> ArrayReader<R> {
    /// Reads the header of an array in a file of `length` bytes.
    pub(crate) fn new(mut file: R, length: u64) -> Result<Self, String> {
        let (header, header_length) = read_header(&mut file)?;
        let header = Header::parse(&header)?;
        let has = length.saturating_sub(header_length);
        if header.byte_count != has {
            let Header { shape, descr, .. } = header;
            return Err(format!(
                "its header announces shape {shape:?} of {descr}, {has} bytes of elements follow"
            ));
        }
        Ok(Self {
            header,
            elements: file,
        })
    }

    /// Reads the elements, in row-major order.
    pub(crate) fn elements(self) -> Result<Vec<u8>, String> {
        let Header {
            shape,
            fortran,
            width,
            byte_count,
            ..
        } = self.header;
        let mut bytes = Vec::new();
        // One byte more than announced shows a file that lies about its length.
        self.elements
            .take(byte_count.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|error| error.to_string())?;
        if bytes.len() as u64 != byte_count {
            return Err(format!(
                "it announces {byte_count} bytes of elements and holds another number"
            ));
        }
        Ok(if fortran {
            to_row_major(&bytes, &shape, width)
        } else {
            bytes
        })
    }
}

impl Header {
    fn parse(text: &str) -> Result<Self, String> {
        let descr = string_value(text, "descr")?;
        let fortran = match value(text, "fortran_order")? {
            rest if rest.starts_with("True") => true,
            rest if rest.starts_with("False") => false,
            _ => return Err("its header has no `fortran_order` of True or False".to_owned()),
        };
        let shape = shape(value(text, "shape")?)?;
        let width = element_bytes(&descr)?;
        let byte_count = shape
            .iter()
            .try_fold(width as u64, |bytes, size| bytes.checked_mul(*size))
            .ok_or_else(|| format!("its header announces shape {shape:?}, which no file can hold"))?;
        Ok(Self {
            descr,
            shape,
            fortran,
            width,
            byte_count,
        })
    }
}

/// An array to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Array<'a> {
    /// NumPy's type string, such as `<f4`.
    pub(crate) descr: &'static str,
    /// Size of each dimension.
    pub(crate) shape: Vec<u64>,
    /// Elements in row-major order.
    pub(crate) bytes: &'a [u8],
}

impl Array<'_> {
    /// What stands before the elements, in version 1.0 of the format.
    pub(crate) fn header(&self) -> Result<Vec<u8>, LimitExceeded> {
        RANK.check(self.shape.len() as u64)?;
        let mut shape: String = self.shape.iter().map(|size| format!("{size}, ")).collect();
        // A tuple of one keeps its comma.
        shape.truncate(if self.shape.len() == 1 {
            shape.len() - 1
        } else {
            shape.len().saturating_sub(2)
        });
        let mut header = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({shape}), }}",
            self.descr
        );
        let prefix = MAGIC.len() + 4;
        let unpadded = prefix + header.len() + 1;
        header.push_str(&" ".repeat(unpadded.next_multiple_of(ALIGNMENT_BYTES) - unpadded));
        header.push('\n');
        let mut file = MAGIC.to_vec();
        file.extend([1, 0]);
        file.extend((header.len() as u16).to_le_bytes());
        file.extend(header.as_bytes());
        Ok(file)
    }

    /// The whole file.
    #[cfg(test)]
    pub(crate) fn write(&self) -> Vec<u8> {
        [&self.header().unwrap(), self.bytes].concat()
    }
}

/// Reads what stands before the elements: the dictionary, and how many bytes it all took.
fn read_header(file: &mut impl Read) -> Result<(String, u64), String> {
    let mut bytes = |count: usize| {
        let mut bytes = vec![0; count];
        match file.read_exact(&mut bytes) {
            Ok(()) => Ok(bytes),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Err("it ends within its header".to_owned())
            }
            Err(error) => Err(error.to_string()),
        }
    };
    if bytes(MAGIC.len())? != MAGIC {
        return Err("it does not start as a NumPy array does".to_owned());
    }
    let version = bytes(2)?[0];
    let length_bytes = match version {
        1 => 2,
        2 | 3 => 4,
        other => return Err(format!("it is of version {other} of the format; 1 to 3 are read")),
    };
    let length = bytes(length_bytes)?;
    let length = length
        .iter()
        .rev()
        .fold(0, |length, byte| length << 8 | u64::from(*byte));
    HEADER_BYTES.check(length).map_err(|error| error.to_string())?;
    let header = String::from_utf8(bytes(length as usize)?).map_err(|_| "its header is not text")?;
    Ok((header, (MAGIC.len() + 2 + length_bytes) as u64 + length))
}

/// What follows `'key':` in the header.
fn value<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let missing = || format!("its header has no `{key}`");
    let quoted = [format!("'{key}'"), format!("\"{key}\"")];
    let after = quoted
        .iter()
        .find_map(|key| header.split_once(key.as_str()))
        .ok_or_else(missing)?
        .1;
    after
        .trim_start()
        .strip_prefix(':')
        .map(str::trim_start)
        .ok_or_else(missing)
}

fn string_value(header: &str, key: &str) -> Result<String, String> {
    let rest = value(header, key)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let text = quote.and_then(|quote| rest[1..].split_once(quote));
    let unsupported =
        || format!("its `{key}` is not a plain type: arrays of records and objects are not read");
    text.map(|(text, _)| text.to_owned()).ok_or_else(unsupported)
}

fn shape(rest: &str) -> Result<Vec<u64>, String> {
    let malformed = || "its `shape` is not a tuple of numbers".to_owned();
    let inside = rest
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .ok_or_else(malformed)?
        .0;
    let sizes = inside.split(',').map(str::trim).filter(|size| !size.is_empty());
    let sizes: Vec<u64> = sizes
        .map(|size| size.parse().map_err(|_| malformed()))
        .collect::<Result<_, _>>()?;
    RANK.check(sizes.len() as u64)
        .map_err(|error| error.to_string())?;
    Ok(sizes)
}

/// Bytes of one element of a type string such as `<f4`.
fn element_bytes(descr: &str) -> Result<usize, String> {
    let refuse = || format!("elements of type `{descr}` are not read");
    let mut chars = descr.chars();
    let (order, kind) = (chars.next().ok_or_else(refuse)?, chars.next().ok_or_else(refuse)?);
    let width: usize = chars.as_str().parse().map_err(|_| refuse())?;
    if order == '>' && width > 1 {
        return Err(format!(
            "its elements are big-endian (`{descr}`): save it as little-endian"
        ));
    }
    let known = matches!(order, '<' | '|' | '=' | '>') && matches!(kind, 'b' | 'i' | 'u' | 'f' | 'c' | 'V');
    if known && matches!(width, 1 | 2 | 4 | 8 | 16) {
        Ok(width)
    } else {
        Err(refuse())
    }
}

fn to_row_major(bytes: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    // The position of an element in column-major order grows with the first dimension fastest.
    let mut strides = vec![1_usize; shape.len()];
    for dim in 1..shape.len() {
        strides[dim] = strides[dim - 1] * shape[dim - 1] as usize;
    }
    let mut index = vec![0_u64; shape.len()];
    let mut ordered = Vec::with_capacity(bytes.len());
    while ordered.len() < bytes.len() {
        let position: usize = index
            .iter()
            .zip(&strides)
            .map(|(index, stride)| *index as usize * stride)
            .sum();
        ordered.extend_from_slice(&bytes[position * width..(position + 1) * width]);
        for dim in (0..shape.len()).rev() {
            index[dim] += 1;
            if index[dim] < shape[dim] {
                break;
            }
            index[dim] = 0;
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array<'a>(descr: &'static str, shape: &[u64], bytes: &'a [u8]) -> Array<'a> {
        Array {
            descr,
            shape: shape.into(),
            bytes,
        }
    }

    fn read(file: &[u8]) -> Result<(Header, Vec<u8>), String> {
        let reader = ArrayReader::new(file, file.len() as u64)?;
        Ok((reader.header.clone(), reader.elements()?))
    }

    #[test]
    fn round_trips() {
        for original in [
            array("<f4", &[2], &[1; 8]),
            array("|b1", &[], &[1]),
            array("<u2", &[0, 3], &[]),
            array("|i1", &[2, 2], &[1, 2, 3, 4]),
        ] {
            let file = original.write();
            assert_eq!((file.len() - original.bytes.len()) % ALIGNMENT_BYTES, 0);
            let (header, bytes) = read(&file).unwrap();
            assert_eq!(
                (header.descr.as_str(), header.shape),
                (original.descr, original.shape)
            );
            assert_eq!(bytes, original.bytes);
        }
    }

    #[test]
    fn column_major() {
        let mut file = array("|u1", &[2, 3], &[0, 3, 1, 4, 2, 5]).write();
        let at = file.windows(5).position(|window| window == b"False").unwrap();
        file.splice(at..at + 5, *b"True ");
        assert_eq!(read(&file).unwrap().1, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn refusals() {
        let file = array("<f4", &[2], &[1; 8]).write();
        for length in 0..file.len() {
            assert!(read(&file[..length]).is_err(), "{length} bytes");
        }
        let refusal = |descr: &'static str| read(&array(descr, &[1], &[0; 4]).write()).unwrap_err();
        assert!(refusal(">f4").contains("big-endian"));
        assert!(refusal("|O").contains("not read"));
        let of_shape = |shape: &[u64]| read(&array("<f4", shape, &[]).write()).unwrap_err();
        assert!(of_shape(&[u64::MAX, u64::MAX]).contains("no file can hold"));
        assert!(of_shape(&[1 << 40]).contains("announces"));
    }

    #[test]
    fn a_length_that_lies() {
        let file = array("<f4", &[2], &[1; 8]).write();
        for actual in [file.len() - 1, file.len() + 1] {
            let content = file.iter().copied().chain([0]).take(actual).collect::<Vec<_>>();
            let reader = ArrayReader::new(content.as_slice(), file.len() as u64).unwrap();
            assert!(reader.elements().unwrap_err().contains("another number"));
        }
    }
}
