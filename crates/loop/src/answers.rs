//! Answers those who act on a batch from another process, once what they asked for is there.

use pleach_domain::batch::Message;
use pleach_domain::id::TaskId;
use pleach_domain::task_state::{Commit, TaskState};
use pleach_log::ownership::{Answer, Reply, Request};

use super::run_loop::{Effect, Loop};
use pleach_engine::consent::fingerprint;

#[derive(Debug, Default)]
pub(super) struct Answers {
    waiting: Vec<(AwaitedState, Reply)>,
}

#[derive(Debug)]
enum AwaitedState {
    TaskOver(TaskId),
    BatchOver,
}

impl Loop<'_> {
    /// What the next task that waits needs consent to, by a hash.
    fn next_consent(&self) -> Option<String> {
        let mut tasks = self.batch.tasks.iter();
        let next = tasks.find_map(|task| match &task.state {
            TaskState::Waiting { consent } => Some(consent.as_ref()),
            _ => None,
        });
        next.flatten().map(fingerprint)
    }

    pub(super) fn answer(&mut self, request: Request, reply: Reply) {
        match request {
            Request::ApproveConsent { fingerprint: shown }
                if self.next_consent().as_ref() != Some(&shown) =>
            {
                let answer = refused(
                    "consent_changed",
                    "the next waiting task is not the one that was shown, or needs consent to something else",
                );
                self.outbox.push(Effect::Answer(reply, answer));
            }
            Request::Approve | Request::ApproveConsent { .. } => {
                let answer = if self.decide(Message::Approve) {
                    done("approved")
                } else {
                    refused(
                        "nothing_waiting",
                        "no task of this batch is waiting for approval",
                    )
                };
                self.outbox.push(Effect::Answer(reply, answer));
            }
            Request::Retry { tasks } => {
                let answer = self.retry(tasks);
                self.outbox.push(Effect::Answer(reply, answer));
            }
            Request::Resolve {
                task,
                commit,
                basis,
            } => self.resolve(task, commit, basis, reply),
            Request::Stop => {
                let answer = if self.decide(Message::Stop) || self.batch.finishes {
                    done("stopping")
                } else {
                    refused(
                        "batch_stopping",
                        "this batch is finishing; no task is left to start",
                    )
                };
                self.outbox.push(Effect::Answer(reply, answer));
            }
            Request::Cancel {
                task: None,
                rollback,
            } => {
                self.decide(Message::Cancel(rollback));
                self.answers.waiting.push((AwaitedState::BatchOver, reply));
            }
            Request::Cancel {
                task: Some(task), ..
            } => self.cancel_task(task, reply),
        }
    }

    fn retry(&mut self, tasks: Vec<TaskId>) -> Answer {
        if let Some(busy) = self.taken_elsewhere(&tasks) {
            refused("task_busy", &busy)
        } else if self.decide(Message::Retry(tasks)) {
            done("tried again")
        } else if self.batch.status.is_stopping() {
            refused(
                "batch_stopping",
                "this batch is stopping; its tasks can be retried once it has finished",
            )
        } else {
            refused("nothing_to_retry", "none of these tasks can be retried")
        }
    }

    /// Why tasks that another batch has taken over cannot come back; those that can are ours again.
    fn taken_elsewhere(&mut self, tasks: &[TaskId]) -> Option<String> {
        let is_elsewhere = |task: &&TaskId| {
            let position = self.batch.position(task);
            position.is_some_and(|at| self.batch.tasks[at].is_elsewhere)
        };
        let lost: Vec<TaskId> = tasks.iter().filter(is_elsewhere).cloned().collect();
        if lost.is_empty() {
            return None;
        }
        let claimed = self.database.claim(self.batch_id, &lost);
        claimed.err().map(|error| error.to_string())
    }

    fn cancel_task(&mut self, task: TaskId, reply: Reply) {
        let Some(position) = self.batch.position(&task) else {
            let message = format!("task {task} is not in this batch");
            let answer = refused("task_not_found", &message);
            return self.outbox.push(Effect::Answer(reply, answer));
        };
        if let Some(ending) = self.batch.tasks[position].state.ending() {
            let message = format!("task {task} is already finished: {}", ending.outcome());
            let answer = refused("task_over", &message);
            return self.outbox.push(Effect::Answer(reply, answer));
        }
        self.decide(Message::CancelTask(task.clone()));
        self.answers
            .waiting
            .push((AwaitedState::TaskOver(task), reply));
    }

    /// Answered when the weaving is over, one way or the other.
    fn resolve(&mut self, task: TaskId, commit: Commit, basis: Commit, reply: Reply) {
        let status = &self.batch.status;
        let is_ending = status.is_stopping() || status.is_closing();
        let answer = match self.take_resolved(task.clone(), commit, basis) {
            Ok(true) => {
                self.answers
                    .waiting
                    .push((AwaitedState::TaskOver(task), reply));
                return;
            }
            Ok(false) if is_ending => refused(
                "batch_stopping",
                "this batch is finishing; conflicts can be resolved once it has finished",
            ),
            Ok(false) => {
                let message = format!("task {task} of this batch has no conflict");
                refused("not_conflicted", &message)
            }
            Err(why) => refused("bad_resolution", &why),
        };
        self.outbox.push(Effect::Answer(reply, answer));
    }

    pub(super) fn answer_what_is_done(&mut self) {
        if self.answers.waiting.is_empty() {
            return;
        }
        for (awaited, reply) in std::mem::take(&mut self.answers.waiting) {
            let outcome = match &awaited {
                AwaitedState::BatchOver => {
                    let status = &self.batch.status;
                    status
                        .is_over()
                        .then(|| format!("the batch is {}", status.as_str()))
                }
                AwaitedState::TaskOver(task) => {
                    let position = self.batch.position(task);
                    let ending = position.and_then(|at| self.batch.tasks[at].state.ending());
                    ending.map(|ending| format!("task {task} is {}", ending.outcome()))
                }
            };
            match outcome {
                Some(outcome) => reply.send(done(&outcome)),
                None => self.answers.waiting.push((awaited, reply)),
            }
        }
    }
}

fn done(message: &str) -> Answer {
    Answer::Done {
        message: message.to_owned(),
    }
}

fn refused(code: &str, message: &str) -> Answer {
    Answer::Refused {
        code: code.to_owned(),
        message: message.to_owned(),
        hint: None,
    }
}
