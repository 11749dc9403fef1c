//! `kiln schema`: what editors know of kernel.toml.

use kiln_app::{Ending, Failure, schema};

use crate::output;

pub(crate) fn run() -> Result<Ending, Failure> {
    output::data(&format!("{:#}\n", schema()))?;
    Ok(Ending::Done)
}
