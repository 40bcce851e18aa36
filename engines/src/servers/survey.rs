//! Which providers could provide a server, found out without starting anything.

use std::path::PathBuf;

use crate::servers::attempt::{Attempt, Finding};
use crate::servers::{
    ProviderKind, Selection, ServerSpec, by_url, docker, embedded, image, native,
};

/// Asks each provider, in the order in which they are used, whether it could provide a server.
///
/// A server given by URL is connected to; nothing is started, pulled or built. It must run on a
/// tokio runtime with time and I/O enabled.
pub async fn survey(selection: &Selection) -> Vec<Finding> {
    let Some(spec) = selection.engine.server() else {
        return vec![embedded_finding(selection)];
    };
    let given = match by_url::provide(selection).await {
        // A server that the user names is the one to test, or none is: no other is looked for.
        Some(Err(attempt)) => return vec![attempt.into()],
        Some(Ok(endpoint)) => {
            Finding::usable(ProviderKind::Url, format!("`{}` answers", endpoint.address))
        }
        None => by_url::unset(selection, spec).into(),
    };
    let mut findings = vec![given];
    findings.extend(docker_findings(selection, spec).await);
    findings.push(match native::describe(spec, &selection.version) {
        Ok(detail) => Finding::usable(ProviderKind::Native, detail),
        Err(reason) => Attempt::new(
            ProviderKind::Native,
            reason,
            format!(
                "install {} `{}` (package `{}`)",
                selection.engine.title(),
                selection.version,
                spec.native.install
            ),
        )
        .into(),
    });
    findings
}

fn embedded_finding(selection: &Selection) -> Finding {
    match embedded::provide(selection.engine.name()) {
        Ok(endpoint) => {
            let detail =
                format!("version `{}` is linked in, in `{}`", selection.version, endpoint.address);
            Finding::usable(ProviderKind::Embedded, detail)
        }
        Err(attempt) => attempt.into(),
    }
}

async fn docker_findings(selection: &Selection, spec: &ServerSpec) -> [Finding; 2] {
    let engine = match docker::connect().await {
        Ok(engine) => engine,
        Err(reason) => {
            let container = Attempt::new(ProviderKind::Container, reason, docker::REMEDY);
            let reason = "needs the Docker engine, too";
            let local = Attempt::new(ProviderKind::LocalImage, reason, docker::REMEDY);
            return [container.into(), local.into()];
        }
    };
    let official = format!("{}:{}", spec.image, selection.version);
    let local = image::name(selection);
    let here = async |name: &str| docker::image(&engine, name).await.ok().flatten().is_some();
    let container = if here(&official).await {
        Finding::usable(ProviderKind::Container, format!("`{official}` is here"))
    } else {
        let reason = format!(
            "`{official}` is not here; a run tries to pull it where `{local}` is not here either"
        );
        let remedy = format!("make it available (`docker pull {official}` or `docker load`)");
        Attempt::new(ProviderKind::Container, reason, remedy).into()
    };
    let built = if here(&local).await {
        Finding::usable(ProviderKind::LocalImage, format!("`{local}` is here"))
    } else {
        buildable(selection, &local)
    };
    [container, built]
}

/// Whether a run could build the image; what only the build itself can find out is left to it.
fn buildable(selection: &Selection, name: &str) -> Finding {
    let failed = |reason: String, remedy: &str| -> Finding {
        Attempt::new(ProviderKind::LocalImage, reason, remedy).into()
    };
    if let Err(error) = image::recipe(selection) {
        return failed(
            error.to_string(),
            "ask for one of those, or `docker load` the official image",
        );
    }
    let lacking: Vec<_> = ["bash", "docker", "apt-get", "dpkg-deb"]
        .into_iter()
        .filter(|tool| !on_path(tool))
        .collect();
    if !lacking.is_empty() {
        let reason =
            format!("`{name}` is not here, and building it needs `{}`", lacking.join("`, `"));
        return failed(
            reason,
            "build it on a Debian-like machine, or `docker load` the official image",
        );
    }
    if !nix::unistd::geteuid().is_root() {
        let reason = format!("`{name}` is not here, and building it needs root");
        return failed(
            reason,
            "run `leaseproof images` as root once, or `docker load` the official image",
        );
    }
    Finding::usable(
        ProviderKind::LocalImage,
        format!("`{name}` is not here, and a run builds it (about a minute)"),
    )
}

fn on_path(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory: PathBuf| directory.join(tool))
        .any(|file| file.is_file())
}
