//! A static B-tree on disk. The tree is written once, needs no memory, and is read page by page through the block
//! cache.
//!
//! The root is page 0. The inner layers follow from top to bottom, and then the leaves. A footer of 20 bytes
//! describes the sizes of the tree. A lookup reads and searches one page per layer. Source: the SSTs of the document
//! csc443, section 4.2.3. In lsmbench, separators are byte strings of any length instead of integer keys. By default,
//! a separator is the shortest key that separates two children. In the document, a separator is the largest key of a
//! child.
//!
//! A page is `page_bytes` long, unless the separator between two children does not fit. If a page is longer than one
//! page length, the page takes several consecutive page lengths, and its parent stores their number. A search makes
//! one read per layer, even if pages are longer. A long separator is stored in a low layer, so that few searches read
//! it.

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::page::{self, Draft, Kind, Page};
use crate::stored::{Tag, corrupt, take, u32s};

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::new::<StaticBTree>(
    "static-btree",
    "a B-tree on disk that is read through the cache; takes no memory, but costs one read per layer",
    "# Page length, a power of two from 512 B to 64 KiB. Longer pages give fewer layers, but a search\n\
     # reads more bytes per layer.\n\
     page_bytes = \"4KiB\"\n\
     # Keys between the children of a page: \"shortest\" keys that separate two children, or the \"largest\"\n\
     # key of each child, as in csc443. With \"largest\", a search goes to the first child whose largest key is\n\
     # at or above the searched key.\n\
     separators = \"shortest\"\n",
);

/// The last four bytes of a stored tree, which identify the kind of its separators: [`Between::Shortest`] or
/// [`Between::Largest`].
const TAGS: [Tag; 2] = [*b"sbtr", *b"sbtl"];
const FOOTER_BYTES: u64 = 20;

/// The largest number of layers of a tree. Block numbers have 32 bits, and a layer has at most half as many pages as
/// the next lower layer, so a tree never has more layers.
const MAX_LAYERS: u32 = 33;

/// The keys that a page stores between its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Between {
    /// The shortest key that is above all keys of the child before the separator, and at or below all keys of the child
    /// after it.
    Shortest,
    /// The largest key of the child before the separator.
    Largest,
}

/// A policy that builds fences as static B-trees on disk.
struct StaticBTree {
    page_bytes: u64,
    separators: Between,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    page_bytes: ByteSize,
    separators: Between,
}

impl Default for Params {
    fn default() -> Self {
        Self { page_bytes: ByteSize(4096), separators: Between::Shortest }
    }
}

impl Build<dyn FencePolicy> for StaticBTree {
    type Params = Params;

    fn build(Params { page_bytes, separators }: Params) -> Result<Box<dyn FencePolicy>, String> {
        page::check_page_bytes(page_bytes)?;
        Ok(Box::new(Self { page_bytes: page_bytes.0, separators }))
    }
}

impl FencePolicy for StaticBTree {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        let layers = self.layers(input);
        let (mut stored, mut layer_start) = (Vec::new(), 0);
        for (depth, layer) in layers.iter().enumerate() {
            let below = layers.get(depth + 1);
            layer_start += layer.pages();
            for node in &layer.nodes {
                node.write(layer_start, below, &mut stored);
                stored.resize(stored.len().next_multiple_of(self.page_bytes as usize), 0);
            }
        }
        let geometry = Geometry {
            separators: self.separators,
            page_bytes: self.page_bytes,
            layers: layers.len() as u32,
            root_pages: layers[0].pages(),
            pages: layer_start,
        };
        stored.extend(geometry.to_footer());
        stored
    }

    fn alignment(&self) -> u64 {
        self.page_bytes
    }

    fn needs_bounds(&self) -> bool {
        self.separators == Between::Largest
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        let end = table.stored_bytes();
        let start = end.checked_sub(FOOTER_BYTES).ok_or_else(|| {
            corrupt(format!(
                "the stored fence has {end} bytes, fewer than its footer of {FOOTER_BYTES} bytes"
            ))
        })?;
        let geometry = Geometry::from_footer(&table.read_stored(start..end)?, start)?;
        Ok(Box::new(StaticBTreeFence { geometry }))
    }
}

impl StaticBTree {
    /// Returns the layers of the static B-tree. The first layer is the root.
    fn layers<'a>(&self, input: &FenceInput<'a>) -> Vec<Layer<'a>> {
        let mut layers = vec![self.layer(Kind::Leaf, &self.keys_before_blocks(input))];
        while layers[0].nodes.len() > 1 {
            let firsts: Vec<&[u8]> = layers[0].nodes.iter().map(|node| node.firsts[0]).collect();
            layers.insert(0, self.layer(Kind::Inner, &firsts));
        }
        layers
    }

    /// Returns the separator before each block. The first element is below all blocks, and no page stores it.
    fn keys_before_blocks<'a>(&self, input: &FenceInput<'a>) -> Vec<&'a [u8]> {
        match input.bounds {
            Some(bounds) if self.separators == Between::Largest => {
                let largest = bounds.last_keys.iter().take(input.separators.len() - 1);
                std::iter::once(&b""[..]).chain(largest).collect()
            }
            _ => input.separators.iter().collect(),
        }
    }

    /// Builds the next higher layer of the tree from the children of its nodes. `firsts` has the first separator in the
    /// subtree of each child.
    fn layer<'a>(&self, kind: Kind, firsts: &[&'a [u8]]) -> Layer<'a> {
        let mut layer = Layer { nodes: Vec::new(), starts: vec![0] };
        for children in page::split(kind, firsts, self.page_bytes as usize) {
            let node = Node { kind, first: children.start, firsts: firsts[children].to_vec() };
            layer.starts.push(layer.pages() + node.pages(self.page_bytes));
            layer.nodes.push(node);
        }
        layer
    }
}

/// One layer of a static B-tree that is being built.
struct Layer<'a> {
    nodes: Vec<Node<'a>>,
    /// The page at which each node of the layer starts, relative to the start of the layer. The last element is the end
    /// of the last node.
    starts: Vec<u32>,
}

impl Layer<'_> {
    /// Returns the size of the layer in pages.
    fn pages(&self) -> u32 {
        self.starts[self.starts.len() - 1]
    }
}

/// One page of a tree that is being built, or several consecutive pages if a separator is long.
struct Node<'a> {
    kind: Kind,
    /// The index, in the next lower layer, of the node's first child.
    first: usize,
    /// The first separator in the subtree of each child of the node.
    firsts: Vec<&'a [u8]>,
}

impl Node<'_> {
    /// Returns the size of the node in page lengths.
    fn pages(&self, page_bytes: u64) -> u32 {
        (page::encoded_bytes(self.kind, &self.firsts[1..]) as u64).div_ceil(page_bytes) as u32
    }

    /// Appends the encoded node to `stored`. The children of the node are data blocks, or nodes of the layer `below`,
    /// which starts at the page `below_start`.
    fn write(&self, below_start: u32, below: Option<&Layer<'_>>, stored: &mut Vec<u8>) {
        let child_bounds: Vec<u32> = below.map_or(Vec::new(), |below| {
            let bounds = &below.starts[self.first..=self.first + self.firsts.len()];
            bounds.iter().map(|page| below_start + page).collect()
        });
        let (first, child_ends) = match child_bounds.split_first() {
            Some((first, ends)) => (*first, ends),
            None => (self.first as u32, &[][..]),
        };
        Draft { kind: self.kind, first, child_ends, separators: &self.firsts[1..] }.write(stored);
    }
}

/// The content of the footer of a static B-tree: the kind of separators and the sizes of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Geometry {
    separators: Between,
    page_bytes: u64,
    /// The number of layers of the tree. A lookup reads one page per layer.
    layers: u32,
    /// The size of the root of the tree, as a number of page lengths.
    root_pages: u32,
    /// The size of all nodes together, as a number of page lengths.
    pages: u32,
}

impl Geometry {
    fn to_footer(self) -> Vec<u8> {
        let numbers = [self.page_bytes as u32, self.layers, self.root_pages, self.pages];
        numbers.into_iter().flat_map(u32::to_le_bytes).chain(TAGS[self.separators as usize]).collect()
    }

    /// Decodes the footer of a tree whose pages have `tree_bytes` bytes in total.
    fn from_footer(mut footer: &[u8], tree_bytes: u64) -> Result<Self, FenceError> {
        let mut numbers = u32s(take(&mut footer, FOOTER_BYTES as usize - size_of::<Tag>())?);
        let mut number =
            || numbers.next().expect("the footer of a static B-tree must have four numbers in sixteen bytes");
        let page_bytes = u64::from(number());
        let separators = if footer == TAGS[1] { Between::Largest } else { Between::Shortest };
        let geometry =
            Self { separators, page_bytes, layers: number(), root_pages: number(), pages: number() };
        let possible = footer == TAGS[separators as usize]
            && page::is_page_length(page_bytes)
            && u64::from(geometry.pages) * page_bytes == tree_bytes
            && (1..=MAX_LAYERS).contains(&geometry.layers)
            && (1..=geometry.pages).contains(&geometry.root_pages);
        if possible {
            Ok(geometry)
        } else {
            Err(corrupt(format!(
                "the footer of the stored fence does not match a static B-tree of {tree_bytes} bytes; the \
                 footer states {geometry:?}"
            )))
        }
    }
}

/// A static B-tree on disk, opened for searches.
struct StaticBTreeFence {
    geometry: Geometry,
}

impl Fence for StaticBTreeFence {
    fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError> {
        let Geometry { separators, page_bytes, layers, root_pages, pages } = self.geometry;
        let mut node = 0..root_pages;
        for layer in 1..=layers {
            let bytes = table.page(u64::from(node.start) * page_bytes..u64::from(node.end) * page_bytes)?;
            let page = Page::parse(&bytes)?;
            let child = match separators {
                Between::Shortest => page.child_of(key)?,
                Between::Largest => page.first_child_up_to(key)?,
            };
            match page.kind {
                Kind::Leaf if layer == layers && page.block(child) < table.block_count() => {
                    return Ok(page.block(child));
                }
                Kind::Inner if layer < layers => node = page.pages(child),
                Kind::Leaf if layer == layers => {
                    return Err(corrupt(format!(
                        "a leaf page of the stored fence refers to block {}, but the SSTable has only {} \
                         blocks",
                        page.block(child),
                        table.block_count()
                    )));
                }
                kind => {
                    return Err(corrupt(format!(
                        "the stored fence has a page of the kind {kind:?} in layer {layer} of {layers}; only \
                         the last layer may have leaves"
                    )));
                }
            }
            if node.is_empty() || node.end > pages {
                return Err(corrupt(format!(
                    "an inner page of the stored fence refers to the pages {node:?}, but the tree has only \
                     {pages} pages"
                )));
            }
        }
        Err(corrupt("the static B-tree of the stored fence has no leaves"))
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fence::BlockBounds;
    use crate::separators::Separators;
    use crate::testing::{Stored, numbered};

    const OF_SHORTEST: StaticBTree = StaticBTree { page_bytes: 4096, separators: Between::Shortest };

    fn tree(page_bytes: u64, separators: &Separators) -> (Geometry, Stored) {
        let policy = StaticBTree { page_bytes, separators: Between::Shortest };
        let input = FenceInput { separators, hashes: &[], block_starts: &[], level: 0, bounds: None };
        let stored = FencePolicy::build(&policy, &input);
        let tree_bytes = stored.len() as u64 - FOOTER_BYTES;
        let geometry = Geometry::from_footer(&stored[tree_bytes as usize..], tree_bytes).unwrap();
        (geometry, Stored::new(&stored, separators))
    }

    #[test]
    fn a_lookup_reads_one_page_per_layer_from_the_root_down() {
        for (page_bytes, count, layers) in
            [(4096, 1, 1), (4096, 100, 1), (4096, 20_000, 2), (512, 20_000, 3), (65_536, 20_000, 2)]
        {
            let (geometry, table) = tree(page_bytes, &numbered(count));
            assert_eq!(geometry.layers, layers, "{count} separators in pages of {page_bytes}");
            let fence = OF_SHORTEST.open(&table).unwrap();
            for block in (0..count).step_by(997).chain([count - 1]) {
                table.pages.borrow_mut().clear();
                let key = format!("user{:020}", block * 10 + 5);
                assert_eq!(fence.seek(key.as_bytes(), &table).unwrap(), block);
                let pages = table.pages.borrow();
                assert_eq!(pages.len(), layers as usize);
                assert_eq!(pages[0], 0..page_bytes);
                assert!(pages.windows(2).all(|pair| pair[0].end <= pair[1].start), "{pages:?}");
                assert!(pages.iter().all(|page| page.end - page.start == page_bytes));
            }
        }
    }

    /// Tests the order of pages: first the root, then the inner layers, then the leaves.
    #[test]
    fn pages_lie_from_top_to_bottom() {
        let (geometry, table) = tree(512, &numbered(3000));
        let kinds: Vec<Kind> = table.bytes[..geometry.pages as usize * 512]
            .chunks(512)
            .map(|page| Page::parse(page).unwrap().kind)
            .collect();
        assert_eq!(kinds[0], Kind::Inner);
        assert!(kinds.is_sorted_by_key(|kind| *kind as u32));
        assert!(kinds.iter().filter(|kind| **kind == Kind::Leaf).count() > 30);
    }

    #[test]
    fn a_long_separator_costs_only_those_who_come_by_it() {
        let mut separators = Separators::default();
        let mut names: Vec<Vec<u8>> = (0..500).map(|i| format!("key{i:05}").into_bytes()).collect();
        names[250].extend(vec![b'x'; 60_000]);
        names[400].extend(vec![b'y'; 3_000]);
        for name in &names {
            separators.push(name);
        }
        let (geometry, table) = tree(512, &separators);
        let fence = OF_SHORTEST.open(&table).unwrap();
        let mut longest = Vec::new();
        for (block, name) in names.iter().enumerate() {
            table.pages.borrow_mut().clear();
            assert_eq!(fence.seek(name, &table).unwrap() as usize, block);
            let pages = table.pages.borrow();
            assert_eq!(pages.len(), geometry.layers as usize);
            longest.push(pages.iter().map(|page| page.end - page.start).max().unwrap());
        }
        assert!(longest.iter().filter(|bytes| **bytes == 512).count() > 400, "{longest:?}");
        assert!(longest[250] > 60_000 && longest[400] > 3_000);
    }

    /// Tests the example of contradiction T8 of the document csc443: leaves of five keys, whose largest keys are 4, 9,
    /// 14, …
    #[test]
    fn largest_keys_lead_to_the_first_block_that_reaches_the_key() {
        let key = |number: u32| number.to_be_bytes();
        let [firsts, lasts] = [0, 4].map(|in_block| {
            let mut keys = Separators::default();
            (0..1000).for_each(|block| keys.push(&key(block * 5 + in_block)));
            keys
        });
        let bounds =
            BlockBounds { first_keys: firsts.clone(), last_keys: lasts.clone(), offsets: Vec::new() };
        let input = FenceInput {
            separators: &firsts,
            hashes: &[],
            block_starts: &[],
            level: 0,
            bounds: Some(&bounds),
        };
        let policy = StaticBTree { page_bytes: 512, separators: Between::Largest };
        let table = Stored::new(&FencePolicy::build(&policy, &input), &firsts);
        // The tree records its kind of separators, so a policy of the other kind opens the tree.
        let fence = OF_SHORTEST.open(&table).unwrap();
        for number in 0..5000 {
            assert_eq!(fence.seek(&key(number), &table).unwrap(), number / 5);
        }
        assert_eq!(
            fence.seek(&[key(4).as_slice(), b"0"].concat(), &table).unwrap(),
            1,
            "above all of block 0"
        );
        assert_eq!(fence.seek(&[0xff; 4], &table).unwrap(), 999);
    }

    #[test]
    fn page_lengths_are_powers_of_two_within_bounds() {
        let build = |bytes| {
            <StaticBTree as Build<_>>::build(Params { page_bytes: ByteSize(bytes), ..Params::default() })
        };
        assert!([512, 4096, 65_536].into_iter().all(|bytes| build(bytes).is_ok()));
        for bytes in [0, 256, 1000, 5000, 131_072, u64::MAX] {
            let error = build(bytes).err().unwrap();
            assert!(error.contains("must be a power of two"), "{error}");
        }
    }
}
