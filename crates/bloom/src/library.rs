//! A filter in a shared library, called through the C ABI of `lsmbench_filter.h`.
//!
//! The library builds filters from the hashes of keys, and answers probes of hashes. The library may be written in
//! any language that can export C functions. Every call uses a table of function pointers. If the parameter `library`
//! is empty, the table has functions of this crate, which call the filter `standard`. With an empty `library`, a
//! measurement shows the cost of the interface only.
//!
//! The stored format is little-endian. The field `name` identifies the library that wrote the filter, and no other
//! library opens the filter:
//!
//! ```text
//! tag [u8; 4] | length of the name u8 | name | error i32 | bytes of the body u64 | body
//! ```
//!
//! `error` is 0 if the library built the filter, and otherwise the error number that the library returned. If `error`
//! is not 0, opening the filter fails with this number. The flush or compaction that wrote the filter then also
//! fails.

mod identity;
mod table;

use std::sync::Arc;

use catalog::library::{Interface, open};
use catalog::{Build, Choice, Seam, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use self::table::{Functions, OpenFilter};
use crate::batch::GROUP;
use crate::budget::Budget;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::position::remix;
use crate::standard;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<LibraryFilters>(
    "library",
    "a filter in a shared library, called through a C ABI, for filters in other languages",
    "# Path of the shared library, relative to the current directory. \"\" calls the built-in filter\n\
     # \"standard\" through the same C ABI.\n\
     library = \"\"\n\
     # Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate.\n\
     bits_per_key = 10\n",
);

const TAG: [u8; 4] = *b"libf";

const INTERFACE: Interface =
    Interface { symbol: "lsmbench_filter", header: "lsmbench_filter.h", abi: table::ABI };

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    library: String,
    bits_per_key: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { library: String::new(), bits_per_key: 10.0 }
    }
}

/// Builds filters with the functions of a shared library.
struct LibraryFilters {
    functions: Arc<Functions>,
    budget: Budget,
}

impl Build<dyn FilterPolicy> for LibraryFilters {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        let budget = Budget::from_param(params.bits_per_key)?;
        let (api, provider) = open(&params.library, INTERFACE, identity::API)?;
        let functions = Functions::checked(api, provider)?;
        Ok(Box::new(Self { functions: Arc::new(functions), budget }))
    }
}

/// The header of a stored filter: the library that built the filter, and its error number. The body follows.
struct Head<'a> {
    name: &'a str,
    error: i32,
}

impl Head<'_> {
    fn encode(&self, body: &[u8]) -> Vec<u8> {
        let mut stored = Vec::with_capacity(body.len() + self.name.len() + 17);
        stored.extend(TAG);
        stored.push(
            u8::try_from(self.name.len()).expect("the name of a filter library must have at most 32 bytes"),
        );
        stored.extend(self.name.as_bytes());
        stored.extend(self.error.to_le_bytes());
        stored.extend((body.len() as u64).to_le_bytes());
        stored.extend(body);
        stored
    }
}

/// Splits the stored bytes of a filter into its header and its body.
fn decode(stored: &[u8]) -> Result<(Head<'_>, &[u8]), CorruptFilter> {
    let short = || {
        CorruptFilter(format!(
            "the stored filter has {} bytes, which are too few for the filter of a shared library",
            stored.len()
        ))
    };
    let (tag, rest) = stored.split_first_chunk::<4>().ok_or_else(short)?;
    if *tag != TAG {
        return Err(CorruptFilter(format!(
            "the stored filter begins with the tag \"{}\", expected \"{}\"; another variant may have \
             written the filter",
            tag.escape_ascii(),
            TAG.escape_ascii()
        )));
    }
    let (length, rest) = rest.split_first().ok_or_else(short)?;
    let (name, rest) = rest.split_at_checked(usize::from(*length)).ok_or_else(short)?;
    let (error, rest) = rest.split_first_chunk().ok_or_else(short)?;
    let (bytes, body) = rest.split_first_chunk().ok_or_else(short)?;
    let name = str::from_utf8(name)
        .map_err(|_| CorruptFilter("the library name in the stored filter is not valid UTF-8".to_owned()))?;
    if u64::from_le_bytes(*bytes) != body.len() as u64 {
        return Err(CorruptFilter(format!(
            "the header of the stored filter states a body of {} bytes, but the body has {} bytes",
            u64::from_le_bytes(*bytes),
            body.len()
        )));
    }
    Ok((Head { name, error: i32::from_le_bytes(*error) }, body))
}

impl FilterPolicy for LibraryFilters {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let name = &self.functions.name;
        match self.functions.build(input.hashes, self.budget.bits_per_key(input)) {
            Ok(body) => Head { name, error: 0 }.encode(&body),
            Err(error) => Head { name, error }.encode(&[]),
        }
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, body) = decode(&stored)?;
        let name = &self.functions.name;
        if head.name != name {
            return Err(CorruptFilter(format!(
                "the library \"{}\" wrote this filter, but the design has the library \"{name}\"; open the \
                 store with the library that wrote the filter",
                head.name
            )));
        }
        if head.error != 0 {
            return Err(CorruptFilter(format!(
                "the library \"{name}\" could not build the filter: its function `build` returned the error \
                 {}",
                head.error
            )));
        }
        let filter = OpenFilter::open(Arc::clone(&self.functions), body).map_err(|error| {
            CorruptFilter(format!(
                "the library \"{name}\" cannot open the filter: its function `open` returned the error \
                 {error}"
            ))
        })?;
        Ok(Box::new(LibraryFilter(filter)))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.budget.param())
    }
}

/// A filter that a shared library opened.
struct LibraryFilter(OpenFilter);

impl Filter for LibraryFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.0.may_contain(hash.0)
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        assert_eq!(
            hashes.len(),
            answers.len(),
            "the lists of probed hashes and answers must have equal lengths"
        );
        let mut bytes = [0; GROUP];
        for (hashes, answers) in hashes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            let bytes = &mut bytes[..hashes.len()];
            self.0.may_contain_batch(hashes, bytes);
            answers.iter_mut().zip(bytes).for_each(|(answer, byte)| *answer = *byte != 0);
        }
    }

    fn expected_fpr(&self) -> f64 {
        let rate = self.0.expected_fpr();
        if rate.is_nan() { 1.0 } else { rate.clamp(0.0, 1.0) }
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

/// The number of filter probes in each call of the two functions that [`seam`] returns.
const CALLS: u32 = 10_000;

/// Returns two functions whose times differ by the cost of the C ABI. Each function makes 10,000 single probes of the
/// filter `standard`: one function through the C ABI, and the other by direct calls. Returns `None` if `choice` is
/// not the variant `library`.
pub fn seam(choice: &Choice) -> Option<Seam> {
    if choice.kind() != VARIANT.kind {
        return None;
    }
    let hash = |number: u32| KeyHash(remix(u64::from(number) + 1));
    let hashes: Vec<KeyHash> = (0..CALLS).map(hash).collect();
    let input = FilterInput { hashes: &hashes, bits_per_key: None, keys: None };
    let probes = |variant: &Variant<dyn FilterPolicy>| -> Option<Box<dyn FnMut()>> {
        let policy = variant.build(variant.defaults()).ok()?;
        let filter = policy.open(Bytes::copy_from(&policy.build(&input))).ok()?;
        Some(Box::new(move || {
            let found = (0..CALLS).filter(|number| filter.may_contain(std::hint::black_box(hash(*number))));
            std::hint::black_box(found.count());
        }))
    };
    let (through, direct) = (probes(&VARIANT)?, probes(&standard::VARIANT)?);
    Some(Seam {
        axis: "bloom",
        kind: VARIANT.kind,
        call: "a probe of one hash",
        calls: CALLS,
        through,
        direct,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in() -> Box<dyn FilterPolicy> {
        VARIANT.build(VARIANT.defaults()).unwrap()
    }

    #[test]
    fn the_identity_is_the_standard_filter() {
        let standard = crate::CATALOG.build(&crate::CATALOG.choose(&"standard".into()).unwrap()).unwrap();
        let hashes: Vec<KeyHash> = (1..=1000).map(|number| KeyHash(remix(number))).collect();
        let input = FilterInput { hashes: &hashes, bits_per_key: Some(7.5), keys: None };
        let stored = built_in().build(&input);
        assert_eq!(decode(&stored).unwrap().1, standard.build(&input));
    }

    #[test]
    fn another_library_is_named() {
        let identity = built_in();
        let stored = Head { name: "cuckoo-c", error: 0 }.encode(b"body");
        let error = identity.open(Bytes::copy_from(&stored)).err().unwrap().to_string();
        assert!(error.contains("the library \"cuckoo-c\" wrote this filter"), "{error}");
        let stored = Head { name: "standard", error: 42 }.encode(&[]);
        let error = identity.open(Bytes::copy_from(&stored)).err().unwrap().to_string();
        assert!(error.contains("its function `build` returned the error 42"), "{error}");
        let stored = Head { name: "standard", error: 0 }.encode(b"rubbish");
        let error = identity.open(Bytes::copy_from(&stored)).err().unwrap().to_string();
        assert!(error.contains("its function `open` returned the error 1"), "{error}");
    }

    #[test]
    fn the_seam_of_the_variant_can_be_timed() {
        let choose = |label: &str| crate::CATALOG.choose(&label.into()).unwrap();
        let mut seam = seam(&choose("library(bits_per_key=4)")).unwrap();
        (seam.through)();
        (seam.direct)();
        assert!(super::seam(&choose("standard")).is_none());
    }
}
