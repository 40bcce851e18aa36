//! A server from programs installed on this machine: a data directory of its own, on the loopback
//! address, as an unprivileged user, in a process group of its own.

mod account;
mod find;
mod run;

use std::fs::File;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command};

pub(crate) use self::find::{Programs, find};
use self::run::{Workspace, initialize, serve};
use crate::servers::keeper::Job;
use crate::servers::{Attempt, Endpoint, ProcessId, ProviderKind, ServerSpec, container};

/// What a user can do where the files of a server cannot be made.
const SPACE: &str = "free space for temporary files, or set TMPDIR to where there is some";

/// A started server.
pub(crate) struct NativeServer {
    pub(crate) endpoint: Endpoint,
    child: Child,
    log: PathBuf,
    password: String,
}

/// Starts a server; it may not answer yet. What it leaves is recorded at the meeting point before
/// it is made, and removed from there.
///
/// # Errors
/// When there are no programs of the version wanted, or they do not run.
pub(crate) async fn start(job: &Job) -> Result<NativeServer, Attempt> {
    let native = &job.spec.native;
    let install = || {
        format!(
            "install {} `{}` (package `{}`)",
            job.selection.engine.title(),
            job.selection.version,
            native.install
        )
    };
    let failed =
        |reason: String, remedy: String| Attempt::new(ProviderKind::Native, reason, remedy);
    let programs =
        find(native, &job.selection.version).map_err(|reason| failed(reason, install()))?;
    let io = |error: std::io::Error| {
        let program = programs.server.display();
        failed(format!("`{program}` cannot be run: {error}"), SPACE.to_owned())
    };
    let workspace = Workspace::create(job).map_err(io)?;
    job.tell("making a data directory");
    initialize(job, &programs, &workspace)
        .await
        .map_err(|reason| failed(reason.clone(), remedy(&reason).to_owned()))?;
    let port = free_port().map_err(io)?;
    job.tell(&format!("starting `{}`", programs.server.display()));
    let log = workspace.directory.join("server.log");
    let child = serve(job, &programs, &workspace, port, &log).map_err(io)?;
    let url = job.spec.url("127.0.0.1", port, &job.password);
    let process = i32::try_from(child.id()).ok().and_then(ProcessId::of);
    Ok(NativeServer {
        endpoint: Endpoint::server(ProviderKind::Native, url, None).with_process(process),
        child,
        log,
        password: job.password.clone(),
    })
}

impl NativeServer {
    /// Why it will never answer, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => {
                Some(format!("the server ended with {status}: {}", self.last_lines()))
            }
            Err(error) => Some(format!("the server cannot be watched: {error}")),
        }
    }

    /// The last lines that it wrote, without its password.
    pub(crate) fn last_lines(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        container::last_lines(&String::from_utf8_lossy(&bytes), &self.password)
    }
}

/// What a survey says of the programs of that version.
pub(crate) fn describe(spec: &ServerSpec, version: &str) -> Result<String, String> {
    let programs = find(&spec.native, version)?;
    Ok(format!("`{}` says `{}`", programs.server.display(), programs.said))
}

/// What a user can do about a program that gave up for that reason.
pub(crate) fn remedy(reason: &str) -> &'static str {
    if reason.contains("No space left") { SPACE } else { "look at the program's own message" }
}

/// A port that was free a moment ago; a server that finds it taken ends and says so.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Points a command's output to a file.
fn logged(command: &mut Command, file: File) -> std::io::Result<&mut Command> {
    let copy = file.try_clone()?;
    Ok(command.stdout(file).stderr(copy))
}
