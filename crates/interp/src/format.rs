//! `printf`'s formatting.
//!
//! Deviations: `%n`, `%ls`, `long double` and `%a` are not supported and say so.

use porf_event::Value;

/// The text, given the next argument (8 bytes each) and the string at an address.
pub(crate) fn format(
    template: &[u8],
    mut argument: impl FnMut() -> Result<Value, String>,
    mut string: impl FnMut(Value, Option<usize>) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < template.len() {
        if template[at] != b'%' {
            out.push(template[at]);
            at += 1;
            continue;
        }
        let (spec, next) = Spec::parse(template, at + 1, &mut argument)?;
        at = next;
        let body = match spec.conversion {
            b'%' => {
                out.push(b'%');
                continue;
            }
            b'd' | b'i' => spec.integer(spec.signed(argument()?)),
            b'u' => spec.digits(spec.unsigned(argument()?).to_string(), ""),
            b'x' => spec.alternate(format!("{:x}", spec.unsigned(argument()?)), "0x"),
            b'X' => spec.alternate(format!("{:X}", spec.unsigned(argument()?)), "0X"),
            b'o' => spec.alternate(format!("{:o}", spec.unsigned(argument()?)), "0"),
            b'p' => match argument()? {
                0 => spec.pad(b"(nil)".to_vec(), false),
                address => spec.pad(format!("{address:#x}").into_bytes(), false),
            },
            b'c' => spec.pad(vec![argument()? as u8], false),
            b's' => {
                let text = string(argument()?, spec.precision)?;
                spec.pad(text, false)
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => spec.float(f64::from_bits(argument()?)),
            other => return Err(format!("printf conversion %{}", char::from(other))),
        };
        out.extend(body);
    }
    Ok(out)
}

#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    zero: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// Bytes of an integer argument.
    size: u8,
    conversion: u8,
}

impl Spec {
    fn parse(
        template: &[u8],
        mut at: usize,
        argument: &mut impl FnMut() -> Result<Value, String>,
    ) -> Result<(Spec, usize), String> {
        let mut spec = Spec { size: 4, ..Spec::default() };
        let peek = |at: usize| template.get(at).copied().unwrap_or(0);
        loop {
            match peek(at) {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'0' => spec.zero = true,
                b'#' => spec.alternate = true,
                _ => break,
            }
            at += 1;
        }
        let mut number = |at: &mut usize| -> Result<i64, String> {
            if peek(*at) == b'*' {
                *at += 1;
                return Ok(i64::from(argument()? as i32));
            }
            let mut number = 0;
            while peek(*at).is_ascii_digit() {
                number = (number * 10 + i64::from(peek(*at) - b'0')).min(1 << 20);
                *at += 1;
            }
            Ok(number)
        };
        let width = number(&mut at)?;
        spec.left |= width < 0;
        spec.width = width.unsigned_abs() as usize;
        if peek(at) == b'.' {
            at += 1;
            let precision = number(&mut at)?;
            spec.precision = usize::try_from(precision).ok();
        }
        loop {
            match peek(at) {
                b'h' => spec.size = if spec.size == 2 { 1 } else { 2 },
                b'l' | b'z' | b'j' | b't' | b'q' => spec.size = 8,
                b'L' => return Err("printf of long double".to_string()),
                _ => break,
            }
            at += 1;
        }
        spec.conversion = peek(at);
        Ok((spec, at + 1))
    }

    fn signed(&self, value: Value) -> i64 {
        porf_ir::Width::of_bytes(self.size).signed(value)
    }

    fn unsigned(&self, value: Value) -> u64 {
        porf_ir::Width::of_bytes(self.size).truncate(value)
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (.., true) => " ",
            _ => "",
        }
    }

    fn integer(&self, value: i64) -> Vec<u8> {
        self.digits(value.unsigned_abs().to_string(), self.sign(value < 0))
    }

    fn alternate(&self, digits: String, prefix: &str) -> Vec<u8> {
        let prefix = if self.alternate && digits != "0" { prefix } else { "" };
        self.digits(digits, prefix)
    }

    /// Precision and zero padding of integers.
    fn digits(&self, digits: String, prefix: &str) -> Vec<u8> {
        let digits = if self.precision == Some(0) && digits == "0" { String::new() } else { digits };
        let least = match self.precision {
            Some(precision) => precision,
            None if self.zero && !self.left => self.width.saturating_sub(prefix.len()),
            None => 0,
        };
        let zeros = "0".repeat(least.saturating_sub(digits.len()));
        self.pad(format!("{prefix}{zeros}{digits}").into_bytes(), true)
    }

    fn float(&self, value: f64) -> Vec<u8> {
        let upper = self.conversion.is_ascii_uppercase();
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        let body = if value.is_nan() {
            "nan".to_string()
        } else if value.is_infinite() {
            "inf".to_string()
        } else {
            let precision = self.precision.unwrap_or(6);
            match self.conversion.to_ascii_lowercase() {
                b'f' => format!("{magnitude:.precision$}"),
                b'e' => scientific(magnitude, precision),
                _ => general(magnitude, precision.max(1), self.alternate),
            }
        };
        let body = if upper { body.to_uppercase() } else { body };
        let zeros = if self.zero && !self.left && value.is_finite() {
            "0".repeat(self.width.saturating_sub(sign.len() + body.len()))
        } else {
            String::new()
        };
        self.pad(format!("{sign}{zeros}{body}").into_bytes(), true)
    }

    fn pad(&self, body: Vec<u8>, _number: bool) -> Vec<u8> {
        let fill = vec![b' '; self.width.saturating_sub(body.len())];
        if self.left { [body, fill].concat() } else { [fill, body].concat() }
    }
}

/// As C writes it: at least two digits of exponent, with a sign.
fn scientific(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

fn general(value: f64, precision: usize, keep_zeros: bool) -> String {
    let text = format!("{value:.*e}", precision - 1);
    let exponent: i32 = text.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
    let trim = |text: String| {
        if keep_zeros || !text.contains('.') {
            return text;
        }
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    if exponent < -4 || exponent >= precision as i32 {
        let text = scientific(value, precision - 1);
        let (mantissa, rest) = text.split_once('e').expect("scientific writes an exponent");
        format!("{}e{rest}", trim(mantissa.to_string()))
    } else {
        trim(format!("{value:.*}", (precision as i32 - 1 - exponent) as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(template: &str, arguments: &[u64], expected: &str) {
        let mut arguments = arguments.iter().copied();
        let text = format(
            template.as_bytes(),
            || arguments.next().ok_or("no argument".to_string()),
            |_, precision| Ok(b"text"[..precision.unwrap_or(4).min(4)].to_vec()),
        );
        assert_eq!(String::from_utf8(text.unwrap()).unwrap(), expected);
    }

    #[test]
    fn conversions() {
        check("%d %5d|%-5d|%05d|%+d", &[-1i64 as u64, 42, 42, 42, 7], "-1    42|42   |00042|+7");
        check("%u %x %#x %o %c %%", &[u64::MAX, 255, 255, 8, 65], "4294967295 ff 0xff 10 A %");
        check("%ld %llx %hhd", &[-5i64 as u64, u64::MAX, 0x1ff], "-5 ffffffffffffffff -1");
        check("%s %.2s|%6s|%-6s|", &[1, 1, 1, 1], "text te|  text|text  |");
        let f = |value: f64| value.to_bits();
        check("%f %.2f %8.3f", &[f(1.5), f(-2.345), f(3.25)], "1.500000 -2.35    3.250");
        check(
            "%e %g %g %g %g",
            &[f(12345.678), f(0.0001), f(1e10), f(100000.0), f(1e6)],
            "1.234568e+04 0.0001 1e+10 100000 1e+06",
        );
        check("%g %f %.3d", &[f(f64::INFINITY), f(f64::NAN), 5], "inf nan 005");
    }
}
