//! Asks one provider after another until a server answers.

use std::time::Duration;

use testcontainers::bollard::Docker;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::error::ErrorKind;
use crate::servers::attempt::{Attempt, Missing};
use crate::servers::container::{self, Running};
use crate::servers::keeper::{Job, switched_off};
use crate::servers::native::{self, NativeServer};
use crate::servers::{Endpoint, ImageInfo, ProviderKind, by_url, docker, image, stale};

/// How long a started server may take until it answers.
const START: Duration = Duration::from_secs(90);
/// How often it is asked, and how long one answer may take.
const ASK: Duration = Duration::from_millis(25);
const ANSWER: Duration = Duration::from_secs(5);
/// How long it may answer that it will never let us in, which a server says while it sets itself up.
const REFUSED: Duration = Duration::from_secs(10);
/// How often it is looked whether it still runs.
const LOOK: Duration = Duration::from_millis(500);

/// A server that answers.
pub(crate) enum Server {
    Container(Box<Running>),
    Native(Box<NativeServer>),
}

impl Server {
    pub(crate) fn endpoint(&self) -> &Endpoint {
        match self {
            Self::Container(server) => &server.endpoint,
            Self::Native(server) => &server.endpoint,
        }
    }

    /// Why it will never answer, if it has ended.
    async fn ended(&mut self) -> Option<String> {
        match self {
            Self::Container(server) => server.ended().await,
            Self::Native(server) => server.ended(),
        }
    }

    async fn last_lines(&self) -> String {
        match self {
            Self::Container(server) => server.last_lines().await,
            Self::Native(server) => server.last_lines(),
        }
    }
}

/// Provides a server that answers.
///
/// # Errors
/// When no provider has one: all their reasons.
pub(crate) async fn start(job: &Job) -> Result<Server, Missing> {
    let mut attempts = vec![by_url::unset(&job.selection, job.spec)];
    if let Some(server) = with_docker(job, &mut attempts).await {
        return Ok(server);
    }
    match natively(job).await {
        Ok(server) => return Ok(server),
        Err(attempt) => attempts.push(attempt),
    }
    Err(Missing { label: job.selection.label(), attempts })
}

async fn with_docker(job: &Job, attempts: &mut Vec<Attempt>) -> Option<Server> {
    if !job.docker {
        attempts.push(switched_off(ProviderKind::Container));
        attempts.push(switched_off(ProviderKind::LocalImage));
        return None;
    }
    let engine = match docker::connect().await {
        Ok(engine) => engine,
        Err(reason) => {
            attempts.push(Attempt::new(ProviderKind::Container, reason, docker::REMEDY));
            let reason = "needs the Docker engine, too";
            attempts.push(Attempt::new(ProviderKind::LocalImage, reason, docker::REMEDY));
            return None;
        }
    };
    stale::replace_containers(&engine, job.owner, &job.selection.label()).await;
    match in_container(
        job,
        &engine,
        ProviderKind::Container,
        container::official(job, &engine).await,
    )
    .await
    {
        Ok(server) => return Some(server),
        Err(attempt) => attempts.push(attempt),
    }
    match in_container(job, &engine, ProviderKind::LocalImage, local(job, &engine).await).await {
        Ok(server) => return Some(server),
        Err(attempt) => attempts.push(attempt),
    }
    None
}

/// Finds the image built here, or builds it.
async fn local(job: &Job, engine: &Docker) -> Result<ImageInfo, Attempt> {
    let label = job.selection.label();
    let by_hand = format!("run `leaseproof images {label}` where it can be built");
    let failed = |reason: String| Attempt::new(ProviderKind::LocalImage, reason, by_hand.clone());
    let name = image::name(&job.selection);
    match docker::image(engine, &name).await {
        Ok(Some(found)) => return Ok(found),
        Ok(None) if !job.fetch => {
            return Err(failed(format!("`{name}` is not here, and may not be built")));
        }
        Ok(None) => {}
        Err(error) => return Err(failed(docker::explain(&error))),
    }
    image::build(&job.selection, &|step| job.tell(&step.message)).await.map_err(|error| {
        let remedy = error.remedy().unwrap_or(&by_hand);
        Attempt::new(ProviderKind::LocalImage, docker::explain(&error), remedy)
    })
}

async fn in_container(
    job: &Job,
    engine: &Docker,
    kind: ProviderKind,
    image: Result<ImageInfo, Attempt>,
) -> Result<Server, Attempt> {
    let image = image?;
    let name = image.name.clone();
    let started = match container::start(job, engine, kind, image).await {
        Ok(running) => answering(job, Server::Container(Box::new(running))).await,
        Err(reason) => Err(reason),
    };
    match started {
        Ok(server) => Ok(server),
        Err(reason) => Err(match docker::connect().await {
            Ok(_) => Attempt::new(kind, reason, format!("look at `docker run {name}` by hand")),
            Err(_) => {
                let reason = format!("the Docker engine stopped answering: {reason}");
                Attempt::new(kind, reason, docker::REMEDY)
            }
        }),
    }
}

async fn natively(job: &Job) -> Result<Server, Attempt> {
    if !job.native {
        return Err(switched_off(ProviderKind::Native));
    }
    let server = native::start(job).await?;
    answering(job, Server::Native(Box::new(server))).await.map_err(|reason| {
        let remedy = native::remedy(&reason);
        Attempt::new(ProviderKind::Native, reason, remedy)
    })
}

/// Asks the server who it is until it answers, has ended or has taken too long.
async fn answering(job: &Job, mut server: Server) -> Result<Server, String> {
    job.tell("waiting for the server to answer");
    let started = Instant::now();
    let mut ticks = interval(ASK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut looked = started;
    let mut refused = None;
    let mut last = String::from("no answer");
    while started.elapsed() < START {
        ticks.tick().await;
        match timeout(ANSWER, job.selection.engine.identify(server.endpoint())).await {
            Ok(Ok(_)) => return Ok(server),
            Ok(Err(error)) if error.kind == ErrorKind::Fatal => {
                let since = *refused.get_or_insert_with(Instant::now);
                if since.elapsed() > REFUSED {
                    return Err(format!("the server refuses: {error}"));
                }
                last = error.to_string();
            }
            Ok(Err(error)) => {
                refused = None;
                last = error.to_string();
            }
            Err(_) => {}
        }
        if looked.elapsed() > LOOK {
            looked = Instant::now();
            if let Some(reason) = server.ended().await {
                return Err(reason);
            }
        }
    }
    let seconds = START.as_secs();
    let lines = server.last_lines().await;
    Err(format!("the server did not answer in {seconds} s: {last}; it wrote: {lines}"))
}
