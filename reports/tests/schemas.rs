//! Real reports are what the published schemas say.

use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("the file is JSON")
}

fn check(schema: &str, report: &str) {
    let validator = jsonschema::validator_for(&json(schema)).expect("the schema is one");
    let report = json(report);
    let errors: Vec<String> = validator
        .iter_errors(&report)
        .map(|error| format!("{error} at {}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn runs() {
    let schema = include_str!("../schema/run-1.json");
    check(schema, include_str!("golden/run.json"));
    check(schema, include_str!("golden/run-1.0.json"));
}

#[test]
fn benches() {
    let schema = include_str!("../schema/bench-1.json");
    check(schema, include_str!("../examples/quick/bench.json"));
    check(schema, include_str!("golden/bench-1.0/bench.json"));
}
