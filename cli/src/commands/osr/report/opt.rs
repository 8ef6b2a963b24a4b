//! LLVM's `opt` with the plugin's pass `print<osr-map>`.

use crate::commands::osr::report::{OsrReport, ReportError};
use midflight_profile::osr_maps::report::{Report, VERSION};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The plugin writes here. A bare name in opt's working directory, because a pipeline is no place
/// for any path: `;`, `,` and brackets separate.
const FOUND: &str = "found.json";

/// Runs the passes on `input`, and reads what the plugin found.
pub(crate) fn run(
    opt: &Path,
    plugin: &Path,
    request: &OsrReport,
    input: &Path,
    folder: &Path,
) -> Result<Report, ReportError> {
    let program = opt.display().to_string();
    let failed = |error| ReportError::Run(program.clone(), error);
    let mut load = std::ffi::OsString::from("-load-pass-plugin=");
    load.push(plugin.canonicalize().map_err(failed)?);
    let output = Command::new(opt)
        .arg(load)
        .arg(format!("-passes={}", pipeline(request)))
        .arg("-disable-output")
        .arg(input)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(failed)?;
    let path = request.file.display().to_string();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let message = match own_words(said.trim(), &request.passes) {
            "" => format!("opt ended with {}", output.status),
            said => said.to_string(),
        };
        return Err(ReportError::Opt { passes: request.passes.clone(), path, message });
    }
    // Warnings. Nobody to tell if standard error is closed.
    let _ = std::io::stderr().write_all(&output.stderr);
    let found = |error: String| ReportError::Found(path.clone(), error);
    let bytes = std::fs::read(folder.join(FOUND)).map_err(|error| found(error.to_string()))?;
    let report: Report =
        serde_json::from_slice(&bytes).map_err(|error| found(error.to_string()))?;
    match report.version {
        VERSION => Ok(report),
        other => Err(found(format!("its format has version {other}, not {VERSION}"))),
    }
}

/// What the plugin says, without what is said around it too.
fn own_words<'a>(said: &'a str, passes: &str) -> &'a str {
    let said = said.strip_prefix("error: midflight: ").unwrap_or(said);
    said.strip_prefix(&format!("running the passes '{passes}': ")).unwrap_or(said)
}

/// As `opt -passes` reads it.
fn pipeline(request: &OsrReport) -> String {
    let detail = if request.detail || request.html.is_some() { ";detail" } else { "" };
    // A name that a pipeline cannot hold, as a demangled one, is looked for in what comes back.
    let all_plain = request.function.iter().all(|name| is_plain(name));
    let names = request.function.iter().filter(|_| all_plain);
    let functions: String = names.map(|name| format!(";function={name}")).collect();
    let passes = &request.passes;
    format!("function(mem2reg),print<osr-map;file={FOUND}{detail}{functions}>({passes})")
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.$-".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::pipeline;
    use crate::commands::arguments::Format;
    use crate::commands::osr::report::OsrReport;

    fn of(functions: &[&str], detail: bool) -> String {
        pipeline(&OsrReport {
            file: "x.bc".into(),
            passes: "adce".into(),
            function: functions.iter().map(ToString::to_string).collect(),
            llvm: None,
            format: Format::Text,
            detail,
            html: None,
            arguments: Vec::new(),
        })
    }

    #[test]
    fn names_go_into_the_pipeline_unless_one_cannot() {
        let before = "function(mem2reg),print<osr-map;file=found.json";
        assert_eq!(of(&[], false), format!("{before}>(adce)"));
        assert_eq!(
            of(&["f", "g.1"], true),
            format!("{before};detail;function=f;function=g.1>(adce)")
        );
        assert_eq!(of(&["f", "a::b(int)"], false), format!("{before}>(adce)"));
    }
}
