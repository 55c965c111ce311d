//! Values: functions, globals, arguments, instructions, constants.

use super::find::llvm;
use super::kinds::{Opcode, Ordering, TypeKind, ValueKind};
use super::module::Module;
use super::ty::{Block, Type};
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;

#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value<'m>(NonNull<c_void>, PhantomData<&'m Module>);

/// One use of a value by another.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Use<'m>(NonNull<c_void>, PhantomData<&'m Module>);

#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Attribute<'m>(NonNull<c_void>, PhantomData<&'m Module>);

/// A place in the source text, and where the code there was inlined.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Position<'m>(NonNull<c_void>, PhantomData<&'m Module>);

impl<'m> Value<'m> {
    pub fn kind(self) -> ValueKind {
        match self.number() {
            0 => ValueKind::Argument,
            5 => ValueKind::Function,
            6 => ValueKind::Alias,
            8 => ValueKind::GlobalVariable,
            9 => ValueKind::BlockAddress,
            10 => ValueKind::ConstantExpression,
            23 => ValueKind::InlineAsm,
            24 => ValueKind::Instruction,
            _ if self.is_constant() => ValueKind::Constant,
            other => ValueKind::Other(other),
        }
    }

    pub fn ty(self) -> Type<'m> {
        llvm().LLVMTypeOf(self)
    }

    pub fn name(self) -> &'m str {
        let mut length = 0;
        let start = llvm().LLVMGetValueName2(self, &mut length);
        // SAFETY: LLVM's own string.
        unsafe { text(start, length) }
    }

    /// As LLVM prints it, for messages.
    pub fn print(self) -> String {
        // SAFETY: a new string that is ours.
        unsafe { llvm().take(llvm().LLVMPrintValueToString(self)) }
    }

    /// Of an instruction or constant expression.
    pub fn opcode(self) -> Opcode {
        Opcode::from(match self.kind() {
            ValueKind::Instruction => llvm().LLVMGetInstructionOpcode(self),
            ValueKind::ConstantExpression => llvm().LLVMGetConstOpcode(self),
            _ => -1,
        })
    }

    pub fn operand_count(self) -> u32 {
        llvm().LLVMGetNumOperands(self) as u32
    }

    pub fn operand(self, index: u32) -> Value<'m> {
        llvm().LLVMGetOperand(self, index).expect("an operand that is a value")
    }

    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        (0..self.operand_count()).map(move |index| self.operand(index))
    }

    /// Every instruction or constant that uses the value.
    pub fn users(self) -> impl Iterator<Item = Value<'m>> {
        let first = llvm().LLVMGetFirstUse(self);
        let uses = std::iter::successors(first, |at| llvm().LLVMGetNextUse(*at));
        uses.map(|at| llvm().LLVMGetUser(at))
    }

    // Functions and globals.

    pub fn is_declaration(self) -> bool {
        llvm().LLVMIsDeclaration(self) != 0
    }

    /// The type of a function, or of what a global holds.
    pub fn value_type(self) -> Type<'m> {
        llvm().LLVMGlobalGetValueType(self)
    }

    pub fn initializer(self) -> Option<Value<'m>> {
        llvm().LLVMGetInitializer(self)
    }

    pub fn is_global_constant(self) -> bool {
        llvm().LLVMIsGlobalConstant(self) != 0
    }

    pub fn is_thread_local(self) -> bool {
        self.is_variable() && llvm().LLVMIsThreadLocal(self) != 0
    }

    pub fn aliasee(self) -> Value<'m> {
        llvm().LLVMAliasGetAliasee(self)
    }

    /// Of a global, alloca, load or store.
    pub fn alignment(self) -> u64 {
        llvm().LLVMGetAlignment(self).into()
    }

    pub fn params(self) -> Vec<Value<'m>> {
        (0..self.param_count()).map(|index| llvm().LLVMGetParam(self, index)).collect()
    }

    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        let first = llvm().LLVMGetFirstBasicBlock(self);
        std::iter::successors(first, |at| llvm().LLVMGetNextBasicBlock(*at))
    }

    /// The type in a parameter's `byval(T)` or `sret(T)`; `index` counts from 0.
    pub fn param_type_attribute(self, index: u32, name: &str) -> Option<Type<'m>> {
        self.attribute(index + 1, name).map(|attribute| llvm().LLVMGetTypeAttributeValue(attribute))
    }

    /// Whether a function or call has an attribute on its result (0) or an argument (from 1).
    pub fn has_attribute(self, place: u32, name: &str) -> bool {
        self.attribute(place, name).is_some()
    }

    /// The number in a parameter's attribute, as in `align 8`; `index` counts from 0.
    pub fn param_number(self, index: u32, name: &str) -> Option<u64> {
        self.attribute(index + 1, name).map(|attribute| llvm().LLVMGetEnumAttributeValue(attribute))
    }

    fn attribute(self, place: u32, name: &str) -> Option<Attribute<'m>> {
        let kind = llvm().attribute_kind(name);
        match self.kind() {
            ValueKind::Function => llvm().LLVMGetEnumAttributeAtIndex(self, place, kind),
            _ => llvm().LLVMGetCallSiteEnumAttribute(self, place, kind),
        }
    }

    // Instructions.

    pub fn block(self) -> Block<'m> {
        llvm().LLVMGetInstructionParent(self)
    }

    /// The function that an instruction belongs to.
    pub fn function(self) -> Value<'m> {
        llvm().LLVMGetBasicBlockParent(self.block())
    }

    pub fn icmp_predicate(self) -> i32 {
        llvm().LLVMGetICmpPredicate(self)
    }

    pub fn fcmp_predicate(self) -> i32 {
        llvm().LLVMGetFCmpPredicate(self)
    }

    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        let each =
            |index| (llvm().LLVMGetIncomingValue(self, index), llvm().LLVMGetIncomingBlock(self, index));
        (0..self.incoming_count()).map(each).collect()
    }

    pub fn successors(self) -> Vec<Block<'m>> {
        (0..self.successor_count()).map(|index| llvm().LLVMGetSuccessor(self, index)).collect()
    }

    /// For the address of a label: the function, and the block.
    pub fn addressed_block(self) -> (Value<'m>, Block<'m>) {
        // The last operand; older versions of LLVM have the function before it.
        let block = llvm().LLVMValueAsBasicBlock(self.operand(self.operand_count() - 1));
        (llvm().LLVMGetBasicBlockParent(block), block)
    }

    /// For a switch: the value for its successor `index`, which is at least 1 (0 is the default).
    pub fn case_value(self, index: u32) -> Value<'m> {
        llvm().switch_case_value(self, index).unwrap_or_else(|| self.operand(2 * index))
    }

    pub fn normal_destination(self) -> Block<'m> {
        llvm().LLVMGetNormalDest(self)
    }

    /// For an invoke in a function that unwinds: where it goes on then.
    pub fn unwind_destination(self) -> Option<Block<'m>> {
        self.function().unwinds().then(|| llvm().LLVMGetUnwindDest(self))
    }

    /// Whether a function's exceptions are Rust's or C++'s: we do not follow others.
    pub fn unwinds(self) -> bool {
        let personality = || llvm().LLVMGetPersonalityFn(self).name();
        self.has_personality() && matches!(personality(), "rust_eh_personality" | "__gxx_personality_v0")
    }

    /// Of a landing pad: the types that it catches, and for a filter an array of them.
    pub fn clauses(self) -> Vec<Value<'m>> {
        (0..self.clause_count()).map(|index| llvm().LLVMGetClause(self, index)).collect()
    }

    pub(super) fn clause_count(self) -> u32 {
        llvm().LLVMGetNumClauses(self)
    }

    /// Whether a landing pad has something to do for exceptions that it does not catch.
    pub fn is_cleanup(self) -> bool {
        llvm().LLVMIsCleanup(self) != 0
    }

    /// Whether a function or variable belongs to its module alone.
    pub fn is_internal(self) -> bool {
        matches!(llvm().LLVMGetLinkage(self), 8 | 9)
    }

    /// Whether other modules may define a function or variable too: any definition will do.
    pub fn is_weak(self) -> bool {
        // LLVM's numbers: external is 0, appending 7.
        !matches!(llvm().LLVMGetLinkage(self), 0 | 7)
    }

    /// Whether a landing pad is a handler, not only a cleanup.
    pub fn catches(self) -> bool {
        llvm().LLVMGetNumClauses(self) > 0
    }

    pub fn allocated_type(self) -> Type<'m> {
        llvm().LLVMGetAllocatedType(self)
    }

    /// Of a load, store, fence or read-modify-write.
    pub fn ordering(self) -> Ordering {
        Ordering::from(llvm().LLVMGetOrdering(self))
    }

    /// Of a load or store.
    pub fn is_volatile(self) -> bool {
        llvm().LLVMGetVolatile(self) != 0
    }

    /// For a compare-and-swap: its orderings on success and on failure, and whether it is weak.
    pub fn cmpxchg_parts(self) -> (Ordering, Ordering, bool) {
        let success = llvm().LLVMGetCmpXchgSuccessOrdering(self);
        let failure = llvm().LLVMGetCmpXchgFailureOrdering(self);
        (Ordering::from(success), Ordering::from(failure), llvm().LLVMGetWeak(self) != 0)
    }

    /// Whether a fence is about signal handlers of one thread only.
    pub fn is_single_thread(self) -> bool {
        llvm().LLVMIsAtomicSingleThread(self) != 0
    }

    pub fn rmw_operation(self) -> i32 {
        llvm().LLVMGetAtomicRMWBinOp(self)
    }

    pub fn callee(self) -> Value<'m> {
        llvm().LLVMGetCalledValue(self)
    }

    pub fn callee_type(self) -> Type<'m> {
        llvm().LLVMGetCalledFunctionType(self)
    }

    pub fn arguments(self) -> Vec<Value<'m>> {
        (0..llvm().LLVMGetNumArgOperands(self)).map(|index| self.operand(index)).collect()
    }

    pub fn gep_source_type(self) -> Type<'m> {
        llvm().LLVMGetGEPSourceElementType(self)
    }

    /// Of `extractvalue` and `insertvalue`.
    pub fn indices(self) -> Vec<u32> {
        let count = llvm().LLVMGetNumIndices(self) as usize;
        // SAFETY: the instruction's own list, of that length.
        unsafe { std::slice::from_raw_parts(llvm().LLVMGetIndices(self), count).to_vec() }
    }

    /// Of `shufflevector`; -1 is "any".
    pub fn mask(self) -> Vec<i32> {
        (0..self.mask_count()).map(|index| llvm().LLVMGetMaskValue(self, index)).collect()
    }

    pub fn inline_asm(self) -> &'m str {
        let mut length = 0;
        let start = llvm().LLVMGetInlineAsmAsmString(self, &mut length);
        // SAFETY: LLVM's own string.
        unsafe { text(start, length) }
    }

    /// Which operands an assembly has, and where.
    pub fn asm_constraints(self) -> &'m str {
        let mut length = 0;
        let start = llvm().LLVMGetInlineAsmConstraintString(self, &mut length);
        // SAFETY: LLVM's own string.
        unsafe { text(start, length) }
    }

    /// Line and column of an instruction or function; 0 where unknown. Of inlined code, that is where the
    /// function itself would call it.
    pub fn position(self) -> (u32, u32) {
        match self.kind() {
            ValueKind::Instruction => {
                let innermost = llvm().LLVMInstructionGetDebugLoc(self);
                let outwards = std::iter::successors(innermost, |at| llvm().LLVMDILocationGetInlinedAt(*at));
                outwards.last().map_or((0, 0), |at| {
                    (llvm().LLVMDILocationGetLine(at), llvm().LLVMDILocationGetColumn(at))
                })
            }
            ValueKind::Function => (llvm().LLVMGetDebugLocLine(self), 0),
            _ => (0, 0),
        }
    }

    /// Directory and name of the source file of a function.
    pub fn file(self) -> Option<(&'m str, &'m str)> {
        let (mut length, mut directory_length) = (0, 0);
        let file = llvm().LLVMGetDebugLocFilename(self, &mut length);
        let directory = llvm().LLVMGetDebugLocDirectory(self, &mut directory_length);
        // SAFETY: LLVM's own strings.
        let (file, directory) =
            unsafe { (text(file, length as usize), text(directory, directory_length as usize)) };
        (!file.is_empty()).then_some((directory, file))
    }

    // Constants.

    pub fn is_constant(self) -> bool {
        llvm().LLVMIsConstant(self) != 0
    }

    pub fn is_null(self) -> bool {
        llvm().LLVMIsNull(self) != 0
    }

    pub fn is_undef(self) -> bool {
        llvm().LLVMIsUndef(self) != 0
    }

    /// A constant integer of at most 128 bits.
    pub fn as_integer(self) -> Option<u128> {
        let TypeKind::Int(bits) = self.ty().kind() else { return None };
        if !self.is_integer_constant() {
            return None;
        }
        if bits <= 64 {
            return Some(llvm().LLVMConstIntGetZExtValue(self).into());
        }
        // There is no getter for more than 64 bits: "i128 -5".
        let printed = self.print();
        printed.rsplit(' ').next()?.parse::<i128>().ok().map(|value| value as u128)
    }

    /// The words of a constant integer, the lowest one first, with its sign in the bits that it does not need.
    pub fn as_words(self) -> Option<Vec<u64>> {
        let TypeKind::Int(bits) = self.ty().kind() else { return None };
        if bits <= 128 {
            let integer = self.as_integer()?;
            let halves = [integer as u64, (integer >> 64) as u64];
            return Some(halves[..bits.div_ceil(64) as usize].to_vec());
        }
        let printed = self.is_integer_constant().then(|| self.print())?;
        let number = printed.rsplit(' ').next()?;
        let digits = number.trim_start_matches('-');
        let mut words = vec![0u64; bits.div_ceil(64) as usize];
        for digit in digits.bytes() {
            let mut carry = u128::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
            for word in &mut words {
                carry += u128::from(*word) * 10;
                *word = carry as u64;
                carry >>= 64;
            }
        }
        if digits.len() < number.len() {
            let mut carry = true;
            for word in &mut words {
                (*word, carry) = (!*word).overflowing_add(carry.into());
            }
        }
        Some(words)
    }

    /// A constant `float` or `double`.
    pub fn as_float(self) -> Option<f64> {
        let mut lossy = 0;
        self.is_float_constant().then(|| llvm().LLVMConstRealGetDouble(self, &mut lossy))
    }

    /// The significand, and the exponent with the sign, of a constant `long double`.
    pub fn as_extended(self) -> Option<(u64, u64)> {
        if self.ty().kind() != TypeKind::Extended {
            return None;
        }
        // LLVM writes them as `0xK`, four digits and sixteen.
        let text = self.print();
        let (exponent, significand) = text.rsplit_once("0xK")?.1.split_at_checked(4)?;
        let number = |digits| u64::from_str_radix(digits, 16).ok();
        Some((number(significand)?, number(exponent)?))
    }

    /// An element of a constant aggregate, null and undef included.
    pub fn element(self, index: u32) -> Option<Value<'m>> {
        if self.is_constant() { llvm().LLVMGetAggregateElement(self, index) } else { None }
    }

    // What the getters of `api` ask for.

    pub(super) fn is_a(self, opcodes: &[Opcode]) -> bool {
        opcodes.contains(&self.opcode())
    }

    pub fn is_call(self) -> bool {
        self.is_a(&[Opcode::Call, Opcode::Invoke])
    }

    pub(super) fn is_instruction(self) -> bool {
        self.kind() == ValueKind::Instruction
    }

    pub(super) fn is_function(self) -> bool {
        self.kind() == ValueKind::Function
    }

    pub(super) fn has_personality(self) -> bool {
        self.is_function() && llvm().LLVMHasPersonalityFn(self) != 0
    }

    pub(super) fn is_variable(self) -> bool {
        self.kind() == ValueKind::GlobalVariable
    }

    pub(super) fn is_global(self) -> bool {
        matches!(self.kind(), ValueKind::Function | ValueKind::GlobalVariable | ValueKind::Alias)
    }

    pub(super) fn has_position(self) -> bool {
        matches!(self.kind(), ValueKind::Instruction | ValueKind::Function | ValueKind::GlobalVariable)
    }

    /// Whether it has operands, be it none.
    pub(super) fn is_user(self) -> bool {
        self.is_instruction() || self.is_constant()
    }

    pub(super) fn is_integer_constant(self) -> bool {
        self.number() == 18
    }

    pub(super) fn is_float_constant(self) -> bool {
        self.number() == 19
    }

    pub(super) fn param_count(self) -> u32 {
        llvm().LLVMCountParams(self)
    }

    pub(super) fn incoming_count(self) -> u32 {
        llvm().LLVMCountIncoming(self)
    }

    /// Whether it is a block, as operands of the address of a label are.
    pub(super) fn is_block(self) -> bool {
        self.number() == 1
    }

    pub(super) fn successor_count(self) -> u32 {
        llvm().LLVMGetNumSuccessors(self)
    }

    pub(super) fn mask_count(self) -> u32 {
        llvm().LLVMGetNumMaskElements(self)
    }

    pub(super) fn is_terminator(self) -> bool {
        self.is_instruction() && llvm().LLVMGetBasicBlockTerminator(self.block()) == Some(self)
    }

    pub(super) fn pointer(self) -> *mut c_void {
        self.0.as_ptr()
    }

    /// Its kind as LLVM numbers it.
    fn number(self) -> i32 {
        llvm().LLVMGetValueKind(self)
    }
}

/// A string of LLVM's.
///
/// # Safety
///
/// It is null, or has that length and lives as long as its module.
unsafe fn text<'m>(start: *const c_char, length: usize) -> &'m str {
    if start.is_null() {
        return "";
    }
    // SAFETY: the caller's promise.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(start.cast(), length) }).unwrap_or("?")
}
