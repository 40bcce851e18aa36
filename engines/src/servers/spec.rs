//! What a provider must know of an engine to provide a server of it: plain data, no code.

use url::Url;

/// How a server of an engine is provided.
///
/// Texts marked *template* may hold `{password}`, `{user}` and `{database}`; those of programs also
/// `{prefix}` (the directory that holds the server's own), `{data}` (the data directory), `{run}`
/// (a directory for sockets and pid files), `{port}`, `{init}` (the file with
/// [`NativeSpec::init_sql`]) and `{password_file}`.
#[derive(Debug)]
pub struct ServerSpec {
    /// The variable that names a server's URL; a form with the version in it comes first.
    pub url_variable: &'static str,
    /// The schemes of such a URL; the first is the one this crate writes itself.
    pub schemes: &'static [&'static str],
    /// The official image, without a tag; the version is the tag.
    pub image: &'static str,
    /// The port that the server listens on in its container.
    pub port: u16,
    /// The user who may create databases.
    pub user: &'static str,
    /// The database that connections begin in.
    pub database: &'static str,
    /// The image's variables: name and *template*.
    pub environment: &'static [(&'static str, &'static str)],
    /// How an image is built where none can be pulled.
    pub recipe: Recipe,
    /// How installed programs are run.
    pub native: NativeSpec,
}

/// How an image is built from Debian's packages.
#[derive(Debug)]
pub struct Recipe {
    /// The version and the Debian suite that holds it.
    pub suites: &'static [(&'static str, &'static str)],
    /// The engine's part of the build script.
    pub script: &'static str,
    /// The image's entry point.
    pub entrypoint: &'static str,
}

/// How installed programs are run as a server of one's own.
#[derive(Debug)]
pub struct NativeSpec {
    /// Where the programs are besides `PATH`; one `*` in a path stands for any one name.
    pub places: &'static [&'static str],
    /// The names of the program that is the server, and that answers `--version`.
    pub server: &'static [&'static str],
    /// A word that its answer must hold, in any case.
    pub answers: &'static str,
    /// The name of the program beside it, or on `PATH`, that makes a data directory.
    pub initializer: &'static [&'static str],
    /// The arguments that make a data directory: *templates*.
    pub initialize: &'static [&'static str],
    /// The arguments that serve it: *templates*.
    pub serve: &'static [&'static str],
    /// Statements that the server runs at its start: *template*; empty where none are needed.
    pub init_sql: &'static str,
    /// The users to run it as when this process is root, the first that exists.
    pub accounts: &'static [&'static str],
    /// What to install to have the programs.
    pub install: &'static str,
}

impl ServerSpec {
    /// The variables that may name a server's URL for that version, first the one that counts most.
    #[must_use]
    pub fn url_variables(&self, version: &str) -> [String; 2] {
        let infix: String = version
            .chars()
            .map(
                |letter| {
                    if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' }
                },
            )
            .collect();
        let stem = self.url_variable.strip_suffix("_URL").unwrap_or(self.url_variable);
        [format!("{stem}_{infix}_URL"), self.url_variable.to_owned()]
    }

    /// The URL of a server of this crate's own making.
    pub(crate) fn url(&self, host: &str, port: u16, password: &str) -> Url {
        let (scheme, user, database) = (self.schemes[0], self.user, self.database);
        Url::parse(&format!("{scheme}://{user}:{password}@{host}:{port}/{database}"))
            .expect("a generated password and a host from the machine need no escaping")
    }

    /// The *template* with its user, database and password filled in.
    pub(crate) fn fill(&self, template: &str, password: &str) -> String {
        template
            .replace("{user}", self.user)
            .replace("{database}", self.database)
            .replace("{password}", password)
    }
}

impl Recipe {
    /// The Debian suite that holds the version.
    #[must_use]
    pub fn suite(&self, version: &str) -> Option<&'static str> {
        self.suites.iter().find(|(held, _)| *held == version).map(|(_, suite)| *suite)
    }

    /// The versions an image can be built of.
    #[must_use]
    pub fn versions(&self) -> Vec<&'static str> {
        self.suites.iter().map(|(version, _)| *version).collect()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn recipes_and_specs_name_the_same_suites() {
        for engine in crate::REGISTRY {
            let Some(spec) = engine.server() else {
                continue;
            };
            let pairs: Vec<_> = spec
                .recipe
                .suites
                .iter()
                .map(|(version, suite)| format!("{version}={suite}"))
                .collect();
            let line = format!("suites=\"{}\"", pairs.join(" "));
            assert!(
                spec.recipe.script.lines().any(|found| found == line),
                "{}: {line}",
                engine.name()
            );
            assert!(spec.recipe.suite(engine.default_version()).is_some(), "{}", engine.name());
        }
    }

    #[test]
    fn variables_carry_the_version_first() {
        use crate::engine::Engine;
        let spec = crate::mysql::ENGINE.server().expect("it has a server");
        assert_eq!(spec.url_variables("9.7"), ["LEASEPROOF_MYSQL_9_7_URL", "LEASEPROOF_MYSQL_URL"]);
    }
}
