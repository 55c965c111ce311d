//! The certificate as JSON, by the names of the system.

use super::cube::{Cell, Certificate, Cube, Drained, Late, Literal, Moment, Place, Relation};
use super::robust;
use crate::Memory;
use crate::law::{Count, Law, Witness};
use crate::system::{INT, PROC, REAL, System, TypeId};
use serde_json::{Map, Value, json};

const SCHEMA: u64 = 3;
const MAX_PROCESSES: u8 = 16;
const MAX_MOMENTS: usize = 32;

/// The certificate as text, one cube a line.
pub fn write(system: &System, certificate: &Certificate) -> String {
    let watched = certificate.robust.then(|| robust::watched(system, certificate.memory).ok()).flatten();
    let system = watched.as_ref().unwrap_or(system);
    let robust = if certificate.robust { "\"robust\":true," } else { "" };
    let cubes: Vec<String> =
        certificate.cubes.iter().map(|cube| write_cube(system, cube).to_string()).collect();
    let laws: Vec<String> = certificate.laws.iter().map(|law| write_law(system, law).to_string()).collect();
    format!(
        "{{\"schema\":{SCHEMA},\"certificate\":\"porf prove\",\"model\":\"{}\",{robust}\"laws\":[\n{}\n],\"never\":[\n{}\n]}}\n",
        certificate.memory.word(),
        laws.join(",\n"),
        cubes.join(",\n")
    )
}

/// Reads a certificate of the system; the error says what does not fit.
pub fn read(system: &System, text: &str) -> Result<Certificate, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value["schema"] != SCHEMA || value["certificate"] != "porf prove" {
        return Err("this is no certificate of this version".into());
    }
    let memory = (Memory::ALL.into_iter())
        .find(|memory| value["model"] == memory.word())
        .ok_or("the certificate names no known model")?;
    let robust = match &value["robust"] {
        Value::Null => false,
        value => value.as_bool().ok_or("`robust` is neither true nor false")?,
    };
    let watched = if robust { Some(robust::watched(system, memory)?) } else { None };
    let system = watched.as_ref().unwrap_or(system);
    let cubes = value["never"].as_array().ok_or("`never` is no list")?;
    let cubes = cubes.iter().map(|cube| read_cube(system, cube)).collect::<Result<_, _>>()?;
    let laws = list(&value["laws"])?.iter().map(|law| read_law(system, law)).collect::<Result<_, _>>()?;
    Ok(Certificate { memory, robust, cubes, laws })
}

fn write_law(system: &System, law: &Law) -> Value {
    let name = |symbol: usize| system.symbols[symbol].name.as_str();
    let values = |symbol: usize| system.constructors(system.symbols[symbol].ty);
    let weights = |symbol: usize, weights: &[i64]| {
        let named = values(symbol).iter().zip(weights).filter(|(_, weight)| **weight != 0);
        named.map(|(value, weight)| (value.clone(), json!(weight))).collect::<Map<_, _>>()
    };
    let some = |symbol: usize, set: u64| {
        let values = values(symbol).iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        values.map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    match law {
        Law::Count(count) => json!({
            "counters": count.counters.iter().map(|(symbol, k)| json!([k, name(*symbol)])).collect::<Vec<_>>(),
            "flags": count.flags.iter().map(|(symbol, w)| json!([name(*symbol), weights(*symbol, w)])).collect::<Vec<_>>(),
            "array": name(count.array),
            "weights": weights(count.array, &count.weights),
            "total": count.total,
        }),
        Law::Witness(witness) => json!({
            "variable": name(witness.variable),
            "values": some(witness.variable, witness.values),
            "array": name(witness.array),
            "set": some(witness.array, witness.set),
        }),
    }
}

fn read_law(system: &System, value: &Value) -> Result<Law, String> {
    let symbol = |value: &Value| {
        let name = value.as_str().ok_or("a law without the name of a variable")?;
        let found = system.symbols.iter().position(|symbol| symbol.name == name);
        found.ok_or_else(|| format!("the system has no `{name}`"))
    };
    let values = |symbol: usize| system.constructors(system.symbols[symbol].ty);
    let position = |symbol: usize, name: &str| {
        let found = values(symbol).iter().position(|value| value == name);
        found.ok_or_else(|| format!("unknown value {name}"))
    };
    let weights = |symbol: usize, value: &Value| -> Result<Vec<i64>, String> {
        let mut weights = vec![0; values(symbol).len()];
        for (name, weight) in value.as_object().ok_or("weights are missing")? {
            weights[position(symbol, name)?] = small(weight)?;
        }
        Ok(weights)
    };
    let some = |symbol: usize, value: &Value| -> Result<u64, String> {
        let names = list(value)?.iter().map(|name| position(symbol, name.as_str().unwrap_or_default()));
        names.into_iter().try_fold(0, |set, at| Ok(set | 1 << at?))
    };
    let array = symbol(&value["array"])?;
    if value["counters"].is_null() {
        let variable = symbol(&value["variable"])?;
        let (values, set) = (some(variable, &value["values"])?, some(array, &value["set"])?);
        return Ok(Law::Witness(Witness { variable, values, array, set }));
    }
    let mut count = Count {
        counters: Vec::new(),
        flags: Vec::new(),
        array,
        weights: weights(array, &value["weights"])?,
        total: small(&value["total"])?,
    };
    for counter in list(&value["counters"])? {
        count.counters.push((symbol(&counter[1])?, small(&counter[0])?));
    }
    for flag in list(&value["flags"])? {
        let at = symbol(&flag[0])?;
        count.flags.push((at, weights(at, &flag[1])?));
    }
    Ok(Law::Count(count))
}

/// A whole number of a law.
fn small(value: &Value) -> Result<i64, String> {
    (value.as_i64().filter(|number| number.abs() <= 1_000_000))
        .ok_or_else(|| format!("{value} where a whole number up to a million belongs"))
}

fn write_cube(system: &System, cube: &Cube) -> Value {
    let place = |place: &Place| match place {
        Place::Process(process) => json!({"process": process}),
        Place::Cell(cell) => write_cell(system, cell),
        Place::Read(moment, cell) => {
            let mut value = write_cell(system, cell);
            value["read"] = json!(moment);
            value
        }
    };
    let literal = |literal: &Literal| match literal {
        Literal::In(at, set) => {
            let names = match at {
                Place::Cell(cell) | Place::Read(_, cell) => {
                    system.constructors(system.symbols[cell.symbol].ty)
                }
                Place::Process(_) => &[],
            };
            let inside: Vec<&String> =
                names.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, n)| n).collect();
            json!({"in": inside, "var": place(at)})
        }
        Literal::Equal(a, b) => json!({"equal": [place(a), place(b)]}),
        Literal::Distinct(a, b) => json!({"distinct": [place(a), place(b)]}),
        Literal::Sum(terms, constant, relation) => {
            let terms: Vec<Value> = terms.iter().map(|(k, at)| json!([k, place(at)])).collect();
            json!({"sum": terms, "constant": constant, "is": word(*relation)})
        }
    };
    let literals: Vec<Value> = cube.literals.iter().map(literal).collect();
    let mut value = json!({"processes": cube.processes, "literals": literals});
    if !cube.moments.is_empty() {
        let moment = |moment: &Moment| {
            let late = |late: &Late| json!({"var": write_cell(system, &late.location), "after": late.after});
            json!({"process": moment.process, "before": moment.before,
                   "late": moment.late.iter().map(late).collect::<Vec<_>>()})
        };
        let drained = |drained: &Drained| {
            let mut value = json!({"process": drained.process, "by": drained.by});
            if let Some(cell) = &drained.location {
                value["var"] = write_cell(system, cell);
            }
            value
        };
        value["reads"] = cube.moments.iter().map(moment).collect();
        value["drained"] = cube.drained.iter().map(drained).collect();
    }
    value
}

fn write_cell(system: &System, cell: &Cell) -> Value {
    let mut value = json!({"name": system.symbols[cell.symbol].name});
    if !cell.indices().is_empty() {
        value["at"] = json!(cell.indices());
    }
    value
}

fn word(relation: Relation) -> &'static str {
    match relation {
        Relation::Le => "<=0",
        Relation::Lt => "<0",
        Relation::Eq => "=0",
        Relation::Neq => "<>0",
    }
}

fn read_cube(system: &System, value: &Value) -> Result<Cube, String> {
    let most = system.number_procs.unwrap_or(MAX_PROCESSES).min(MAX_PROCESSES);
    let processes = number(&value["processes"], most)?;
    let moments = list(&value["reads"])?;
    if moments.len() > MAX_MOMENTS {
        return Err("too many reads in a cube".into());
    }
    let reader = Reader { system, processes, moments: moments.len() as u8 };
    Ok(Cube {
        processes,
        literals: list(&value["literals"])?.iter().map(|v| reader.literal(v)).collect::<Result<_, _>>()?,
        moments: moments.iter().map(|v| reader.moment(v)).collect::<Result<_, _>>()?,
        drained: list(&value["drained"])?.iter().map(|v| reader.drained(v)).collect::<Result<_, _>>()?,
    })
}

/// A list; nothing at all is an empty one.
fn list(value: &Value) -> Result<&[Value], String> {
    match value {
        Value::Null => Ok(&[]),
        Value::Array(values) => Ok(values),
        _ => Err(format!("{value} where a list belongs")),
    }
}

struct Reader<'a> {
    system: &'a System,
    processes: u8,
    moments: u8,
}

impl Reader<'_> {
    fn literal(&self, value: &Value) -> Result<Literal, String> {
        if let Some(inside) = value["in"].as_array() {
            let place = self.place(&value["var"])?;
            let names = self.system.constructors(self.type_of(place));
            let mut set = 0;
            for name in inside {
                let at = names.iter().position(|n| name == n.as_str());
                set |= 1_u64 << at.ok_or_else(|| format!("unknown value {name}"))?;
            }
            return Ok(Literal::In(place, set));
        }
        for (key, equal) in [("equal", true), ("distinct", false)] {
            if value[key].is_array() {
                let (a, b) = (self.place(&value[key][0])?, self.place(&value[key][1])?);
                if self.type_of(a) != self.type_of(b) {
                    return Err(format!("{value} compares two types"));
                }
                return Ok(if equal { Literal::Equal(a, b) } else { Literal::Distinct(a, b) });
            }
        }
        let mut terms = Vec::new();
        for term in value["sum"].as_array().ok_or("a literal of an unknown kind")? {
            terms.push((term[0].as_i64().ok_or("a coefficient is missing")?, self.place(&term[1])?));
        }
        let types: Vec<TypeId> = terms.iter().map(|(_, place)| self.type_of(*place)).collect();
        if types.windows(2).any(|pair| pair[0] != pair[1])
            || types.iter().any(|ty| !matches!(*ty, PROC | INT | REAL))
        {
            return Err(format!("{value} adds what is no number, or two kinds of numbers"));
        }
        let relation = [Relation::Le, Relation::Lt, Relation::Eq, Relation::Neq]
            .into_iter()
            .find(|relation| value["is"] == word(*relation))
            .ok_or("a sum without comparison")?;
        let constant = value["constant"].as_i64().ok_or("a constant is missing")?;
        Ok(Literal::Sum(terms, constant, relation))
    }

    fn type_of(&self, place: Place) -> TypeId {
        match place {
            Place::Process(_) => PROC,
            Place::Cell(cell) | Place::Read(_, cell) => self.system.symbols[cell.symbol].ty,
        }
    }

    fn moment(&self, value: &Value) -> Result<Moment, String> {
        let late = (list(&value["late"])?.iter())
            .map(|late| Ok(Late { location: self.cell(&late["var"])?, after: self.moments(&late["after"])? }))
            .collect::<Result<_, String>>()?;
        Ok(Moment {
            process: self.process(&value["process"])?,
            before: self.moments(&value["before"])?,
            late,
        })
    }

    fn drained(&self, value: &Value) -> Result<Drained, String> {
        let location = match &value["var"] {
            Value::Null => None,
            cell => Some(self.cell(cell)?),
        };
        Ok(Drained { process: self.process(&value["process"])?, location, by: self.moments(&value["by"])? })
    }

    fn place(&self, value: &Value) -> Result<Place, String> {
        if !value["process"].is_null() {
            return Ok(Place::Process(self.process(&value["process"])?));
        }
        let cell = self.cell(value)?;
        if value["read"].is_null() {
            return Ok(Place::Cell(cell));
        }
        let last = self.moments.checked_sub(1).ok_or("a read in a cube without moments")?;
        Ok(Place::Read(number(&value["read"], last)?, cell))
    }

    fn cell(&self, value: &Value) -> Result<Cell, String> {
        let name = value["name"].as_str().ok_or("a variable without a name")?;
        let symbol = (self.system.symbols.iter().position(|s| s.name == name))
            .ok_or_else(|| format!("the system has no `{name}`"))?;
        let indices: Vec<u8> =
            list(&value["at"])?.iter().map(|index| self.process(index)).collect::<Result<_, _>>()?;
        if indices.len() != self.system.symbols[symbol].dims {
            return Err(format!("`{name}` with a wrong number of indices"));
        }
        Ok(Cell::new(symbol, &indices))
    }

    fn process(&self, value: &Value) -> Result<u8, String> {
        number(value, self.processes.checked_sub(1).ok_or("a process in a cube without processes")?)
    }

    fn moments(&self, value: &Value) -> Result<Vec<u8>, String> {
        let moments = list(value)?;
        if self.moments == 0 && !moments.is_empty() {
            return Err("an order of moments in a cube without moments".into());
        }
        moments.iter().map(|at| number(at, self.moments.saturating_sub(1))).collect()
    }
}

fn number(value: &Value, max: u8) -> Result<u8, String> {
    match value.as_u64() {
        Some(n) if n <= u64::from(max) => Ok(n as u8),
        _ => Err(format!("{value} where a number up to {max} belongs")),
    }
}
