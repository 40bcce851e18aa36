//! Where a provided server is reached, and what is known about how it came to be.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use url::Url;

use crate::servers::ProcessId;

/// Who provides a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderKind {
    /// The user runs it and names its URL.
    Url,
    /// A container of the official image.
    Container,
    /// A container of an image built on this machine.
    LocalImage,
    /// Programs installed on this machine.
    Native,
    /// It is linked into this program.
    Embedded,
}

impl ProviderKind {
    /// Every provider, in the order in which they are asked.
    pub const ALL: [Self; 5] =
        [Self::Url, Self::Container, Self::LocalImage, Self::Native, Self::Embedded];

    /// The stable name that reports use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Container => "container",
            Self::LocalImage => "local-image",
            Self::Native => "native",
            Self::Embedded => "embedded",
        }
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Where the data of an engine is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// A server, with the user and password that may create databases on it.
    Server(Url),
    /// A directory for the files of an embedded engine.
    Directory(PathBuf),
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(url) => formatter.write_str(&redact(url)),
            Self::Directory(path) => write!(formatter, "{}", path.display()),
        }
    }
}

/// The image that a container was made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageInfo {
    /// Its name and tag, such as `postgres:18`.
    pub name: String,
    /// Its digest, which names the same bits everywhere; the image's own id where it has none.
    pub digest: String,
    /// The Debian suite of an image built here.
    pub suite: Option<String>,
    /// The server's packages in an image built here, such as `postgresql-18=18.1-1`.
    pub packages: Vec<String>,
}

/// A provided server. Its password appears in no rendering of it.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Who provides it.
    pub provider: ProviderKind,
    /// Where it is reached.
    pub address: Address,
    /// The image, where it runs in a container.
    pub image: Option<ImageInfo>,
    /// The server's first process, where it runs on this machine and we have started it.
    pub process: Option<ProcessId>,
    /// Keeps an embedded engine's directory until the last clone of the endpoint is gone.
    keep: Option<Arc<TempDir>>,
}

impl Endpoint {
    /// A server at that URL.
    #[must_use]
    pub fn server(provider: ProviderKind, url: Url, image: Option<ImageInfo>) -> Self {
        Self { provider, address: Address::Server(url), image, process: None, keep: None }
    }

    /// The same server, whose first process on this machine is known.
    #[must_use]
    pub fn with_process(mut self, process: Option<ProcessId>) -> Self {
        self.process = process;
        self
    }

    /// An embedded engine in a directory that is the caller's, and stays.
    #[must_use]
    pub fn directory(path: PathBuf) -> Self {
        Self {
            provider: ProviderKind::Embedded,
            address: Address::Directory(path),
            image: None,
            process: None,
            keep: None,
        }
    }

    /// An embedded engine in a directory that is removed with the last clone of the endpoint.
    pub(crate) fn temporary(directory: TempDir) -> Self {
        let mut endpoint = Self::directory(directory.path().to_owned());
        endpoint.keep = Some(Arc::new(directory));
        endpoint
    }
}

/// The URL without its password, fit for any output.
#[must_use]
pub fn redact(url: &Url) -> String {
    if url.cannot_be_a_base() {
        // Without `//` nothing tells a password from the rest.
        return format!("{}:***", url.scheme());
    }
    let mut shown = url.clone();
    if shown.password().is_some() {
        // It cannot fail: a URL that has a password may have another one.
        let _ = shown.set_password(Some("***"));
    }
    if url.query().is_some() {
        let pairs: Vec<_> = url.query_pairs().into_owned().collect();
        let mut query = shown.query_pairs_mut();
        query.clear();
        for (key, value) in pairs {
            let secret = key.to_ascii_lowercase().contains("pass");
            query.append_pair(&key, if secret { "***" } else { &value });
        }
    }
    shown.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rendering_shows_the_password() {
        let url = Url::parse("postgres://me:hush%20hush@host:5/db?password=hush&sslmode=require");
        let endpoint = Endpoint::server(ProviderKind::Url, url.unwrap(), None);
        for shown in [format!("{endpoint:?}"), endpoint.address.to_string()] {
            assert!(!shown.contains("hush"), "{shown}");
            assert!(shown.contains("postgres://me:***@host:5/db"), "{shown}");
            assert!(shown.contains("sslmode=require"), "{shown}");
        }
    }

    #[test]
    fn a_url_without_its_slashes_is_not_shown() {
        let url = Url::parse("postgres:hush@host/db").unwrap();
        assert_eq!(redact(&url), "postgres:***");
    }

    #[test]
    fn a_url_without_secrets_stays_as_it_is() {
        for text in ["mysql://root@host/", "postgres:///db?host=/run"] {
            let url = Url::parse(text).unwrap();
            assert!(!redact(&url).contains("***"), "{text}");
        }
    }
}
