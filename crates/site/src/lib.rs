//! Generates a static site from all results and documents in a repository. The site has verdicts, comparisons of
//! engines by machine, components, published systems, a history and documents, with a search over all pages.
//!
//! [`site()`] turns [`SiteSources`] into [`SiteFile`]s. The site works without a network, and its tables are readable
//! without a script. All pages share one style and few scripts. On disk, a machine is a folder with one results folder
//! per experiment. [`check`] checks such a folder before the repository accepts it. The crate needs only results and
//! documents, so it builds without the tree.
//!
//! ```
//! use lsmbench_site::{SiteSources, site};
//!
//! let repository = tempfile::tempdir()?;
//! let (root, targets) = (repository.path(), verdict::Targets::default());
//! std::fs::create_dir_all(root.join("docs/results"))?;
//! for document in ["README", "SUMMARY", "gallery", "results/experiments"] {
//!     std::fs::write(root.join(format!("docs/{document}.md")), "# Bloom filters")?;
//! }
//! let sources = SiteSources { root, axes: Vec::new(), systems: Vec::new(), baseline: "", targets };
//! let files = site(&sources)?;
//! let page = files.iter().find(|file| file.path == "docs/index.html").ok_or("no such page")?;
//! assert!(page.content.contains("Bloom filters"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod components;
mod contribution;
mod documents;
mod engines;
mod evidence;
mod explore;
mod file;
mod frame;
mod front;
mod kept;
mod machine;
mod markdown;
mod plausible;
mod search;
mod sections;
mod sources;
mod verdicts;

use types::Outcome;

pub use contribution::{Contribution, KnownExperiment, Standard, check};
pub use file::SiteFile;
pub use sources::SiteSources;

use kept::Kept;

/// Returns all files of the site.
///
/// # Errors
/// Results, a history or a document cannot be read.
pub fn site(sources: &SiteSources<'_>) -> Outcome<Vec<SiteFile>> {
    let kept = Kept::read(sources)?;
    let mut files = frame::shared();
    files.push(front::page(sources, &kept)?);
    files.push(verdicts::page(&kept));
    files.extend(engines::pages(sources, &kept)?);
    files.push(components::page(sources, &kept));
    files.extend(explore::pages(&kept)?);
    files.extend(documents::pages(sources)?);
    files.extend(sources.systems.iter().map(frame::system));
    files.extend(search::pages(&files));
    Ok(files)
}
