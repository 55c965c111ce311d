//! No text makes the reader panic, and what it accepts is a well-formed program.

use porf_frontend_litmus::parse;

/// One test per dialect, with as much syntax as fits.
const SEEDS: [&str; 7] = [
    "C cas\n\"a cycle\"\nCom=Rf Fr\n{ x=1; atomic_t y=ATOMIC_INIT(2); int *p=&x; 0:r9=-1; }\n\
     P0(atomic_int *x, int *e) {\n  int r0 = atomic_load_explicit(x, memory_order_acquire);\n\
     if (r0 == 1) { *e = (r0 ^ r0) + 3; } else *e = !r0;\n\
     while (r0 < 2) { r0 = atomic_compare_exchange_weak_explicit(x, e, 2, memory_order_acq_rel, memory_order_relaxed); }\n\
     for (r1 = 0; r1 < 2; r1 = r1 + 1) atomic_fetch_add(x, 1);\n\
     do { r2 = atomic_compare_exchange_strong(x, &r0, 1); } while (r2); }\n\
     P1(intptr_t *y, int **p, spinlock_t *s) { spin_lock(s); WRITE_ONCE(*y, 1); smp_mb(); // done\n\
     int r1 = cmpxchg(y, 1, 2), *r2; r2 = rcu_dereference(*p); r3 = atomic_add_return_release(2, y);\n\
     r4 = atomic_add_unless(y, 1, 0); spin_unlock(s); /* end */ synchronize_rcu(); }\n\
     locations [x; 0:r0 int;]\nfilter (x=1)\nexists (0:r0=1 /\\ ([y]=2 \\/ not (1:r1=x)) => true)\n",
    "AArch64 a\n{ 0:X1=x; int x[2]={1,2}; uint64_t 1:X1=y; %z=y; }\n P0 | P1 ;\n LDR W0,[X1,#4] | LDAXR X0,[X1] ;\n\
     EOR W2,W0,W0 | STLXR W3,X0,[X1] ;\n LDR W4,[X1,W2,SXTW] | CBNZ W3,L0 ;\n CMP W0,#1 | LDADDAL X0,XZR,[X1] ;\n\
     CSEL W5,W0,W4,EQ | L0: ;\n B.NE L1 | DMB ISHLD ;\n STP W0,W4,[X1],#8 | CASA X0,X2,[%z] ;\n L1: STLRH W0,[X6] | ISB ;\n\
     forall (0:X0=1 \\/ 1:X3=0x1)\n",
    "ARM v7\n{ %x0=x; 0:R3=y; }\n P0 | P1 ;\n MOV R0,#1 | LDREX R0,[%x0] ;\n STR R0,[%x0] | STREX R1,R0,[%x0] ;\n\
     DMB ISHST | CMP R1,#0 ;\n LDR R1,[R3,R0] | BNE L ;\n ldr R2,R3 | L: ;\n ~exists (0:R1=0)\n",
    "PPC p\n{ 0:r2=x; 1:r2=x; 1:r6=z; z=y; }\n P0 | P1 ;\n li r1,1 | ld r3,0(r6) ;\n stw r1,0(r2) | lwarx r4,r0,r2 ;\n\
     lwsync | stwcx. r4,r0,r2 ;\n lwz r5,0,r2 | bne L ;\n cmpwi cr1,r5,1 | addi r4,r0,1 ;\n beq cr1,L | L: ;\n L: | xor. r1,r1,r1 ;\n\
     exists (1:r4=1)\n",
    "RISCV r\n{ 0:x6=x; 0:s0=y; int *p=&x; }\n P0 | P1 ;\n lw.aq a0,0(x6) | amoswap.w.aq.rl x5,x6,(x7) ;\n\
     ori x5,x0,1 | lr.d.aq x5,0(x7) ;\n sw.rl x5,0(s0) | sc.d x6,x5,0(x7) ;\n fence rw,w | bnez x6,L ;\n fence.tso | L: ;\n\
     exists (0:x10=1)\n",
    "X86 i\n{ x=0; P0:EAX=1; };\n P0 | P1 ;\n MOV [x],$1 | lock add [x],1 ;\n XCHG EAX,[y] | JE L ;\n MFENCE | L: ;\n\
     mov EBX,[x] | dec EAX ;\n exists (0:EAX=0)\n",
    "X86_64 q\n{ uint64_t x; uint64_t 0:rax; }\n P0 | P1 ;\n movq $1,(x) | lock cmpxchgq %rbx,(x) ;\n\
     movb %al,8(%rcx) | jne L ;\n xchgl %eax,%ebx | L: sfence ;\n exists (0:rax=1)\n",
];

/// Pieces that mean something to the reader.
const PIECES: [&str; 24] = [
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    "|",
    ",",
    "=",
    "*",
    "&",
    "(*",
    "*)",
    "0x",
    "-1",
    "99999999999999999999",
    "P7",
    "0:",
    "%",
    "exists",
    "é",
    "\"",
    "\n",
];

#[test]
fn seeds_are_read() {
    for seed in SEEDS {
        if let Err(diagnostic) = parse("seed", seed) {
            panic!("{diagnostic}");
        }
    }
}

#[test]
fn mutants_do_not_panic() {
    let rounds = if std::env::var_os("PORF_FULL").is_some() { 200_000 } else { 10_000 };
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut accepted = 0;
    for round in 0..rounds {
        let mut text: Vec<char> = SEEDS[round % SEEDS.len()].chars().collect();
        for _ in 0..1 + random.below(3) {
            mutate(&mut text, &mut random);
        }
        let text: String = text.into_iter().collect();
        if let Ok(test) = parse("mutant", &text) {
            accepted += 1;
            assert_eq!(porf_ir::validate(&test.program), Ok(()), "{text}");
            let _ = test.to_string();
        }
    }
    println!("{accepted} of {rounds} mutants are tests");
    assert!(accepted > rounds / 100, "the mutants are too wild to reach far");
}

fn mutate(text: &mut Vec<char>, random: &mut Random) {
    let at = random.below(text.len() + 1);
    let end = (at + 1 + random.below(12)).min(text.len());
    match random.below(5) {
        0 => drop(text.drain(at.min(end)..end)),
        1 => {
            let piece = PIECES[random.below(PIECES.len())];
            text.splice(at..at, piece.chars());
        }
        2 => {
            let copy: Vec<char> = text[at.min(end)..end].to_vec();
            let to = random.below(text.len() + 1);
            text.splice(to..to, copy);
        }
        3 => text.truncate(text.len() - random.below(text.len() / 4 + 1)),
        _ => {
            let (a, b) = (random.below(text.len().max(1)), random.below(text.len().max(1)));
            if a < text.len() && b < text.len() {
                text.swap(a, b);
            }
        }
    }
}

/// Xorshift: the same mutants in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}
