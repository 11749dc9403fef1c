//! Cases that nobody thought of: shapes, inputs and configurations drawn from what a kernel file allows, and failing ones
//! made as small as they get. In: a selection and a seed. Out: [`FuzzCase`]s; the same seed gives the same cases. Nothing
//! here runs a kernel: whoever does says which cases fail.

pub(crate) mod aim;
pub(crate) mod axis;
pub(crate) mod case;
pub(crate) mod edges;
pub(crate) mod fit;
pub(crate) mod generate;
pub(crate) mod line;
pub(crate) mod room;
pub(crate) mod scalars;
pub(crate) mod shrink;
pub(crate) mod suite;
pub(crate) mod tiles;
pub(crate) mod typed;
