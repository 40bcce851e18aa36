//! The command line between the caller and its keeper.

use std::path::PathBuf;
use std::sync::Arc;

use crate::servers::keeper::{Job, KeeperError};
use crate::servers::process::ProcessId;
use crate::servers::rendezvous::Rendezvous;
use crate::servers::{ProvideOptions, Selection};

/// The command of the program that is a keeper.
const COMMAND: &str = "keep";

/// The arguments a keeper is started with, its command first.
pub(crate) fn arguments(place: &Rendezvous, options: &ProvideOptions) -> Vec<std::ffi::OsString> {
    let mut arguments: Vec<std::ffi::OsString> = vec![
        COMMAND.into(),
        "--label".into(),
        place.label().into(),
        "--owner".into(),
        options.owner.to_string().into(),
        "--dir".into(),
        place.directory().into(),
    ];
    let switches = [
        (options.docker, "--no-docker"),
        (options.fetch, "--no-fetch"),
        (options.native, "--no-native"),
    ];
    arguments.extend(switches.iter().filter(|(on, _)| !on).map(|(_, switch)| (*switch).into()));
    arguments
}

/// A keeper's arguments, read.
#[derive(Debug)]
pub(crate) struct Arguments {
    label: String,
    owner: ProcessId,
    directory: PathBuf,
    docker: bool,
    fetch: bool,
    native: bool,
}

impl Arguments {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, KeeperError> {
        let usage = |option: &str| KeeperError::Usage { option: option.to_owned() };
        let (mut label, mut owner, mut directory) = (None, None, None);
        let (mut docker, mut fetch, mut native) = (true, true, true);
        let mut rest = arguments.iter();
        while let Some(option) = rest.next() {
            match option.as_str() {
                "--label" => label = rest.next().cloned(),
                "--owner" => owner = rest.next().and_then(|text| text.parse().ok()),
                "--dir" => directory = rest.next().map(PathBuf::from),
                "--no-docker" => docker = false,
                "--no-fetch" => fetch = false,
                "--no-native" => native = false,
                other => return Err(usage(other)),
            }
        }
        Ok(Self {
            label: label.ok_or_else(|| usage("--label"))?,
            owner: owner.ok_or_else(|| usage("--owner"))?,
            directory: directory.ok_or_else(|| usage("--dir"))?,
            docker,
            fetch,
            native,
        })
    }

    pub(crate) fn into_job(self) -> Result<Job, KeeperError> {
        let usage = || KeeperError::Usage { option: self.label.clone() };
        let selection = Selection::parse(&self.label).map_err(|_| usage())?;
        let spec = selection.engine.server().ok_or_else(usage)?;
        Ok(Job {
            place: Rendezvous::at(self.directory, &self.label),
            selection,
            spec,
            owner: self.owner,
            keeper: ProcessId::current(),
            password: format!("{:032x}", rand::random::<u128>()),
            starting: Arc::default(),
            docker: self.docker,
            fetch: self.fetch,
            native: self.native,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let place = Rendezvous::at("/somewhere".into(), "postgres:18");
        let mut options = ProvideOptions::new("leaseproof", ProcessId::current());
        options.fetch = false;
        let written: Vec<String> = arguments(&place, &options)
            .into_iter()
            .map(|argument| argument.into_string().unwrap())
            .collect();
        assert_eq!(written[0], COMMAND);
        let read = Arguments::parse(&written[1..]).unwrap();
        assert_eq!(read.label, "postgres:18");
        assert_eq!(read.owner, ProcessId::current());
        assert_eq!(read.directory, place.directory());
        assert_eq!([read.docker, read.fetch, read.native], [true, false, true]);
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in [vec!["--label"], vec!["--label", "x", "--owner", "1"], vec!["--what"]] {
            let bad: Vec<String> = bad.into_iter().map(str::to_owned).collect();
            assert!(Arguments::parse(&bad).is_err(), "{bad:?}");
        }
    }
}
