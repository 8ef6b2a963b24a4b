//! All that reads profiles, on real profiles: bzip2 and Lua of the evaluation's corpus, where that
//! was built (`make bench` or `make test`), with clang, the plugin and the runtime.

mod browser_support;

use browser_support::Browser;
use midflight_cli::input::profiles::read_profile;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const TREE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A program of the corpus, compiled, and the profiles of two runs of it, `a.mfp` and `b.mfp`.
struct Program {
    folder: TempDir,
}

impl Program {
    /// None, with a word on standard error, where something is missing.
    fn new(
        sources: &str,
        driver: Option<&str>,
        flags: &str,
        k: u32,
        runs: [&[&str]; 2],
    ) -> Option<Self> {
        let corpus = Path::new(TREE).join("target/corpus/src").join(sources);
        let plugin = Path::new(TREE).join("target/release/lib/midflight/llvm-22/libmidflight.so");
        let clang = Command::new("clang-22").arg("--version").output();
        if !corpus.is_dir() || !plugin.is_file() || clang.is_err() {
            eprintln!("skipped: there is no {}, no plugin or no clang-22", corpus.display());
            return None;
        }
        let program = Program { folder: tempfile::tempdir().unwrap() };
        let mut files: Vec<PathBuf> = std::fs::read_dir(&corpus)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "c"))
            // Programs of their own.
            .filter(|path| {
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                !["bzip2recover.c", "dlltest.c", "mk251.c", "spewG.c", "unzcrash.c"].contains(&name)
            })
            .collect();
        files.sort();
        let mut compile = program.command();
        compile.args(["cc", &format!("--midflight-k={k}"), "-O1", "-w", "-o", "prog"]);
        compile.args(flags.split_whitespace()).args(files).args(["-lm"]);
        if let Some(driver) = driver {
            let include = format!("-I{}", corpus.display());
            compile.arg(include).arg(Path::new(TREE).join("bench/corpus/drivers").join(driver));
        }
        let compiled =
            compile.env("MIDFLIGHT_LIB_DIR", plugin.ancestors().nth(2).unwrap()).output();
        let compiled = compiled.unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        for (arguments, name) in runs.into_iter().zip(["a.mfp", "b.mfp"]) {
            let run = Command::new(program.folder.path().join("prog"))
                .args(arguments)
                .current_dir(program.folder.path())
                .env("MIDFLIGHT_PROFILE", name)
                .output()
                .unwrap();
            assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        }
        Some(program)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_midflight"));
        command.current_dir(self.folder.path()).env_remove("MIDFLIGHT_CC_OPTIONS");
        command
    }

    /// Runs the command on words; it must succeed without a complaint. Gives what it printed.
    fn printed(&self, line: &str) -> String {
        let output = self.command().args(line.split_whitespace()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && stderr.is_empty(), "{line}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What must hold of any profile.
    fn check(&self) {
        for profiles in ["a.mfp", "b.mfp", "a.mfp b.mfp"] {
            let text = self.printed(&format!("check prog {profiles}"));
            assert!(text.ends_with("\nflow is conserved\n"), "{text}");
        }
        for line in ["report prog a.mfp b.mfp", "annotate prog a.mfp", "diff prog a.mfp b.mfp"] {
            assert!(!self.printed(line).is_empty(), "{line}");
        }
        let same = self.printed("diff prog a.mfp a.mfp");
        assert_eq!(same, "no function has another share of the work, or other paths\n");
        let overlap = self.printed("overlap prog a.mfp b.mfp --format json");
        let overlap: serde_json::Value = serde_json::from_str(&overlap).unwrap();
        // What is of sequences is an interval.
        let [least, most] = [0, 1].map(|end| overlap["sequences"][end].as_f64().unwrap());
        let exact = ["functions", "paths"].map(|level| overlap[level].as_f64().unwrap());
        for share in exact.into_iter().chain([least, most]) {
            assert!(share > 0.0 && share < 1.0, "the runs are alike, and not the same: {overlap}");
        }
        assert!(least <= most);
        self.check_exports();
    }

    fn check_exports(&self) {
        for format in ["dot", "svg", "lcov", "sample-profile"] {
            let text = self.printed(&format!("export --to {format} prog a.mfp"));
            assert!(text.lines().count() > 100, "{format}: {text}");
        }
        let document = self.printed("export --to json prog a.mfp --top 1000 --min-percent 0.5");
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        let folded = self.printed("export --to folded prog a.mfp --top 1000 --min-percent 0.5");
        let sum: u64 = folded
            .lines()
            .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
            .sum();
        assert_eq!(document["work"], sum, "all work is in the stacks");
        let Some(mut browser) = Browser::new() else { return };
        self.printed("export --to html -o prog.html prog a.mfp");
        browser.open(&self.folder.path().join("prog.html"));
        let hottest = document["functions"][0]["readable"].as_str().unwrap();
        assert_eq!(browser.text("#name"), hottest);
        assert!(browser.value("document.querySelectorAll('.node').length").as_u64() > Some(5));
        assert!(
            browser.value("document.querySelectorAll('#drawing circle').length").as_u64() > Some(5)
        );
        assert_eq!(browser.faults, Vec::<String>::new());
    }

    /// What the report says of the loop at a line of a function.
    fn loop_at(&self, function: &str, line: u64) -> serde_json::Value {
        let text = self.printed(&format!("report prog a.mfp --format json --function {function}"));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let functions = document["functions"].as_array().unwrap();
        let function = functions.iter().find(|f| f["name"] == function).unwrap();
        let loops = function["loops"].as_array().unwrap();
        let found = loops.iter().find(|l| l["line"] == line);
        found.unwrap_or_else(|| panic!("no loop at line {line}: {loops:?}")).clone()
    }
}

#[test]
fn bzip2() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock");
    let runs: [&[&str]; 2] =
        [&["-9", "-k", "-c", source], &["-1", "-k", "-c", env!("CARGO_BIN_EXE_midflight")]];
    let flags = "-D_FILE_OFFSET_BITS=64";
    let Some(program) = Program::new("bzip2-sys/bzip2-1.0.8", None, flags, 10, runs) else {
        return;
    };
    program.check();
    // for (; i >= 3; i -= 4) of mainSort: one way around, for the whole block.
    let counting = program.loop_at("mainSort", 774);
    assert_eq!(counting["entered"], 1);
    // Unrolled by hand: copies of so much would gain nothing.
    assert!(counting["size"].as_u64() > Some(100) && counting["calls"] == false, "{counting}");
    assert_eq!(counting["hints"], serde_json::json!([]));
    // for (i = 1; i <= 65536; i++) ftab[i] += ftab[i-1];
    let cleared = program.loop_at("mainSort", 803);
    assert_eq!(
        (&cleared["hints"][0]["kind"], &cleared["hints"][0]["by"]),
        (&"unroll".into(), &8.into())
    );
    let size = std::fs::metadata(source).unwrap().len();
    let around = counting["around"].as_u64().unwrap();
    // Four bytes each time, of what is left when runs are shortened.
    let block = 4 * around;
    assert!(block > size * 9 / 10 && block < size + 8, "{around} times for {size} bytes");
}

#[test]
fn lua() {
    let work = concat!(env!("CARGO_MANIFEST_DIR"), "/../bench/corpus/work");
    let scripts = [format!("{work}/tiny.lua"), format!("{work}/mixed.lua")];
    let runs: [&[&str]; 2] = [&[&scripts[0]], &[&scripts[1], "1"]];
    let (driver, flags) = (Some("lua.c"), "-DLUA_USE_POSIX");
    let Some(program) = Program::new("lua-src/lua-5.4.9", driver, flags, 4, runs) else { return };
    program.check();
    let text = program.printed("report prog b.mfp --function luaV_execute --no-source");
    assert!(text.contains("1. luaV_execute"), "{text}");
}

/// Killed at some times while it compresses, and read while it does.
#[test]
fn a_killed_program_conserves_flow() {
    let itself = env!("CARGO_BIN_EXE_midflight");
    let runs: [&[&str]; 2] = [&["--version"], &["--version"]];
    let flags = "-D_FILE_OFFSET_BITS=64";
    let Some(program) = Program::new("bzip2-sys/bzip2-1.0.8", None, flags, 4, runs) else {
        return;
    };
    for milliseconds in [1, 20, 77, 150, 400] {
        let mut child = Command::new(program.folder.path().join("prog"))
            .args(["-9", "-k", "-c", itself])
            .current_dir(program.folder.path())
            .env("MIDFLIGHT_PROFILE", "%ckilled.mfp")
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let file = program.folder.path().join("killed.mfp");
        // A busy machine may take a while to start it.
        for _ in 0..1000 {
            if file.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        let live = read_profile(&file).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let killed = read_profile(&file).unwrap();
        for before in &live.functions {
            let after = killed.functions.iter().find(|after| after.key == before.key).unwrap();
            assert!(after.totals.entries >= before.totals.entries);
        }
        let output = program.command().args(["check", "prog", "killed.mfp"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.ends_with("\nflow is conserved\n"), "{milliseconds}: {text}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("'killed.mfp' has what process "), "{told}");
        // The whole of it can be made an ordinary profile.
        let merge = ["merge", "-o", "whole.mfp", "killed.mfp"];
        assert!(program.command().args(merge).output().unwrap().status.success());
        assert!(program.printed("check prog whole.mfp").ends_with("\nflow is conserved\n"));
    }
}
