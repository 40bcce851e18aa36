//! A server in a container, of the official image or of one built here; both start the same way.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use testcontainers::bollard::Docker;
use testcontainers::bollard::models::{HostConfig, PortBinding};
use testcontainers::core::IntoContainerPort;
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, GenericImage, ImageExt};

use crate::servers::keeper::Job;
use crate::servers::{Attempt, Endpoint, ImageInfo, ProcessId, ProviderKind, docker, image};

/// A running container and where its server will answer.
pub(crate) struct Running {
    /// Removes itself when it is dropped.
    pub(crate) container: ContainerAsync<GenericImage>,
    pub(crate) endpoint: Endpoint,
    password: String,
}

/// Finds the official image, or pulls it where no image built here stands in for it.
///
/// # Errors
/// When there is none: why, and what to do.
pub(crate) async fn official(job: &Job, engine: &Docker) -> Result<ImageInfo, Attempt> {
    let (repository, tag) = (job.spec.image, job.selection.version.as_str());
    let name = format!("{repository}:{tag}");
    let failed = |reason: String| {
        let remedy = format!("make `{name}` available (`docker pull {name}` or `docker load`)");
        Attempt::new(ProviderKind::Container, reason, remedy)
    };
    let find = async || {
        docker::image(engine, &name).await.map_err(|error| failed(docker::explain(&error)))
    };
    if let Some(found) = find().await? {
        return Ok(found);
    }
    // Once an image was built here a run neither waits for a registry nor changes its server
    // because one can be reached today.
    let local = image::name(&job.selection);
    if docker::image(engine, &local).await.is_ok_and(|found| found.is_some()) {
        return Err(failed(format!("`{name}` is not here, and `{local}` stands in for it")));
    }
    if !job.fetch {
        return Err(failed(format!("`{name}` is not here, and may not be pulled")));
    }
    job.tell(&format!("pulling `{name}`"));
    docker::pull(engine, repository, tag, &|step| job.tell(step)).await.map_err(failed)?;
    find().await?.ok_or_else(|| failed(format!("`{name}` was pulled, and is not here")))
}

/// Starts a container of the image; its server may not answer yet.
///
/// # Errors
/// When it does not start: why, as a fragment.
pub(crate) async fn start(
    job: &Job,
    engine: &Docker,
    kind: ProviderKind,
    image: ImageInfo,
) -> Result<Running, String> {
    let password = job.password.clone();
    let (repository, tag) = image.name.rsplit_once(':').unwrap_or((&image.name, "latest"));
    let port = job.spec.port.tcp();
    let local = is_local(engine).await;
    let mut request = GenericImage::new(repository, tag)
        .with_exposed_port(port)
        .with_label(docker::OWNER_LABEL, docker::owner_value(job.owner))
        .with_label(docker::KEEPER_LABEL, job.keeper.to_string())
        .with_label(docker::NAME_LABEL, job.selection.label())
        .with_host_config_modifier(move |host| publish(host, port.to_string(), local));
    for (variable, template) in job.spec.environment {
        request = request.with_env_var(*variable, job.spec.fill(template, &password));
    }
    job.tell(&format!("starting a container of `{}`", image.name));
    let failed = |error: testcontainers::TestcontainersError| {
        format!("a container of `{}` does not start: {}", image.name, docker::explain(&error))
    };
    // In a task of its own: a start that is broken off half-way would leave a container that the
    // engine makes after the keeper has looked for what to remove.
    let starting = Arc::clone(&job.starting).lock_owned().await;
    let start = tokio::spawn(async move {
        let _until_started = starting;
        request.start().await
    });
    let container = start.await.map_err(|error| error.to_string())?.map_err(failed)?;
    let host = match local {
        true => "127.0.0.1".to_owned(),
        false => container.get_host().await.map_err(failed)?.to_string(),
    };
    let port = container.get_host_port_ipv4(port).await.map_err(failed)?;
    let url = job.spec.url(&host, port, &password);
    let process = if local { process(engine, container.id()).await } else { None };
    let endpoint = Endpoint::server(kind, url, Some(image)).with_process(process);
    Ok(Running { container, endpoint, password })
}

/// The container's first process, where this machine's numbers are those of the engine's.
async fn process(engine: &Docker, container: &str) -> Option<ProcessId> {
    let state = engine.inspect_container(container, None).await.ok()?.state?;
    let process = ProcessId::of(i32::try_from(state.pid?).ok()?)?;
    // An engine in a virtual machine has numbers of its own, and any process may have the same one here.
    let groups = std::fs::read_to_string(format!("/proc/{}/cgroup", process.pid)).ok()?;
    groups.contains(container).then_some(process)
}

impl Running {
    /// Why its server will never answer, if the container has ended or cannot be asked.
    pub(crate) async fn ended(&self) -> Option<String> {
        match self.container.is_running().await {
            Ok(true) => None,
            Ok(false) => Some(format!("the container ended: {}", self.last_lines().await)),
            Err(error) => {
                Some(format!("the container cannot be watched: {}", docker::explain(&error)))
            }
        }
    }

    /// The last lines that the server wrote, without its password.
    pub(crate) async fn last_lines(&self) -> String {
        let stdout = self.container.stdout_to_vec().await.unwrap_or_default();
        let stderr = self.container.stderr_to_vec().await.unwrap_or_default();
        let text =
            [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        last_lines(&text, &self.password)
    }
}

/// The last five lines of a server's log on one line, without the password.
pub(crate) fn last_lines(text: &str, password: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(5)..];
    if last.is_empty() {
        return "it wrote nothing".to_owned();
    }
    last.join(" | ").replace(password, "***")
}

/// Publishes the port on the loopback address only, where that reaches the container.
fn publish(host: &mut HostConfig, port: String, local: bool) {
    let binding = PortBinding {
        host_ip: local.then(|| "127.0.0.1".to_owned()),
        host_port: Some(String::new()),
    };
    host.publish_all_ports = Some(false);
    host.port_bindings = Some(HashMap::from([(port, Some(vec![binding]))]));
}

/// Whether a port that the engine publishes on its loopback address is on ours, too: not when it is
/// another machine's engine, nor when this process runs in a container beside the server's.
async fn is_local(engine: &Docker) -> bool {
    let place = std::env::var("DOCKER_HOST").unwrap_or_default();
    if !place.is_empty() && !place.starts_with("unix:") {
        return false;
    }
    // The file alone proves nothing: a machine may have been made of a container's files.
    if !Path::new("/.dockerenv").exists() {
        return true;
    }
    let there = engine.info().await.ok().and_then(|info| info.name);
    let here = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    there.is_some() && there == here
}

#[cfg(test)]
mod tests {
    use super::last_lines;

    #[test]
    fn the_last_lines_hold_no_password() {
        let text = "one\ntwo\n\nthree\nfour secret\nfive\nsix\n";
        assert_eq!(last_lines(text, "secret"), "two | three | four *** | five | six");
        assert_eq!(last_lines("\n", "secret"), "it wrote nothing");
    }
}
