//! The schemas of the other tables, in the order of docs/kernel-toml.md.

use kiln_core::Use;
use serde_json::{Value, json};

use crate::model::{Dtype, TargetKind};
use crate::schema::shape::{
    boolean, callable, described, expression, free, identifier, label, numeric, positive, scalar, table, text, texts,
    variables, word,
};
use crate::tables::callable::{BASELINE, PYTHON};
use crate::tables::reference::{BUILTINS, ORIGINS, TOLERANCE_KEYS};
use crate::tables::settings::{COST_KEYS, GATES_KEYS, OBJECTIVE_KEYS, OCCUPANCY_KEYS, SOFT};
use crate::tables::{environment, export, fuzz, kernel, layer, reference, sweep, tunable, workload};

pub(crate) fn kernel() -> Value {
    let key = |key: &str| match key {
        "name" => described(label(), "The kernel's name: letters, digits, _, . and -."),
        "description" => described(text(), "What the kernel does."),
        "entry" => described(text(), "The kernel, host function, or Python callable \"file.py:function\"."),
        "host" => described(boolean(false), "Whether the entry is a host function that launches the kernel itself."),
        "variants" => variants("Type variables, checked and tuned separately: { T = [\"f16\", \"bf16\"] }."),
        _ => json!({}),
    };
    described(table(&kernel::KEYS, &["name"], key), "What the kernel is called and the dtypes it comes in.")
}

pub(crate) fn variants(about: &str) -> Value {
    let dtypes: Vec<&str> = Dtype::ALL.iter().map(|dtype| dtype.name()).collect();
    let mut names = variables();
    names["not"]["enum"].as_array_mut().into_iter().for_each(|taken| taken.extend(dtypes.iter().map(|d| json!(d))));
    let list = json!({ "type": "array", "items": { "enum": dtypes }, "minItems": 1, "uniqueItems": true });
    described(free(names, list), about)
}

pub(crate) fn tunables(about: &str) -> Value {
    let list = |kind: &str| json!({ "type": "array", "items": { "type": kind }, "minItems": 1, "uniqueItems": true });
    let key = |key: &str| match key {
        "from" => described(json!({ "type": "integer" }), "The first value."),
        "to" => described(json!({ "type": "integer" }), "The last value, included."),
        "step" => {
            described(json!({ "type": "integer", "minimum": 1, "default": 1 }), "What is added from value to value.")
        }
        "times" => described(
            json!({ "type": "integer", "minimum": 2 }),
            "What each value is multiplied by; from is at least 1.",
        ),
        _ => json!({}),
    };
    let mut range = table(&tunable::RANGE_KEYS, &["from", "to"], key);
    range["not"] = json!({ "required": ["step", "times"] });
    range["if"] = json!({ "required": ["times"] });
    range["then"] = json!({ "properties": { "from": { "minimum": 1 } } });
    let values = json!({ "anyOf": [list("number"), list("boolean"), list("string"), range] });
    described(
        free(variables(), described(values, "Its values: a list, { from, to, step } or { from, to, times }.")),
        about,
    )
}

pub(crate) fn default(about: &str) -> Value {
    described(json!({ "type": "object", "additionalProperties": scalar() }), about)
}

pub(crate) fn constraints(about: &str) -> Value {
    let key = |key: &str| match key {
        "expr" => described(expression(), "What must be true."),
        "hint" => described(text(), "What to do when it refuses a configuration."),
        _ => json!({}),
    };
    let rule = json!({ "anyOf": [expression(), table(&layer::RULE_KEYS, &["expr"], key)] });
    described(
        free(label(), described(rule, "An expression that must be true, or { expr = \"...\", hint = \"...\" }.")),
        about,
    )
}

pub(crate) fn derived(about: &str) -> Value {
    described(
        free(variables(), described(expression(), "An expression of tunables, dimensions and derived values.")),
        about,
    )
}

pub(crate) fn cost() -> Value {
    let key = |key: &str| match key {
        "flops" => described(numeric(), "Floating-point operations of one call, an expression of dimensions."),
        "bytes" => described(numeric(), "Bytes that must move in one call, an expression of dimensions."),
        _ => json!({}),
    };
    described(table(&COST_KEYS, &[], key), "The work of one call, for the roofline.")
}

pub(crate) fn workloads() -> Value {
    let key = |key: &str| match key {
        "name" => {
            let mut name = label();
            name["not"] = json!({ "const": workload::EVERY });
            described(name, "Its name; `all` selects every workload and cannot be one.")
        }
        "dims" => described(free(variables(), scalar()), "Its dimensions: { B = 1, S = 128, causal = true }."),
        "use" => described(
            word(&Use::ALL),
            "tune (the default), check (correctness only) or holdout (measured once, in the confirmation).",
        ),
        "weight" => described(positive(), "Its weight in the geometric mean; 1 by default."),
        "targets" => {
            let kinds = word(&TargetKind::ALL);
            described(json!({ "type": "array", "items": kinds }), "The targets it is for; all by default.")
        }
        _ => json!({}),
    };
    let list = json!({ "type": "array", "items": table(&workload::KEYS, &["name"], key) });
    described(list, "The problems that the kernel runs on, smallest first.")
}

pub(crate) fn objective() -> Value {
    let key = |key: &str| match key {
        "per_workload" => described(boolean(false), "One winner for each workload instead of one over all."),
        "target_speedup" => described(positive(), "The speedup that counts as success; 1.10 by default."),
        _ => json!({}),
    };
    described(table(&OBJECTIVE_KEYS, &[], key), "How the winner is chosen.")
}

pub(crate) fn reference() -> Value {
    let key = |key: &str| match key {
        "builtin" => described(word(&BUILTINS.map(|name| (name, ()))), "An operation that kiln computes itself."),
        "python" => described(callable(PYTHON), "A Python function, \"file.py:function\"."),
        "kernel" => described(text(), "Another kernel's folder or file."),
        "expressions" => described(
            json!({ "type": "object", "additionalProperties": expression() }),
            "With elementwise: one expression for each output, in the names of inputs and scalars.",
        ),
        "tolerance" => {
            let part = |key: &str| {
                let number = json!({ "type": "number", "minimum": 0 });
                described(
                    number,
                    if key == "abs" {
                        "The absolute error allowed."
                    } else {
                        "The error allowed, relative to the correct value."
                    },
                )
            };
            let mut of = table(&TOLERANCE_KEYS, &[], part);
            of["minProperties"] = json!(1);
            described(
                json!({ "type": "object", "additionalProperties": of }),
                "For each output: { abs = 1e-3, rel = 1e-3 }.",
            )
        }
        "deterministic" => described(boolean(true), "Whether two runs must agree exactly."),
        _ => json!({}),
    };
    let mut schema = table(&reference::KEYS, &[], key);
    schema["oneOf"] = ORIGINS.iter().map(|origin| json!({ "required": [origin] })).collect();
    schema["if"] = json!({ "properties": { "builtin": { "const": "elementwise" } }, "required": ["builtin"] });
    schema["then"] = json!({ "required": ["expressions"] });
    schema["else"] = json!({ "not": { "required": ["expressions"] } });
    described(schema, "Where correct answers come from: exactly one of builtin, python and kernel.")
}

pub(crate) fn baselines(about: &str) -> Value {
    described(
        free(label(), described(callable(BASELINE), "\"file:function\", in a .py, .c, .cu, .cpp or .so file.")),
        about,
    )
}

pub(crate) fn environment() -> Value {
    let key = |key: &str| {
        let comparison = r"\s*(>=|<=|==|!=|>|<)\s*[0-9]+(\.[0-9]+)*\s*";
        let range = json!({ "type": "string", "pattern": format!("^{comparison}(,{comparison})*$") });
        let whose = match key {
            "driver" => "the GPU's driver",
            "compiler" => "the compiler for the target: the C compiler, nvcc or NVRTC",
            "python" => "the Python interpreter",
            package => package,
        };
        described(range, &format!("The versions of {whose} that the kernel needs: \">=1.26,<3\"."))
    };
    described(table(&environment::KEYS, &[], key), "The versions of its dependencies that the kernel needs.")
}

pub(crate) fn gates() -> Value {
    let share = || json!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }, text()] });
    let key = |key: &str| match key {
        "spills" => described(word(&SOFT), "Whether kernels that spill registers are refused; warn by default."),
        "occupancy" => {
            let part = |key: &str| match key {
                "least" => described(share(), "The occupancy below which the gate acts."),
                "gate" => {
                    described(word(&SOFT), "Whether such kernels are refused (the default) or only warned about.")
                }
                _ => json!({}),
            };
            let kinds = json!({ "anyOf": [share(), table(&OCCUPANCY_KEYS, &["least"], part)] });
            described(
                kinds,
                "Kernels below this occupancy are refused: \"warn\", a number above 0 and at most 1, an expression, or { least = 0.25, gate = \"warn\" }.",
            )
        }
        _ => json!({}),
    };
    described(table(&GATES_KEYS, &[], key), "Which of the soft gates refuse.")
}

pub(crate) fn fuzz() -> Value {
    let some = || json!({ "type": "array", "items": scalar(), "minItems": 1 });
    let key = |key: &str| match key {
        "dims" => {
            let whole = json!({ "type": "integer", "minimum": 1 });
            let range = json!({ "type": "array", "items": whole, "minItems": 2, "maxItems": 2 });
            let values =
                table(&fuzz::ROOM_KEYS, &["values"], |_| described(some(), "The values the dimension may take."));
            let room = json!({ "anyOf": [range, values] });
            described(
                json!({ "type": "object", "additionalProperties": room }),
                "What dimensions may be: a range [lowest, highest] or { values = [...] }.",
            )
        }
        "scalars" => {
            let range = json!({ "type": "array", "items": expression(), "minItems": 2, "maxItems": 2 });
            described(
                json!({ "type": "object", "additionalProperties": range }),
                "What scalars with a value may be in fuzzing: the lowest and the highest number, such as [0, \"4 / sqrt(D)\"].",
            )
        }
        "valid" => described(expression(), "A condition on dimensions that every shape meets."),
        "suites" => {
            let dims = json!({ "type": "object", "additionalProperties": { "anyOf": [scalar(), some()] } });
            let shapes = json!({ "type": "array", "items": dims, "minItems": 1 });
            let suite = table(&fuzz::SUITE_KEYS, &["shapes"], |_| {
                described(shapes.clone(), "Tables of dimensions; each stands for every combination of its values.")
            });
            described(free(label(), suite), "Named suites of shapes, one table for each.")
        }
        _ => json!({}),
    };
    described(table(&fuzz::KEYS, &[], key), "Which shapes the kernel is made for, beyond its workloads.")
}

pub(crate) fn export() -> Value {
    let key = |key: &str| match key {
        "name" => described(identifier(), "The function and its package; the kernel's name by default."),
        "parameters" => described(texts(), "Its parameters in order: inputs, scalars and dimensions."),
        "returns" => described(texts(), "The outputs it returns; all by default."),
        "nullable" => described(
            texts(),
            "Outputs that the kernel takes as a null pointer; where not returned, they are not allocated.",
        ),
        "defaults" => described(
            json!({ "type": "object", "additionalProperties": scalar() }),
            "Values of parameters that a caller may omit: { causal = false }.",
        ),
        "valid" => described(
            expression(),
            "A condition on dimensions and scalar arguments that every call meets, beside [fuzz] valid: \"scale >= 0\".",
        ),
        "empty" => described(
            json!({ "type": "object", "additionalProperties": { "type": "number" } }),
            "What outputs hold where an input has no elements: { o = 0, lse = -inf }.",
        ),
        _ => json!({}),
    };
    described(table(&export::KEYS, &[], key), "How the function is called that kiln export makes of the kernel.")
}

pub(crate) fn sweep() -> Value {
    let some = json!({ "type": "array", "items": scalar(), "minItems": 1 });
    let dim = json!({ "anyOf": [scalar(), some] });
    let key = |_: &str| {
        described(
            json!({ "type": "object", "additionalProperties": dim.clone() }),
            "Dimensions and their values: a list, a range \"128..8192:x2\" or \"64..1024:+64\", or another dimension's name, which it then equals.",
        )
    };
    described(table(&sweep::KEYS, &["dims"], key), "The grid of shapes that `kiln sweep` measures by default.")
}
