//! The dictionaries of an SSTable, in the format in which the SSTable stores them. Codecs train the dictionaries with
//! the first blocks of the SSTable.
//!
//! ```text
//! dictionary*   u8 tag of the codec, u32 length, bytes
//! ```
//!
//! A block that needs a dictionary begins with the number of the dictionary in this list.

/// The dictionaries of one SSTable. Each dictionary has a number, and the tag of its codec.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dictionaries(Vec<(u8, Vec<u8>)>);

impl Dictionaries {
    /// Returns whether the SSTable has no dictionaries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a dictionary to the SSTable, and returns its number. If a codec with the same tag has already added an
    /// equal dictionary, returns the number of the existing dictionary.
    ///
    /// # Panics
    /// Panics if there are already 255 dictionaries. No design has so many codecs.
    pub fn add(&mut self, tag: u8, bytes: Vec<u8>) -> u8 {
        let dictionary = (tag, bytes);
        let known = self.0.iter().position(|known| *known == dictionary);
        let number = known.unwrap_or_else(|| {
            self.0.push(dictionary);
            self.0.len() - 1
        });
        assert!(number < usize::from(u8::MAX), "an SSTable can have at most 255 dictionaries");
        number as u8
    }

    /// Encodes all dictionaries in the format in which an SSTable stores them. The result is empty if there are no
    /// dictionaries.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (tag, bytes) in &self.0 {
            out.push(*tag);
            out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
            out.extend_from_slice(bytes);
        }
        out
    }

    /// Decodes the stored dictionaries of an SSTable. Returns `None` if the bytes are invalid.
    pub(crate) fn decode(mut stored: &[u8]) -> Option<Self> {
        let mut dictionaries = Self::default();
        while !stored.is_empty() {
            let (tag, behind) = stored.split_first()?;
            let (len, behind) = behind.split_first_chunk::<4>()?;
            let (bytes, behind) = behind.split_at_checked(u32::from_le_bytes(*len) as usize)?;
            dictionaries.0.push((*tag, bytes.to_vec()));
            stored = behind;
        }
        (dictionaries.0.len() < usize::from(u8::MAX)).then_some(dictionaries)
    }

    /// Iterates over the dictionaries of the SSTable in the order of their numbers. Each item contains the tag of the
    /// codec and the bytes of the dictionary.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.0.iter().map(|(tag, bytes)| (*tag, &bytes[..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_back_and_equal_ones_are_kept_once() {
        let mut dictionaries = Dictionaries::default();
        assert!(dictionaries.encode().is_empty());
        let numbers = [(9, "a"), (8, "a"), (9, "b"), (9, "a"), (9, "")]
            .map(|(tag, bytes)| dictionaries.add(tag, bytes.as_bytes().to_vec()));
        assert_eq!(numbers, [0, 1, 2, 0, 3]);
        let stored = dictionaries.encode();
        assert_eq!(Dictionaries::decode(&stored), Some(dictionaries));
        let cuts = (0..stored.len()).filter(|cut| Dictionaries::decode(&stored[..*cut]).is_some());
        assert_eq!(cuts.collect::<Vec<_>>(), [0, 6, 12, 18], "only between two of them");
    }
}
