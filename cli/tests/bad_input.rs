//! Bad input is one clear line and status 1.

mod support;

use midflight_profile::table::FunctionTable;
use support::{Fixture, bar, elf, idle, profile, section, streams, sum};

/// The commands that read a binary and a profile.
const READERS: [&str; 4] = ["report", "show", "show --edges", "export --to lcov"];

fn check(fixture: &Fixture, arguments: &str, needles: &[&str]) {
    for reader in READERS {
        let complaint = fixture.complaint(&format!("{reader} {arguments}"));
        for needle in needles {
            assert!(complaint.contains(needle), "{reader} {arguments}: {complaint}");
        }
    }
}

/// The profile with a change, its checksum of the header put right by writing it anew.
fn with_profile(name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Fixture {
    let fixture = Fixture::new();
    let mut bytes = fixture.read("prog.mfp");
    change(&mut bytes);
    fixture.write(name, &bytes);
    fixture
}

#[test]
fn profiles_that_are_none() {
    let fixture = Fixture::new();
    check(&fixture, "prog missing.mfp", &["reading the profile 'missing.mfp'", "No such file"]);
    check(&fixture, "prog .", &["reading the profile '.'", "directory"]);
    check(&fixture, "prog prog", &["'prog'", "not a Midflight profile"]);
    fixture.write("empty.mfp", b"");
    check(&fixture, "prog empty.mfp", &["'empty.mfp'", "empty"]);
}

#[test]
fn devices_that_do_not_end() {
    let fixture = Fixture::new();
    check(&fixture, "prog /dev/zero", &["reading the profile '/dev/zero'", "does not end"]);
    check(&fixture, "/dev/zero prog.mfp", &["reading the binary '/dev/zero'", "does not end"]);
    let complaint = fixture.complaint("report prog prog.mfp --perf /dev/zero");
    assert!(complaint.contains("reading the samples '/dev/zero': it is a device"), "{complaint}");
    // Nor is it read where a binary names it as a source file.
    let named = FunctionTable { files: vec!["/dev/zero".into()], ..sum() };
    fixture.write("prog", &elf(&section(std::slice::from_ref(&named))));
    fixture.write("prog.mfp", &profile("/build/prog", &[named], &[("sum", streams(1))]).write());
    assert!(fixture.printed("report prog prog.mfp").contains("1. sum  zero:5"));
}

#[test]
fn damaged_profiles() {
    let fixture = with_profile("cut.mfp", |bytes| bytes.truncate(bytes.len() - 1));
    check(&fixture, "prog cut.mfp", &["'cut.mfp'", "truncated"]);
    let fixture = with_profile("flip.mfp", |bytes| bytes[70] ^= 4);
    check(&fixture, "prog flip.mfp", &["'flip.mfp'", "checksum"]);
    let fixture = with_profile("newer.mfp", |bytes| bytes[8] = 9);
    check(&fixture, "prog newer.mfp", &["'newer.mfp'", "newer"]);
}

#[test]
fn a_profile_cut_off_anywhere_is_refused() {
    let fixture = Fixture::new();
    let bytes = fixture.read("prog.mfp");
    for length in [0, 1, 7, 8, 9, 12, 40, 63, 64, 65, bytes.len() / 2, bytes.len() - 8] {
        fixture.write("cut.mfp", &bytes[..length]);
        let complaint = fixture.complaint("report prog cut.mfp");
        assert!(complaint.contains("reading the profile 'cut.mfp'"), "{length}: {complaint}");
    }
    let longer = [&bytes[..], b"\0"].concat();
    fixture.write("longer.mfp", &longer);
    fixture.complaint("report prog longer.mfp");
}

#[test]
fn a_newer_profile_with_a_right_checksum_says_so() {
    let fixture = with_profile("newer.mfp", |bytes| {
        bytes[8] = 9;
        let crc = crc32fast::hash(&bytes[..60]).to_le_bytes();
        bytes[60..64].copy_from_slice(&crc);
    });
    check(&fixture, "prog newer.mfp", &["'newer.mfp'", "newer"]);
    let complaint = fixture.complaint("merge -o sum.mfp prog.mfp newer.mfp");
    assert!(complaint.contains("'newer.mfp'"), "{complaint}");
}

#[test]
fn binaries_that_are_none() {
    let fixture = Fixture::new();
    check(&fixture, "missing prog.mfp", &["reading the binary 'missing'", "No such file"]);
    check(&fixture, ". prog.mfp", &["reading the binary '.'", "directory"]);
    check(&fixture, "src/sum.c prog.mfp", &["'src/sum.c'", "not an ELF"]);
    fixture.write("plain", &elf(&[]));
    check(&fixture, "plain prog.mfp", &["'plain'", "no tables of Midflight", "midflight cc"]);
    let mut tables = section(&[sum()]);
    tables[40] ^= 1;
    fixture.write("damaged", &elf(&tables));
    check(&fixture, "damaged prog.mfp", &["tables of 'damaged'"]);
    let complaint = fixture.complaint("show --tables damaged");
    assert!(complaint.contains("tables of 'damaged'"), "{complaint}");
}

#[test]
fn profiles_of_another_build() {
    let fixture = Fixture::new();
    let mut changed = sum();
    changed.line += 1;
    let tables = [changed, idle(), bar()];
    fixture.write("rebuilt", &elf(&section(&tables)));
    check(&fixture, "rebuilt prog.mfp", &["'rebuilt'", "another build", "'/build/prog'"]);
    // Also where only one of several profiles is.
    let other = profile("/build/other", &tables, &[("idle", vec![vec![0]])]);
    fixture.write("other.mfp", &other.write());
    check(&fixture, "prog prog.mfp other.mfp", &["'other.mfp'", "another build"]);
    // And where a library is stale.
    fixture.write("lib.so", &elf(&section(&[sum()])));
    let mut both = midflight_profile::format::Profile::read(&fixture.read("prog.mfp")).unwrap();
    both.merge(&profile("/lib/lib.so", &[idle()], &[])).unwrap();
    fixture.write("both.mfp", &both.write());
    check(&fixture, "prog both.mfp --library lib.so", &["'lib.so'", "another build"]);
}

#[test]
fn profiles_that_do_not_fit_their_tables() {
    let fixture = Fixture::new();
    let tables = [sum(), idle(), bar()];
    let mut unknown = profile("/build/prog", &tables, &[("sum", streams(1))]);
    unknown.functions[0].key ^= 1;
    fixture.write("unknown.mfp", &unknown.write());
    check(&fixture, "prog unknown.mfp", &["'prog'", "no function with key"]);
    // 2 leaves the function, so nothing follows it.
    let impossible = profile("/build/prog", &tables, &[("sum", vec![vec![2, 3]])]);
    fixture.write("impossible.mfp", &impossible.write());
    check(&fixture, "prog impossible.mfp", &["function 'sum'"]);
}

#[test]
fn profiles_that_do_not_add_up() {
    let fixture = Fixture::new();
    let mut other_k = sum();
    other_k.k = 5;
    let runs = [("sum", streams(1))];
    fixture.write("k5.mfp", &profile("/build/k5", &[other_k], &runs).write());
    let complaint = fixture.complaint("merge -o sum.mfp prog.mfp k5.mfp");
    assert!(complaint.contains("'k5.mfp'") && complaint.contains("k = 5"), "{complaint}");
    fixture.write("new.mfp", &profile("/build/prog", &[sum()], &runs).write());
    let complaint = fixture.complaint("merge -o sum.mfp prog.mfp new.mfp");
    assert!(complaint.contains("different builds of '/build/prog'"), "{complaint}");
    let mut much = profile("/build/much", &[sum()], &runs);
    much.functions[0].totals.entries = u64::MAX;
    fixture.write("much.mfp", &much.write());
    let complaint = fixture.complaint("merge -o sum.mfp much.mfp much.mfp");
    assert!(complaint.contains("more than 2^64"), "{complaint}");
    assert!(!fixture.path("sum.mfp").exists());
}

#[test]
fn a_target_is_untouched_where_nothing_can_be_written() {
    let fixture = Fixture::new();
    fixture.write("old", b"as it was");
    fixture.write("bad.mfp", b"text");
    for line in [
        "merge -o old bad.mfp",
        "merge -o old prog.mfp missing.mfp",
        "export --to lcov -o old prog bad.mfp",
        // A way through a file is no folder, for root too.
        "merge -o old/sum.mfp prog.mfp",
        "export --to lcov -o old/x prog prog.mfp",
    ] {
        let complaint = fixture.complaint(line);
        assert!(complaint.contains("'old/") || complaint.contains(".mfp'"), "{line}: {complaint}");
    }
    assert_eq!(fixture.read("old"), b"as it was");
}

#[test]
fn outputs_that_cannot_be_written() {
    let fixture = Fixture::new();
    for line in ["merge -o missing/sum.mfp prog.mfp", "export --to lcov -o missing/x prog prog.mfp"]
    {
        let complaint = fixture.complaint(line);
        assert!(complaint.contains("writing 'missing/"), "{complaint}");
    }
    let complaint = fixture.complaint("merge -o src prog.mfp");
    assert!(complaint.contains("writing 'src': is a directory"), "{complaint}");
    for line in ["merge -o /dev/full prog.mfp", "export --to lcov -o /dev/full prog prog.mfp"] {
        let complaint = fixture.complaint(line);
        assert!(complaint.contains("writing '/dev/full'"), "{complaint}");
    }
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    for line in READERS.iter().chain(&["show --format json"]) {
        let words = line.split_whitespace().chain(["prog", "prog.mfp"]);
        let output = fixture.command().args(words).stdout(full()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(stderr.contains("writing 'standard output'"), "{line}: {stderr}");
    }
    let output = fixture.command().args(["report", "x", "y"]).stderr(full()).status().unwrap();
    assert_eq!(output.code(), Some(1), "the complaint cannot be written either");
}
