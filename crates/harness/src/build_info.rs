//! The description of this program in the manifests of results.

use results::BuildInfo;

/// Returns the version, the commit, the compiler settings and the container image of this program.
pub(crate) fn build_info() -> BuildInfo {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    BuildInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_commit: known(env!("LSMBENCH_GIT_COMMIT")),
        git_dirty: env!("LSMBENCH_GIT_DIRTY").parse().ok(),
        rustc: known(env!("LSMBENCH_RUSTC")),
        flags: known(env!("LSMBENCH_FLAGS")),
        target: known(env!("LSMBENCH_TARGET")),
        profile: known(env!("LSMBENCH_PROFILE")),
        debug_assertions: cfg!(debug_assertions),
        image: run::container_image(),
    }
}
