//! Witness files: what to run and what to answer, for `porf replay`.

use super::json::{trace, violation_json};
use porf::{Answer, Expected, Found, Model, Origin};
use porf_event::{EventId, ThreadId};
use porf_ir::Split;
use serde_json::{Value, json};

/// The file for a violation of an answer, if an execution shows it.
pub fn witness(answer: &Answer, found: &Found) -> Option<Value> {
    let shown = found.shown.as_ref()?;
    let mut file = json!({
        "schema": 1,
        "kind": "witness",
        "files": answer.origin.files,
        "cuts": answer.cuts,
        "model": answer.model.name(),
        "violation": violation_json(&found.violation),
        "execution": trace(&shown.trace, shown.why.as_ref()),
    });
    let options = json!(answer.origin.options);
    let fields = file.as_object_mut().expect("an object was just made");
    fields.extend(options.as_object().expect("options have names").clone());
    Some(file)
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
        let files = json["files"].as_array().into_iter().flatten();
        let origin = Origin {
            files: files.filter_map(|file| file.as_str().map(str::to_string)).collect(),
            options: serde_json::from_value(json.clone()).map_err(|wrong| wrong.to_string())?,
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
