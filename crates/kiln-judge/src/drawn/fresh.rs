//! Inputs for one timed call, as bytes. In: a signature, a key and the call's number. Out: the bytes of every argument that
//! is read. The generator is counter-based: the numbers of a call follow from the key and its number alone, and without
//! the key nothing that was drawn says anything about what comes next. Workers never get it.
//!
//! Speed counts here, since every timed call has numbers of its own. Normal numbers in the common types come from a table of
//! 65,536 of them in order: in 16 bits one of those, in 32 bits any number between two neighbours, so that nobody gains by
//! knowing the table. Other kinds are drawn as for any other question.

use std::io::Read;
use std::sync::OnceLock;

use kiln_core::Fault;
use kiln_spec::{Dtype, Init, Role};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::described::rules::Rules;
use crate::described::signature::{Signature, Slot};
use crate::drawn::distribution::Distribution;
use crate::drawn::element::{encode, encode_into, round_all};
use crate::drawn::inputs::{Filler, Inputs};
use crate::drawn::interval::Interval;
use crate::drawn::narrow::intervals;
use crate::drawn::normal::normal;
use crate::marked::strides::scatter;

/// Numbers in the table: one for every 16 bits.
const TABLE: usize = 1 << 16;
/// Random words fetched at a time.
const WORDS: usize = 256;

/// What inputs are drawn under.
#[derive(Clone)]
pub struct Key([u8; 32]);

/// It is never shown.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(..)")
    }
}

impl Key {
    /// One that nobody knows, from the system.
    pub fn secret() -> Result<Key, Fault> {
        let fault = |e| Fault::new("drawing a key", e).hint("inputs come from /dev/urandom's randomness");
        let mut key = [0; 32];
        let mut file = std::fs::File::open("/dev/urandom").map_err(fault)?;
        file.read_exact(&mut key).map_err(fault)?;
        Ok(Key(key))
    }

    /// One that can be made again.
    pub fn known(seed: u64) -> Key {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Key(key)
    }

    /// A number that says nothing about others.
    pub fn number(&self, which: u64) -> u64 {
        self.stream(which).next_u64()
    }

    fn stream(&self, number: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::from_seed(self.0);
        rng.set_stream(number);
        rng
    }
}

/// The bytes of the arguments that one call reads.
#[derive(Debug, Clone, PartialEq)]
pub struct Fresh {
    /// For each slot in order; empty where nothing is read.
    pub slots: Vec<Vec<u8>>,
}

impl Fresh {
    /// Draws what the call of this number reads. What a function fills comes from `filler`.
    pub fn draw(
        signature: &Signature,
        rules: &Rules,
        key: &Key,
        number: u64,
        filler: Option<Filler<'_>>,
    ) -> Result<Fresh, Fault> {
        let mut rng = key.stream(number);
        // Integers, ranges and functions are drawn as for any other question; of most kernels there is none of them.
        let drawn = match signature.slots.iter().any(Slot::is_drawn_elsewhere) {
            true => Inputs::question(signature, rules, Distribution::Declared, rng.next_u64(), filler)?,
            false => None,
        };
        let other = |name: &str| drawn.as_ref()?.tensors().find(|(n, _)| *n == name).map(|(_, tensor)| tensor);
        let scalar = |name: &str| drawn.as_ref()?.scalars().find(|(n, _)| *n == name).map(|(_, value)| value);
        let mut draw = |slot: &Slot| match (slot.scalar, other(&slot.name)) {
            (Some(value), _) => encode(slot.dtype, &[scalar(&slot.name).unwrap_or(value)]),
            (None, Some(tensor)) if slot.is_drawn_elsewhere() => {
                let mut bytes = vec![0; slot.bytes()];
                scatter(slot, &tensor.bytes(slot.dtype), &mut bytes);
                bytes
            }
            _ if slot.is_input() => filled(slot, &mut rng),
            _ => Vec::new(),
        };
        Ok(Fresh { slots: signature.slots.iter().map(&mut draw).collect() })
    }
}

impl Slot {
    /// Whether it is drawn at random, but not as plain floating-point data.
    fn is_drawn_elsewhere(&self) -> bool {
        let random = self.range.is_some() || self.function.is_some() || self.drawn_from().is_some();
        random && (self.is_input() || self.role == Role::Scalar)
    }
}

/// What the numbers of an argument are drawn from, for who draws them elsewhere than here: on a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drawn {
    /// Standard normal.
    Normal,
    /// Evenly between two numbers.
    Real(f64, f64),
    /// Integers, both ends included.
    Whole(i128, i128),
}

impl Drawn {
    /// For each argument; none for those whose filling is the same for every call or comes from a function, and for
    /// constants, which all calls of a sample share.
    pub fn of(signature: &Signature, rules: &Rules) -> Vec<Option<Drawn>> {
        let one = |(slot, interval): (&Slot, Option<Interval>)| match (interval, slot.init) {
            _ if !slot.is_input() || slot.role == Role::Constant || slot.function.is_some() => None,
            (Some(Interval::Real(low, high)), _) => Some(Drawn::Real(low, high)),
            (Some(Interval::Whole(low, high) | Interval::Assumed(low, high)), _) => Some(Drawn::Whole(low, high)),
            (None, Init::Normal) if slot.is_plain() => Some(Drawn::Normal),
            (None, Init::Uniform) if slot.is_plain() => Some(Drawn::Real(0.0, 1.0)),
            _ => None,
        };
        signature.slots.iter().zip(intervals(signature, rules)).map(one).collect()
    }
}

impl Signature {
    /// Whether calls can have numbers of their own: some input is drawn at random.
    pub fn varies(&self) -> bool {
        let drawn = |slot: &Slot| slot.is_drawn_elsewhere() || slot.is_plain();
        self.slots.iter().any(|slot| drawn(slot) && slot.elements() > 0)
    }
}

/// The bytes of one input, padding included, which is left zero.
fn filled(slot: &Slot, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut bytes = vec![0; slot.bytes()];
    if slot.is_packed() {
        fill(slot, rng, &mut bytes);
    } else {
        let mut packed = vec![0; slot.elements() * slot.dtype.bytes() as usize];
        fill(slot, rng, &mut packed);
        scatter(slot, &packed, &mut bytes);
    }
    bytes
}

fn fill(slot: &Slot, rng: &mut ChaCha8Rng, bytes: &mut [u8]) {
    let tables = tables();
    match (slot.init, slot.dtype) {
        (Init::Normal, Dtype::F32) => words(rng, bytes, |word: u32| {
            let (low, step) = tables.single[(word >> 16) as usize];
            (low + step * (word & 0xffff) as f32).to_ne_bytes()
        }),
        (Init::Normal, Dtype::F16) => halves(rng, bytes, &tables.half),
        (Init::Normal, Dtype::BF16) => halves(rng, bytes, &tables.brain),
        (Init::Uniform, Dtype::F32) => {
            words(rng, bytes, |word: u32| ((word >> 8) as f32 * (1.0 / (1 << 24) as f32)).to_ne_bytes())
        }
        _ => {
            let mut values = Distribution::Declared.fill(slot, 0, 0.0, 0, rng);
            round_all(slot.dtype, &mut values);
            encode_into(slot.dtype, &values, bytes);
        }
    }
}

/// Every element from a word of the stream.
fn words(rng: &mut ChaCha8Rng, bytes: &mut [u8], element: impl Fn(u32) -> [u8; 4]) {
    let mut drawn = [0; 4 * WORDS];
    for part in bytes.chunks_mut(4 * WORDS) {
        rng.fill_bytes(&mut drawn);
        for (to, word) in part.as_chunks_mut::<4>().0.iter_mut().zip(drawn.as_chunks::<4>().0) {
            *to = element(u32::from_le_bytes(*word));
        }
    }
}

/// Every element from half a word.
fn halves(rng: &mut ChaCha8Rng, bytes: &mut [u8], table: &[u16]) {
    let mut drawn = [0; 4 * WORDS];
    for part in bytes.chunks_mut(4 * WORDS) {
        rng.fill_bytes(&mut drawn);
        for (to, word) in part.as_chunks_mut::<2>().0.iter_mut().zip(drawn.as_chunks::<2>().0) {
            *to = table[usize::from(u16::from_le_bytes(*word))].to_ne_bytes();
        }
    }
}

/// Normal numbers to pick from.
struct Tables {
    /// Each number, and a 65,536th of what the next one is larger.
    single: Vec<(f32, f32)>,
    half: Vec<u16>,
    brain: Vec<u16>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let mut values = normal(&mut ChaCha8Rng::seed_from_u64(0x6b69_6c6e), TABLE + 1, 1.0);
        values.sort_by(f64::total_cmp);
        let sixteen = |dtype| {
            let bytes = encode(dtype, &values[..TABLE]);
            bytes.as_chunks().0.iter().map(|raw| u16::from_ne_bytes(*raw)).collect()
        };
        Tables {
            single: values.windows(2).map(|two| (two[0] as f32, ((two[1] - two[0]) / TABLE as f64) as f32)).collect(),
            half: sixteen(Dtype::F16),
            brain: sixteen(Dtype::BF16),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawn::element::decode;

    /// Any rules will do for floats.
    fn rules() -> Rules {
        let text = "[kernel]\nname = \"k\"\nentry = \"f\"\n[target.cpu]\nsource = \"f.c\"\n[tunables]\nX = [1]\n\
            [[arguments]]\nname = \"x\"\ntype = \"f32[4, 4]\"\nrole = \"in\"\n\
            [[arguments]]\nname = \"y\"\ntype = \"f32[4, 4]\"\nrole = \"out\"\n[reference]\nbuiltin = \"softmax\"\n";
        let (spec, _) = kiln_spec::parse("k", text.as_bytes()).unwrap();
        Rules::of(&spec.select(kiln_spec::Choice::default()).unwrap()).unwrap()
    }

    fn draw(signature: &Signature, key: &Key, number: u64) -> Fresh {
        Fresh::draw(signature, &rules(), key, number, None).unwrap()
    }

    fn slot(dtype: Dtype, init: Init, shape: &[usize]) -> Slot {
        Slot {
            name: "x".into(),
            role: Role::In,
            dtype,
            shape: shape.to_vec(),
            strides: crate::described::signature::row_major(shape),
            init,
            function: None,
            range: None,
            stated: None,
            scalar: None,
            alignment: 4,
            layout: None,
            whole: None,
            summed: false,
        }
    }

    #[test]
    fn calls_have_numbers_of_their_own_that_follow_from_the_key() {
        let signature = Signature { slots: vec![slot(Dtype::F32, Init::Normal, &[7, 11])] };
        let key = Key::secret().unwrap();
        let (one, two) = (draw(&signature, &key, 1), draw(&signature, &key, 2));
        assert_eq!(one, draw(&signature, &key, 1));
        assert_ne!(one, two);
        assert_ne!(one, draw(&signature, &Key::secret().unwrap(), 1));
        assert_eq!(one.slots[0].len(), 4 * 77);
        assert!(signature.varies());
        assert!(!Signature { slots: vec![slot(Dtype::F32, Init::Ones, &[7])] }.varies());
        assert_eq!(format!("{key:?}"), "Key(..)");
    }

    #[test]
    fn every_common_type_is_normal() {
        for dtype in [Dtype::F64, Dtype::F32, Dtype::F16, Dtype::BF16] {
            let signature = Signature { slots: vec![slot(dtype, Init::Normal, &[1 << 16])] };
            let drawn = draw(&signature, &Key::known(3), 5);
            let values = decode(dtype, &drawn.slots[0]);
            let moment = |power: i32| values.iter().map(|v| v.powi(power)).sum::<f64>() / values.len() as f64;
            assert!(moment(1).abs() < 0.03 && (moment(2) - 1.0).abs() < 0.03, "{dtype:?}");
            assert!((moment(4) - 3.0).abs() < 0.3, "{dtype:?}");
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            sorted.dedup();
            // All the numbers of a narrow type near zero come up again and again; wide ones hardly ever repeat.
            assert!(sorted.len() > if dtype.bytes() > 2 { 60_000 } else { 300 }, "{dtype:?}: {}", sorted.len());
        }
        let uniform = Signature { slots: vec![slot(Dtype::F32, Init::Uniform, &[10_000])] };
        let values = decode(Dtype::F32, &draw(&uniform, &Key::known(3), 5).slots[0]);
        assert!(values.iter().all(|v| (0.0..1.0).contains(v)));
        assert!((values.iter().sum::<f64>() / 1e4 - 0.5).abs() < 0.02);
    }

    #[test]
    fn normal_numbers_are_not_those_of_a_table() {
        let signature = Signature { slots: vec![slot(Dtype::F32, Init::Normal, &[1 << 20])] };
        let drawn = draw(&signature, &Key::known(7), 1);
        let upper = |bytes: &[u8; 4]| u32::from_ne_bytes(*bytes) >> 10;
        let mut seen: Vec<u32> = drawn.slots[0].as_chunks().0.iter().map(upper).collect();
        seen.sort_unstable();
        seen.dedup();
        // Of a table of 65,536 with the lowest ten bits drawn there would be no more.
        assert!(seen.len() > TABLE + TABLE / 4, "{}", seen.len());
    }

    #[test]
    fn what_is_drawn_elsewhere_is_what_would_be_drawn_here() {
        let of = |one: Slot| Drawn::of(&Signature { slots: vec![one] }, &rules())[0];
        assert_eq!(of(slot(Dtype::BF16, Init::Normal, &[4])), Some(Drawn::Normal));
        assert_eq!(of(slot(Dtype::F32, Init::Uniform, &[4])), Some(Drawn::Real(0.0, 1.0)));
        assert_eq!(of(slot(Dtype::I8, Init::Uniform, &[4])), Some(Drawn::Whole(-128, 127)));
        assert_eq!(of(slot(Dtype::F32, Init::Ones, &[4])), None);
        assert_eq!(of(slot(Dtype::I32, Init::Arange, &[4])), None);
        let range = Some(Interval::Real(-2.0, 2.0));
        assert_eq!(of(Slot { range, ..slot(Dtype::F32, Init::Normal, &[4]) }), Some(Drawn::Real(-2.0, 2.0)));
        for role in [Role::Out, Role::Constant] {
            assert_eq!(of(Slot { role, ..slot(Dtype::F32, Init::Normal, &[4]) }), None);
        }
    }

    #[test]
    fn rows_with_padding_are_drawn_where_they_lie() {
        let mut padded = slot(Dtype::F32, Init::Normal, &[3, 5]);
        padded.strides = vec![8, 1];
        let drawn = draw(&Signature { slots: vec![padded.clone()] }, &Key::known(1), 0);
        let values = decode(Dtype::F32, &drawn.slots[0]);
        assert_eq!(values.len(), 21);
        assert!(values[5..8].iter().all(|v| *v == 0.0) && values[8..13].iter().all(|v| *v != 0.0));
    }
}
