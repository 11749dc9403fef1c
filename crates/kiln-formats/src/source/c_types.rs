//! Types of C and CUDA as kiln's dtypes. In: the words of a type, without `const` and `*`, and what the file calls types. Out: the
//! dtype, how many of them lie together (`float4` is four), and the type in words that every compiler knows.

use std::collections::BTreeMap;

/// A number's type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CType {
    /// kiln's dtype.
    pub dtype: &'static str,
    /// Numbers in one element.
    pub lanes: i64,
    /// The type as the compiler knows it without the file's own names.
    pub spelled: String,
}

const SCALARS: [(&str, &str); 58] = [
    ("float", "f32"),
    ("double", "f64"),
    ("half", "f16"),
    ("__half", "f16"),
    ("_Float16", "f16"),
    ("nv_bfloat16", "bf16"),
    ("__nv_bfloat16", "bf16"),
    ("__bf16", "bf16"),
    ("__nv_fp8_e4m3", "f8e4m3"),
    ("__nv_fp8_e5m2", "f8e5m2"),
    ("int", "i32"),
    ("signed", "i32"),
    ("signed int", "i32"),
    ("unsigned", "u32"),
    ("unsigned int", "u32"),
    ("uint", "u32"),
    ("short", "i16"),
    ("short int", "i16"),
    ("unsigned short", "u16"),
    ("unsigned short int", "u16"),
    ("ushort", "u16"),
    ("long", "i64"),
    ("long int", "i64"),
    ("long long", "i64"),
    ("long long int", "i64"),
    ("signed long", "i64"),
    ("unsigned long", "u64"),
    ("unsigned long int", "u64"),
    ("unsigned long long", "u64"),
    ("unsigned long long int", "u64"),
    ("ulong", "u64"),
    ("size_t", "u64"),
    ("std :: size_t", "u64"),
    ("ptrdiff_t", "i64"),
    ("ssize_t", "i64"),
    ("char", "i8"),
    ("signed char", "i8"),
    ("unsigned char", "u8"),
    ("uchar", "u8"),
    ("int8_t", "i8"),
    ("int16_t", "i16"),
    ("int32_t", "i32"),
    ("int64_t", "i64"),
    ("uint8_t", "u8"),
    ("uint16_t", "u16"),
    ("uint32_t", "u32"),
    ("uint64_t", "u64"),
    ("std :: int8_t", "i8"),
    ("std :: int16_t", "i16"),
    ("std :: int32_t", "i32"),
    ("std :: int64_t", "i64"),
    ("std :: uint8_t", "u8"),
    ("std :: uint16_t", "u16"),
    ("std :: uint32_t", "u32"),
    ("std :: uint64_t", "u64"),
    ("bool", "bool"),
    ("_Bool", "bool"),
    ("unsigned char int", "u8"),
];

/// CUDA's types of two to four numbers.
const VECTORS: [(&str, &str); 14] = [
    ("float", "f32"),
    ("double", "f64"),
    ("half", "f16"),
    ("__half", "f16"),
    ("nv_bfloat16", "bf16"),
    ("__nv_bfloat16", "bf16"),
    ("int", "i32"),
    ("uint", "u32"),
    ("short", "i16"),
    ("ushort", "u16"),
    ("char", "i8"),
    ("uchar", "u8"),
    ("longlong", "i64"),
    ("ulonglong", "u64"),
];

/// The file's own names of types: `typedef`, `using` and `#define`.
pub(crate) type Aliases = BTreeMap<String, Vec<String>>;

/// The type that words stand for; none where it is not a number's.
pub(crate) fn c_type(words: &[String], aliases: &Aliases) -> Option<CType> {
    let mut words = words.to_vec();
    // One alias may stand for another.
    for _ in 0..8 {
        let spelled = words.join(" ");
        if let Some((_, dtype)) = SCALARS.iter().find(|(name, _)| *name == spelled) {
            return Some(CType { dtype, lanes: 1, spelled });
        }
        let lanes = spelled.chars().last().and_then(|c| c.to_digit(10)).filter(|lanes| (1..=4).contains(lanes));
        let base = lanes.and_then(|_| spelled.get(..spelled.len() - 1));
        if let (Some(lanes), Some((_, dtype))) = (lanes, VECTORS.iter().find(|(name, _)| Some(*name) == base)) {
            return Some(CType { dtype, lanes: i64::from(lanes), spelled });
        }
        let at = words.iter().position(|word| aliases.contains_key(word))?;
        words.splice(at..=at, aliases[&words[at].clone()].iter().cloned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_followed_and_circles_end() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let aliases = Aliases::from([
            ("real".into(), words("floatvector")),
            ("floatvector".into(), words("float4")),
            ("a".into(), words("b")),
            ("b".into(), words("a")),
        ]);
        let found = c_type(&words("real"), &aliases).unwrap();
        assert_eq!((found.dtype, found.lanes, found.spelled.as_str()), ("f32", 4, "float4"));
        assert_eq!(c_type(&words("unsigned long long"), &aliases).unwrap().dtype, "u64");
        assert_eq!(c_type(&words("a"), &aliases), None);
        assert_eq!(c_type(&words("struct Point"), &aliases), None);
        assert_eq!(c_type(&[], &aliases), None);
    }
}
