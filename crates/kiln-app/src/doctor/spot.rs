//! A machine that may be taken away. In: what the cloud's own set-up program left in a file. Out: a finding where it says
//! that this is such a machine, and nothing where it does not say: no network is asked.

use crate::doctor::Finding;
use serde_json::Value;

const ID: &str = "spot";
const WHY: &str = "a machine that is rented at a discount can be taken away in the middle of a study";
const FACTS: &str = "/run/cloud-init/instance-data.json";

/// Reads the file.
pub(crate) fn look() -> Option<Finding> {
    judge(&serde_json::from_str(&std::fs::read_to_string(FACTS).ok()?).ok()?)
}

fn judge(facts: &Value) -> Option<Finding> {
    let said = [
        // Amazon, Microsoft.
        &facts["ds"]["meta_data"]["instance-life-cycle"],
        &facts["ds"]["meta_data"]["imds"]["compute"]["priority"],
    ];
    let spot = said.iter().filter_map(|word| word.as_str()).any(|word| word.eq_ignore_ascii_case("spot"));
    let fix = "keep .kiln on a disk that stays; `kiln tune --resume` goes on where a study was cut off";
    spot.then(|| Finding::warn(ID, WHY, "this machine may be taken away at any time", fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_is_said_is_told() {
        assert!(judge(&json!({"ds": {"meta_data": {"instance-life-cycle": "spot"}}})).is_some());
        assert!(judge(&json!({"ds": {"meta_data": {"imds": {"compute": {"priority": "Spot"}}}}})).is_some());
        assert!(judge(&json!({"ds": {"meta_data": {"instance-life-cycle": "on-demand"}}})).is_none());
        assert!(judge(&json!({"v1": {}})).is_none() && judge(&json!(3)).is_none());
    }
}
