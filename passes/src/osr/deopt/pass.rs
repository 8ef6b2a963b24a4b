//! `osr-deopt`: the deoptimization that a front end wrote, in all functions of a module.

use crate::driver::{changeable, reason_to_refuse};
use crate::osr::deopt::lower::{DeoptError, Lowering};
use crate::osr::deopt::options::DeoptOptions;
use crate::osr::deopt::versions::{are_kept, erase_copies, is_copy, keep_versions};
use crate::osr::pass::warn_of_flags;
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_bridge::sandbox::Sandbox;

/// The pass.
pub struct DeoptPass(pub DeoptOptions);

impl Pass for DeoptPass {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        let done = if self.0.prepare {
            prepare_deoptimization(module).map_err(LoweringError::Frames)
        } else {
            warn_of_flags(module, &[self.0.condition]);
            lower_deoptimization(module, &self.0)
        };
        done.unwrap_or_else(|error| {
            module.error(&format!("midflight: {error}"));
            true
        })
    }
}

/// Why the frames of a module are not lowered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoweringError {
    /// A bundle is wrong.
    #[error(transparent)]
    Frames(#[from] DeoptError),
    /// The pipeline does not exist.
    #[error("osr-deopt: '{pipeline}' is no pipeline of function passes: {message}")]
    Pipeline {
        /// The pipeline
        pipeline: String,
        /// LLVM's message
        message: String,
    },
    /// What was made is no valid function.
    #[error(
        "lowering the deoptimization of '{function}': the verifier says: {message}; this is a \
         defect of midflight, please report it"
    )]
    Broken {
        /// The function
        function: String,
        /// The verifier's message
        message: String,
    },
}

/// Keeps the versions that frames name, before anything is optimized; see `docs/osr-deopt.md`. True
/// if anything was changed.
///
/// # Errors
/// [`DeoptError`] for the first bundle that is wrong.
pub fn prepare_deoptimization(module: Module<'_>) -> Result<bool, DeoptError> {
    let functions = functions_to_lower(module);
    keep_versions(module, &functions).map_err(|(call, error)| DeoptError::at(call, error.into()))
}

/// The functions that can be lowered. Of others that would have to be there is a warning.
fn functions_to_lower(module: Module<'_>) -> Vec<Function<'_>> {
    let mut functions = changeable(module, "lowering deoptimization");
    functions.retain(|&function| {
        let refusal = reason_to_refuse(module, function, None);
        let is_told = !is_copy(function) && has_deoptimization(function);
        if let Some(refusal) = refusal.filter(|_| is_told) {
            module.warning(&format!(
                "midflight: the deoptimization of '{}' is left as it is: {} [{}]",
                function.name(),
                refusal.message(),
                refusal.name()
            ));
        }
        refusal.is_none()
    });
    functions
}

fn has_deoptimization(function: Function<'_>) -> bool {
    let mut all = function.blocks().flat_map(|block| block.instructions());
    all.any(|inst| inst.deopt_operands().is_some())
}

/// Lowers all frames of a module to transitions, as the pass `osr-deopt` does: a deoptimization to
/// one that is always taken, calls with frames to points that fire on the condition of the options.
/// True if anything was changed.
///
/// # Errors
/// [`LoweringError`] for the first thing that is wrong; the module may have been changed.
pub fn lower_deoptimization(
    module: Module<'_>,
    options: &DeoptOptions,
) -> Result<bool, LoweringError> {
    let sandbox = Sandbox::default();
    if let Some(pipeline) = &options.pipeline
        && let Err(message) = sandbox.check_pipeline(pipeline)
    {
        return Err(LoweringError::Pipeline { pipeline: pipeline.clone(), message });
    }
    let functions = functions_to_lower(module);
    let were_kept = are_kept(&functions);
    let kept = keep_versions(module, &functions);
    let mut changed = kept.map_err(|(call, error)| DeoptError::at(call, error.into()))?;
    let mut lowering = Lowering::new(module, &sandbox, options, were_kept);
    let mut done = Vec::new();
    for function in functions {
        if lowering.function(function)? {
            done.push(function);
        }
    }
    // A version may have frames itself, and so a continuation of it.
    while !lowering.new.is_empty() {
        for function in std::mem::take(&mut lowering.new) {
            lowering.function(function)?;
            done.push(function);
        }
    }
    erase_copies(module);
    for function in done {
        changed = true;
        if let Some(pipeline) = &options.pipeline {
            sandbox.run(function, pipeline).expect("the pipeline was checked");
        }
        if options.verify
            && let Some(message) = function.verify()
        {
            let (function, message) = (function.name(), message.replace('\n', " "));
            return Err(LoweringError::Broken { function, message });
        }
    }
    Ok(changed)
}
