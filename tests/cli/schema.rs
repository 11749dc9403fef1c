//! `kiln schema`: what it prints is a schema, and the kernel that `kiln init` writes is valid by it.

use std::process::Command;

use crate::run::{empty_folder, kiln_in};

#[test]
fn what_kiln_init_writes_is_valid_by_what_kiln_schema_prints() {
    let folder = empty_folder("schema");
    let printed = kiln_in(&folder, &["schema"]);
    assert_eq!((printed.code, printed.err.as_str()), (0, ""));
    let schema: serde_json::Value = serde_json::from_str(&printed.out).unwrap();
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    assert!(schema["properties"]["arguments"]["items"]["properties"]["role"]["description"].is_string());
    std::fs::write(folder.join("kernel.schema.json"), &printed.out).unwrap();
    assert_eq!(kiln_in(&folder, &["init", "sample"]).code, 0);
    let python = std::env::var("KILN_PYTHON").unwrap_or_else(|_| "python3".into());
    let judge = "import json, tomllib, jsonschema\njsonschema.validate(tomllib.load(open('sample/kernel.toml', 'rb')), json.load(open('kernel.schema.json')))";
    if !Command::new(&python).args(["-c", "import jsonschema, tomllib"]).output().is_ok_and(|o| o.status.success()) {
        println!("skipped: {python} has no jsonschema");
        return;
    }
    let judged = Command::new(python).args(["-c", judge]).current_dir(&folder).output().unwrap();
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
}
