//! `midflight osr fuzz` with a program that speaks the protocol, and is faulty where the test says
//! so.

use std::process::{Command, Output};
use tempfile::TempDir;

/// Points f#1 with 5 hits, f#2 with 1, g#1 with 200. `fires POINT HIT` is true where the run fires
/// that; FAULT says what goes wrong then.
const PROGRAM: &str = r#"
fires() {
  case "$MIDFLIGHT_OSR_FIRE" in
    always|every:*|random:*) true ;;
    at:x.c:"$1"|at:x.c:"$1:$2") true ;;
    *) false ;;
  esac
}
event() {
  echo '{"event":"point","point":"'$1'","file":"x.c","function":"f","line":'$2',"condition":"fuzz","hits":'$3'}'
  case "$MIDFLIGHT_OSR_FIRE" in
    list) ;;
    at:x.c:"$1"|at:x.c:"$1":*|always|every:*|random:*)
      if [ -z "$DEAF" ]; then
        echo '{"event":"transition","point":"'$1'","file":"x.c","from":"f","to":"f.osr","transitions":1}'
      fi ;;
  esac
}
echo one
echo two >&2
eval "$FAULT"
echo three
if [ -n "$MIDFLIGHT_OSR_LOG" ] && [ -z "$MUTE" ]; then
  log=$(echo "$MIDFLIGHT_OSR_LOG" | sed "s/%p/$$/")
  { event 'f#1' 12 5; event 'f#2' 0 1; event 'g#1' 30 200; } >"$log"
fi
"#;

struct Fuzzed {
    folder: TempDir,
}

impl Fuzzed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("prog.sh"), PROGRAM).unwrap();
        Fuzzed { folder }
    }

    fn run(&self, options: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_midflight"));
        command.args(["osr", "fuzz"]).args(options.split_whitespace());
        command.args(["--", "sh", "prog.sh"]).current_dir(self.folder.path());
        for variable in ["FAULT", "DEAF", "MUTE", "MIDFLIGHT_OSR_FIRE", "MIDFLIGHT_OSR_LOG"] {
            command.env_remove(variable);
        }
        command.envs(variables.iter().copied()).output().unwrap()
    }

    /// Status and standard output of a run with a fault.
    fn faulty(&self, options: &str, fault: &str) -> (Option<i32>, String) {
        let output = self.run(options, &[("FAULT", fault)]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }

    fn complaint(&self, options: &str, variables: &[(&str, &str)]) -> String {
        let output = self.run(options, variables);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn a_sound_program_is_clean_and_all_its_points_fire() {
    let (status, text) = Fuzzed::new().faulty("", "");
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("3 of 3 points hit fired, 3 of them alone"), "{text}");
    assert!(text.ends_with("no mismatch\n"), "{text}");
}

#[test]
fn a_fault_at_one_hit_of_one_point_is_found_and_can_be_reproduced() {
    let (status, text) = Fuzzed::new().faulty("", "fires 'f#1' 4 && echo wrong");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("mismatch at x.c:f#1, hit 4 (x.c:12)"), "{text}");
    assert!(text.contains(r#"stdout, line 2: "wrong" in place of "three""#), "{text}");
    assert!(text.contains("reproduce: MIDFLIGHT_OSR_FIRE='at:x.c:f#1:4' sh prog.sh\n"), "{text}");
}

#[test]
fn a_crash_and_a_fault_on_standard_error_are_found() {
    let fuzzed = Fuzzed::new();
    let (status, text) = fuzzed.faulty("", "fires 'f#2' 1 && kill -SEGV $$");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("x.c:f#2, hit 1") && text.contains("signal 11"), "{text}");
    let fault = "fires 'f#2' 1 && echo wrong >&2";
    let (status, text) = fuzzed.faulty("", fault);
    assert!(status == Some(1) && text.contains("stderr, line 2"), "{text}");
    assert_eq!(fuzzed.faulty("--ignore-stderr", fault).0, Some(0));
}

#[test]
fn a_fault_that_no_point_makes_alone_is_reported_as_the_run() {
    let (status, text) =
        Fuzzed::new().faulty("", "[ \"$MIDFLIGHT_OSR_FIRE\" = always ] && echo wrong");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("mismatch with always, by no point alone"), "{text}");
}

#[test]
fn all_faults_are_told_in_json_if_it_is_to_keep_going() {
    let fault = "fires 'f#1' 1 && echo wrong; fires 'g#1' 200 && exit 3";
    let (status, text) = Fuzzed::new().faulty("--keep-going --format json", fault);
    assert_eq!(status, Some(1));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["version"], &json["complete"]), (&1.into(), &true.into()));
    let found = |point: &str, kind: &str| {
        json["mismatches"]
            .as_array()
            .unwrap()
            .iter()
            .any(|m| m["point"] == point && m["kind"] == kind)
    };
    assert!(found("x.c:f#1", "stdout") && found("x.c:g#1", "status"), "{text}");
}

#[test]
fn a_hang_is_ended() {
    // The only slow test: each run may take ten seconds.
    let fault = "fires 'f#1' 5 && [ \"$MIDFLIGHT_OSR_FIRE\" != always ] && sleep 1000";
    let (status, text) = Fuzzed::new().faulty("--points f#1", fault);
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("x.c:f#1, hit 5") && text.contains("hang in place of"), "{text}");
}

#[test]
fn files_are_compared() {
    let fuzzed = Fuzzed::new();
    let fault = "if fires 'f#1' 1; then echo 2 >out; else echo 1 >out; fi";
    assert_eq!(fuzzed.faulty("", fault).0, Some(0));
    let (status, text) = fuzzed.faulty("--compare out", fault);
    assert_eq!(status, Some(1));
    assert!(text.contains(r#"file: out, line 1: "2" in place of "1""#), "{text}");
}

#[test]
fn a_point_that_does_not_fire_is_no_success() {
    let output = Fuzzed::new().run("", &[("DEAF", "1")]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("not-fired"), "{text}");
}

#[test]
fn what_cannot_be_fuzzed_has_status_2_and_a_reason() {
    let fuzzed = Fuzzed::new();
    let complaint = fuzzed.complaint("", &[("FAULT", "echo $$")]);
    assert!(complaint.contains("not deterministic") && complaint.contains("line 2"), "{complaint}");
    let complaint = fuzzed.complaint("", &[("MUTE", "1")]);
    assert!(complaint.contains("no log") && complaint.contains("--midflight-osr-fuzz"));
    assert!(fuzzed.complaint("--points nothing", &[]).contains("'nothing'"));
    assert!(fuzzed.complaint("--stdin missing", &[]).contains("missing"));
}
