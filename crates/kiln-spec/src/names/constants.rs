//! The names that are fixed before a configuration is chosen. In: a selection and a workload. Out: the values of the
//! workload's dimensions, of the dtypes and of `device.NAME`. A name that means nothing here has no value.

use std::sync::Arc;

use kiln_core::{Value, Workload};
use kiln_device::Arch;
use kiln_expr::Env;

use crate::select::Selection;

/// The fixed names under one workload.
#[derive(Debug, Clone, Default)]
pub struct Constants {
    /// The workload's name; empty when there is none.
    pub workload: String,
    /// Dimensions and dtypes.
    pub values: Vec<(Arc<str>, Value)>,
    /// The architecture whose limits `device.NAME` means.
    pub arch: Option<Arch>,
}

impl Constants {
    /// The fixed names under a workload of a selection.
    pub fn of(selection: &Selection<'_>, workload: Option<&Workload>) -> Constants {
        let mut values = workload.map_or_else(Vec::new, |w| w.dims.clone());
        for (name, dtype) in &selection.variant {
            values.push((name.clone(), dtype.name().into()));
            values.push((format!("{name}.bytes").into(), Value::Int(dtype.bytes() as i64)));
        }
        Constants { workload: workload.map_or(String::new(), |w| w.name.to_string()), values, arch: selection.arch }
    }

    /// The value of a fixed name.
    pub fn get(&self, name: &str) -> Option<Value> {
        let stated = self.values.iter().find(|(n, _)| &**n == name).map(|(_, v)| v.clone());
        stated.or_else(|| Some(Value::Int(self.arch?.get(device_limit(name)?)?)))
    }
}

impl Env for Constants {
    fn value(&self, name: &str) -> Option<Value> {
        self.get(name)
    }
}

/// The limit that `device.LIMIT` asks the architecture for; none for any other name.
pub(crate) fn device_limit(name: &str) -> Option<&str> {
    name.strip_prefix("device.")
}
