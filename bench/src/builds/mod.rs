//! `midflight-bench builds`: projects that know nothing of Midflight, built by their own build
//! systems with `CC="midflight cc"`, and their own test suites run.
//!
//! Each is built twice, by clang and by the command, and both run the same tests, which must find
//! the same. Then the profiles of all processes that the tests have started are checked and
//! reported. What there is ([`projects`]), what suites say ([`verdicts`]), and what is done with
//! profiles ([`profiles`]).

pub mod profiles;
pub mod projects;
pub mod verdicts;

use crate::debian;
use crate::error::{Error, Result, io, write};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::{End, Job};
use crate::table::markdown;
use crate::tally::Tally;
use crate::variant::Stage;
use profiles::Inspected;
use projects::Project;
use std::fs;
use std::path::{Path, PathBuf};
use verdicts::Found;

/// What is built.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The projects
    pub projects: Vec<&'static Project>,
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// Stages of the pipeline
    pub stages: Vec<Stage>,
}

/// What compiles a project.
#[derive(Clone, Copy, Debug)]
enum Compiler {
    Clang { llvm: u32 },
    Midflight { llvm: u32, stage: Stage },
}

/// A project in a folder of its own.
struct Build<'a> {
    layout: &'a Layout,
    project: &'a Project,
    compiler: Compiler,
    /// Holds the sources in `tree`, profiles, and logs
    folder: PathBuf,
}

/// The columns of the table.
const HEADER: [&str; 9] = [
    "program",
    "version",
    "build system",
    "LLVM, stage",
    "tests",
    "passed plainly",
    "passed instrumented",
    "processes, programs",
    "explained violations",
];

/// Builds all of the plan, and prints a table. A project whose sources are not available is skipped,
/// with a line that says why.
///
/// # Errors
/// If there is no such LLVM, or Midflight is not built for it.
pub fn builds(layout: &Layout, plan: &Plan) -> Result<Tally> {
    for &llvm in &plan.llvm {
        tool("clang", llvm)?;
        layout.plugin(llvm)?;
    }
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    for project in &plan.projects {
        let source = root(layout, project).join("source");
        let version = match debian::fetch_to(layout, &project.source, &source) {
            Ok(version) => version,
            Err(Error::Missing { what, .. }) => {
                println!("{}: skipped: {what}", project.name);
                continue;
            }
            Err(error) => return Err(error),
        };
        for &llvm in &plan.llvm {
            for &stage in &plan.stages {
                let what = format!("{} with LLVM {llvm}, {stage}", project.name);
                println!("{what}");
                let compared = compare(layout, project, llvm, stage);
                tally.check(&what, problem(&compared));
                rows.extend(compared.ok().map(|compared| row(project, &version, &compared)));
            }
        }
    }
    let table = markdown(&HEADER, &rows);
    println!("{table}");
    write(&layout.work().join("builds.md"), table.as_bytes())?;
    Ok(tally)
}

/// What a project did with both compilers.
struct Compared {
    compiler: String,
    plain: Found,
    found: Found,
    inspected: Inspected,
}

fn compare(layout: &Layout, project: &Project, llvm: u32, stage: Stage) -> Result<Compared> {
    let plain = Build::new(layout, project, Compiler::Clang { llvm }).tested()?;
    let build = Build::new(layout, project, Compiler::Midflight { llvm, stage });
    let found = build.tested()?;
    let inspected = profiles::inspect(layout, &build.profiles())?;
    Ok(Compared { compiler: format!("{llvm}, {stage}"), plain, found, inspected })
}

fn problem(compared: &Result<Compared>) -> Option<String> {
    let compared = match compared {
        Ok(compared) => compared,
        Err(error) => return Some(error.to_string()),
    };
    if compared.inspected.programs == 0 {
        return Some("no process left a profile".to_string());
    }
    let difference = compared.found.difference(&compared.plain);
    difference.or_else(|| compared.inspected.problems.first().cloned())
}

fn row(project: &Project, version: &str, compared: &Compared) -> Vec<String> {
    let Compared { compiler, plain, found, inspected } = compared;
    vec![
        project.name.to_string(),
        version.to_string(),
        project.system.to_string(),
        compiler.clone(),
        plain.results.len().to_string(),
        plain.passed(plain).to_string(),
        found.passed(plain).to_string(),
        format!("{}, {}", inspected.processes, inspected.programs),
        inspected.explained.to_string(),
    ]
}

/// The folder of a project.
fn root(layout: &Layout, project: &Project) -> PathBuf {
    layout.at("target/builds").join(project.name)
}

impl<'a> Build<'a> {
    fn new(layout: &'a Layout, project: &'a Project, compiler: Compiler) -> Self {
        // Names of one length: there are tests that depend on the length of their paths.
        let name = match compiler {
            Compiler::Clang { llvm } => format!("{llvm}-plain"),
            // SQLite's tests leave something out in a folder with '_' or '%' in its name.
            Compiler::Midflight { llvm, stage } => format!("{llvm}-{:-<5}", stage.to_string()),
        };
        Build { layout, project, compiler, folder: root(layout, project).join(name) }
    }

    /// Where processes leave their profiles.
    fn profiles(&self) -> PathBuf {
        self.folder.join("profiles")
    }

    /// Builds the project and runs its tests, unless that was done with the same compiler.
    fn tested(&self) -> Result<Found> {
        let (stamp, log) = (self.folder.join("stamp"), self.folder.join("tests.log"));
        let made_by = self.identity()?;
        if fs::read_to_string(&stamp).is_ok_and(|of| of == made_by) {
            return self.found(&log);
        }
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(io("removing the old", &self.folder))?;
        }
        let profiles = self.profiles();
        fs::create_dir_all(&profiles).map_err(io("making the folder", &profiles))?;
        let source = root(self.layout, self.project).join("source");
        Job::new("cp").arg("-a").arg(&source).arg(self.folder.join("tree")).expect_success()?;
        let build_log = self.folder.join("build.log");
        // Programs that are run to build others leave no profiles.
        let ended = self.run(self.project.build, Path::new("/dev/null"), &build_log)?;
        if ended != End::Exit(0) {
            let command = self.project.build.to_string();
            let what = format!("{ended}; '{}' has what it printed", build_log.display());
            return Err(Error::Command { command, what });
        }
        let ended = self.run(self.project.test, &profiles.join("%m.mfp"), &log)?;
        write(&self.folder.join("ended"), ended.to_string().as_bytes())?;
        write(&stamp, made_by.as_bytes())?;
        self.found(&log)
    }

    /// What the tests found.
    fn found(&self, log: &Path) -> Result<Found> {
        let output = crate::error::read(log)?;
        let ended = crate::error::read(&self.folder.join("ended"))?;
        let is_success = ended == End::Exit(0).to_string().as_bytes();
        Ok(self.project.verdicts.read(&String::from_utf8_lossy(&output), is_success))
    }

    /// Runs a command of the project, with what it prints in a file.
    fn run(&self, command: &str, profile: &Path, log: &Path) -> Result<End> {
        let script = format!("exec >'{}' 2>&1\n{command}", log.display());
        // `timeout` ends what the command has started, too.
        let mut job = Job::new("timeout")
            .arg("--kill-after=10")
            .arg(self.project.limit.to_string())
            .args(["sh", "-c", &script])
            .folder(&self.folder.join("tree"))
            .env("MIDFLIGHT_PROFILE", profile)
            .env("WORK", self.layout.corpus().join("work"))
            .env("LC_ALL", "C")
            .limit(self.project.limit + 30);
        let path = std::env::var_os("PATH").unwrap_or_default();
        match self.compiler {
            Compiler::Clang { llvm } => {
                let (cc, cxx) = (tool("clang", llvm)?, tool("clang++", llvm)?);
                job = job.env("CC", cc).env("CXX", cxx);
            }
            Compiler::Midflight { llvm, stage } => {
                let midflight = self.layout.midflight()?;
                let folders = midflight.parent().map(Path::to_path_buf).into_iter();
                let path = std::env::join_paths(folders.chain(std::env::split_paths(&path)));
                let path = path.map_err(|error| Error::Missing {
                    what: format!("looking for the command: {error}"),
                    remedy: "put the checkout in a folder without ':' in its name".to_string(),
                })?;
                job = job
                    .env("PATH", path)
                    .env("CC", "midflight cc")
                    .env("CXX", "midflight c++")
                    .env(
                        "MIDFLIGHT_CC_OPTIONS",
                        format!("--midflight-llvm={llvm} --midflight-stage={stage}"),
                    );
            }
        }
        Ok(job.run()?.end)
    }

    /// Tells of everything that the outcome depends on.
    fn identity(&self) -> Result<String> {
        let project = self.project;
        let mut text = format!("{}\n{}\n{:?}\n", project.build, project.test, project.source);
        let files = match self.compiler {
            Compiler::Clang { llvm } => vec![tool("clang", llvm)?],
            Compiler::Midflight { llvm, .. } => {
                vec![self.layout.midflight()?, self.layout.plugin(llvm)?, self.layout.runtime()?]
            }
        };
        for file in files {
            let about = fs::metadata(&file).map_err(io("looking at", &file))?;
            let changed = about.modified().map_err(io("looking at", &file))?;
            text += &format!("{} {changed:?}\n", about.len());
        }
        Ok(text)
    }
}
