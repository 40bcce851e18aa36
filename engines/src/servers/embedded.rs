//! An engine that is linked into this program needs a directory, and no server.

use std::path::PathBuf;

use crate::servers::rendezvous::session_name;
use crate::servers::{Attempt, Endpoint, ProcessId, ProviderKind};

/// What the name of every such directory begins with, before the owner's.
pub(crate) const PREFIX: &str = "leaseproof-embedded-";

/// The variable that names where the directory is made, and the directory.
pub(crate) fn base(engine: &str) -> (String, PathBuf) {
    let variable = format!("LEASEPROOF_{}_DIR", engine.to_ascii_uppercase());
    let path = std::env::var_os(&variable).filter(|path| !path.is_empty());
    (variable, path.map_or_else(std::env::temp_dir, PathBuf::from))
}

/// A fresh directory, removed with the last clone of the endpoint.
pub(crate) fn provide(engine: &str) -> Result<Endpoint, Attempt> {
    let (variable, base) = base(engine);
    tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}.", session_name(ProcessId::current())))
        .tempdir_in(&base)
        .map(Endpoint::temporary)
        .map_err(|error| {
            Attempt::new(
                ProviderKind::Embedded,
                format!("no directory can be made in `{}`: {error}", base.display()),
                format!("set `{variable}` to a directory that is writable and has space"),
            )
        })
}
