//! What users do not want to be told: suppressions and options in ThreadSanitizer's format.
//!
//! A file of suppressions has one in each line, `kind:pattern`; `#` begins a comment. A pattern is looked for anywhere
//! in a name unless it begins with `^` or ends with `$`; `*` stands for any text. It is compared with the functions,
//! source files and libraries of a finding's calls, and with the variable that a race is about. `called_from_lib`
//! changes nothing: what libraries access that `porf cc` did not compile is not checked anyway.

use crate::protocol::FindingKind;
use crate::race::Kind;

/// How the message begins of a lock that is destroyed while somebody holds it.
pub const DESTROYED: &str = "destruction of a locked";

/// A list of findings that are not to be told.
#[derive(Default)]
pub struct Suppressions {
    rules: Vec<(Sort, String)>,
    /// Races of which an access is atomic are not told.
    without_atomic_races: bool,
}

/// The sort of findings that a rule is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sort {
    Race,
    /// A race by its innermost calls only.
    RaceTop,
    Thread,
    Mutex,
    /// Of misused locks only those that were destroyed while somebody held them.
    Destroyed,
    Signal,
    Deadlock,
    Library,
}

impl Sort {
    const ALL: [Sort; 8] = [
        Sort::Race,
        Sort::RaceTop,
        Sort::Thread,
        Sort::Mutex,
        Sort::Destroyed,
        Sort::Signal,
        Sort::Deadlock,
        Sort::Library,
    ];

    fn from_word(word: &str) -> Option<Sort> {
        Sort::ALL.into_iter().find(|sort| sort.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Sort::Race => "race",
            Sort::RaceTop => "race_top",
            Sort::Thread => "thread",
            Sort::Mutex => "mutex",
            Sort::Destroyed => "destroy_locked",
            Sort::Signal => "signal",
            Sort::Deadlock => "deadlock",
            Sort::Library => "called_from_lib",
        }
    }

    fn is_for(self, kind: FindingKind, message: &str) -> bool {
        match kind {
            FindingKind::Race | FindingKind::UseAfterFree => matches!(self, Sort::Race | Sort::RaceTop),
            FindingKind::Leak => self == Sort::Thread,
            FindingKind::Lock => {
                self == Sort::Mutex || (self == Sort::Destroyed && message.contains(DESTROYED))
            }
            FindingKind::Signal => self == Sort::Signal,
            FindingKind::Annotation => self == Sort::Thread,
            FindingKind::Order | FindingKind::Deadlock => self == Sort::Deadlock,
            _ => false,
        }
    }
}

impl Suppressions {
    /// Adds what a text says. An error names the line that cannot be read.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let rule =
                line.split_once(':').and_then(|(word, pattern)| Some((Sort::from_word(word)?, pattern)));
            let Some((sort, pattern)) = rule else {
                return Err(format!("line {}: `{line}` is no suppression", number + 1));
            };
            self.rules.push((sort, pattern.to_string()));
        }
        Ok(())
    }

    /// Adds rules for whole sorts of findings that options switch off.
    pub fn add_options(&mut self, options: &Settings) {
        self.rules.extend(options.off.iter().map(|&sort| (sort, String::new())));
        self.without_atomic_races |= !options.atomic_races;
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && !self.without_atomic_races
    }

    /// Whether a finding that is about these accesses (their numbers in the shared memory) is to be told.
    pub fn allow_accesses(&self, kind: FindingKind, accesses: impl IntoIterator<Item = u32>) -> bool {
        let atomic = [Kind::AtomicRead as u32, Kind::AtomicWrite as u32];
        !(self.without_atomic_races
            && kind == FindingKind::Race
            && accesses.into_iter().any(|access| atomic.contains(&access)))
    }

    /// Whether a finding with this message is to be told. `names` are those of its calls, each with whether the call is the innermost of its
    /// thread, and of the variable.
    pub fn allow<'a>(
        &self,
        kind: FindingKind,
        message: &str,
        names: impl Iterator<Item = (&'a str, bool)> + Clone,
    ) -> bool {
        self.matching(kind, message, names).is_none()
    }

    /// The rule, as it is written, for which a finding is not to be told.
    pub fn matching<'a>(
        &self,
        kind: FindingKind,
        message: &str,
        names: impl Iterator<Item = (&'a str, bool)> + Clone,
    ) -> Option<String> {
        let mut fitting = self.rules.iter().filter(|(sort, _)| sort.is_for(kind, message));
        let rule = fitting.find(|(sort, pattern)| {
            names.clone().any(|(name, is_top)| (is_top || *sort != Sort::RaceTop) && fits(pattern, name))
        });
        rule.map(|(sort, pattern)| format!("{}:{pattern}", sort.word()))
    }
}

/// Whether a name has the form of a pattern.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, from_start) = pattern.strip_prefix('^').map_or((pattern, false), |rest| (rest, true));
    let (pattern, to_end) = pattern.strip_suffix('$').map_or((pattern, false), |rest| (rest, true));
    let mut parts = pattern.split('*').peekable();
    let mut rest = name;
    let mut is_first = from_start;
    while let Some(part) = parts.next() {
        if parts.peek().is_none() && to_end {
            return if is_first { rest == part } else { rest.ends_with(part) };
        }
        let at = if is_first { rest.starts_with(part).then_some(0) } else { rest.find(part) };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
        is_first = false;
    }
    true
}

/// What `PORF_OPTIONS` or `TSAN_OPTIONS` say; options that are not known here are ignored.
pub struct Settings {
    /// The status of a program that would end with 0 but has a finding.
    pub exit_code: i32,
    /// The first finding ends the program.
    pub halt_on_error: bool,
    /// The file of suppressions.
    pub suppressions: Option<String>,
    /// So many stores of each atomic object are kept; all, if it is 0.
    pub history: Option<u64>,
    /// Findings are told in this file, whose name the number of the process ends.
    pub log_path: Option<String>,
    /// At the end the rules that left something out are told.
    pub print_suppressions: bool,
    atomic_races: bool,
    off: Vec<Sort>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            exit_code: 66,
            halt_on_error: false,
            suppressions: None,
            history: None,
            log_path: None,
            print_suppressions: false,
            atomic_races: true,
            off: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads `name=value`, separated by colons, commas or spaces; a value may be in quotes.
    pub fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some((name, after)) = rest.split_once('=') {
            let quoted = after.strip_prefix(['\'', '"']).and_then(|inner| inner.split_once(['\'', '"']));
            let (value, next) =
                quoted.unwrap_or_else(|| after.split_once([':', ',', ' ']).unwrap_or((after, "")));
            rest = next.trim_start_matches([':', ',', ' ']);
            self.set(name.trim(), value);
        }
    }

    fn set(&mut self, name: &str, value: &str) {
        let yes = matches!(value, "1" | "true" | "yes");
        let sorts = match name {
            "exitcode" => return self.exit_code = value.parse().unwrap_or(66),
            "halt_on_error" => return self.halt_on_error = yes,
            "suppressions" => return self.suppressions = Some(value.to_string()),
            "history" => return self.history = value.parse().ok(),
            "log_path" => return self.log_path = Some(value.to_string()),
            "print_suppressions" => return self.print_suppressions = yes,
            "report_atomic_races" => return self.atomic_races = yes,
            "report_thread_leaks" => &[Sort::Thread][..],
            "report_mutex_bugs" => &[Sort::Mutex][..],
            "report_destroy_locked" => &[Sort::Destroyed][..],
            "report_signal_unsafe" => &[Sort::Signal][..],
            "detect_deadlocks" => &[Sort::Deadlock][..],
            "report_bugs" => &[Sort::Race, Sort::Thread, Sort::Mutex, Sort::Signal, Sort::Deadlock],
            _ => return,
        };
        self.off.retain(|off| !sorts.contains(off));
        if !yes {
            self.off.extend(sorts);
        }
    }

    /// What is switched off, as a text of suppressions.
    pub fn as_suppressions(&self) -> String {
        self.off.iter().map(|sort| format!("{}:\n", sort.word())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("foo", "a::foobar", true),
            ("^foo", "a::foobar", false),
            ("^foo", "foobar", true),
            ("bar$", "foobar", true),
            ("bar$", "barfoo", false),
            ("^foo$", "foo", true),
            ("^foo$", "foobar", false),
            ("^f*r$", "foobar", true),
            ("a*c*e", "xabcdefx", true),
            ("a*c*b", "abc", false),
            ("*.so", "/usr/lib/libx.so.1", true),
            ("", "anything", true),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} in {name}");
        }
    }

    #[test]
    fn rules_are_for_their_sort() {
        let mut rules = Suppressions::default();
        rules.add("# comment\n\nrace:foo\nrace_top:bar\nmutex:m\n").expect("suppressions");
        let allow = |kind, names: &[(&str, bool)]| rules.allow(kind, "", names.iter().copied());
        assert!(!allow(FindingKind::Race, &[("main", true), ("foo", false)]));
        assert!(!allow(FindingKind::Race, &[("bar", true)]));
        assert!(allow(FindingKind::Race, &[("main", true), ("bar", false)]));
        assert!(allow(FindingKind::Deadlock, &[("foo", true)]));
        let rule = rules.matching(FindingKind::Race, "", [("bar", true)].into_iter());
        assert_eq!(rule.as_deref(), Some("race_top:bar"));
        assert!(!allow(FindingKind::Lock, &[("main", true)]));
        assert!(allow(FindingKind::Assertion, &[("foo", true)]));
        assert_eq!(rules.add("races:x"), Err("line 1: `races:x` is no suppression".to_string()));
    }

    #[test]
    fn options() {
        let mut settings = Settings::default();
        settings.read("verbosity=1:exitcode=7 halt_on_error=1,suppressions='a b:c':report_thread_leaks=0");
        assert_eq!((settings.exit_code, settings.halt_on_error), (7, true));
        assert_eq!(settings.suppressions.as_deref(), Some("a b:c"));
        let mut rules = Suppressions::default();
        rules.add_options(&settings);
        assert!(!rules.allow(FindingKind::Leak, "", [("main", true)].into_iter()));
        assert!(rules.allow(FindingKind::Lock, "", [("main", true)].into_iter()));
        settings.read("history=7,log_path=/tmp/log history_size=3");
        assert_eq!((settings.history, settings.log_path.as_deref()), (Some(7), Some("/tmp/log")));
        settings.read("report_destroy_locked=0");
        let mut rules = Suppressions::default();
        rules.add_options(&settings);
        let main = [("main", true)].into_iter();
        assert!(!rules.allow(FindingKind::Lock, "destruction of a locked mutex", main.clone()));
        assert!(rules.allow(FindingKind::Lock, "use of a destroyed mutex", main));
        let races = [Kind::Write as u32, Kind::AtomicRead as u32];
        assert!(rules.allow_accesses(FindingKind::Race, races));
        settings.read("report_atomic_races=0:print_suppressions=1");
        assert!(settings.print_suppressions);
        rules.add_options(&settings);
        assert!(!rules.allow_accesses(FindingKind::Race, races));
        assert!(rules.allow_accesses(FindingKind::Race, [Kind::Write as u32; 2]));
        settings.read("report_bugs=0");
        let mut rules = Suppressions::default();
        rules.add(&settings.as_suppressions()).expect("suppressions");
        assert!(!rules.allow(FindingKind::Race, "", [("main", true)].into_iter()));
        assert!(rules.allow(FindingKind::Assertion, "", [("main", true)].into_iter()));
    }
}
