//! Running a server's programs: the files they need, what they are told, how long they may take.

use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::servers::container::last_lines;
use crate::servers::keeper::Job;
use crate::servers::native::account::Account;
use crate::servers::native::{Programs, logged};
use crate::servers::process::ProcessId;
use crate::servers::stale::NativeRecord;

/// How long making a data directory may take.
const INITIALIZE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);

/// A server's files, outside the meeting point, which its user may not enter.
pub(crate) struct Workspace {
    pub(crate) directory: PathBuf,
    account: Account,
}

impl Workspace {
    /// Makes the files, recorded before they are there.
    pub(crate) fn create(job: &Job) -> io::Result<Self> {
        let account = Account::choose(job.spec.native.accounts)?;
        let name = format!(
            "leaseproof-native-{}-{:08x}",
            job.selection.engine.name(),
            rand::random::<u32>()
        );
        let directory = std::env::temp_dir().join(name);
        let record = NativeRecord::new(directory.clone());
        job.place.store("native.json", &record)?;
        DirBuilder::new().mode(0o700).create(&directory)?;
        let workspace = Self { directory, account };
        let run = workspace.directory.join("run");
        DirBuilder::new().mode(0o700).create(&run)?;
        workspace.account.own(&run)?;
        workspace.write("password", &job.password)?;
        workspace.write("init.sql", &job.spec.fill(job.spec.native.init_sql, &job.password))?;
        // Last, because nothing can be put into it once it is the user's own.
        workspace.account.own(&workspace.directory)?;
        Ok(workspace)
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.directory.join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(text.as_bytes())?;
        self.account.own(&path)
    }

    /// The program with its *templates* filled in, not started yet.
    fn command(
        &self,
        job: &Job,
        programs: &Programs,
        program: &Path,
        templates: &[&str],
        port: u16,
    ) -> Command {
        let at = |name: &str| self.directory.join(name).display().to_string();
        let prefix = programs.prefix().display().to_string();
        let mut command = Command::new(program);
        for template in templates {
            let argument = job
                .spec
                .fill(template, &job.password)
                .replace("{prefix}", &prefix)
                .replace("{data}", &at("data"))
                .replace("{run}", &at("run"))
                .replace("{init}", &at("init.sql"))
                .replace("{password_file}", &at("password"))
                .replace("{port}", &port.to_string());
            command.arg(argument);
        }
        command.stdin(Stdio::null()).current_dir(&self.directory).env("LC_ALL", "C");
        // Some programs read their user's own settings; a server of ours has none.
        command.env("HOME", &self.directory);
        self.account.enter(&mut command);
        command
    }

    /// Starts the program, its output in a file, and records it so that it can be stopped.
    fn spawn(&self, job: &Job, mut command: Command, log: &Path) -> io::Result<Child> {
        let child = logged(&mut command, File::create(log)?)?.spawn()?;
        let process = i32::try_from(child.id()).ok().and_then(ProcessId::of);
        let record = NativeRecord::new(self.directory.clone()).running(process);
        job.place.store("native.json", &record)?;
        Ok(child)
    }
}

/// Makes the data directory.
///
/// # Errors
/// When the program fails or takes too long: why, with its last lines.
pub(crate) async fn initialize(
    job: &Job,
    programs: &Programs,
    workspace: &Workspace,
) -> Result<(), String> {
    let program = &programs.initializer;
    let log = workspace.directory.join("initialize.log");
    let said = || {
        let bytes = std::fs::read(&log).unwrap_or_default();
        last_lines(&String::from_utf8_lossy(&bytes), &job.password)
    };
    let command = workspace.command(job, programs, program, job.spec.native.initialize, 0);
    let failed = |error: io::Error| format!("`{}` cannot be run: {error}", program.display());
    let mut child = workspace.spawn(job, command, &log).map_err(failed)?;
    let started = Instant::now();
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while started.elapsed() < INITIALIZE {
        ticks.tick().await;
        match child.try_wait().map_err(failed)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                return Err(format!("`{}` ended with {status}: {}", program.display(), said()));
            }
            None => {}
        }
    }
    let seconds = INITIALIZE.as_secs();
    Err(format!("`{}` took more than {seconds} s: {}", program.display(), said()))
}

/// Starts the server.
pub(crate) fn serve(
    job: &Job,
    programs: &Programs,
    workspace: &Workspace,
    port: u16,
    log: &Path,
) -> io::Result<Child> {
    let command = workspace.command(job, programs, &programs.server, job.spec.native.serve, port);
    workspace.spawn(job, command, log)
}
