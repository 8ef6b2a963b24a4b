//! Source to bitcode.

use crate::commands::osr::report::{OsrReport, ReportError};
use crate::install;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The absolute path of the IR: the file itself, or what clang makes of it in `folder`. The code is
/// that of `-O1` before any pass, so that nothing forbids to optimize it.
pub(crate) fn to_ir(request: &OsrReport, llvm: u32, folder: &Path) -> Result<PathBuf, ReportError> {
    let path = &request.file;
    let name = || path.display().to_string();
    let unreadable = |error| ReportError::Read(name(), error);
    let mut file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.is_dir() {
        return Err(unreadable(io::ErrorKind::IsADirectory.into()));
    }
    let extension = path.extension().and_then(OsStr::to_str);
    match extension {
        Some("c" | "i") => return compiled(request, "clang", llvm, folder),
        Some("cc" | "cpp" | "cxx" | "c++" | "C" | "ii") => {
            return compiled(request, "clang++", llvm, folder);
        }
        Some("bc" | "ll") => {}
        _ => return Err(ReportError::Kind(name())),
    }
    if !request.arguments.is_empty() {
        return Err(ReportError::Arguments(name()));
    }
    if extension == Some("bc") && !is_bitcode(&mut file).map_err(unreadable)? {
        return Err(ReportError::NotBitcode(name()));
    }
    path.canonicalize().map_err(unreadable)
}

/// True if it begins as bitcode does, bare or in a wrapper.
fn is_bitcode(file: &mut File) -> io::Result<bool> {
    let mut magic = Vec::new();
    file.take(4).read_to_end(&mut magic)?;
    Ok(magic == *b"BC\xc0\xde" || magic == 0x0b17_c0de_u32.to_le_bytes())
}

fn compiled(
    request: &OsrReport,
    clang: &str,
    llvm: u32,
    folder: &Path,
) -> Result<PathBuf, ReportError> {
    let clang = install::find_clang(llvm, clang)?;
    let output = folder.join("input.bc");
    let mut command = Command::new(&clang);
    command.args(["-O1", "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-c"]);
    command.args(&request.arguments).arg("-o").arg(&output).arg(&request.file);
    let program = clang.display().to_string();
    let status = command.status().map_err(|error| ReportError::Run(program, error))?;
    if !status.success() {
        return Err(ReportError::Compile(request.file.display().to_string(), status));
    }
    Ok(output)
}
