//! Crates depend on each other as ARCHITECTURE.md says, and the pure ones reach no LLVM.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Crates without LLVM and without unsafe code
const PURE: [&str; 3] = ["profile", "ir", "mapping"];

type Dependencies = BTreeMap<String, BTreeSet<String>>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// What cargo knows of the workspace and all that it uses.
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// For each folder of the workspace those that it depends on, but for tests.
fn actual(metadata: &Value) -> Dependencies {
    let members = metadata["workspace_members"].as_array().unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let of_workspace = packages.iter().filter(|package| members.contains(&package["id"]));
    let folder = |manifest: &Value| {
        let manifest = Path::new(manifest.as_str().unwrap());
        manifest.parent().unwrap().strip_prefix(root()).unwrap().display().to_string()
    };
    let folders: BTreeMap<&str, String> = of_workspace
        .clone()
        .map(|package| (package["name"].as_str().unwrap(), folder(&package["manifest_path"])))
        .collect();
    let of = |package: &Value| {
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let shipped = dependencies.filter(|dependency| dependency["kind"] != "dev");
        shipped.filter_map(|d| folders.get(d["name"].as_str().unwrap()).cloned()).collect()
    };
    of_workspace.map(|package| (folder(&package["manifest_path"]), of(package))).collect()
}

/// The same, as the table of ARCHITECTURE.md has it: its rows are `folder/`, job, dependencies.
fn documented(text: &str, folders: &Dependencies) -> Dependencies {
    let named = |cell: &str| -> BTreeSet<String> {
        let names = cell.split('`').skip(1).step_by(2);
        names.filter(|name| folders.contains_key(*name)).map(str::to_string).collect()
    };
    let row = |line: &str| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.split(" | ").collect();
        let folder = cells[0].strip_suffix("/`")?;
        folders.contains_key(folder).then(|| (folder.to_string(), named(cells[2])))
    };
    text.lines().filter_map(row).collect()
}

/// Whether a package reaches another one, by what is shipped and by what builds it.
fn reaches(metadata: &Value, from: &str, to: &str) -> bool {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let id_of = |name: &str| packages.iter().find(|p| p["name"] == name).map(|p| &p["id"]);
    let mut seen = BTreeSet::new();
    let mut work = vec![id_of(from).unwrap().as_str().unwrap()];
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        let node = nodes.iter().find(|node| node["id"] == id).unwrap();
        for dependency in node["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            if kinds.iter().any(|kind| kind["kind"] != "dev") {
                work.push(dependency["pkg"].as_str().unwrap());
            }
        }
    }
    packages.iter().any(|p| p["name"] == to && seen.contains(p["id"].as_str().unwrap()))
}

#[test]
fn crates_depend_on_each_other_as_the_architecture_says() {
    let actual = actual(&metadata());
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert!(actual.len() >= 10, "{actual:?}");
    assert_eq!(actual, documented(&text, &actual));
}

#[test]
fn a_dependency_that_the_architecture_does_not_have_is_noticed() {
    let mut actual = actual(&metadata());
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    actual.get_mut("ir").unwrap().insert("bridge".to_string());
    assert_ne!(actual, documented(&text, &actual));
}

#[test]
fn pure_crates_reach_no_llvm_and_forbid_unsafe_code() {
    let metadata = metadata();
    assert!(reaches(&metadata, "midflight-passes", "llvm-sys"), "the search finds nothing");
    for folder in PURE {
        assert!(!reaches(&metadata, &format!("midflight-{folder}"), "llvm-sys"), "{folder}");
        let source = std::fs::read_to_string(root().join(folder).join("src/lib.rs")).unwrap();
        assert!(source.contains("\n#![forbid(unsafe_code)]\n"), "{folder}");
    }
}
