//! A server that the user runs and names by URL.

use std::time::Duration;

use tokio::time::timeout;
use url::Url;

use crate::error::EngineError;
use crate::servers::{Attempt, Endpoint, ProviderKind, Selection, ServerSpec, version};
use crate::store::StoreOptions;

/// How long such a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The server that a variable names; `None` where none does.
pub(crate) async fn provide(selection: &Selection) -> Option<Result<Endpoint, Attempt>> {
    let spec = selection.engine.server()?;
    if let Some(text) = &selection.given {
        return Some(check(selection, spec, "url=", text, false).await);
    }
    let variables = spec.url_variables(&selection.version);
    let (index, text) = variables
        .iter()
        .enumerate()
        .find_map(|(index, variable)| value(variable).map(|text| (index, text)))?;
    // A variable with the version in its name asks for the version as the selection does.
    let pinned = selection.explicit || index == 0;
    Some(check(selection, spec, &variables[index], &text, pinned).await)
}

/// Why this provider is not used, where no variable is set.
pub(crate) fn unset(selection: &Selection, spec: &ServerSpec) -> Attempt {
    let [exact, general] = spec.url_variables(&selection.version);
    Attempt::new(
        ProviderKind::Url,
        format!("neither `{exact}` nor `{general}` is set"),
        format!("set `{general}` to a server's URL"),
    )
}

fn value(variable: &str) -> Option<String> {
    let text = std::env::var(variable).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

async fn check(
    selection: &Selection,
    spec: &ServerSpec,
    variable: &str,
    text: &str,
    pinned: bool,
) -> Result<Endpoint, Attempt> {
    let scheme = spec.schemes[0];
    let user = spec.user;
    let failed = |reason: String, remedy: String| Attempt::new(ProviderKind::Url, reason, remedy);
    let example = format!("write it as `{scheme}://{user}:PASSWORD@HOST:{}/DATABASE`", spec.port);
    // The text is not shown: a URL that cannot be read may still hold a password.
    let url = Url::parse(text)
        .map_err(|error| failed(format!("`{variable}` is not a URL: {error}"), example.clone()))?;
    if !spec.schemes.contains(&url.scheme()) {
        let found = format!("`{variable}` begins with `{}:`, not `{scheme}:`", url.scheme());
        return Err(failed(found, example));
    }
    if url.cannot_be_a_base() {
        let found = format!("`{variable}` has no `//` after `{}:`", url.scheme());
        return Err(failed(found, example));
    }
    let endpoint = Endpoint::server(ProviderKind::Url, url, None);
    let shown = endpoint.address.to_string();
    let remedy =
        format!("start that server or correct `{variable}`, or unset it to use another provider");
    let identity = match timeout(PATIENCE, selection.engine.identify(&endpoint)).await {
        Ok(Ok(identity)) => identity,
        Ok(Err(error)) => {
            let reason = format!("`{variable}` names `{shown}`, which cannot be used: {error}");
            return Err(failed(reason, remedy_of(&error, variable).unwrap_or(remedy)));
        }
        Err(_) => {
            let seconds = PATIENCE.as_secs();
            let reason =
                format!("`{variable}` names `{shown}`, which did not answer in {seconds} s");
            return Err(failed(reason, remedy));
        }
    };
    if pinned && !version::matches(&selection.version, &identity.version) {
        let reason = format!(
            "`{variable}` names `{shown}`, which is version `{}`, not `{}`",
            identity.version, selection.version
        );
        let engine = selection.engine.name();
        return Err(failed(
            reason,
            format!("select `{engine}` without a version, or correct `{variable}`"),
        ));
    }
    may_create(selection, &endpoint).await.map_err(|error| {
        let reason = format!("`{variable}` names `{shown}`, which cannot be used: {error}");
        failed(reason, format!("grant that right, or name another user in `{variable}`"))
    })?;
    Ok(endpoint)
}

/// Makes a store and removes it, so that a missing right is said once and not by every case.
async fn may_create(selection: &Selection, endpoint: &Endpoint) -> crate::store::Result<()> {
    let store = selection.engine.open(endpoint, StoreOptions::default()).await?;
    store.close().await
}

/// What helps against a refusal by the server itself, by its own code.
fn remedy_of(error: &EngineError, variable: &str) -> Option<String> {
    match error.code.as_deref()? {
        // Invalid password, invalid authorization; access denied, in MySQL's and MariaDB's numbers.
        "28P01" | "28000" | "1045" | "1698" => {
            Some(format!("correct the user or the password in `{variable}`"))
        }
        // No such database.
        "3D000" | "1049" => Some(format!("create that database, or name another in `{variable}`")),
        _ => None,
    }
}
