//! Talking to the Docker engine: whether it answers, which images it has, what carries our labels.

use std::collections::HashMap;
use std::time::Duration;

use futures::StreamExt;
use testcontainers::bollard::Docker;
use testcontainers::bollard::errors::Error;
use testcontainers::bollard::models::ContainerSummary;
use testcontainers::bollard::query_parameters::{
    CreateImageOptionsBuilder, ListContainersOptionsBuilder, RemoveContainerOptionsBuilder,
};
use testcontainers::core::client::docker_client_instance;
use tokio::time::timeout;

use crate::servers::ImageInfo;
use crate::servers::process::ProcessId;
use crate::servers::rendezvous;

/// How long the engine may take to say that it is there.
const ANSWER: Duration = Duration::from_secs(5);
/// How long a pull may show no sign of life.
const PULL_SIGN: Duration = Duration::from_secs(30);

/// Names the owner of a container, as `HOST:PID:START`.
pub(crate) const OWNER_LABEL: &str = "org.leaseproof.owner";
/// Names the keeper of a container, as `PID:START`.
pub(crate) const KEEPER_LABEL: &str = "org.leaseproof.keeper";
/// Names what a container was started for, such as `postgres:18`.
pub(crate) const NAME_LABEL: &str = "org.leaseproof.label";
const SUITE_LABEL: &str = "org.leaseproof.suite";
const PACKAGES_LABEL: &str = "org.leaseproof.packages";

/// Connects to the engine that `DOCKER_HOST` names, or the usual one.
///
/// # Errors
/// When it does not answer: why, as a fragment.
pub(crate) async fn connect() -> Result<Docker, String> {
    let place = std::env::var("DOCKER_HOST").ok().filter(|host| !host.is_empty());
    let shown = place.map_or_else(String::new, |host| format!(" at `{host}` (DOCKER_HOST)"));
    let docker = docker_client_instance()
        .await
        .map_err(|error| format!("the Docker engine{shown} cannot be used: {}", explain(&error)))?;
    match timeout(ANSWER, docker.ping()).await {
        Ok(Ok(_)) => Ok(docker),
        Ok(Err(error)) => {
            Err(format!("the Docker engine{shown} does not answer: {}", explain(&error)))
        }
        Err(_) => {
            let seconds = ANSWER.as_secs();
            Err(format!("the Docker engine{shown} did not answer in {seconds} s"))
        }
    }
}

/// What a user can do where the engine does not answer.
pub(crate) const REMEDY: &str =
    "start Docker and let this user use it (or set DOCKER_HOST to an engine that runs)";

/// The error with all its causes on one line, since the client's own errors name none of them.
pub(crate) fn explain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = error.source();
    }
    text
}

/// The image of that name, if the engine has it.
pub(crate) async fn image(docker: &Docker, name: &str) -> Result<Option<ImageInfo>, Error> {
    let found = match docker.inspect_image(name).await {
        Ok(found) => found,
        Err(Error::DockerResponseServerError { status_code: 404, .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
    let packages = labels.get(PACKAGES_LABEL).map(String::as_str).unwrap_or_default();
    Ok(Some(ImageInfo {
        name: name.to_owned(),
        digest: found
            .repo_digests
            .and_then(|digests| digests.into_iter().next())
            .or(found.id)
            .unwrap_or_default(),
        suite: labels.get(SUITE_LABEL).cloned(),
        packages: packages.split_whitespace().map(str::to_owned).collect(),
    }))
}

/// Pulls an image by its usual name.
///
/// # Errors
/// When it cannot be pulled: why, as a fragment.
pub(crate) async fn pull(
    docker: &Docker,
    repository: &str,
    tag: &str,
    tell: &(dyn Fn(&str) + Send + Sync),
) -> Result<(), String> {
    let options = CreateImageOptionsBuilder::default().from_image(repository).tag(tag).build();
    let mut steps = docker.create_image(Some(options), None, None);
    let mut last = String::new();
    loop {
        match timeout(PULL_SIGN, steps.next()).await {
            Ok(None) => return Ok(()),
            Ok(Some(Ok(step))) => {
                let status = step.status.unwrap_or_default();
                if status != last {
                    tell(&format!("pulling `{repository}:{tag}` ({})", status.to_lowercase()));
                    last = status;
                }
            }
            Ok(Some(Err(error))) => {
                return Err(format!("`{repository}:{tag}` cannot be pulled: {}", explain(&error)));
            }
            Err(_) => {
                let seconds = PULL_SIGN.as_secs();
                return Err(format!(
                    "pulling `{repository}:{tag}` showed no progress in {seconds} s"
                ));
            }
        }
    }
}

/// The value of the owner label.
pub(crate) fn owner_value(owner: ProcessId) -> String {
    format!("{}:{owner}", rendezvous::host())
}

/// Every container that carries the label, running or not.
pub(crate) async fn containers(
    docker: &Docker,
    label: &str,
) -> Result<Vec<ContainerSummary>, Error> {
    let filters = HashMap::from([("label".to_owned(), vec![label.to_owned()])]);
    let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
    docker.list_containers(Some(options)).await
}

/// Stops and removes a container with its volumes.
pub(crate) async fn remove(docker: &Docker, id: &str) -> Result<(), Error> {
    let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    match docker.remove_container(id, Some(options)).await {
        // Gone, or somebody else is removing it.
        Err(Error::DockerResponseServerError { status_code: 404 | 409, .. }) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}
