//! Generates the jobs for Kubernetes. An indexed Job has a pod for each missing part. A second Job merges the parts.
//! It is suspended until the user starts it.

use super::jobs::Jobs;

/// The path at which the volume is mounted in each pod.
const FOLDER: &str = "/data";

/// Returns the Kubernetes manifest of two jobs: the job that runs the parts of an experiment, and the job that merges
/// them.
pub(super) fn manifest(jobs: &Jobs<'_>) -> String {
    let Jobs { count, merge, .. } = jobs;
    let name = name_of_job(&jobs.name);
    let missing = jobs.missing.len();
    let next = format!(
        "set -- {}; shift \"$JOB_COMPLETION_INDEX\"; {}",
        jobs.numbers(" "),
        jobs.part(&format!("\"$1/{count}\""))
    );
    let parallel = jobs.arguments.throttle.unwrap_or(missing as u64).max(1);
    let parts = match missing {
        0 => String::new(),
        _ => format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\nspec:\n  completionMode: Indexed\n  \
             completions: {missing}\n  parallelism: {parallel}\n  backoffLimit: {}\n  template:\n    metadata:\n      \
             labels:\n        lsmbench: {name}\n{}",
            2 * missing,
            pod(jobs, &name, "part", &next, true)
        ),
    };
    let merge = format!(
        "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}-merge\nspec:\n  suspend: {}\n  \
         backoffLimit: 0\n  template:\n{}",
        missing > 0,
        pod(jobs, &name, "merge", &format!("exec {merge}"), false)
    );
    format!(
        "# Runs the missing parts of {}, one on each node, and their merge. Apply this file, then start the merge:\n\
         #   kubectl wait --for=condition=complete --timeout=-1s job/{name}\n\
         #   kubectl patch job/{name}-merge --type=strategic --patch '{{\"spec\": {{\"suspend\": false}}}}'\n{parts}{merge}",
        jobs.name
    )
}

/// Returns the template of a pod that runs `script` in the folder at which the volume is mounted. If `is_alone` is
/// true, no two pods of the experiment run on one node.
fn pod(jobs: &Jobs<'_>, name: &str, container: &str, script: &str, is_alone: bool) -> String {
    let arguments = jobs.arguments;
    let memory = arguments.memory.as_ref().map_or_else(String::new, |memory| {
        let memory = text(memory);
        format!("          resources:\n            requests:\n              memory: {memory}\n            limits:\n              memory: {memory}\n")
    });
    let image = text(&arguments.image);
    let env = format!(
        "          env:\n            - name: LSMBENCH_NODE\n              valueFrom:\n                fieldRef:\n                  \
         fieldPath: spec.nodeName\n            - name: LSMBENCH_IMAGE\n              value: {image}\n"
    );
    let alone = match is_alone {
        true => format!(
            "      affinity:\n        podAntiAffinity:\n          requiredDuringSchedulingIgnoredDuringExecution:\n            \
             - topologyKey: kubernetes.io/hostname\n              labelSelector:\n                matchLabels:\n                  \
             lsmbench: {name}\n"
        ),
        false => String::new(),
    };
    format!(
        "    spec:\n      restartPolicy: Never\n{alone}      containers:\n        - name: {container}\n          image: {image}\n          \
         workingDir: {FOLDER}\n          command: [\"sh\", \"-c\", {}]\n{env}{memory}          volumeMounts:\n            - name: data\n              \
         mountPath: {FOLDER}\n      volumes:\n        - name: data\n          persistentVolumeClaim:\n            claimName: {}\n",
        text(script),
        text(&arguments.volume),
    )
}

/// Converts a name to a valid name for a Job of Kubernetes.
fn name_of_job(name: &str) -> String {
    let letters = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let name: String = format!("lsmbench-{}", letters.take(40).collect::<String>());
    name.trim_matches('-').to_owned()
}

/// Formats a text for YAML, with the quotes of JSON.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
