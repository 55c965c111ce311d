//! A generator of random array systems, as text.

/// What a random system is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Weak flags, each written by its owner alone.
    Flags,
    /// Weak variables that every process writes, and flags of others.
    Shared,
    /// Two straight lines of writes, reads and fences, as in litmus tests.
    Litmus,
    /// No weak memory: plain globals and arrays, cases, choices.
    Plain,
    /// Plain integers and processes.
    Numbers,
    /// Counters that follow the places of processes, most of the time.
    Counters,
    /// Tickets, and who has the least.
    Orders,
    /// A flag that is set while somebody has a mark, most of the time.
    Marks,
}

impl Shape {
    pub const ALL: [Shape; 6] =
        [Shape::Flags, Shape::Litmus, Shape::Shared, Shape::Plain, Shape::Litmus, Shape::Numbers];
    /// What speaks of all processes at once.
    pub const OF_ALL: [Shape; 3] = [Shape::Counters, Shape::Orders, Shape::Marks];
}

pub struct Generator {
    state: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Generator {
        Generator { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03 }
    }

    /// xorshift64*: reproducible everywhere.
    pub fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    pub fn system(&mut self, shape: Shape) -> String {
        match shape {
            Shape::Flags | Shape::Shared => self.weak(shape),
            Shape::Litmus => self.litmus(),
            Shape::Plain => self.plain(),
            Shape::Numbers => self.numbers(),
            Shape::Counters => self.counters(),
            Shape::Orders => self.orders(),
            Shape::Marks => self.marks(),
        }
    }

    fn loc(&mut self) -> &'static str {
        self.pick(&["A", "B", "C", "D"])
    }

    fn bit(&mut self) -> &'static str {
        self.pick(&["True", "False"])
    }

    fn weak(&mut self, shape: Shape) -> String {
        let shared = shape == Shape::Shared;
        let mut text = String::from(
            "type loc = A | B | C | D\narray PC[proc] : loc\narray R[proc] : bool\nweak array F[proc] : bool\nweak array G[proc] : bool\n",
        );
        let mut init = String::from("PC[p] = A && R[p] = False && F[p] = False && G[p] = False");
        if shared {
            text.push_str("weak var X : bool\nweak var Y : loc\n");
            init.push_str(" && X = False && Y = A");
        }
        text.push_str(&format!("init (p) {{ {init} }}\n"));
        let unsafes = match self.below(4) {
            0 if shared => format!("(p q) {{ PC[p] = D && p@X = {} && q@Y = {} }}", self.bit(), self.loc()),
            0 => format!("(p q) {{ p@F[q] = {} && q@F[p] = {} && PC[p] = D }}", self.bit(), self.bit()),
            1 => format!("(p q) {{ PC[p] = D && PC[q] = {} && R[p] = {} }}", self.loc(), self.bit()),
            _ => "(p q) { PC[p] = D && PC[q] = D }".to_owned(),
        };
        text.push_str(&format!("unsafe {unsafes}\n"));
        let count = 3 + self.below(4);
        for i in 0..count {
            text.push_str(&self.weak_transition(i, shared));
        }
        text
    }

    fn litmus(&mut self) -> String {
        let mut text = String::from(
            "type loc = A | B1 | C1 | D1 | B2 | C2 | D2\ntype val = Zero | One | Two\narray PC[proc] : loc\n\
             weak var X : val\nweak var Y : val\nweak array F[proc] : val\n\
             init (p) { PC[p] = A && X = Zero && Y = Zero && F[p] = Zero }\n",
        );
        // Where models differ: two short programs and the final reads that tell; then something is changed.
        let (mut chains, ending) = match self.below(7) {
            0 => ([["WX1", "RX1", "RY0"], ["WY1", "RY1", "RX0"]], ""),
            1 => ([["WX1", "", "RY0"], ["WY1", "", "RX0"]], ""),
            2 => ([["WX1", "", "WY1"], ["RY1", "", "RX0"]], ""),
            3 => ([["WX1", "", "WY2"], ["WY1", "", "WX2"]], " && p@X = One && q@Y = One"),
            4 => ([["WX1", "", "WY1"], ["WY2", "", "RX0"]], " && p@Y = Two"),
            5 => ([["WX2", "", "WY1"], ["RY1", "", "WX1"]], " && p@X = Two"),
            _ => ([["WF1", "", "RF0"], ["WF1", "", "RF0"]], ""),
        };
        for chain in &mut chains {
            for operation in chain.iter_mut() {
                if self.one_in(7) {
                    *operation =
                        self.pick(&["", "WX1", "WY2", "RX0", "RY1", "RX2", "LX1", "G1", "WF1", "RF1"]);
                }
            }
        }
        text.push_str(&format!("unsafe (p q) {{ PC[p] = D1 && PC[q] = D2{ending} }}\n"));
        for (chain, operations) in chains.iter().enumerate() {
            let mut from = "A".to_owned();
            for (stage, operation) in ["B", "C", "D"].into_iter().zip(operations) {
                let to = format!("{stage}{}", chain + 1);
                let fence = if self.one_in(6) { " && fence()" } else { "" };
                let value = match operation.chars().last() {
                    Some('0') => "Zero",
                    Some('2') => "Two",
                    _ => "One",
                };
                let place = |own: bool| match operation.chars().nth(1) {
                    Some('X') => "X",
                    Some('Y') => "Y",
                    _ if own => "F[p]",
                    _ => "F[q]",
                };
                let body = match operation.chars().next() {
                    Some('W') => {
                        format!("{{ PC[p] = {from}{fence} }} {{ PC[p] := {to}; {} := {value} }}", place(true))
                    }
                    Some('R') => format!(
                        "{{ PC[p] = {from} && {} = {value}{fence} }} {{ PC[p] := {to} }}",
                        place(false)
                    ),
                    Some('L') => format!("{{ PC[p] = {from} && X = {value} }} {{ PC[p] := {to}; X := Two }}"),
                    Some('G') => {
                        format!("{{ PC[p] = {from}{fence} }} {{ PC[p] := {to}; X := {value}; Y := {value} }}")
                    }
                    _ => format!("{{ PC[p] = {from}{fence} }} {{ PC[p] := {to} }}"),
                };
                text.push_str(&format!(
                    "transition {}{} ([p] q) requires {body}\n",
                    stage.to_lowercase(),
                    chain + 1
                ));
                from = to;
            }
        }
        text
    }

    fn weak_transition(&mut self, i: usize, shared: bool) -> String {
        let two = self.one_in(3);
        let from = ["A", "B", "C", "D"][if i < 3 { i } else { self.below(4) }];
        let to = if i < 3 { ["B", "C", "D"][i] } else { self.loc() };
        let mut guard = vec![format!("PC[p] = {from}")];
        if self.one_in(3) {
            guard.push("fence()".into());
        }
        let reads = self.below(3);
        for _ in 0..reads {
            let bit = self.bit();
            guard.push(match self.below(if shared { 6 } else { 4 }) {
                0 => format!("F[p] = {bit}"),
                1 if two => format!("F[q] = {bit}"),
                1 => format!("G[p] = {bit}"),
                2 => format!("R[p] = {bit}"),
                3 => format!("(forall_other k. F[k] = {bit})"),
                4 => format!("X = {bit}"),
                _ => format!("Y <> {}", self.loc()),
            });
        }
        let mut updates = vec![format!("PC[p] := {to}")];
        let mut written = Vec::new();
        for _ in 0..self.below(3) {
            let (bit, loc) = (self.bit(), self.loc());
            let (name, update) = match self.below(if shared { 8 } else { 4 }) {
                0 => ("F", format!("F[p] := {bit}")),
                1 => ("G", format!("G[p] := {bit}")),
                2 => ("R", format!("R[p] := {}", if two { "F[q]" } else { "F[p]" })),
                3 => ("R", format!("R[p] := {bit}")),
                4 => ("X", format!("X := {}", self.pick(&["True", "False", "R[p]", "?"]))),
                5 => ("Y", format!("Y := {loc}")),
                6 if two => ("F", format!("F[q] := {bit}")),
                6 => (
                    "F",
                    format!("F[j] := case | j = p : {bit} | _ : {}", self.pick(&["True", "F[j]", "False"])),
                ),
                _ => ("R", "R[p] := X".to_owned()),
            };
            if !written.contains(&name) {
                written.push(name);
                updates.push(update);
            }
        }
        let params = if two { "[p] q" } else { "[p]" };
        format!(
            "transition t{i} ({params}) requires {{ {} }} {{ {} }}\n",
            guard.join(" && "),
            updates.join("; ")
        )
    }

    fn plain(&mut self) -> String {
        let mut text = String::from(
            "type loc = A | B | C | D\narray PC[proc] : loc\narray F[proc] : bool\nvar X : bool\nvar Y : loc\nvar T : proc\narray M[proc, proc] : bool\n",
        );
        text.push_str("init (p q) { PC[p] = A && F[p] = False && X = False && Y = A && M[p, q] = False }\n");
        let unsafes = match self.below(4) {
            0 => format!("(p q) {{ PC[p] = D && M[p, q] = True && Y = {} }}", self.loc()),
            1 => format!("(p q) {{ PC[p] = D && PC[q] = {} && T = p }}", self.loc()),
            2 => "(p) { (PC[p] = D || F[p] = True) && Y = C }".to_owned(),
            _ => "(p q) { PC[p] = D && PC[q] = D }".to_owned(),
        };
        text.push_str(&format!("unsafe {unsafes}\n"));
        for i in 0..3 + self.below(4) {
            let two = self.one_in(2);
            let from = ["A", "B", "C", "D"][if i < 3 { i } else { self.below(4) }];
            let to = if i < 3 { ["B", "C", "D"][i] } else { self.loc() };
            let mut guard = vec![format!("PC[p] = {from}")];
            for _ in 0..self.below(3) {
                let (bit, loc) = (self.bit(), self.loc());
                guard.push(match self.below(9) {
                    0 => format!("X = {bit}"),
                    1 => format!("Y <> {loc}"),
                    2 => format!("(forall_other k. F[k] = {bit} || PC[k] = {loc})"),
                    3 if two => format!("M[p, q] = {bit}"),
                    3 => format!("F[p] = X && Y = {loc}"),
                    4 => self.pick(&["T = p", "T <> p"]).to_owned(),
                    5 => format!("(exists_other k. PC[k] = {loc} && F[k] = {bit})"),
                    6 => format!("(if X = {bit} then Y = {loc} else F[p] = {bit})"),
                    7 => format!("not (X = {bit} && Y = {loc})"),
                    _ => format!("(X = {bit} <=> F[p] = {bit})"),
                });
            }
            let mut updates = vec![if self.one_in(3) {
                let (a, b) = (self.loc(), self.loc());
                format!("PC[j] := case | j = p : {to} | PC[j] = {a} : {b} | _ : PC[j]")
            } else {
                format!("PC[p] := {to}")
            }];
            let mut written = Vec::new();
            for _ in 0..self.below(3) {
                let (bit, loc) = (self.bit(), self.loc());
                let (name, update) = match self.below(8) {
                    0 => ("X", format!("X := {}", self.pick(&["True", "False", "F[p]", "?"]))),
                    1 => ("Y", format!("Y := {}", self.pick(&["A", "B", "C", "PC[p]", "?"]))),
                    2 => ("F", format!("F[p] := {bit}")),
                    3 => ("F", format!("F[j] := case | j = p : X | PC[j] = {loc} : {bit} | _ : F[j]")),
                    4 => ("T", self.pick(&["T := p", "T := ?"]).to_owned()),
                    5 if two => ("M", format!("M[p, q] := {bit}")),
                    5 => ("M", format!("M[i, j] := case | i = p : {bit} | i = j : X | _ : M[i, j]")),
                    6 => ("Y", format!("Y := case | X = {bit} : {loc} | F[p] = {bit} : A | _ : B")),
                    _ => ("X", format!("X := case | Y = {loc} : F[p]")),
                };
                if !written.contains(&name) {
                    written.push(name);
                    updates.push(update);
                }
            }
            text.push_str(&transition(i, two, &guard, &updates));
        }
        text
    }

    fn counters(&mut self) -> String {
        let mut text = String::from(
            "type loc = A | B | C | D\narray PC[proc] : loc\nweak var X : int\nweak var Y : int\nweak var F : bool\n\
             init (p) { PC[p] = A && X = 0 && Y = 0 && F = False }\n",
        );
        let unsafes = match self.below(4) {
            0 => "(p) { PC[p] = D && p@X = 0 }".to_owned(),
            1 => "(p q) { PC[p] = D && PC[q] = C }".to_owned(),
            2 => "(p) { PC[p] = C && p@X < p@Y }".to_owned(),
            _ => "(p q) { PC[p] = D && PC[q] = D }".to_owned(),
        };
        text.push_str(&format!("unsafe {unsafes}\n"));
        // What a process at each place adds to X and Y.
        let weights: [[i64; 2]; 4] = std::array::from_fn(|place| {
            [0, 1].map(|_| if place == 0 { 0 } else { self.below(3) as i64 - 1 })
        });
        let places = ["A", "B", "C", "D"];
        for i in 0..3 + self.below(4) {
            let from = if i < 3 { i } else { self.below(4) };
            let to = if i < 3 { i + 1 } else { self.below(4) };
            let mut guard = vec![format!("PC[p] = {}", places[from])];
            for _ in 0..self.below(3) {
                guard.push(match self.below(5) {
                    0 => format!("X = {}", self.below(3)),
                    1 => "X = Y".to_owned(),
                    2 => format!("F = {}", self.bit()),
                    3 => format!("Y < {}", 1 + self.below(3)),
                    _ => "0 < X".to_owned(),
                });
            }
            let mut updates = vec![format!("PC[p] := {}", places[to])];
            for (counter, name) in ["X", "Y"].into_iter().enumerate() {
                let right = weights[to][counter] - weights[from][counter];
                let step = if self.one_in(10) { self.below(3) as i64 - 1 } else { right };
                match step {
                    0 => {}
                    step if step < 0 => updates.push(format!("{name} := {name} - {}", -step)),
                    step => updates.push(format!("{name} := {name} + {step}")),
                }
            }
            if self.one_in(4) {
                updates.push(format!("F := {}", self.bit()));
            }
            // Numbers stay small: the explorer follows only so many.
            guard.push("X < 5 && Y < 5 && -5 < X && -5 < Y".to_owned());
            text.push_str(&acting(i, &guard, &updates));
        }
        text
    }

    fn orders(&mut self) -> String {
        let mut text = String::from(
            "type loc = A | B | C\narray PC[proc] : loc\narray My[proc] : int\nweak var Next : int\nweak var Now : int\n\
             init (p) { PC[p] = A && My[p] = 0 && Next = 0 && Now = 0 }\n",
        );
        let unsafes = match self.below(3) {
            0 => "(p q) { PC[p] = B && PC[q] = C && My[p] = My[q] }",
            1 => "(p q) { PC[p] = C && PC[q] = B && My[q] < My[p] }",
            _ => "(p q) { PC[p] = C && PC[q] = C }",
        };
        text.push_str(&format!("unsafe {unsafes}\n"));
        let take = self.pick(&[
            "My[p] := Next; Next := Next + 1",
            "My[p] := Now; Next := Next + 1",
            "My[p] := Next",
        ]);
        let enter = self.pick(&["Now = My[p]", "Now = My[p]", "Now <= My[p]", "My[p] < Next", "Now < Next"]);
        let leave = self.pick(&["Now := My[p] + 1", "Now := Now + 1", "Now := Next", "Now := My[p] + 1"]);
        let mut lines = vec![
            ("PC[p] = A && Next < 4".to_owned(), format!("PC[p] := B; {take}")),
            (format!("PC[p] = B && {enter}"), "PC[p] := C".to_owned()),
            ("PC[p] = C && Now < 5".to_owned(), format!("PC[p] := A; {leave}")),
        ];
        if self.one_in(3) {
            let back = self.pick(&["PC[p] := A", "PC[p] := C; Now := My[p]", "PC[p] := B; My[p] := Now"]);
            lines.push((
                self.pick(&["PC[p] = B && fence()", "PC[p] = C", "PC[p] = B"]).to_owned(),
                back.to_owned(),
            ));
        }
        for (i, (guard, updates)) in lines.into_iter().enumerate() {
            text.push_str(&acting(i, &[guard], &[updates]));
        }
        text
    }

    fn marks(&mut self) -> String {
        let mut text = String::from(
            "type loc = A | B | C\narray PC[proc] : loc\narray S[proc] : bool\nvar F : bool\nvar G : bool\n\
             init (p) { PC[p] = A && S[p] = False && F = False && G = False }\n",
        );
        let unsafes = match self.below(3) {
            0 => "(p q) { PC[p] = C && PC[q] = C }".to_owned(),
            1 => format!("(p) {{ PC[p] = C && F = True && S[p] = {} }}", self.bit()),
            _ => format!("(p q) {{ PC[p] = B && PC[q] = C && G = {} }}", self.bit()),
        };
        text.push_str(&format!("unsafe {unsafes}\n"));
        let flags = ["F = True", "F = False", "G = True", "G = False"];
        for i in 0..3 + self.below(4) {
            let mut guard = vec![format!("PC[p] = {}", self.pick(&["A", "B", "C"]))];
            if self.one_in(2) {
                guard.push(self.pick(&flags).to_owned());
            }
            if self.one_in(2) {
                guard.push(
                    self.pick(&[
                        "(forall_other k. S[k] = False)",
                        "(forall k. S[k] = False)",
                        "(exists_other k. S[k] = True)",
                        "S[p] = True",
                        "S[p] = False",
                        "(forall_other k. PC[k] = A)",
                    ])
                    .to_owned(),
                );
            }
            let mut updates = vec![format!("PC[p] := {}", self.pick(&["A", "B", "C"]))];
            updates.push(
                self.pick(&[
                    "F := True; S[p] := True",
                    "F := False; S[p] := False",
                    "F := False",
                    "G := True; S[j] := case | j = p : True | _ : S[j]",
                    "G := False; S[j] := case | PC[j] = B : False | _ : S[j]",
                    "F := True",
                    "S[p] := True",
                    "G := F",
                ])
                .to_owned(),
            );
            text.push_str(&transition(i, false, &guard, &updates));
        }
        text
    }

    fn numbers(&mut self) -> String {
        let mut text = String::from(
            "type loc = A | B | C\narray PC[proc] : loc\narray N[proc] : int\nvar X : int\nvar Y : int\nvar T : proc\narray U[proc] : proc\n",
        );
        text.push_str("init (p) { PC[p] = A && N[p] = 0 && X = 0 && Y = 1 && U[p] = p }\n");
        let unsafes = match self.below(4) {
            0 => "(p q) { N[p] = N[q] && PC[p] = C }".to_owned(),
            1 => format!("(p) {{ X > {} && PC[p] = C }}", self.below(3)),
            2 => "(p q) { U[p] = q && PC[q] = C && N[p] < X }".to_owned(),
            _ => "(p q) { PC[p] = C && PC[q] = C && p < q }".to_owned(),
        };
        text.push_str(&format!("unsafe {unsafes}\n"));
        for i in 0..3 + self.below(3) {
            let two = self.one_in(2);
            let from = ["A", "B", "C"][i % 3];
            let to = self.pick(&["A", "B", "C"]);
            let mut guard = vec![format!("PC[p] = {from}")];
            for _ in 0..1 + self.below(2) {
                let k = self.below(3);
                guard.push(match self.below(8) {
                    0 => format!("X <= {k}"),
                    1 => format!("N[p] < Y + {k}"),
                    2 => "X = N[p]".to_owned(),
                    3 => format!("Y <> {k}"),
                    4 if two => "N[p] < N[q]".to_owned(),
                    4 => "(forall_other k. N[p] <= N[k])".to_owned(),
                    5 if two => "p < q".to_owned(),
                    5 => "U[p] = T".to_owned(),
                    6 => format!("X < {}", k + 1),
                    _ => "T <= p".to_owned(),
                });
            }
            // Numbers stay small: the explorer follows only so many.
            guard.push("X < 3 && Y < 4 && N[p] < 4".to_owned());
            let mut updates = vec![format!("PC[p] := {to}")];
            let mut written = Vec::new();
            for _ in 0..1 + self.below(3) {
                let (name, update) = match self.below(7) {
                    0 => ("X", "X := X + 1".to_owned()),
                    1 => ("Y", format!("Y := {}", self.pick(&["X", "Y - 1", "N[p] + 1", "2"]))),
                    2 => ("N", format!("N[p] := {}", self.pick(&["X", "Y", "N[p] + 1", "0"]))),
                    3 => ("T", "T := p".to_owned()),
                    4 if two => ("U", "U[p] := q".to_owned()),
                    4 => ("U", "U[j] := case | j = p : T | _ : U[j]".to_owned()),
                    5 => ("N", "N[j] := case | j = p : Y | N[j] = X : 0 | _ : N[j]".to_owned()),
                    _ => ("X", format!("X := {}", self.pick(&["0", "N[p]", "Y"]))),
                };
                if !written.contains(&name) {
                    written.push(name);
                    updates.push(update);
                }
            }
            text.push_str(&transition(i, two, &guard, &updates));
        }
        text
    }
}

/// A transition of one process that acts on weak memory.
fn acting(number: usize, guard: &[String], updates: &[String]) -> String {
    let (guard, updates) = (guard.join(" && "), updates.join("; "));
    format!("transition t{number} ([p]) requires {{ {guard} }} {{ {updates} }}\n")
}

/// A transition of one process, or of two.
fn transition(number: impl std::fmt::Display, two: bool, guard: &[String], updates: &[String]) -> String {
    let params = if two { "p q" } else { "p" };
    let (guard, updates) = (guard.join(" && "), updates.join("; "));
    format!("transition t{number} ({params}) requires {{ {guard} }} {{ {updates} }}\n")
}
