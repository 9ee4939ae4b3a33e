//! All results that a repository contains.

use std::path::PathBuf;

use page::Page;
use results::{Folder, Manifest};
use types::Outcome;

use crate::evidence::{Evidence, machine_of};
use crate::machine::{Machine, folder_name, folders, results_folders};
use crate::sources::SiteSources;

/// A results folder that has its own interactive page on the site.
pub(crate) struct Explored {
    /// The path of the page, relative to the root of the site.
    pub(crate) address: String,
    pub(crate) page: Page,
    pub(crate) manifest: Manifest,
}

/// All results that the repository contains: machines, gallery, published systems and history.
pub(crate) struct Kept {
    pub(crate) machines: Vec<Machine>,
    /// The results folders of the gallery and of the experiments on published systems.
    pub(crate) explored: Vec<Explored>,
    /// All comparisons of two configurations in the results, in the order of the results folders.
    pub(crate) evidence: Vec<Evidence>,
    /// The history of metrics. `None` if the repository contains no history.
    pub(crate) history: Option<PathBuf>,
}

impl Kept {
    /// Reads all results of the repository.
    ///
    /// # Errors
    /// Results cannot be read, or have changed since the run wrote them.
    pub(crate) fn read(sources: &SiteSources<'_>) -> Outcome<Self> {
        let mut roots = vec![sources.peers()];
        roots.retain(|root| root.is_dir());
        roots.extend(folders(&sources.machines())?);
        let machines: Vec<Machine> = roots.iter().map(|root| Machine::read(root)).collect::<Outcome<_>>()?;
        let mut explored = Vec::new();
        for root in [sources.gallery(), sources.published()] {
            for folder in results_folders(&root)? {
                let manifest = Manifest::read(&Folder::new(&folder).manifest())?;
                let address = format!("explore/{}.html", folder_name(&folder));
                explored.push(Explored { page: Page::of(&[folder])?, address, manifest });
            }
        }
        let mut evidence = Vec::new();
        for machine in &machines {
            let compared = machine.page.compared().into_iter();
            for ((folder, manifest), compared) in machine.folders.iter().zip(&machine.manifests).zip(compared)
            {
                let address = format!("{}#run={}", machine.explore(), folder_name(folder));
                let of = |compared| Evidence::new(compared, manifest, machine.title(), &address);
                evidence.extend(compared.into_iter().map(of));
            }
        }
        for Explored { address, page, manifest } in &explored {
            let of = |compared| Evidence::new(compared, manifest, machine_of(manifest), address);
            evidence.extend(page.compared().into_iter().flatten().map(of));
        }
        let history = Some(sources.history()).filter(|path| path.is_file());
        Ok(Self { machines, explored, evidence, history })
    }
}

impl Machine {
    /// Returns the path of the page with the tables of this machine, relative to the root of the site.
    pub(crate) fn tables(&self) -> String {
        format!("machines/{}.html", self.name)
    }

    /// Returns the path of the interactive page of this machine, relative to the root of the site.
    pub(crate) fn explore(&self) -> String {
        format!("machines/{}-explore.html", self.name)
    }
}
