//! Arguments and results of functions that are run, by their types.

use crate::words::unquoted;

/// The types that are passed, and those that are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `void`
    Void,
    /// An integer of at most 64 bits
    Int(u32),
    /// `float`
    Float,
    /// `double`
    Double,
    /// A pointer
    Pointer,
    /// Any other
    Other,
}

/// Memory that a function gets, and may change.
pub struct Buffer {
    /// As it is shown
    element: Element,
    /// How many elements
    count: usize,
    /// Before the call
    initial: Vec<u8>,
    /// What the function gets: aligned to 16
    memory: Vec<u128>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    Int(usize),
    Float,
    Double,
    Text,
}

/// Most bytes of a buffer.
const MOST_BYTES: usize = 1 << 30;

impl Element {
    const NAMES: [(&'static str, Element); 7] = [
        ("i8", Element::Int(1)),
        ("i16", Element::Int(2)),
        ("i32", Element::Int(4)),
        ("i64", Element::Int(8)),
        ("f32", Element::Float),
        ("f64", Element::Double),
        ("bytes", Element::Int(1)),
    ];

    fn named(name: &str) -> Result<Element, String> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, element)| element).ok_or_else(|| {
            format!(
                "'{name}' is no type of a buffer; there are i8, i16, i32, i64, f32, f64 and bytes"
            )
        })
    }

    fn size(self) -> usize {
        match self {
            Element::Int(size) => size,
            Element::Float => 4,
            Element::Double => 8,
            Element::Text => 1,
        }
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("string", |(name, _)| name)
    }

    fn write(self, text: &str, to: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Element::Int(size) => {
                let value = integer(text, size as u32 * 8)?;
                to.extend(&value.to_le_bytes()[..size]);
            }
            Element::Float => to.extend((float::<f32>(text)?).to_le_bytes()),
            Element::Double => to.extend((float::<f64>(text)?).to_le_bytes()),
            Element::Text => {}
        }
        Ok(())
    }

    fn read(self, bytes: &[u8]) -> String {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        match self {
            Element::Int(size) => signed(bits, size as u32 * 8).to_string(),
            Element::Float => format!("{:?}", f32::from_bits(bits as u32)),
            Element::Double => format!("{:?}", f64::from_bits(bits)),
            Element::Text => String::new(),
        }
    }
}

impl Buffer {
    fn new(element: Element, initial: Vec<u8>) -> Buffer {
        let count = initial.len() / element.size();
        // One past the last byte is the buffer's too: an address for what is empty.
        let memory = vec![0; initial.len() / 16 + 1];
        let mut buffer = Buffer { element, count, initial, memory };
        buffer.reset();
        buffer
    }

    /// Gives it the contents that it had before the call.
    pub fn reset(&mut self) {
        let words = self.initial.chunks(16);
        for (to, bytes) in self.memory.iter_mut().zip(words) {
            let mut word = [0; 16];
            word[..bytes.len()].copy_from_slice(bytes);
            *to = u128::from_le_bytes(word);
        }
    }

    /// What a function gets.
    pub fn address(&mut self) -> u64 {
        self.memory.as_mut_ptr() as u64
    }

    /// What is in it now.
    pub fn text(&self) -> String {
        let bytes: Vec<u8> = self.memory.iter().flat_map(|word| word.to_le_bytes()).collect();
        let bytes = &bytes[..self.initial.len()];
        if self.element == Element::Text {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            return format!("string:{:?}", String::from_utf8_lossy(&bytes[..end]));
        }
        let elements = bytes.chunks(self.element.size()).map(|bytes| self.element.read(bytes));
        let elements: Vec<String> = elements.take(self.count).collect();
        format!("{}[{}]", self.element.name(), elements.join(","))
    }
}

/// An argument.
pub enum Argument {
    /// Its bits
    Bits(u64),
    /// A buffer's address
    Buffer(Buffer),
    /// The address of a function or a variable of the program
    Address(String),
}

/// Reads an argument of a type.
///
/// # Errors
/// What is wrong with the text.
pub fn argument(text: &str, kind: Kind) -> Result<Argument, String> {
    match kind {
        Kind::Int(bits) => integer(text, bits).map(Argument::Bits),
        Kind::Float => Ok(Argument::Bits(float::<f32>(text)?.to_bits().into())),
        Kind::Double => Ok(Argument::Bits(float::<f64>(text)?.to_bits())),
        Kind::Pointer => pointer(text),
        Kind::Void | Kind::Other => Err("a value of its type cannot be given".to_string()),
    }
}

fn pointer(text: &str) -> Result<Argument, String> {
    if text == "null" {
        return Ok(Argument::Bits(0));
    }
    if let Some(name) = text.strip_prefix('@') {
        return Ok(Argument::Address(name.to_string()));
    }
    if text.starts_with("0x") {
        return integer(text, 64).map(Argument::Bits);
    }
    if let Some(text) = text.strip_prefix("string:") {
        let bytes = unquoted(text)
            .ok_or(r#"a string is string:"text", with \n, \t, \0, \\, \" and \xNN"#)?;
        return Ok(Argument::Buffer(Buffer::new(Element::Text, [bytes, vec![0]].concat())));
    }
    if let Some(rest) = text.strip_prefix("buffer:") {
        return buffer(rest).map(Argument::Buffer);
    }
    Err(format!(
        "'{text}' is no pointer; a pointer is null, buffer:TYPE[VALUES], buffer:TYPE:COUNT, \
         string:\"text\", @NAME or 0xADDRESS"
    ))
}

/// `TYPE[VALUES]` or `TYPE:COUNT`.
fn buffer(text: &str) -> Result<Buffer, String> {
    let too_large = || format!("a buffer has at most {MOST_BYTES} bytes");
    if let Some((name, values)) = text.split_once('[') {
        let element = Element::named(name)?;
        let values = values.strip_suffix(']').ok_or("the values of a buffer end with ]")?;
        let mut bytes = Vec::new();
        for value in values.split(',').map(str::trim).filter(|value| !value.is_empty()) {
            match value.split_once("..") {
                None => element.write(value, &mut bytes)?,
                Some((from, to)) => {
                    let (from, to) = (number(from.trim())?, number(to.trim())?);
                    let count = usize::try_from(to.saturating_sub(from)).unwrap_or(0);
                    if count.saturating_mul(element.size()) > MOST_BYTES - bytes.len() {
                        return Err(too_large());
                    }
                    for value in from..to {
                        element.write(&value.to_string(), &mut bytes)?;
                    }
                }
            }
        }
        return Ok(Buffer::new(element, bytes));
    }
    let (name, count) = text.split_once(':').ok_or("a buffer is TYPE[VALUES] or TYPE:COUNT")?;
    let element = Element::named(name)?;
    let count: usize = count.parse().map_err(|_| format!("'{count}' is no number of elements"))?;
    let bytes = count.checked_mul(element.size()).filter(|&bytes| bytes <= MOST_BYTES);
    Ok(Buffer::new(element, vec![0; bytes.ok_or_else(too_large)?]))
}

fn number(text: &str) -> Result<i128, String> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) if !digits.starts_with(['+', '-']) => i128::from_str_radix(digits, 16),
        _ if digits.starts_with(['+', '-']) => "".parse(),
        _ => digits.parse(),
    };
    let value = value.map_err(|_| format!("'{text}' is no integer"))?;
    Ok(if negative { -value } else { value })
}

/// The bits of an integer, which may be written signed or unsigned.
fn integer(text: &str, bits: u32) -> Result<u64, String> {
    let value = match text {
        "true" if bits == 1 => 1,
        "false" if bits == 1 => 0,
        _ => number(text)?,
    };
    let (low, high) = (-(1_i128 << (bits - 1)), 1_i128 << bits);
    if !(low..high).contains(&value) {
        return Err(format!("{text} is no value of i{bits}"));
    }
    Ok((value & (high - 1)) as u64)
}

fn float<F: std::str::FromStr>(text: &str) -> Result<F, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}

fn signed(value: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (value << unused).cast_signed() >> unused
}

/// A result as it is shown.
pub fn result(value: u64, kind: Kind) -> String {
    match kind {
        Kind::Void => "void".to_string(),
        Kind::Int(1) => (value & 1).to_string(),
        Kind::Int(bits) => signed(value, bits).to_string(),
        Kind::Float => format!("{:?}", f32::from_bits(value as u32)),
        Kind::Double => format!("{:?}", f64::from_bits(value)),
        Kind::Pointer if value == 0 => "null".to_string(),
        Kind::Pointer | Kind::Other => format!("{value:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(text: &str, kind: Kind) -> Result<u64, String> {
        match argument(text, kind)? {
            Argument::Bits(bits) => Ok(bits),
            _ => Err("no bits".to_string()),
        }
    }

    fn contents(text: &str) -> String {
        match argument(text, Kind::Pointer) {
            Ok(Argument::Buffer(buffer)) => buffer.text(),
            Ok(_) => "no buffer".to_string(),
            Err(problem) => problem,
        }
    }

    #[test]
    fn integers_are_signed_or_unsigned_values_of_their_type() {
        assert_eq!(bits("-1", Kind::Int(8)), Ok(0xff));
        assert_eq!(bits("255", Kind::Int(8)), Ok(0xff));
        assert_eq!(bits("-0x80", Kind::Int(8)), Ok(0x80));
        assert_eq!(bits("18446744073709551615", Kind::Int(64)), Ok(u64::MAX));
        assert_eq!(bits("true", Kind::Int(1)), Ok(1));
        for (text, width) in [("256", 8), ("-129", 8), ("2", 1), ("x", 32), ("0x", 32), ("--1", 32)]
        {
            assert!(bits(text, Kind::Int(width)).is_err(), "{text}");
        }
    }

    #[test]
    fn results_are_shown_as_their_type_says() {
        assert_eq!(result(0xff, Kind::Int(8)), "-1");
        assert_eq!(result(1.5_f64.to_bits(), Kind::Double), "1.5");
        assert_eq!(result(u64::MAX, Kind::Int(64)), "-1");
        assert_eq!(result(7, Kind::Void), "void");
        assert_eq!(result(0, Kind::Pointer), "null");
    }

    #[test]
    fn buffers_have_what_is_written() {
        assert_eq!(contents("buffer:i32[1, -2, 0x3]"), "i32[1,-2,3]");
        assert_eq!(contents("buffer:i64[0..4,9]"), "i64[0,1,2,3,9]");
        assert_eq!(contents("buffer:f64[0.5]"), "f64[0.5]");
        assert_eq!(contents("buffer:bytes:3"), "i8[0,0,0]");
        assert_eq!(contents("buffer:i16[]"), "i16[]");
        assert_eq!(contents(r#"string:"a\tb""#), r#"string:"a\tb""#);
        for text in ["buffer:i7[1]", "buffer:i32", "buffer:i8:99999999999", "buffer:i8[300]", "x"] {
            assert!(!contents(text).starts_with('i'), "{text}");
        }
        assert!(contents("buffer:i64[0..99999999999]").contains("at most"));
    }
}
