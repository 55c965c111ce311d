//! Witness files: what to run and what to answer, for `porf replay`.

use super::json::{trace, violation_json};
use porf::{Answer, Expected, Found, Model, Origin, Volatile};
use porf_event::{EventId, ThreadId};
use porf_ir::Split;
use serde_json::{Value, json};

/// The file for a violation of an answer, if an execution shows it.
pub fn witness(answer: &Answer, found: &Found) -> Option<Value> {
    let shown = found.shown.as_ref()?;
    let Origin { files, flags, entry, arguments, spurious, overflow, volatile, inputs, real_std, leaks } =
        &answer.origin;
    Some(json!({
        "schema": 1,
        "kind": "witness",
        "files": files,
        "flags": flags,
        "cuts": answer.cuts,
        "entry": entry,
        "spurious": spurious,
        "overflow": overflow,
        "volatile": volatile.word(),
        "real_std": real_std,
        "arguments": arguments,
        "leaks": leaks,
        "inputs": inputs.as_ref().map(ToString::to_string),
        "model": answer.model.name(),
        "violation": violation_json(&found.violation),
        "execution": trace(&shown.trace, shown.why.as_ref()),
    }))
}

/// What a witness file says.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The program.
    pub origin: Origin,
    /// How its accesses were cut.
    pub cuts: Vec<Vec<Split>>,
    /// The memory model.
    pub model: Model,
    /// The events of the execution.
    pub events: Vec<Expected>,
    /// The writes of each location in coherence order, if it says so.
    pub co: Option<Vec<Vec<EventId>>>,
    /// The file itself, for what is only shown.
    pub json: Value,
}

impl Witness {
    /// Reads a witness of `porf verify`.
    pub fn read(json: Value) -> Result<Witness, String> {
        let list = |name: &str| -> Vec<String> {
            let items = json[name].as_array().into_iter().flatten();
            items.filter_map(|item| item.as_str().map(str::to_string)).collect()
        };
        let origin = Origin {
            files: list("files"),
            flags: list("flags"),
            arguments: list("arguments"),
            entry: json["entry"].as_str().unwrap_or("main").to_string(),
            spurious: json["spurious"] == true,
            overflow: json["overflow"] == true,
            volatile: json["volatile"].as_str().and_then(Volatile::from_word).unwrap_or_default(),
            real_std: json["real_std"] == true,
            leaks: json["leaks"] == true,
            inputs: json["inputs"].as_str().and_then(|text| text.parse().ok()),
        };
        let events = json["execution"]["events"].as_array().into_iter().flatten();
        let events = events.map(|event| {
            let id = event["id"].as_str().unwrap_or_default();
            Ok(Expected {
                id: event_id(id).ok_or_else(|| format!("no event {id}"))?,
                label: event["label"].as_str().unwrap_or_default().to_string(),
                answer: event["answer"].as_u64().unwrap_or(0),
                rf: event["rf"].as_str().and_then(event_id),
            })
        });
        let orders = json["execution"]["co"].as_array().map(|orders| {
            let names = |order: &Value| -> Vec<EventId> {
                let names = order.as_array().into_iter().flatten();
                names.filter_map(|name| event_id(name.as_str()?)).collect()
            };
            orders.iter().map(names).collect()
        });
        Ok(Witness {
            co: orders,
            origin,
            cuts: serde_json::from_value(json["cuts"].clone()).unwrap_or_default(),
            model: json["model"].as_str().unwrap_or_default().parse()?,
            events: events.collect::<Result<_, String>>()?,
            json,
        })
    }
}

/// `T1.3`.
fn event_id(text: &str) -> Option<EventId> {
    if text == "init" {
        return Some(EventId::INIT);
    }
    let (thread, index) = text.strip_prefix('T')?.split_once('.')?;
    Some(EventId { thread: ThreadId(thread.parse().ok()?), index: index.parse().ok()? })
}
