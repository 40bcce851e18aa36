//! `leaseproof images`: builds the local images that stand in where nothing can be pulled.

use std::time::Instant;

use clap::Args;
use leaseproof_engines::servers::{Progress, image};

use super::error::CliError;
use super::output::out;
use super::progress::{Display, Wording};
use super::select::Select;
use crate::exit_code::Exit;
use crate::run::suite::Event;

#[derive(Args)]
pub(super) struct Arguments {
    /// An engine, or one version of it; may be repeated. Without it, every engine's default version
    #[arg(long = "engine", value_name = "ENGINE[:VERSION]")]
    engines: Vec<String>,
}

pub(super) async fn run(arguments: &Arguments) -> Result<Exit, CliError> {
    let (selections, _) = Select::engines(&arguments.engines).selections()?;
    let display = Display::new(Wording { notable: |_| false });
    for selection in selections.iter().filter(|selection| selection.engine.server().is_some()) {
        let start = Instant::now();
        let progress = |step: Progress| display.show(&Event::Providing(&step));
        let built = image::build(selection, &progress).await;
        let image = built.map_err(|error| CliError::Image {
            label: selection.label(),
            reason: error.to_string(),
        })?;
        out!("{} {} ({:.0} s)", image.name, image.digest, start.elapsed().as_secs_f64());
    }
    display.clear();
    Ok(Exit::Kept)
}
