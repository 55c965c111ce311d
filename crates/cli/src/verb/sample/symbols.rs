//! From return addresses to functions, files and lines.

use porf_report::sample::Frame;
use porf_verdict::Lines;
use std::collections::HashMap;

/// The object files of the program as they were mapped.
pub struct Symbols {
    objects: Vec<Object>,
    loaded: HashMap<String, Option<addr2line::Loader>>,
    /// Source files that have more than ASCII and can be read.
    sources: HashMap<String, Option<Lines<String>>>,
}

struct Object {
    start: u64,
    end: u64,
    /// Where the object's address 0 is.
    base: u64,
    path: String,
    is_code: bool,
}

impl Symbols {
    /// `maps` is the text of /proc/PID/maps.
    pub fn new(maps: &str) -> Symbols {
        let mut bases: HashMap<&str, u64> = HashMap::new();
        let mut objects = Vec::new();
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            let (Some(range), Some(permissions), Some(offset)) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Some(path) = words.nth(2).filter(|path| path.starts_with('/')) else { continue };
            let Some((start, end)) = range.split_once('-') else { continue };
            let number = |text: &str| u64::from_str_radix(text, 16).unwrap_or(0);
            let (start, end, offset) = (number(start), number(end), number(offset));
            let base = *bases.entry(path).or_insert(start.wrapping_sub(offset));
            objects.push(Object {
                start,
                end,
                base,
                path: path.to_string(),
                is_code: permissions.contains('x'),
            });
        }
        Symbols { objects, loaded: HashMap::new(), sources: HashMap::new() }
    }

    /// The file that has this address.
    pub fn file(&self, address: u64) -> Option<&str> {
        self.objects.iter().find(|object| object.has(address)).map(|object| object.path.as_str())
    }

    /// The frames of a return address, innermost first.
    pub fn frames(&mut self, return_address: u64) -> Vec<Frame> {
        // The call is before the return address.
        let address = return_address.wrapping_sub(1);
        let unknown = |name: String| vec![Frame { function: name, file: None, line: 0, column: 0 }];
        let Some(object) = self.objects.iter().find(|object| object.is_code && object.has(address)) else {
            return unknown(format!("{return_address:#x}"));
        };
        let loader = self
            .loaded
            .entry(object.path.clone())
            .or_insert_with(|| addr2line::Loader::new(&object.path).ok());
        let Some(loader) = loader else { return unknown(object.path.clone()) };
        // A position-dependent executable is mapped where its addresses say.
        let relative = if is_absolute(&object.path) { address } else { address - object.base };
        let mut frames = Vec::new();
        if let Ok(mut found) = loader.find_frames(relative) {
            while let Ok(Some(frame)) = found.next() {
                let function = frame.function.as_ref().and_then(|name| name.demangle().ok());
                let location = frame.location.as_ref();
                let file = location.and_then(|place| place.file).map(str::to_string);
                let line = location.and_then(|place| place.line).unwrap_or(0);
                let byte = location.and_then(|place| place.column).unwrap_or(0);
                let column = file.as_ref().map_or(byte, |file| column(&mut self.sources, file, line, byte));
                let function = function.map_or_else(|| "?".to_string(), |name| short(&name));
                frames.push(Frame { function, file, line, column });
            }
        }
        if frames.is_empty() {
            let name = loader.find_symbol(relative).map_or_else(|| object.path.clone(), str::to_string);
            return unknown(name);
        }
        frames
    }

    /// The variable of static storage duration at an address, and how many bytes inside of it that is.
    pub fn variable(&mut self, address: u64) -> Option<(String, u64)> {
        // Variables that begin as zero lie behind what the file has.
        let is_here = |object: &&Object| object.start <= address && address < object.end + BSS;
        let object = self.objects.iter().filter(|object| !object.is_code).rfind(is_here)?;
        let loader = self
            .loaded
            .entry(object.path.clone())
            .or_insert_with(|| addr2line::Loader::new(&object.path).ok());
        let relative = if is_absolute(&object.path) { address } else { address - object.base };
        let symbol = loader.as_ref()?.find_symbol_info(relative)?;
        let offset = relative - symbol.address();
        (offset < BSS).then(|| (porf::names::demangled(symbol.name()), offset))
    }
}

/// No variables are further behind the file than this.
const BSS: u64 = 1 << 24;

impl Object {
    fn has(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

/// The column in characters: debug information counts bytes.
fn column(sources: &mut HashMap<String, Option<Lines<String>>>, file: &str, line: u32, byte: u32) -> u32 {
    if !sources.contains_key(file) {
        let text = std::fs::read_to_string(file).ok().filter(|text| !text.is_ascii());
        sources.insert(file.to_string(), text.map(Lines::new));
    }
    sources[file].as_ref().map_or(byte, |lines| lines.column_of_byte(line, byte))
}

/// Is this an executable with fixed addresses (ELF type EXEC)?
fn is_absolute(path: &str) -> bool {
    let mut header = [0u8; 18];
    use std::io::Read;
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)).is_ok() && header[16] == 2
}

/// Without template arguments that fill the screen.
fn short(name: &str) -> String {
    if name.chars().count() <= 100 {
        return name.to_string();
    }
    name.chars().take(97).chain("...".chars()).collect()
}
