//! One bug, one report: findings with the same cause become one.
//!
//! Races, and uses of freed memory, have the same cause if the two accesses are in the same pair of source lines, or
//! if they are to the same object in the same pair of functions. Other findings have the same cause if what happens
//! and the innermost source lines are the same. The first one found stands for all; where the others are is told in
//! short.

use porf_report::sample::{Elsewhere, Finding, Frame};

/// Whether the two findings have the same cause.
pub fn is_same(one: &Finding, two: &Finding) -> bool {
    if one.title != two.title || one.message != two.message {
        return false;
    }
    let functions = |finding| sorted(tops(finding).map(|frame| frame.function.clone()));
    let is_pair = one.address != 0 && one.stacks.len() >= 2;
    lines(tops(one)) == lines(tops(two))
        || (is_pair && object(one) == object(two) && functions(one) == functions(two))
}

/// The innermost call of each thread. Who allocated the memory of a race comes after both.
fn tops(finding: &Finding) -> impl Iterator<Item = &Frame> {
    let count = if finding.address != 0 { 2 } else { finding.stacks.len() };
    finding.stacks.iter().take(count).filter_map(|(_, frames)| frames.first())
}

/// The source lines, or functions where these are not known.
fn lines<'a>(frames: impl Iterator<Item = &'a Frame>) -> Vec<String> {
    sorted(frames.map(|frame| match &frame.file {
        Some(file) => format!("{file}:{}", frame.line),
        None => frame.function.clone(),
    }))
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort();
    texts
}

/// The variable, or the memory that has no name.
fn object(finding: &Finding) -> String {
    finding.object.clone().unwrap_or_else(|| format!("{:#x}", finding.address))
}

/// Adds a finding to those that are known; `count` makes one number of two.
pub fn add(known: &mut Vec<Finding>, finding: Finding, count: impl Fn(u64, u64) -> u64) {
    let Some(same) = known.iter_mut().find(|other| is_same(other, &finding)) else {
        return known.push(finding);
    };
    let own = lines(tops(same));
    let there = Elsewhere { count: finding.count, frames: tops(&finding).cloned().collect() };
    for elsewhere in std::iter::once(there).chain(finding.elsewhere) {
        let told = lines(elsewhere.frames.iter());
        match same.elsewhere.iter_mut().find(|other| lines(other.frames.iter()) == told) {
            Some(other) => other.count = count(other.count, elsewhere.count),
            None if told == own => {}
            None => same.elsewhere.push(elsewhere),
        }
    }
    same.count = count(same.count, finding.count);
    same.seed = same.seed.min(finding.seed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use porf_verdict::ViolationKind;

    fn race(object: &str, address: u64, places: [(&str, u32); 2], count: u64) -> Finding {
        let frame = |(function, line): (&str, u32)| Frame {
            function: function.to_string(),
            file: Some("queue.c".to_string()),
            line,
            column: 1,
        };
        Finding {
            kind: ViolationKind::Race,
            title: "data race".to_string(),
            message: String::new(),
            count,
            seed: 1,
            address,
            size: 4,
            object: (!object.is_empty()).then(|| object.to_string()),
            stacks: places.map(|place| (String::new(), vec![frame(place)])).into(),
            elsewhere: Vec::new(),
            minimised: None,
            decisions: Vec::new(),
            trace: Vec::new(),
        }
    }

    #[test]
    fn races_of_one_cause_are_one() {
        let mut known = Vec::new();
        let mut put = |finding| {
            add(&mut known, finding, u64::max);
            known.len()
        };
        assert_eq!(put(race("head", 8, [("push", 10), ("pop", 20)], 5)), 1);
        // The same functions and object, other lines, and the other way round.
        assert_eq!(put(race("head", 16, [("pop", 21), ("push", 10)], 9)), 1);
        // The same lines, inlined elsewhere.
        assert_eq!(put(race("tail", 32, [("push<int>", 10), ("pop<int>", 20)], 1)), 1);
        // Another object, other functions, memory without a name.
        assert_eq!(put(race("tail", 32, [("push", 11), ("pop", 21)], 1)), 2);
        assert_eq!(put(race("head", 8, [("push", 10), ("clear", 30)], 1)), 3);
        assert_eq!(put(race("", 64, [("push", 12), ("pop", 22)], 1)), 4);
        assert_eq!(put(race("", 64, [("push", 13), ("pop", 22)], 1)), 4);
        assert_eq!(put(race("", 72, [("push", 14), ("pop", 22)], 1)), 5);
        let elsewhere: Vec<String> = known[0].elsewhere.iter().map(|other| other.places()).collect();
        assert_eq!(known[0].count, 9);
        assert_eq!(elsewhere, ["queue.c:10 (push) and queue.c:21 (pop)"]);
    }
}
