//! Says everything that a run would do, for `--dry-run`: as text, or as JSON.
//!
//! Does nothing and knows no values of variables, only their names.

use std::path::PathBuf;
use std::time::Duration;

use anstyle::Style;
use pleach_domain::choice::{Landing, SandboxChoice, Where};
use pleach_domain::graph::{Graph, Strictness};
use pleach_engine::config::{MaxParallel, Settings};
use pleach_engine::consent::SteeringSubject;
use pleach_engine::run::{Fetch, PlannedSubmission, Rehearsal, RunRequest};
use pleach_git::git::CommitId;
use pleach_system::sandbox::SandboxPolicy;
use pleach_system::secrets::Secrets;
use pleach_system::text::shell_words::line;
use serde_json::{Value, json};

use crate::columns::{bytes, seconds, terminal_width};
use crate::line::Line;
use crate::output::{self, one_line};
use crate::preview::Preview;

const PLAIN: Style = Style::new();
const DIM: Style = Style::new().dimmed();

pub(crate) fn print(preview: &Preview<'_>, request: &RunRequest, found: &Rehearsal) {
    let width = terminal_width();
    output::print(format_args!("{}\n", preview.text(width)));
    for (name, value) in facts(request, found) {
        let line = Line::new().and(DIM, format!("  {name:<10}"));
        let line = line.and(PLAIN, format!(" {}", one_line(&value)));
        let line = line.cut(width.unwrap_or(usize::MAX));
        output::print(format_args!("{line}\n"));
    }
    output::print(format_args!("Dry run: nothing was done.\n"));
}

/// What the preview does not say, each with its name.
fn facts(request: &RunRequest, found: &Rehearsal) -> Vec<(&'static str, String)> {
    let mut facts = place(request, found);
    facts.extend([
        ("command", line(&found.argv)),
        ("variables", found.variables.join(" ")),
        ("writes", may_write(request)),
        ("timeouts", timeouts(request)),
        ("retries", retries(request)),
        ("limits", limits(request)),
    ]);
    facts.extend(
        found
            .submissions
            .iter()
            .map(|planned| ("submits", submission(planned))),
    );
    facts.extend(weaving(request, found));
    let asked = consent_names(found);
    facts.push((
        "consent",
        match asked.len() {
            0 => "not needed".to_owned(),
            _ => format!("needed for {}", asked.join(", ")),
        },
    ));
    facts.extend(found.interrupted.iter().map(|batch| {
        let how = format!("batch {batch}; resume it with `pleach resume {batch}`");
        ("interrupted", how)
    }));
    facts
}

fn place(request: &RunRequest, found: &Rehearsal) -> Vec<(&'static str, String)> {
    if let Some(folder) = &found.folder {
        let folder = folder.display();
        return vec![
            ("base", "the folder as it is".to_owned()),
            ("batch", format!("{}, in {folder}", found.batch)),
        ];
    }
    let base = found.base.as_ref().map(ToString::to_string);
    let base = base.unwrap_or_default();
    let base = match request.fetch {
        Fetch::Nothing => base,
        Fetch::Origin => format!("fetched from the server at the start; currently {base}"),
    };
    let branch = found.batch_branch.as_deref().unwrap_or_default();
    let worktrees = match (request.settings.place, &found.worktrees) {
        (Where::Local, here) => here.as_ref().map(|path| path.display().to_string()),
        (Where::Slurm, _) => Some(format!("on nodes, in {}", request.settings.cluster_scratch)),
    };
    vec![
        ("base", base),
        ("batch", format!("{}, into {branch}", found.batch)),
        ("branches", few(&found.task_branches)),
        ("worktrees", worktrees.unwrap_or_default()),
    ]
}

fn weaving(request: &RunRequest, found: &Rehearsal) -> Vec<(&'static str, String)> {
    let Some(branch) = &found.batch_branch else {
        let nowhere = "none: changes stay in the folder";
        return vec![("landing", nowhere.to_owned())];
    };
    let word = |word: &dyn std::fmt::Debug| format!("{word:?}").to_lowercase();
    let mut facts = vec![
        ("conflicts", word(&request.settings.on_conflict)),
        ("history", word(&request.settings.merge)),
        ("landing", landing(request, found, branch)),
    ];
    if found.push_unconfirmed {
        let asked = "needs confirmation: this project has never pushed there";
        facts.push(("push", asked.to_owned()));
    }
    facts
}

/// What a person would be asked to consent to, by its names.
fn consent_names(found: &Rehearsal) -> Vec<&str> {
    let all = found.consent.iter().map(|change| &change.what);
    all.map(|(SteeringSubject::Setting(name) | SteeringSubject::File(name))| name.as_str())
        .collect()
}

fn submission(planned: &PlannedSubmission) -> String {
    let PlannedSubmission {
        size,
        tasks,
        options,
        answer,
    } = planned;
    let what = match tasks {
        0 => format!("the tests, size {size}"),
        1 => format!("1 task, size {size}"),
        many => format!("{many} tasks, size {size}"),
    };
    let asked = line(options);
    match answer {
        Some(Ok(answer)) => format!("{what}: {asked}: {answer}"),
        Some(Err(refused)) => format!("{what}: {asked}: refused: {refused}"),
        None => format!("{what}; the cluster is not asked before you consent"),
    }
}

fn few(names: &[String]) -> String {
    match names {
        [first, second, third, _, _, ..] => {
            format!("{first}, {second}, {third} and {} more", names.len() - 3)
        }
        names => names.join(", "),
    }
}

fn may_write(request: &RunRequest) -> String {
    let settings = &request.settings;
    let held = match SandboxPolicy::choose(settings.sandbox.as_ref(), &settings.sandbox_write) {
        Ok(held) => held,
        Err(none) => return none.to_string(),
    };
    let named = settings.sandbox_write.iter();
    let mut paths: Vec<String> = named.map(|path| path.display().to_string()).collect();
    let usual = match held.choice() {
        SandboxChoice::None => return "anywhere you can".to_owned(),
        SandboxChoice::Wrapper(_) => return "anywhere the wrapper allows".to_owned(),
        SandboxChoice::Strict => "its worktree, temporary files",
        SandboxChoice::Landlock => "its worktree, temporary files, caches of tools and agents",
    };
    paths.insert(0, usual.to_owned());
    paths.join(", ")
}

fn timeouts(request: &RunRequest) -> String {
    let settings = &request.settings;
    let mut limits = vec![
        format!("{} per task", seconds(settings.task_timeout)),
        format!("{} without output", seconds(settings.stall_timeout)),
    ];
    if settings.validate.is_some() {
        limits.push(format!(
            "{} for the tests",
            seconds(settings.validate_timeout)
        ));
    }
    limits.join(", ")
}

fn retries(request: &RunRequest) -> String {
    let settings = &request.settings;
    if settings.retries == 0 {
        return "none".to_owned();
    }
    let pause = seconds(settings.retry_pause);
    format!("{}, first after {pause}", settings.retries)
}

fn limits(request: &RunRequest) -> String {
    let settings = &request.settings;
    format!(
        "{} agents in total, at least {} of free disk",
        settings.parallel_limit,
        bytes(settings.min_free_disk)
    )
}

fn landing(request: &RunRequest, found: &Rehearsal, branch: &str) -> String {
    let remote = found.remote.as_deref();
    match (request.settings.land, remote) {
        (Landing::Nowhere, _) => format!("none: {branch} stays a local branch"),
        (Landing::Local, _) => match &found.base_branch {
            Some(base) => format!("fast-forward {base} to {branch}"),
            None => format!("none: the base is not a branch; {branch} stays a local branch"),
        },
        (_, None) => format!("none: no remote; {branch} stays a local branch"),
        (Landing::Push, Some(remote)) => format!("push {branch} to {remote}"),
        (Landing::PullRequest, Some(remote)) => {
            let target = found.target.as_deref().unwrap_or("its own branch");
            let forge = found.forge.unwrap_or("unknown forge");
            format!("push {branch} to {remote} ({forge}), with a pull request into {target}")
        }
    }
}

pub(crate) fn print_json(preview: &Preview<'_>, request: &RunRequest, found: &Rehearsal) {
    let text = serde_json::to_string_pretty(&answer(preview, request, found));
    let text = text.expect("it is plain data");
    output::print(format_args!("{text}\n"));
}

fn answer(preview: &Preview<'_>, request: &RunRequest, found: &Rehearsal) -> Value {
    let plan = preview.plan;
    let graph = Graph::new(plan, Strictness::AsWritten);
    let order = preview.order(&graph);
    let id = |position: &usize| plan.tasks[*position].id.as_str();
    let ids = |positions: &[usize]| positions.iter().map(id).collect::<Vec<_>>();
    let chosen = preview.chosen.iter().enumerate();
    let tasks = chosen.map(|(number, position)| {
        json!({
            "key": id(position),
            "title": plan.tasks[*position].title,
            "wave": order.wave_of[*position],
            "waitsFor": ids(&order.waits_for(*position)),
            "branch": found.task_branches.get(number),
        })
    });
    let ordered = order.ordered.iter().map(
        |pair| json!({"first": id(&pair.first), "then": id(&pair.then), "because": pair.because}),
    );
    let waves = order.waves.iter().map(|wave| ids(wave));
    let path = |path: Option<&PathBuf>| path.map(|path| path.display().to_string());
    let mut answer = json!({
        "dryRun": true,
        "plan": preview.name.display().to_string(),
        "tasks": tasks.collect::<Vec<_>>(),
        "waves": waves.collect::<Vec<_>>(),
        "ordered": ordered.collect::<Vec<_>>(),
        "base": found.base.as_ref().map(CommitId::as_str),
        "fetches": request.fetch == Fetch::Origin,
        "buildsOn": found.builds_on,
        "notes": found.notes,
        "number": found.batch,
        "batchBranch": found.batch_branch,
        "worktrees": path(found.worktrees.as_ref()),
        "folder": path(found.folder.as_ref()),
        "agent": {
            "name": preview.agent.name(),
            "command": found.argv,
            "variables": found.variables,
        },
        "submissions": found.submissions.iter().map(submission_value).collect::<Vec<_>>(),
        "steeringFiles": found.steering,
        "consent": consent_names(found),
        "interrupted": found.interrupted,
        "expectedSeconds": preview.expected().map(|(time, _)| time.as_secs_f64()),
        "expectedCost": Value::Null,
    });
    if let (Some(answer), Value::Object(settled)) = (
        answer.as_object_mut(),
        settled(preview.settings, request, found),
    ) {
        answer.extend(settled);
    }
    answer
}

fn submission_value(planned: &PlannedSubmission) -> Value {
    let answer = planned.answer.as_ref();
    json!({
        "size": planned.size,
        "tasks": planned.tasks,
        "options": planned.options,
        "answer": answer.and_then(|answer| answer.as_ref().ok()),
        "refused": answer.and_then(|answer| answer.as_ref().err()),
    })
}

fn settled(settings: &Settings, request: &RunRequest, found: &Rehearsal) -> Value {
    let whole = |time: Duration| time.as_secs_f64();
    json!({
        "mode": settings.turns(request.chosen.len()).choice(),
        "maxConcurrent": match settings.max_parallel {
            MaxParallel::AtMost(number) => json!(number),
            MaxParallel::Auto => json!("auto"),
        },
        "sandbox": {"kind": settings.sandbox, "writes": may_write(request)},
        "setup": settings.setup,
        "validate": {
            "command": settings.validate,
            "timeoutSeconds": whole(settings.validate_timeout),
            "variables": settings.validate_env,
            "onInvalid": settings.on_invalid,
        },
        "taskTimeoutSeconds": whole(settings.task_timeout),
        "stallTimeoutSeconds": whole(settings.stall_timeout),
        "retries": settings.retries,
        "parallelLimit": settings.parallel_limit,
        "minFreeDisk": settings.min_free_disk,
        "budget": {"batch": settings.budget(), "task": settings.task_budget()},
        "landing": {
            "kind": if found.folder.is_some() { Landing::Nowhere } else { settings.land },
            "remote": found.remote,
            "target": found.target,
            "unconfirmed": found.push_unconfirmed,
            "unpushed": unpushed(found),
            "forge": found.forge,
        },
    })
}

/// The user's own commits that would be pushed along.
fn unpushed(found: &Rehearsal) -> Vec<Value> {
    let hider = Secrets::of_environment(&[]).hider();
    let commits = found.unpushed.iter().flat_map(|unpushed| &unpushed.commits);
    let shown = commits.map(|(id, subject)| {
        let subject = hider.hidden(subject.clone());
        json!({"commit": id, "subject": subject})
    });
    shown.collect()
}
