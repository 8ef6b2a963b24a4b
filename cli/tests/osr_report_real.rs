//! `midflight osr report` with the real opt, clang and plugin, where they are there.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// Its product is loop-invariant, and computed twice.
const SOURCE: &str = "\
int sum(const int *p, int n) {
  int total = BEGIN;
  for (int i = 0; i < n; i++) {
    if (p[i] > n * 3)
      total += n * 3;
    total ^= p[i];
  }
  return total;
}
";

/// A folder with the source, if there is a plugin for this LLVM, with its tools.
fn folder(llvm: u32) -> Option<TempDir> {
    let plugin = libraries().join(format!("llvm-{llvm}/libmidflight.so"));
    let tools = ["opt", "clang"].map(|name| format!("/usr/lib/llvm-{llvm}/bin/{name}"));
    if !plugin.is_file() || !tools.iter().all(|tool| Path::new(tool).is_file()) {
        eprintln!("skipped: there is no opt {llvm}, or no plugin for it (make build)");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sum.c"), SOURCE).unwrap();
    Some(folder)
}

/// As `make build` leaves them.
fn libraries() -> PathBuf {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/lib/midflight");
    std::env::var_os("MIDFLIGHT_LIB_DIR").map_or(built.into(), PathBuf::from)
}

fn run(folder: &TempDir, llvm: u32, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_midflight"))
        .args(["osr", "report", "sum.c", "--llvm", &llvm.to_string()])
        .args(line.split_whitespace())
        .args(["--", "-DBEGIN=7"])
        .current_dir(folder.path())
        .env("MIDFLIGHT_LIB_DIR", libraries())
        .output()
        .unwrap()
}

#[test]
fn a_loop_is_mapped_both_ways_and_every_landing_is_a_point() {
    for llvm in [19, 22] {
        let Some(folder) = folder(llvm) else { continue };
        let output = run(&folder, llvm, "--format json --detail --html sum.html");
        assert!(output.status.success(), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let sum = &report["functions"][0];
        assert_eq!(sum["name"], "sum");
        assert!(sum["actions"]["hoist"].as_u64().unwrap() > 0, "{}", sum["actions"]);
        for (direction, to) in [("base_to_opt", "opt"), ("opt_to_base", "base")] {
            let points = &sum["points"][direction];
            assert!(points["avail"].as_u64() > Some(10), "LLVM {llvm}, {direction}: {points}");
            let blocks = sum["detail"][to].as_array().unwrap();
            let known: Vec<u64> = blocks
                .iter()
                .flat_map(|block| block["instructions"].as_array().unwrap())
                .filter_map(|instruction| instruction["point"].as_u64())
                .collect();
            for mapping in sum["detail"][direction].as_array().unwrap() {
                match mapping["landing"].as_u64() {
                    Some(landing) => assert!(known.contains(&landing), "{direction}: {mapping}"),
                    None => assert!(mapping["refused"].is_string(), "{direction}: {mapping}"),
                }
            }
        }
        let page = std::fs::read_to_string(folder.path().join("sum.html")).unwrap();
        assert!(page.contains("sum.c") && page.ends_with("</html>\n"));
    }
}

#[test]
fn what_the_plugin_refuses_is_one_line() {
    for llvm in [19, 22] {
        let Some(folder) = folder(llvm) else { continue };
        let complaint = |line: &str| {
            let output = run(&folder, llvm, line);
            assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
            String::from_utf8(output.stderr).unwrap()
        };
        let told = complaint("--passes nonsense");
        assert!(told.contains("running the passes 'nonsense' on 'sum.c': unknown"), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        let told = complaint("--function nobody");
        assert!(told.contains("there is no function 'nobody'"), "{told}");
    }
}
