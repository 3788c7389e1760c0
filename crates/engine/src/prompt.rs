//! What an agent is told.
//!
//! Text only: nothing of a task is ever part of a command line, and nothing in it is a place to fill.

use pleach_domain::plan::Plan;
use pleach_domain::problem::nearest;
use pleach_domain::task::Task;

use pleach_system::text::placeholder::{TemplatePart, template_parts};

/// What a template may ask for.
const NAMES: [&str; 6] = ["title", "details", "phase", "acceptance", "files", "id"];

/// What every agent is told of tasks that need no change; [`no_changes_needed`](crate::agent::no_changes_needed) reads
/// the answer. Not at the beginning of a line here, so that an agent that repeats its prompt has not said it.
const NOT_NEEDED: &str = "If you find that nothing has to be changed for this task, change nothing and end your answer with a line that \
     begins with `NO CHANGES NEEDED:` and says why.";

/// What an agent is asked that changed nothing and did not say why.
pub const CHANGED_NOTHING: &str = "You finished without changing any file. If the task needs changes, make them now. If it needs none, end your \
     answer with a line that begins with `NO CHANGES NEEDED:` and says why.";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    kind: TemplateKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemplateKind {
    /// It says itself where the task goes.
    Whole,
    /// It adds to the usual prompt.
    Further,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown placeholder {written} in the prompt")]
pub struct UnknownPlace {
    pub written: String,
    pub nearest: Option<String>,
}

impl UnknownPlace {
    pub fn hint(&self) -> String {
        if let Some(near) = &self.nearest {
            return format!("did you mean {{{{{near}}}}}?");
        }
        let all = NAMES.map(|name| format!("{{{{{name}}}}}"));
        format!("there are {}", all.join(" "))
    }
}

impl Template {
    /// Takes a text that replaces the usual prompt if it has a place such as `{{title}}`, and adds to it
    /// if it has none.
    pub fn parse(text: &str) -> Result<Self, UnknownPlace> {
        let mut kind = TemplateKind::Further;
        for piece in template_parts(text) {
            let TemplatePart::Placeholder { name, written } = piece else {
                continue;
            };
            if !NAMES.contains(&name) {
                return Err(UnknownPlace {
                    written: written.to_owned(),
                    nearest: nearest(name, NAMES).map(str::to_owned),
                });
            }
            kind = TemplateKind::Whole;
        }
        let text = text.to_owned();
        Ok(Self { text, kind })
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

/// The prompt of one task, which may be of a plan in a file.
pub fn prompt(
    plan: &Plan,
    task: &Task,
    plan_file: Option<&str>,
    template: Option<&Template>,
) -> String {
    let told = match template {
        Some(Template {
            text,
            kind: TemplateKind::Whole,
        }) => filled(text, plan, task),
        Some(Template {
            text,
            kind: TemplateKind::Further,
        }) if !text.trim().is_empty() => {
            let usual = usual(plan, task, plan_file);
            format!("{usual}\n{}\n", text.trim_end())
        }
        _ => usual(plan, task, plan_file),
    };
    format!("{}\n\n{NOT_NEEDED}\n", told.trim_end())
}

/// Goes through the template once: what is filled in is not looked at again.
fn filled(template: &str, plan: &Plan, task: &Task) -> String {
    let parts = template_parts(template)
        .into_iter()
        .map(|piece| match piece {
            TemplatePart::Text(text) => text.to_owned(),
            TemplatePart::Placeholder { name, written } => match name {
                "title" => task.written_title().to_owned(),
                "details" => task.details.clone(),
                "phase" => phase(plan, task).unwrap_or_default(),
                "acceptance" => acceptance(plan, task),
                "files" => task.files.join(", "),
                "id" => task.id.to_string(),
                _ => written.to_owned(),
            },
        });
    parts.collect()
}

fn phase(plan: &Plan, task: &Task) -> Option<String> {
    let mut phases = plan.phases.iter();
    let phase = phases.find(|phase| Some(phase.number) == task.phase)?;
    Some(format!("{}: {}", phase.number, phase.title))
}

fn acceptance(plan: &Plan, task: &Task) -> String {
    let checks = plan.acceptance(task);
    let list: Vec<String> = checks.iter().map(|check| format!("- {check}")).collect();
    list.join("\n")
}

fn usual(plan: &Plan, task: &Task, plan_file: Option<&str>) -> String {
    let mut parts = vec![format!("# Task {}: {}", task.id, task.written_title())];
    if !task.details.is_empty() {
        parts.push(task.details.clone());
    }
    if let Some(phase) = phase(plan, task) {
        parts.push(format!("This task is part of phase {phase}"));
    }
    let checks = acceptance(plan, task);
    if !checks.is_empty() {
        parts.push(format!(
            "When the phase is done, all of this must be true:\n{checks}"
        ));
    }
    if !task.files.is_empty() {
        let files = task.files.join(", ");
        parts.push(format!("Files this task is expected to change: {files}"));
    }
    let leave = plan_file.map(|file| format!(" Do not edit {file}: Pleach updates it."));
    parts.push(format!(
        "Work in the current folder, which is a git worktree of your own. Change what this task needs and \
         nothing else. Committing is optional.{}",
        leave.unwrap_or_default()
    ));
    parts.join("\n\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = "## Phase 2: Walls\n- [ ] 2.1 North `wall.md`\n  of {{title}} brick\n\n**VERIFY Phase 2:**\n- [ ] it stands\n- [ ] it is dry\n";

    fn told(template: Option<&str>) -> String {
        let plan = pleach_formats::read(PLAN).plan;
        let template = template.map(|text| Template::parse(text).unwrap());
        prompt(&plan, &plan.tasks[0], Some("TODO.md"), template.as_ref())
    }

    #[test]
    fn a_prompt_says_what_is_wanted_and_how_it_is_judged() {
        let prompt = told(None);
        assert!(prompt.starts_with("# Task 2.1: North `wall.md`\n\nof {{title}} brick\n"));
        for part in [
            "phase 2: Walls",
            "- it stands",
            "change: wall.md",
            "Do not edit TODO.md",
        ] {
            assert!(prompt.contains(part), "{part}");
        }
    }

    #[test]
    fn a_template_is_filled_once_and_replaces_the_usual_text() {
        let template = "{{id}}|{{ title }}|{{details}}|{{phase}}|{{acceptance}}|{{files}}|{{a b}}";
        let expected = "2.1|North `wall.md`|of {{title}} brick|2: Walls|- it stands\n- it is dry|wall.md|{{a b}}";
        assert_eq!(
            told(Some(template)),
            format!("{expected}\n\n{NOT_NEEDED}\n")
        );
    }

    #[test]
    fn a_text_without_places_is_added_to_the_usual_one() {
        let usual = told(None);
        let more = told(Some("Write no tests.\n\n"));
        let asked = format!("\n{NOT_NEEDED}\n");
        let expected = usual.replace(&asked, &format!("\nWrite no tests.\n{asked}"));
        assert_eq!(more, expected);
        assert_eq!(told(Some(" \n")), usual);
    }

    #[test]
    fn a_place_that_nothing_fills_is_refused_with_the_nearest() {
        let error = Template::parse("{{title}} {{ detials }}").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown placeholder {{ detials }} in the prompt"
        );
        assert_eq!(error.hint(), "did you mean {{details}}?");
        let error = Template::parse("{{weather}}").unwrap_err();
        assert!(
            error.hint().contains("{{title}} {{details}}"),
            "{}",
            error.hint()
        );
    }
}
