//! The certificate as JSON, by the names of the system.

use crate::Model;
use crate::prove::Cube;
use crate::prove::literal::{Lin, LinOp, Literal, Var};
use crate::prove::weak::{Entry, Mask, Node, Order, Weak};
use crate::system::System;
use serde_json::{Value, json};

pub struct Certificate {
    pub model: Model,
    /// The order in which the reads of the cubes are to be understood.
    pub order: Order,
    pub cubes: Vec<Cube>,
}

pub fn write(system: &System, certificate: &Certificate) -> String {
    let Certificate { model, order, cubes } = certificate;
    let cubes: Vec<Value> = cubes.iter().map(|cube| write_cube(system, cube)).collect();
    let mut text = format!(
        "{{\"schema\":1,\"certificate\":\"porf prove\",\"model\":\"{}\",\"order\":\"{}\",\"never\":[\n",
        model.word(),
        order.word()
    );
    for (i, cube) in cubes.iter().enumerate() {
        text.push_str(&format!("{cube}{}\n", if i + 1 < cubes.len() { "," } else { "" }));
    }
    text.push_str("]}\n");
    text
}

pub fn read(system: &System, text: &str) -> Result<Certificate, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if value["schema"] != 1 || value["certificate"] != "porf prove" {
        return Err("this is no certificate of this version".into());
    }
    let model = (Model::ALL.into_iter())
        .find(|model| value["model"] == model.word())
        .ok_or("the certificate names no known model")?;
    let order = ([Order::Coherence, Order::Issue].into_iter())
        .find(|order| value["order"] == order.word())
        .ok_or("the certificate names no known order")?;
    let cubes = value["never"].as_array().ok_or("`never` is no list")?;
    let cubes = cubes.iter().map(|cube| read_cube(system, cube)).collect::<Result<_, _>>()?;
    Ok(Certificate { model, order, cubes })
}

fn write_cube(system: &System, cube: &Cube) -> Value {
    let var = |v: Var| write_var(system, v);
    let literals: Vec<Value> = (cube.literals.iter())
        .map(|literal| match literal {
            Literal::In(v, set) => {
                let names = system.constructors(system.symbols[v.symbol()].ty);
                let inside: Vec<&String> = names
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| set >> i & 1 == 1)
                    .map(|(_, name)| name)
                    .collect();
                json!({"in": inside, "var": var(*v)})
            }
            Literal::Eq(a, b) => json!({"equal": [var(*a), var(*b)]}),
            Literal::Neq(a, b) => json!({"distinct": [var(*a), var(*b)]}),
            Literal::Lin(lin) => {
                let terms: Vec<Value> = lin.terms.iter().map(|(v, k)| json!([k, var(*v)])).collect();
                let op = match lin.op {
                    LinOp::Le => "<=0",
                    LinOp::Lt => "<0",
                    LinOp::Eq => "=0",
                    LinOp::Neq => "<>0",
                };
                json!({"sum": terms, "constant": lin.constant, "is": op, "real": lin.real})
            }
        })
        .collect();
    let mut value = json!({"processes": cube.procs, "literals": literals});
    if !cube.weak.nodes.is_empty() {
        let nodes: Vec<Value> = (cube.weak.nodes.iter())
            .map(|node| {
                let late: Vec<Value> = node
                    .late
                    .iter()
                    .map(|(v, floor)| json!({"var": var(*v), "after": bits(*floor)}))
                    .collect();
                json!({"process": node.thread, "before": bits(node.reach), "late": late})
            })
            .collect();
        let entries: Vec<Value> = (cube.weak.entries.iter())
            .map(|(entry, mask)| {
                let mut value = match entry {
                    Entry::Any(p) => json!({"of": "steps", "process": p}),
                    Entry::Write(p) => json!({"of": "writes", "process": p}),
                    Entry::Location(v) => json!({"of": "location", "var": var(*v)}),
                    Entry::Own(p, v) => json!({"of": "own", "process": p, "var": var(*v)}),
                };
                value["before"] = json!(bits(*mask));
                value
            })
            .collect();
        value["reads"] = nodes.into();
        value["order"] = entries.into();
    }
    value
}

fn write_var(system: &System, var: Var) -> Value {
    if let Some(process) = var.as_process() {
        return json!({"process": process});
    }
    let mut value = json!({"name": system.symbols[var.symbol()].name});
    let indices: Vec<u8> = var.indices().collect();
    if !indices.is_empty() {
        value["at"] = json!(indices);
    }
    if let Some(node) = var.node() {
        value["read"] = json!(node);
    }
    value
}

fn bits(mask: Mask) -> Vec<u32> {
    (0..Mask::BITS).filter(|i| mask >> i & 1 == 1).collect()
}

fn read_cube(system: &System, value: &Value) -> Result<Cube, String> {
    let procs = number(&value["processes"], 16)?;
    let none = Vec::new();
    let list = |value: &'_ Value| -> Vec<Value> { value.as_array().unwrap_or(&none).clone() };
    let nodes = list(&value["reads"]);
    let place = Place { system, procs, nodes: nodes.len() as u8 };
    let literals = list(&value["literals"]).iter().map(|l| place.literal(l)).collect::<Result<_, _>>()?;
    let mut weak = Weak::default();
    if nodes.len() > 32 {
        return Err("too many reads in a cube".into());
    }
    for node in &nodes {
        let late = (list(&node["late"]).iter())
            .map(|late| Ok((place.var(&late["var"])?, place.mask(&late["after"])?)))
            .collect::<Result<_, String>>()?;
        weak.nodes.push(Node {
            thread: place.process(&node["process"])?,
            reach: place.mask(&node["before"])?,
            late,
        });
    }
    for entry in list(&value["order"]) {
        let process = || place.process(&entry["process"]);
        let key = match entry["of"].as_str() {
            Some("steps") => Entry::Any(process()?),
            Some("writes") => Entry::Write(process()?),
            Some("location") => Entry::Location(place.var(&entry["var"])?),
            Some("own") => Entry::Own(process()?, place.var(&entry["var"])?),
            _ => return Err("an order entry of an unknown kind".into()),
        };
        weak.add_entry(key, place.mask(&entry["before"])?);
    }
    Ok(Cube { procs, literals, weak })
}

struct Place<'a> {
    system: &'a System,
    procs: u8,
    nodes: u8,
}

impl Place<'_> {
    fn literal(&self, value: &Value) -> Result<Literal, String> {
        let pair = |value: &Value| Ok::<_, String>((self.var(&value[0])?, self.var(&value[1])?));
        if let Some(inside) = value["in"].as_array() {
            let var = self.var(&value["var"])?;
            let symbol = self.system.symbols.get(var.symbol()).ok_or("a set of values for a process")?;
            let names = self.system.constructors(symbol.ty);
            let mut set = 0;
            for name in inside {
                let at = names.iter().position(|n| name == n.as_str());
                set |= 1_u64 << at.ok_or_else(|| format!("unknown value {name}"))?;
            }
            return Ok(Literal::In(var, set));
        }
        if value["equal"].is_array() {
            return pair(&value["equal"]).map(|(a, b)| Literal::Eq(a, b));
        }
        if value["distinct"].is_array() {
            return pair(&value["distinct"]).map(|(a, b)| Literal::Neq(a, b));
        }
        let terms = value["sum"].as_array().ok_or("a literal of an unknown kind")?;
        let terms = (terms.iter())
            .map(|term| Ok((self.var(&term[1])?, term[0].as_i64().ok_or("a coefficient is missing")?)))
            .collect::<Result<_, String>>()?;
        let op = match value["is"].as_str() {
            Some("<=0") => LinOp::Le,
            Some("<0") => LinOp::Lt,
            Some("=0") => LinOp::Eq,
            Some("<>0") => LinOp::Neq,
            _ => return Err("a sum without comparison".into()),
        };
        let constant = value["constant"].as_i64().ok_or("a constant is missing")?;
        Ok(Literal::Lin(Lin::new(op, terms, constant, value["real"] == true)))
    }

    fn var(&self, value: &Value) -> Result<Var, String> {
        if !value["process"].is_null() {
            return Ok(Var::process(self.process(&value["process"])?));
        }
        let name = value["name"].as_str().ok_or("a variable without a name")?;
        let symbol = (self.system.symbols.iter().position(|s| s.name == name))
            .ok_or_else(|| format!("the system has no `{name}`"))?;
        let mut indices = Vec::new();
        for index in value["at"].as_array().unwrap_or(&Vec::new()) {
            indices.push(self.process(index)?);
        }
        if indices.len() != self.system.symbols[symbol].dims {
            return Err(format!("`{name}` with a wrong number of indices"));
        }
        let var = Var::cell(symbol, &indices);
        if value["read"].is_null() {
            return Ok(var);
        }
        Ok(var.read_by(number(&value["read"], self.nodes.saturating_sub(1))?))
    }

    fn process(&self, value: &Value) -> Result<u8, String> {
        number(value, self.procs.checked_sub(1).ok_or("a process in a cube without processes")?)
    }

    fn mask(&self, value: &Value) -> Result<Mask, String> {
        let mut mask = 0;
        for bit in value.as_array().ok_or("`before` is no list")? {
            mask |= 1 << number(bit, self.nodes.saturating_sub(1))?;
        }
        Ok(mask)
    }
}

fn number(value: &Value, max: u8) -> Result<u8, String> {
    match value.as_u64() {
        Some(n) if n <= u64::from(max) => Ok(n as u8),
        _ => Err(format!("{value} where a number up to {max} belongs")),
    }
}
