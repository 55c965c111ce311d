//! Random single-threaded C programs without undefined behaviour: they print what they compute.
//!
//! Integers of all sizes up to 64 bits are computed unsigned and cast back; divisors are made odd and positive,
//! shifts kept in range, array indices masked; loops count to constants; floating point stays finite;
//! 128-bit numbers are unsigned and cast for signed operations.

use std::fmt::Write;

/// The program for a seed.
pub fn program(seed: u64) -> String {
    let mut g =
        Generator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, functions: 0, out: String::new() };
    g.out.push_str(
        "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <stdarg.h>\n\
         struct s { int8_t a; uint64_t b; int16_t c; float d; int32_t e[4]; };\n\
         static uint32_t words[8]; static uint64_t longs[8]; static uint8_t bytes[16]; static double reals[4];\n\
         static struct s object = {1, 2, 3, 4.5f, {5, 6, 7, 8}};\n\
         static long total(int n, ...) { va_list ap; va_start(ap, n); long r = 0; while (n--) r = r * 31 + va_arg(ap, int); va_end(ap); return r; }\n\
         static double mean(int n, ...) { va_list ap; va_start(ap, n); double r = 0; for (int i = 0; i < n; i++) r += va_arg(ap, double); va_end(ap); return r / n; }\n\
         typedef unsigned __int128 u128; typedef __int128 i128; static u128 wides[4];\n\
         static u128 twist(u128 a, i128 b) { return (a ^ ((u128)b << 3)) + (u128)(b >> 5); }\n\
         static double mixed(int n, ...) { va_list ap, aq; va_start(ap, n); va_copy(aq, ap); double r = va_arg(aq, long); va_end(aq); for (int i = 0; i < n; i++) { r += (int16_t)va_arg(ap, long); r += va_arg(ap, double); r += (int16_t)(intptr_t)va_arg(ap, char *); } va_end(ap); return r; }\n",
    );
    for _ in 0..3 {
        g.function();
    }
    g.main();
    g.out
}

struct Generator {
    state: u64,
    functions: u32,
    out: String,
}

const TYPES: [&str; 8] =
    ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"];

impl Generator {
    fn next(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % below
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.next(from.len() as u64) as usize]
    }

    /// An integer expression of some type over the variables v0..v5.
    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.next(8) {
                0 => format!("{}", self.next(1000)),
                1 => format!("{:#x}ull", self.state),
                2 => format!("words[{} & 7]", self.variable()),
                3 => format!("longs[{} & 7]", self.variable()),
                4 => format!("bytes[{} & 15]", self.variable()),
                5 => self.pick(&["object.a", "object.b", "object.c", "object.e[v1 & 3]"]).to_string(),
                _ => self.variable(),
            };
        }
        let a = self.expression(depth - 1);
        let b = self.expression(depth - 1);
        let ty = self.pick(&TYPES);
        match self.next(13) {
            0 => format!("({ty})((uint64_t)({a}) + (uint64_t)({b}))"),
            1 => format!("({ty})((uint64_t)({a}) - (uint64_t)({b}))"),
            2 => format!("({ty})((uint64_t)({a}) * (uint64_t)({b}))"),
            3 => format!("({ty})((uint64_t)({a}) / (((uint64_t)({b}) & 0xffff) | 1))"),
            4 => format!("(int64_t)((int64_t)({a}) % (int64_t)(((uint64_t)({b}) & 0xffff) | 1))"),
            5 => format!("({ty})((uint64_t)({a}) << (({b}) & 63))"),
            6 => format!("(({ty})({a}) >> (({b}) & 7))"),
            7 => format!("(({ty})({a}) {} ({ty})({b}))", self.pick(&["&", "|", "^"])),
            8 => format!("(({ty})({a}) {} ({ty})({b}))", self.pick(&["<", "<=", ">", ">=", "==", "!="])),
            9 => format!("(({a}) ? ({b}) : ({}))", self.expression(depth - 1)),
            10 => format!("({ty})~(uint64_t)({a})"),
            11 => {
                format!("__builtin_{}(({}))", self.pick(&["popcount", "popcountll", "bswap32", "bswap64"]), a)
            }
            _ if self.functions > 0 => {
                let f = self.next(self.functions.into());
                format!("f{f}((int32_t)({a}), (uint64_t)({b}))")
            }
            _ => format!("total(3, (int)({a}), (int)({b}), 7)"),
        }
    }

    fn variable(&mut self) -> String {
        format!("v{}", self.next(6))
    }

    fn real(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.next(4) {
                0 => format!("{}.{}", self.next(100), self.next(1000)),
                1 => format!("reals[{} & 3]", self.variable()),
                2 => format!("(double)(int16_t){}", self.variable()),
                _ => "object.d".to_string(),
            };
        }
        let (a, b) = (self.real(depth - 1), self.real(depth - 1));
        match self.next(6) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("(float)({a} * 0.5 + {b})"),
            3 => format!("({a} / ({b} * {b} + 1))"),
            4 => format!("({a} < {b} ? {a} : {b})"),
            _ => format!("mean(2, (double){a}, (double){b})"),
        }
    }

    /// A 128-bit expression, unsigned.
    fn wide(&mut self, depth: u32) -> String {
        if depth == 0 {
            let (a, b) = (self.expression(0), self.expression(0));
            return match self.next(4) {
                0 => format!("((u128)(uint64_t)({a}) << 64 | (uint64_t)({b}))"),
                1 => format!("(u128)(i128)(int64_t)({a})"),
                2 => format!("(u128)(uint64_t)({b})"),
                _ => format!("wides[{} & 3]", self.variable()),
            };
        }
        let (a, b) = (self.wide(depth - 1), self.wide(depth - 1));
        match self.next(13) {
            0 => format!("({a} + {b})"),
            1 => format!("({a} - {b})"),
            2 => format!("({a} * {b})"),
            3 => format!("({a} / (({b} >> 70) | 1))"),
            4 => format!("({a} % ({b} | 1))"),
            5 => format!("(u128)((i128){a} / (i128)(({b} & 0xffff) | 1))"),
            6 => format!("(u128)((i128){a} % (i128)(({b} >> 40 & 0xffffffffff) | 1))"),
            7 => format!("({a} << (int)({b} & 127))"),
            8 => format!("({a} >> (int)({b} & 127))"),
            9 => format!("(u128)((i128){a} >> (int)({b} & 127))"),
            10 => format!("({a} {} {b})", self.pick(&["&", "|", "^"])),
            11 => {
                let op = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
                let ty = self.pick(&["i128", "u128"]);
                format!("(u128)(({ty}){a} {op} ({ty}){b})")
            }
            _ => format!("twist({a}, (i128){b})"),
        }
    }

    fn statement(&mut self, depth: u32) {
        match self.next(15) {
            0..=2 => {
                let (v, e) = (self.variable(), self.expression(2));
                let _ = writeln!(self.out, "{v} = {e};");
            }
            3 => {
                let (v, e) = (self.variable(), self.expression(1));
                let array = self.pick(&["words[V & 7]", "longs[V & 7]", "bytes[V & 15]", "object.e[V & 3]"]);
                let _ = writeln!(self.out, "{} = {e};", array.replace('V', &v));
            }
            4 => {
                let e = self.expression(2);
                let field = self.pick(&["object.a", "object.b", "object.c"]);
                let _ = writeln!(self.out, "{field} = {e};");
            }
            5 => {
                let (v, r) = (self.variable(), self.real(2));
                let _ = writeln!(self.out, "reals[{v} & 3] = {r};");
            }
            6 if depth > 0 => {
                let e = self.expression(2);
                let _ = writeln!(self.out, "if ({e}) {{");
                self.block(depth - 1);
                self.out.push_str("} else {\n");
                self.block(depth - 1);
                self.out.push_str("}\n");
            }
            7 if depth > 0 => {
                let (n, name) = (self.next(6) + 1, format!("i{depth}"));
                let _ = writeln!(self.out, "for (int {name} = 0; {name} < {n}; {name}++) {{");
                self.block(depth - 1);
                let e = self.expression(1);
                let jump = self.pick(&["break", "continue"]);
                let _ = writeln!(self.out, "if ({e}) {jump};");
                self.block(depth - 1);
                self.out.push_str("}\n");
            }
            8 if depth > 0 => {
                let e = self.expression(1);
                let _ = writeln!(self.out, "switch (({e}) & 3) {{");
                for case in 0..3 {
                    let _ = writeln!(self.out, "case {case}:");
                    self.block(depth - 1);
                    if self.next(3) > 0 {
                        self.out.push_str("break;\n");
                    }
                }
                self.out.push_str("default:\n");
                self.block(depth - 1);
                self.out.push_str("}\n");
            }
            9 => {
                let (n, e) = (self.next(5) + 1, self.expression(1));
                let _ = writeln!(
                    self.out,
                    "{{ uint32_t *p = malloc({n} * sizeof *p); for (int k = 0; k < {n}; k++) p[k] = (uint32_t)({e}) + k; \
                     uint32_t q[{n}]; memcpy(q, p, sizeof q); memmove(words + 1, q, {}); v2 += q[{}]; free(p); }}",
                    4 * n.min(7),
                    n - 1
                );
            }
            10 => {
                let e = self.expression(1);
                let _ = writeln!(
                    self.out,
                    "{{ struct s local = object; local.e[v3 & 3] ^= (int)({e}); object = local; v4 += local.e[1]; }}"
                );
            }
            11 | 12 => {
                let (v, w) = (self.variable(), self.wide(2));
                let half = self.pick(&["(uint64_t)w", "(uint64_t)(w >> 64)", "!w", "(int32_t)(i128)w"]);
                let _ = writeln!(self.out, "{{ u128 w = {w}; wides[{v} & 3] ^= w; {v} += {half}; }}");
            }
            13 => {
                let (v, a, b) = (self.variable(), self.expression(0), self.expression(0));
                let (x, y) = (self.real(1), self.real(1));
                let _ = writeln!(
                    self.out,
                    "reals[{v} & 3] = mixed(2, (long)({a}), (double)({x}), (char *)0, (long)({b}), (double)({y}), (char *)8);"
                );
            }
            _ => {
                let (v, r) = (self.variable(), self.real(1));
                let _ = writeln!(self.out, "{v} += (int64_t)({r});");
            }
        }
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..self.next(3) + 1 {
            self.statement(depth);
        }
    }

    fn variables(&mut self, a: &str, b: &str) {
        for v in 0..6 {
            let ty = self.pick(&TYPES);
            let value = match v {
                0 => a.to_string(),
                1 => b.to_string(),
                _ => self.next(1 << 20).to_string(),
            };
            let _ = writeln!(self.out, "{ty} v{v} = ({ty}){value};");
        }
    }

    fn function(&mut self) {
        let _ = writeln!(self.out, "static uint64_t f{}(int32_t a, uint64_t b) {{", self.functions);
        self.variables("a", "b");
        for _ in 0..4 {
            self.statement(2);
        }
        let e = self.expression(2);
        let _ = writeln!(self.out, "return (uint64_t)({e});\n}}");
        self.functions += 1;
    }

    fn main(&mut self) {
        self.out.push_str("int main(void) {\n");
        self.variables("12", "34");
        self.out.push_str("for (int k = 0; k < 8; k++) { words[k] = k * 77; longs[k] = k * 123456789ull; } reals[1] = 2.5;\n");
        for _ in 0..8 {
            self.statement(2);
            self.out
                .push_str("printf(\"%lld %llu %d\\n\", (long long)v0, (unsigned long long)v1, (int)v2);\n");
        }
        self.out.push_str(
            "for (int k = 0; k < 8; k++) printf(\"%u %llx \", words[k], (unsigned long long)longs[k]);\n\
             for (int k = 0; k < 16; k++) printf(\"%d \", bytes[k]);\n\
             for (int k = 0; k < 4; k++) printf(\"%llx.%llx \", (unsigned long long)(wides[k] >> 64), (unsigned long long)wides[k]);\n\
             for (int k = 0; k < 4; k++) printf(\"%.6g %d \", reals[k], object.e[k]);\n\
             printf(\"%d %llu %d %f\\n\", object.a, (unsigned long long)object.b, object.c, object.d);\nreturn 0;\n}\n",
        );
    }
}
