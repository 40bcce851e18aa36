//! What a run must hold before it says anything of an engine as a whole.

use leaseproof_reports::verify::Required;
use leaseproof_reports::{Level, Run};

use super::variant::{Matrix, Variant};
use crate::contracts::REGISTRY;

/// Every core contract on each engine of the run, in each of its variants.
#[must_use]
pub fn required(run: &Run) -> Vec<Required> {
    let full = run.matrix_name == Matrix::Full.as_str();
    let matrix = if full { Matrix::Full } else { Matrix::Default };
    let mut required = Vec::new();
    for engine in &run.engines {
        let registered = leaseproof_engines::REGISTRY.iter().find(|one| one.name() == engine.name);
        let Some(registered) = registered else { continue };
        for contract in REGISTRY.iter().filter(|contract| contract.level == Level::Core) {
            for variant in Variant::of(contract, *registered, matrix) {
                required.push(Required {
                    engine: engine.label.clone(),
                    contract: contract.id.to_owned(),
                    variant: variant.label(),
                });
            }
        }
    }
    required
}
