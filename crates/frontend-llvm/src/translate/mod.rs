//! From an LLVM module to a program: functions that can be reached, static memory, the threads.

mod assembly;
mod call;
mod constant;
mod counted;
mod escape;
mod exception;
mod extended;
mod function;
mod instruction;
mod intrinsic;
pub mod jump;
mod large;
mod libcall;
mod memory;
mod moves;
mod pairs;
mod texts;
pub mod types;
mod wide;
mod written;

use crate::library::{self, Row, slow, stub};
use crate::llvm::{Module, Type, Value, ValueKind};
use crate::{Error, Options, Volatile};
use escape::Escapes;
pub use function::Body;
pub use function::{is_in_loop, successors};
pub use intrinsic::float_operation;
pub use moves::only_moves;
use porf_event::{ReadMode, WriteMode};
use porf_ir::{
    CmpOp, FaultKind, Function, FunctionBuilder, FunctionId, InputType, Instr, Operand, Program, Reg, Shape,
    Single, Span, ThreadEntry, ThreadLocal, Width, Written,
};
use porf_verdict::{Diagnostic, Lines};
use std::collections::HashMap;
use types::Unsupported;
use written::{Expression, Fields};

/// The first word of `Ok(())` as a `Result<(), String>`: no capacity of a string.
const OK: u64 = 1 << 63;

/// The state of one translation.
pub struct Translator<'m> {
    pub module: &'m Module,
    /// Weak compare-and-swaps may fail for no reason.
    pub spurious: bool,
    /// What volatile accesses are.
    pub volatile: Volatile,
    /// The program is one of Rust.
    pub is_rust: bool,
    /// Parts of std are replaced.
    pub shortens: bool,
    /// Leaks are looked for.
    pub leaks: bool,
    /// Whether the order in which threads of Rust's std end is left out.
    pub ends_threads: bool,
    /// Functions of std, and of crates of ours, that we have our own versions of.
    pub replaced: HashMap<Value<'m>, &'static Row>,
    pub program: Program,
    functions: HashMap<Value<'m>, FunctionId>,
    /// Functions that are called or whose address is taken, and not yet translated.
    pending: Vec<(Value<'m>, FunctionId)>,
    globals: HashMap<Value<'m>, u64>,
    thread_locals: HashMap<Value<'m>, u32>,
    /// Parts of the library that the program uses, by name.
    routines: HashMap<String, FunctionId>,
    /// Thread-local and global variables of the library, by name.
    library_locals: HashMap<&'static str, u32>,
    library_globals: HashMap<&'static str, u64>,
    escapes: Escapes<'m>,
    /// What the program is called with, after its name.
    arguments: &'m [String],
    /// How many arguments of any text there may be behind those.
    any_arguments: u32,
    /// The functions that are left out, if nobody defines them.
    pub stubs: &'m [String],
    /// The texts to try as input, where the user names them.
    given_texts: &'m [String],
    /// The addresses of the texts that are tried, once they are known.
    text_addresses: Vec<u64>,
    /// What the source calls fields.
    fields: Fields<'m>,
    /// How the source writes what is accessed, by file, line and column; `None` if that is ambiguous.
    written: HashMap<(u32, u32, u32), Option<Expression>>,
    /// Source files, by number, that have more than ASCII and can be read.
    sources: HashMap<u32, Option<Lines<String>>>,
    /// The shapes of types, by their place in the image.
    shapes: HashMap<Type<'m>, u32>,
}

/// Translates everything that `entry` needs.
pub fn program(module: &Module, name: &str, entry: &str, options: &Options) -> Result<Program, Error> {
    let is_rust = module.is_rust();
    let shortens = is_rust && !options.real_std;
    let mut replaced = if shortens { slow::replaced(module, options.leaks) } else { HashMap::new() };
    if is_rust {
        replaced.extend(library::intrinsics::used(module));
    }
    let mut translator = Translator {
        module,
        spurious: options.spurious,
        volatile: options.volatile,
        is_rust,
        shortens,
        leaks: options.leaks,
        ends_threads: shortens && library::scope::applies(module, options.leaks),
        replaced,
        program: Program { name: name.to_string(), image: Some(Default::default()), ..Program::default() },
        functions: HashMap::new(),
        pending: Vec::new(),
        globals: HashMap::new(),
        thread_locals: HashMap::new(),
        routines: HashMap::new(),
        library_locals: HashMap::new(),
        library_globals: HashMap::new(),
        escapes: Escapes::new(module),
        arguments: &options.arguments,
        any_arguments: options.any_arguments,
        stubs: &options.stubs,
        given_texts: &options.texts,
        text_addresses: Vec::new(),
        fields: if is_rust { Fields::new() } else { written::fields(module) },
        written: HashMap::new(),
        sources: HashMap::new(),
        shapes: HashMap::new(),
    };
    let main = module.function(entry).ok_or_else(|| Error::NoEntry(entry.to_string()))?;
    translator.start(main).map_err(|why| Error::Unsupported(Diagnostic::about(name, why)))?;
    while let Some((function, id)) = translator.pending.pop() {
        let body = Body::translate(&mut translator, function);
        translator.program.functions[id.0 as usize] = body;
    }
    library::settle_barriers(&mut translator);
    let known = translator.written.into_iter().filter_map(|((file, line, column), expression)| {
        let Expression { text, index, .. } = expression?;
        Some(Written { file, line, column, text, index })
    });
    let mut known: Vec<Written> = known.collect();
    known.sort();
    if let Some(image) = &mut translator.program.image {
        image.written = known;
    }
    Ok(translator.program)
}

/// Fails where the `Result<(), String>` at an address is an error.
fn unless_error(b: &mut FunctionBuilder, address: Reg) {
    let (word, is_ok) = (b.register(""), b.register(""));
    let (mode, size) = (ReadMode::Plain, 8);
    b.push_move(Instr::Load { dst: word, address: address.into(), size, mode });
    let (op, width) = (CmpOp::Eq, Width::W64);
    b.push(Instr::Cmp { dst: is_ok, op, width, a: word.into(), b: Operand::Const(OK) });
    let (right, wrong) = (b.label(), b.label());
    b.branch(is_ok, right, wrong);
    b.bind(wrong);
    b.push(Instr::Fail { kind: FaultKind::Panic, message: "the test returns an error".into() });
    b.bind(right);
}

impl<'m> Translator<'m> {
    /// Thread 0: constructors, then the entry, then what `atexit` and destructors would do.
    fn start(&mut self, main: Value<'m>) -> Result<(), Unsupported> {
        let constructors = self.listed("llvm.global_ctors")?;
        let destructors = self.listed("llvm.global_dtors")?;
        let main_id = self.function_id(main)?;
        let params = self.words_of_params(main)?;
        let id = self.reserve("start");
        let mut b = FunctionBuilder::new("start");
        for constructor in constructors {
            b.push(Instr::Call { function: constructor, args: [].into(), dst: None });
        }
        let mut args = Vec::new();
        // A test of Rust's, which gives back `Ok(())` or says why not.
        let result = match main.param_type_attribute(0, "sret") {
            Some(ty) => {
                let dst = b.register("result");
                b.push(Instr::Local { dst, size: Operand::Const(self.module.size_of(ty)) });
                args.push(dst.into());
                Some(dst)
            }
            None => None,
        };
        if params >= 1 && result.is_none() {
            args.push(Operand::Const(self.argument_count()));
        }
        if params >= 2 {
            let vector = self.argument_vector();
            args.push(Operand::Const(vector));
            if self.any_arguments > 0 {
                args[0] = self.any_arguments(&mut b, vector);
            }
        }
        args.resize(params, Operand::Const(0));
        b.push(Instr::Call { function: main_id, args: args.into(), dst: None });
        if let Some(address) = result {
            unless_error(&mut b, address);
        }
        if let Some(function) = library::ending::program_end(self) {
            b.push(Instr::Call { function, args: [].into(), dst: None });
        }
        for destructor in destructors.into_iter().rev() {
            b.push(Instr::Call { function: destructor, args: [].into(), dst: None });
        }
        let thread_exit = library::ending::thread_end(self);
        self.program.image.as_mut().expect("C programs have an image").thread_exit = thread_exit;
        self.program.functions[id.0 as usize] = b.finish();
        self.program.threads.push(ThreadEntry {
            name: main.name().to_string(),
            function: id,
            registers: Vec::new(),
        });
        Ok(())
    }

    /// `argc`.
    fn argument_count(&self) -> u64 {
        1 + self.arguments.len() as u64
    }

    /// What Rust's std finds in a static of its own: it is told `argc` and `argv` before `main`.
    fn told_before_main(&mut self, global: Value<'m>) -> Option<u64> {
        let name = global.name();
        if !self.is_rust || !name.contains("4args4unix3imp4ARG") {
            None
        } else if name.contains("4ARGC") {
            Some(self.argument_count())
        } else {
            name.contains("4ARGV").then(|| self.argument_vector())
        }
    }

    /// `argv`: the addresses of the arguments, and a null pointer.
    fn argument_vector(&mut self) -> u64 {
        let mut vector = Vec::new();
        let given = self.arguments.iter().map(String::as_str);
        for (at, argument) in std::iter::once("program").chain(given).enumerate() {
            let bytes: Vec<u8> = argument.bytes().chain([0]).collect();
            let address = self.program.add_static(&format!("argv[{at}]"), true, 1, bytes.into());
            vector.extend(address.to_le_bytes());
        }
        vector.resize(vector.len() + 8 * (1 + self.any_arguments as usize), 0);
        self.program.add_static("argv", self.any_arguments == 0, 8, vector.into())
    }

    /// Adds arguments of any text to `argv`, none or more: `argc` then.
    fn any_arguments(&mut self, b: &mut FunctionBuilder, vector: u64) -> Operand {
        let texts = self.texts();
        let (count, end) = (b.register("argc"), b.label());
        let given = self.argument_count();
        b.push(Instr::Move { dst: count, src: Operand::Const(given) });
        for at in given..given + u64::from(self.any_arguments) {
            let (more, text, next) = (b.register("more"), b.register("argument"), b.label());
            let kind = InputType::Integer { bits: 1, signed: false };
            b.push(Instr::Input { dst: more, kind, values: [].into() });
            b.branch(more, next, end);
            b.bind(next);
            b.push(Instr::Input { dst: text, kind: InputType::Text, values: texts.clone().into() });
            let (address, mode) = (Operand::Const(vector + 8 * at), WriteMode::Plain);
            b.push(Instr::Store { address, value: text.into(), size: 8, mode });
            b.push(Instr::Move { dst: count, src: Operand::Const(at + 1) });
        }
        b.bind(end);
        count.into()
    }

    /// The functions in `llvm.global_ctors` or `llvm.global_dtors`, by priority.
    fn listed(&mut self, list: &str) -> Result<Vec<FunctionId>, Unsupported> {
        let Some(initializer) = self.module.global(list).and_then(|list| list.initializer()) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for i in 0..initializer.ty().length() as u32 {
            let Some(entry) = initializer.element(i) else { continue };
            let (Some(priority), Some(function)) = (entry.element(0), entry.element(1)) else { continue };
            if function.kind() == ValueKind::Function {
                found.push((priority.as_integer().unwrap_or(0), self.function_id(function)?));
            }
        }
        found.sort_by_key(|(priority, _)| *priority);
        Ok(found.into_iter().map(|(_, function)| function).collect())
    }

    fn words_of_params(&self, function: Value<'m>) -> Result<usize, Unsupported> {
        let mut count = 0;
        for param in function.params() {
            count += types::words(self.module, param.ty())?.len();
        }
        Ok(count)
    }

    /// An empty place in the list of functions.
    fn reserve(&mut self, name: &str) -> FunctionId {
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            name: name.to_string(),
            code: vec![Instr::Return { value: None }],
            spans: vec![Span::default()],
            ..Function::default()
        });
        id
    }

    /// The function's number; it will be translated.
    pub fn function_id(&mut self, function: Value<'m>) -> Result<FunctionId, Unsupported> {
        if let Some(id) = self.functions.get(&function) {
            return Ok(*id);
        }
        let id = self.reserve(function.name());
        self.functions.insert(function, id);
        // Calls are checked against this before the body is there.
        let variadic = function.value_type().is_variadic();
        let params = self.words_of_params(function)? + usize::from(variadic && !function.is_declaration());
        let reserved = &mut self.program.functions[id.0 as usize];
        reserved.params = params as u32;
        reserved.registers = params as u32;
        self.pending.push((function, id));
        Ok(id)
    }

    /// A function of our own, made once.
    /// The routine with a name, if the program has it.
    pub fn known_routine(&self, name: &str) -> Option<FunctionId> {
        self.routines.get(name).copied()
    }

    pub fn routine(&mut self, name: &str, build: impl FnOnce(&mut Translator<'m>) -> Function) -> FunctionId {
        if let Some(id) = self.routines.get(name) {
            return *id;
        }
        let id = self.reserve(name);
        self.routines.insert(name.to_string(), id);
        let function = build(self);
        self.program.functions[id.0 as usize] = function;
        id
    }

    pub fn global_address(&mut self, global: Value<'m>) -> u64 {
        if let Some(address) = self.globals.get(&global) {
            return *address;
        }
        let constant = global.is_global_constant() && !global.is_declaration();
        if !constant
            && self.escapes.is_single(self.module, global)
            && let Ok(bytes) = self.bytes(global)
        {
            let image = self.program.image.as_mut().expect("C programs have an image");
            image.singles.push(Single { name: global.name().to_string(), bytes });
            let address = porf_ir::layout::single(image.singles.len() - 1);
            self.globals.insert(global, address);
            return address;
        }
        let align = global.alignment().max(1);
        let standard = match global.name() {
            "stdin" => Some(0u64),
            "stdout" => Some(1),
            "stderr" => Some(2),
            // With threads, libstdc++ must not take its short cuts for programs without.
            "__libc_single_threaded" => Some(0),
            // No variable is set.
            "environ" if global.is_declaration() => Some(0),
            _ => None,
        };
        // Sized first: initial contents may refer to the global itself.
        let size = match (standard, global.is_declaration()) {
            (Some(_), _) => 8,
            (_, true) => 0,
            _ => self.module.size_of(global.value_type()),
        };
        let size = if size > constant::MAX_GLOBAL { 0 } else { size as usize };
        let address = self.program.add_static(global.name(), constant, align, vec![0; size].into());
        let index = self.program.globals.len() - 1;
        self.globals.insert(global, address);
        if !self.is_rust && size > 0 {
            let shape = self.shape(global.value_type());
            let image = self.program.image.as_mut().expect("C programs have an image");
            if image.shapes[shape as usize] != Shape::Plain {
                image.shape_of.push((index as u32, shape));
            }
        }
        let bytes = match standard {
            Some(number) => Ok(Box::from(number.to_le_bytes())),
            None if global.is_declaration() => Err(format!(
                "an access to {}, which the program declares and does not define, is not supported",
                global.name()
            )),
            None => self.bytes(global),
        };
        let image = self.program.image.as_mut().expect("C programs have an image");
        match bytes {
            Ok(bytes) => image.bytes[index] = bytes,
            // Nothing can be read from it: an access says why.
            Err(why) => {
                image.bytes[index] = Box::from([]);
                image.unknown.push((index as u32, why));
                self.program.globals[index].size = 0;
            }
        }
        address
    }

    pub fn thread_local(&mut self, global: Value<'m>) -> Result<u32, Unsupported> {
        if let Some(index) = self.thread_locals.get(&global) {
            return Ok(*index);
        }
        let bytes = self.bytes(global)?;
        if bytes.len() as u64 > porf_ir::layout::MAX_OBJECT {
            return Err(format!("thread-local {} of {} bytes", global.name(), bytes.len()));
        }
        let shared = self.escapes.escapes(global);
        let index = self.add_thread_local(ThreadLocal { name: global.name().to_string(), bytes, shared });
        self.thread_locals.insert(global, index);
        Ok(index)
    }

    /// A private thread-local variable of the library.
    pub fn library_local(&mut self, name: &'static str, size: usize) -> u32 {
        if let Some(index) = self.library_locals.get(name) {
            return *index;
        }
        let bytes = vec![0; size].into();
        let index = self.add_thread_local(ThreadLocal { name: name.to_string(), bytes, shared: false });
        self.library_locals.insert(name, index);
        index
    }

    /// Whether no other thread than the first can call one of these functions.
    pub fn only_first_calls(&self, names: &[&str]) -> bool {
        names.iter().filter_map(|name| self.module.function(name)).all(|f| self.escapes.named_by_first(f))
    }

    /// A global variable of the library that only the first thread uses.
    pub fn library_single(&mut self, name: &'static str, size: usize) -> u64 {
        if let Some(address) = self.library_globals.get(name) {
            return *address;
        }
        let image = self.program.image.as_mut().expect("C programs have an image");
        image.singles.push(Single { name: name.to_string(), bytes: vec![0; size].into() });
        let address = porf_ir::layout::single(image.singles.len() - 1);
        self.library_globals.insert(name, address);
        address
    }

    /// A global variable of the library.
    pub fn library_global(&mut self, name: &'static str, size: usize) -> u64 {
        if let Some(address) = self.library_globals.get(name) {
            return *address;
        }
        let address = self.program.add_static(name, false, 16, vec![0; size].into());
        self.library_globals.insert(name, address);
        address
    }

    fn add_thread_local(&mut self, variable: ThreadLocal) -> u32 {
        let image = self.program.image.as_mut().expect("C programs have an image");
        image.thread_locals.push(variable);
        image.thread_locals.len() as u32 - 1
    }

    /// The address of a string of our own.
    pub fn literal(&mut self, text: &'static str) -> Operand {
        if let Some(address) = self.library_globals.get(text) {
            return Operand::Const(*address);
        }
        let bytes = text.bytes().chain([0]).collect();
        let address = self.program.add_static("format", true, 1, bytes);
        self.library_globals.insert(text, address);
        Operand::Const(address)
    }

    /// The constant string at an address.
    pub fn text_at(&self, address: Operand) -> Option<String> {
        let Operand::Const(address) = address else { return None };
        let byte =
            |at: u64| self.program.static_object(at, 1).map(|_| self.program.static_value(at, 1) as u8);
        let bytes: Option<Vec<u8>> = (address..).map(byte).take_while(|byte| *byte != Some(0)).collect();
        Some(String::from_utf8_lossy(&bytes?).into_owned())
    }

    /// The number of a source file.
    fn file(&mut self, function: Value<'m>) -> u32 {
        let name = match function.file() {
            Some((directory, file)) if !file.starts_with('/') && !directory.is_empty() => {
                // As the user named it, if it is found from here; else in full. A crate that a program
                // depends on has files of the same names.
                let full = format!("{directory}/{file}");
                let place = |path: &str| std::fs::canonicalize(path).ok();
                let is_here = place(file).is_some_and(|here| place(&full).is_none_or(|there| there == here));
                if is_here { file.to_string() } else { full }
            }
            Some((_, file)) => file.to_string(),
            None => String::new(),
        };
        let files = &mut self.program.image.as_mut().expect("C programs have an image").files;
        match files.iter().position(|known| *known == name) {
            Some(at) => at as u32,
            None => {
                files.push(name);
                files.len() as u32 - 1
            }
        }
    }

    /// The column in characters: debug information counts bytes.
    fn column(&mut self, file: u32, line: u32, byte: u32) -> u32 {
        let image = self.program.image.as_ref().expect("C programs have an image");
        let source = self.sources.entry(file).or_insert_with(|| {
            let text = std::fs::read_to_string(image.files.get(file as usize)?).ok()?;
            (!text.is_ascii()).then(|| Lines::new(text))
        });
        source.as_ref().map_or(byte, |lines| lines.column_of_byte(line, byte))
    }

    /// A declared function as a function: for calls through its address.
    fn external(&mut self, function: Value<'m>) -> Function {
        let mut body = Body::empty(self, function);
        let args: Vec<Operand> = (0..body.params).map(|index| Operand::Reg(Reg(index))).collect();
        let result = match body.tr.replaced.get(&function).copied() {
            Some(row) => row.lower(&mut body, function.name(), &args, true),
            None if stub::is_stub(&body, function) => {
                stub::call(&mut body, function, function.value_type().returned())
            }
            None => library::call(&mut body, function.name(), &args, true),
        };
        match result {
            Ok(result) => body.finish_with(result),
            Err(reason) => body.fail_with(&reason),
        }
    }
}
