//! Records to text. In: results of the other crates. Out: text for a terminal, readable without colour, or JSON. Nothing
//! here measures or decides.

mod gate;
mod number;
mod space;
mod table;

pub use gate::GateView;
pub use number::{grouped, json_count};
pub use space::SpaceView;
