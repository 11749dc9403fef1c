//! Is it right? In: what a kernel was given and what it left behind. Out: pass, or a refusal with the number and the place.
//! References are computed in double precision; nothing here runs foreign code.

mod compare;
mod element;
mod fill;
mod layout;
mod reference;
mod tensor;

pub use compare::{Allowed, compare};
pub use element::{decode, encode};
pub use fill::{Filling, fill};
pub use layout::{Left, Memory, POISON, Piece};
pub use reference::{Builtin, Unfit};
pub use tensor::Tensor;
