//! Tests of `lsmbench submit`: the printed jobs must be valid, and must run every part and the merge.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::bench::Bench;

/// A script in place of GNU parallel. The script runs the command for each argument, one after the other.
const PARALLEL: &str = r#"#!/bin/bash
set -e
while [[ $1 == --* ]]; do case $1 in --sshlogin|--jobs|--workdir) shift 2 ;; *) shift ;; esac; done
command=$1; shift 2
for at in "$@"; do bash -c "${command//\{\}/$at}"; done
"#;

/// A script in place of `sbatch`. The script runs the tasks of an array immediately, one after the other.
const SBATCH: &str = r#"#!/bin/bash
set -e
[ "$1" != --version ] || exit 0
script=$(cat)
echo "sbatch $*" >>sbatch.log
array=$(sed -n 's/^#SBATCH --array=\([^%]*\).*/\1/p' <<<"$script")
for at in ${array//,/ }; do SLURM_ARRAY_TASK_ID=$at bash -c "$script" >&2; done
[ -n "$array" ] || bash -c "$script" >&2
echo "17;cluster"
"#;

const SRUN: &str = "#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\nexec \"$@\"\n";

/// Creates a folder with the small experiment and with the scripts in place of GNU parallel and `sbatch`.
fn bench() -> Bench {
    let bench = Bench::small();
    for (name, text) in [("parallel", PARALLEL), ("sbatch", SBATCH), ("srun", SRUN)] {
        let path = bench.write(&format!("bin/{name}"), text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    bench
}

/// Executes a printed script, with the scripts of this folder first in `PATH`.
fn execute(bench: &Bench, script: &str) {
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap());
    bench.write("script.sh", script);
    let check = Command::new("bash").args(["-n", "script.sh"]).current_dir(bench.path(".")).status().unwrap();
    assert!(check.success(), "{script}");
    let mut bash = Command::new("bash");
    bash.arg("script.sh").current_dir(bench.path(".")).env("PATH", path).env("SLURMD_NODENAME", "node1");
    let output = bash.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}\n{said}");
}

#[test]
fn printed_scripts_run_all_parts_and_merge_them() {
    let bench = bench();
    bench.ok(&["run", "small.toml", "--out", "one"]);
    let one = bench.read("one/small/runs.csv");
    for (name, options) in [
        ("ssh", &["--ssh", "a,b"][..]),
        ("slurm", &["--slurm", "--throttle", "2", "--time", "1:00:00", "--memory", "4G"]),
    ] {
        let (parts, into) = (format!("parts of {name}"), format!("merged-{name}/small"));
        let own = ["submit", "small.toml", "--parts", "3", "--out", &parts, "--into", &into];
        let script = bench.ok(&[&own[..], options].concat());
        execute(&bench, &script);
        assert_eq!(bench.read(&format!("{into}/runs.csv")), one, "{name}");
        let states = bench.run(&[&own[..], &["--watch"]].concat());
        assert!(states.err.contains("    3  done         1 of 1      "), "{}", states.err);
        assert!(states.err.contains("3 of 3 trials"), "{}", states.err);
        // The same command prints what is missing: nothing, then the part that was removed.
        let answer = bench.run(&[&own[..], options].concat());
        assert!(answer.err.contains("small: 3 of 3 parts are done"), "{}", answer.err);
        assert!(!answer.out.contains("run small.toml") && answer.out.contains(" merge "), "{}", answer.out);
        fs::remove_dir_all(bench.path(&format!("{parts}/2"))).unwrap();
        let script = bench.ok(&[&own[..], options].concat());
        assert!(script.contains("--array=2%2\n") || script.contains(" ::: 2\n"), "{script}");
    }
    assert!(bench.read("sbatch.log").contains("--dependency=afterany:17\n"));
}

/// A Python script that validates the jobs against schemas of Kubernetes without a network, and prints the jobs as
/// JSON.
const VALIDATE: &str = "
import json, sys, yaml
jobs = list(yaml.safe_load_all(open('jobs.yaml')))
try:
    import kubernetes_validate
    for job in jobs:
        kubernetes_validate.validate(job, '1.30', strict=True)
except ImportError:
    print('NOT CHECKED: the schemas of Kubernetes; pip install kubernetes-validate', file=sys.stderr)
print(json.dumps(jobs))
";

/// Tests that the Kubernetes jobs are valid YAML. Without Python and its YAML module, the test checks nothing.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn jobs_of_kubernetes_are_yaml() {
    let bench = Bench::small();
    let submit = [
        "submit",
        "small.toml",
        "--kubernetes",
        "--image",
        "lsmbench@sha256:1",
        "--parts",
        "3",
        "--memory",
        "4Gi",
        "--set",
        "trials.count=2",
    ];
    let text = bench.ok(&submit);
    assert!(text.contains("completionMode: Indexed") && text.contains("completions: 3"), "{text}");
    bench.write("jobs.yaml", &text);
    let has_yaml = Command::new("python3").args(["-c", "import yaml"]).output();
    if !has_yaml.is_ok_and(|output| output.status.success()) {
        eprintln!("NOT CHECKED: python3 with yaml is not here; pip install pyyaml");
        return;
    }
    let output =
        Command::new("python3").args(["-c", VALIDATE]).current_dir(bench.path(".")).output().unwrap();
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    let jobs: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let [parts, merge] = [0, 1].map(|at| &jobs[at]["spec"]);
    assert_eq!((&parts["completions"], &parts["parallelism"]), (&3.into(), &3.into()));
    assert_eq!(merge["suspend"], true);
    let container = |job: &serde_json::Value| job["template"]["spec"]["containers"][0].clone();
    assert_eq!(container(parts)["resources"]["limits"]["memory"], "4Gi");
    let env = container(parts)["env"].clone();
    assert_eq!(env[0]["valueFrom"]["fieldRef"]["fieldPath"], "spec.nodeName");
    assert_eq!((&env[1]["name"], &env[1]["value"]), (&"LSMBENCH_IMAGE".into(), &"lsmbench@sha256:1".into()));
    let command = container(parts)["command"][2].as_str().unwrap().to_owned();
    let script = command.replace("lsmbench run", "echo run");
    for (index, expected) in ["1/3", "2/3", "3/3"].iter().enumerate() {
        let mut shell = Command::new("sh");
        let output =
            shell.args(["-c", &script]).env("JOB_COMPLETION_INDEX", index.to_string()).output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let expected = format!("run small.toml --out parts --set trials.count=2 --part {expected}\n");
        assert_eq!(said, expected);
    }
    assert_eq!(container(merge)["command"][2], "exec lsmbench merge parts --into results/small");
}

#[test]
fn a_scheduler_is_named_and_is_there() {
    let bench = Bench::small();
    let answer = bench.run(&["submit", "small.toml"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("--slurm"), "{}", answer.err);
    // A counted experiment has a part for each configuration, a timed one for each round.
    assert!(bench.ok(&["submit", "small.toml", "--slurm"]).contains("#SBATCH --array=1,2,3\n"));
    let timed = ["submit", "small.toml", "--slurm", "--set", "trials.mode=timed", "--trials", "2"];
    assert!(bench.ok(&timed).contains("#SBATCH --array=1,2\n"));
    let answer = bench.run(&[&timed[..], &["--parts", "3"]].concat());
    assert!(answer.code == Some(2) && answer.err.contains("3 parts are not possible"), "{}", answer.err);
    let mut command = bench.command(&["submit", "small.toml", "--slurm", "--submit"]);
    let output = command.env("PATH", bench.path("empty")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("this machine has no program sbatch"));
}

#[test]
fn a_machine_with_an_issue_is_excluded() {
    let bench = bench();
    bench.write("bin/bad", "#!/bin/bash\n[ \"$1\" != doctor ]\n");
    fs::set_permissions(bench.path("bin/bad"), fs::Permissions::from_mode(0o755)).unwrap();
    let submit = ["submit", "small.toml", "--slurm", "--require", "--program", "bin/bad", "--parts", "2"];
    let script = bench.ok(&submit);
    bench.write("script.sh", &script);
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.arg("script.sh").current_dir(bench.path(".")).env("PATH", path).env("SLURMD_NODENAME", "node7");
    let output = bash.output().unwrap();
    assert!(!output.status.success(), "{script}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("node7 is excluded"));
    assert_eq!(bench.read("parts/excluded"), "node7\n");
    assert!(bench.ok(&submit).contains("#SBATCH --exclude=node7\n"));
    let code = bench.run(&["doctor", "--require"]).code;
    assert!(code == Some(0) || code == Some(1), "{code:?}");
}
