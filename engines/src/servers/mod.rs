//! Where a server comes from: a URL, a container, an image built here, installed programs, or none
//! because the engine is embedded.
//!
//! Providers are asked in that order; each that fails leaves its reason. One server per engine and
//! version serves a whole run: whoever needs it first starts a *keeper*, a process of its own that
//! holds the server for as long as the run's owner lives and then removes it.

pub mod image;

mod attempt;
mod by_url;
mod container;
mod cpu;
mod docker;
mod embedded;
mod endpoint;
mod keeper;
mod native;
mod options;
mod process;
mod provide;
mod rendezvous;
mod selection;
mod spec;
mod stale;
mod survey;
mod version;

pub use self::attempt::{Attempt, Finding, Missing, Progress, ProgressFn};
pub use self::cpu::cpu_of_tree;
pub use self::endpoint::{Address, Endpoint, ImageInfo, ProviderKind, redact};
pub use self::keeper::keeper_main;
pub use self::options::ProvideOptions;
pub use self::process::{MalformedProcessId, OwnerPid, ProcessId};
pub use self::provide::{provide, release};
pub use self::selection::{Selection, SelectionError};
pub use self::spec::{NativeSpec, Recipe, ServerSpec};
pub use self::survey::survey;
