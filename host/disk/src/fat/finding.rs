//! What a check of a card can find.

use super::{ChainFault, Fat32, FatError};
use crate::Severity;

/// Findings listed; further ones are counted.
const MAX_FINDINGS: usize = 1000;
/// Something on a card that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FatFinding {
    /// The copies of the FAT are not equal.
    #[error("the two FATs differ in {count} sectors, first in sector {first}, expected equal copies")]
    FatsDiffer {
        /// First sector that differs, in the first FAT.
        first: u32,
        /// Number of sectors that differ.
        count: u32,
    },
    /// A chain is damaged.
    #[error("{path}: cluster {cluster} {fault}")]
    Chain {
        /// File or folder.
        path: String,
        /// Cluster whose FAT entry is wrong.
        cluster: u32,
        /// What is wrong.
        fault: ChainFault,
    },
    /// Two files, or a file and a folder, share a cluster.
    #[error("{path}: cluster {cluster} belongs to another file as well (cross-link)")]
    CrossLink {
        /// The second of the two.
        path: String,
        /// First shared cluster.
        cluster: u32,
    },
    /// Size and chain of a file do not fit together.
    #[error("{path}: the entry says {size} bytes, that is {expected} clusters, but the chain has {found}")]
    Length {
        /// The file.
        path: String,
        /// Size in the directory.
        size: u32,
        /// Clusters for that size.
        expected: u32,
        /// Clusters in the chain.
        found: u32,
    },
    /// A folder without a cluster.
    #[error("{path}: a folder needs a cluster, its entry has {cluster}")]
    NoCluster {
        /// The folder.
        path: String,
        /// What is there.
        cluster: u32,
    },
    /// "." or ".." is missing or leads elsewhere.
    #[error("{path}: the entry \"{name}\" leads to cluster {found:?}, expected {expected}")]
    Dot {
        /// The folder.
        path: String,
        /// Which of the two.
        name: &'static str,
        /// Where it leads; `None` when missing.
        found: Option<u32>,
        /// Where it should lead.
        expected: u32,
    },
    /// Two entries of the same name.
    #[error("{path}: the name is there twice")]
    Duplicate {
        /// The second of them.
        path: String,
    },
    /// A folder inside too many others.
    #[error("{path}: folders are nested deeper than 64 levels, what is in here was not looked at")]
    TooDeep {
        /// The folder.
        path: String,
    },
    /// Pieces of a long name without their entry.
    #[error("{path}: {count} pieces of long names belong to no file")]
    OrphanNames {
        /// The folder.
        path: String,
        /// How many.
        count: u32,
    },
    /// An 8.3 name with characters it may not have.
    #[error("{path}: the 8.3 name {name:?} has characters that do not belong there")]
    ShortName {
        /// The file.
        path: String,
        /// Its 8.3 name.
        name: String,
    },
    /// Clusters that are in use but belong to nothing.
    #[error("{count} clusters are marked used but belong to no file (lost), first {first}")]
    Lost {
        /// First of them.
        first: u32,
        /// How many.
        count: u32,
    },
    /// The FSInfo sector counts wrongly.
    #[error("the FSInfo sector says {found} clusters are free, counted {expected}")]
    FreeCount {
        /// What it says.
        found: u32,
        /// What was counted.
        expected: u32,
    },
    /// The FSInfo sector is missing or damaged.
    #[error("sector {sector} is no FSInfo sector")]
    NoFsInfo {
        /// Where it should be.
        sector: u32,
    },
    /// The card was taken out without unmounting.
    #[error("the card was not unmounted properly the last time it was written")]
    Dirty,
    /// A disk image that MOUNT refuses because of its pieces.
    #[error("{path}: in {pieces} pieces; MOUNT needs one (error $8B): write it onto a new card, before other files")]
    Fragmented {
        /// The image.
        path: String,
        /// Number of pieces.
        pieces: u32,
    },
    /// A disk image that MOUNT refuses because of its size.
    #[error("{path}: {size} bytes, MOUNT needs 819200 (error $8A)")]
    ImageSize {
        /// The image.
        path: String,
        /// Its size.
        size: u32,
    },
    /// Something HYPPO does not accept, though PCs do.
    #[error("the MEGA65 refuses this volume: {0}")]
    Hyppo(&'static str),
}

impl FatFinding {
    /// Errors are damage: data is lost or will be by writing. Warnings are not. Lost clusters are errors
    /// because the entry that led to them may still be there to be repaired, and adding could overwrite it.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::FatsDiffer { .. }
            | Self::Chain { .. }
            | Self::CrossLink { .. }
            | Self::Length { .. }
            | Self::NoCluster { .. }
            | Self::Dot { .. }
            | Self::Duplicate { .. }
            | Self::TooDeep { .. }
            | Self::Lost { .. } => Severity::Error,
            Self::OrphanNames { .. }
            | Self::ShortName { .. }
            | Self::FreeCount { .. }
            | Self::NoFsInfo { .. }
            | Self::Dirty
            | Self::Fragmented { .. }
            | Self::ImageSize { .. }
            | Self::Hyppo(_) => Severity::Warning,
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The volume.
    pub fat: Fat32,
    /// What is wrong, at most 1000.
    pub findings: Vec<FatFinding>,
    /// Further findings, not listed.
    pub more: u64,
    /// Files found.
    pub files: u32,
    /// Folders found, without the root.
    pub folders: u32,
    /// Clusters marked free.
    pub free_clusters: u32,
}

impl CheckReport {
    /// The findings that are damage.
    pub fn errors(&self) -> impl Iterator<Item = &FatFinding> {
        self.findings.iter().filter(|f| f.severity() == Severity::Error)
    }

    /// Turns errors into a refusal.
    pub(super) fn refuse_errors(&self) -> Result<(), FatError> {
        match self.errors().next() {
            Some(first) => Err(FatError::Damaged { errors: self.errors().count(), first: first.to_string() }),
            None => Ok(()),
        }
    }

    pub(super) fn add(&mut self, finding: FatFinding) {
        // An error has to be seen even behind a thousand warnings.
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.more += 1;
            if finding.severity() == Severity::Error
                && let Some(place) = self.findings.iter_mut().rfind(|f| f.severity() == Severity::Warning)
            {
                *place = finding;
            }
        }
    }
}
