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
    let lines = |finding: &Finding| {
        tops(finding, |frame| {
            let place = frame.file.as_ref().map(|file| format!("{file}:{}", frame.line));
            place.unwrap_or_else(|| frame.function.clone())
        })
    };
    if lines(one) == lines(two) {
        return true;
    }
    let functions = |finding: &Finding| tops(finding, |frame| frame.function.clone());
    let is_pair = one.address != 0 && one.stacks.len() == 2;
    is_pair && object(one) == object(two) && functions(one) == functions(two)
}

/// The variable, or the memory that has no name.
fn object(finding: &Finding) -> String {
    finding.object.clone().unwrap_or_else(|| format!("{:#x}", finding.address))
}

/// Something of the innermost call of each thread, in the order of the texts.
fn tops(finding: &Finding, text: impl Fn(&Frame) -> String) -> Vec<String> {
    let mut tops: Vec<String> =
        finding.stacks.iter().map(|(_, frames)| frames.first().map_or(String::new(), &text)).collect();
    tops.sort();
    tops
}

/// Adds a finding to those that are known.
pub fn add(known: &mut Vec<Finding>, finding: Finding, count: impl Fn(u64, u64) -> u64) {
    let Some(same) = known.iter_mut().find(|other| is_same(other, &finding)) else {
        return known.push(finding);
    };
    let place = |finding: &Finding| Elsewhere {
        count: finding.count,
        frames: finding.stacks.iter().filter_map(|(_, frames)| frames.first().cloned()).collect(),
    };
    let own = place(same).places();
    for elsewhere in std::iter::once(place(&finding)).chain(finding.elsewhere) {
        let told = elsewhere.places();
        match same.elsewhere.iter_mut().find(|other| other.places() == told) {
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
        let mut add = |finding| {
            super::add(&mut known, finding, u64::max);
            known.len()
        };
        assert_eq!(add(race("head", 8, [("push", 10), ("pop", 20)], 5)), 1);
        // The same functions and object, other lines, and the other way round.
        assert_eq!(add(race("head", 16, [("pop", 21), ("push", 10)], 9)), 1);
        // The same lines, inlined elsewhere.
        assert_eq!(add(race("tail", 32, [("push<int>", 10), ("pop<int>", 20)], 1)), 1);
        // Another object, other functions, memory without a name.
        assert_eq!(add(race("tail", 32, [("push", 11), ("pop", 21)], 1)), 2);
        assert_eq!(add(race("head", 8, [("push", 10), ("clear", 30)], 1)), 3);
        assert_eq!(add(race("", 64, [("push", 12), ("pop", 22)], 1)), 4);
        assert_eq!(add(race("", 64, [("push", 13), ("pop", 22)], 1)), 4);
        assert_eq!(add(race("", 72, [("push", 14), ("pop", 22)], 1)), 5);
        let elsewhere: Vec<String> = known[0].elsewhere.iter().map(|other| other.places()).collect();
        assert_eq!(known[0].count, 9);
        assert_eq!(elsewhere, ["queue.c:10 (push) and queue.c:21 (pop)"]);
    }
}
