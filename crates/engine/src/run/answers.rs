//! Answers those who act on a batch from another process, once what they asked for is there.

use pleach_domain::batch::Message;
use pleach_domain::id::TaskId;

use super::run_loop::{Effect, Loop};
use crate::ownership::{Answer, Reply, Request};

/// Who waits for what.
#[derive(Debug, Default)]
pub(super) struct Answers {
    waiting: Vec<(Awaited, Reply)>,
}

/// What must be so before an answer is given.
#[derive(Debug)]
enum Awaited {
    /// The task is over.
    TaskOver(TaskId),
    /// The batch is over.
    BatchOver,
}

impl Loop<'_> {
    /// Has something done for somebody else.
    pub(super) fn answer(&mut self, request: Request, reply: Reply) {
        match request {
            Request::Approve => {
                let answer = if self.decide(Message::Approve) {
                    done("approved")
                } else {
                    refused(
                        "nothing_waiting",
                        "no task of this batch waits for approval",
                    )
                };
                self.outbox.push(Effect::Answer(reply, answer));
            }
            Request::Retry { tasks } => {
                let answer = if self.decide(Message::Retry(tasks)) {
                    done("tried again")
                } else if self.batch.status.is_stopping() {
                    refused(
                        "batch_stopping",
                        "this batch is being stopped; tasks of it can be tried again once it is over",
                    )
                } else {
                    refused(
                        "nothing_to_retry",
                        "none of these tasks has ended without success",
                    )
                };
                self.outbox.push(Effect::Answer(reply, answer));
            }
            Request::Cancel {
                task: None,
                rollback,
            } => {
                self.decide(Message::Cancel(rollback));
                self.answers.waiting.push((Awaited::BatchOver, reply));
            }
            Request::Cancel {
                task: Some(task), ..
            } => self.cancel_task(task, reply),
        }
    }

    fn cancel_task(&mut self, task: TaskId, reply: Reply) {
        let Some(position) = self.batch.position(&task) else {
            let message = format!("task {task} is not in this batch");
            let answer = refused("task_not_found", &message);
            return self.outbox.push(Effect::Answer(reply, answer));
        };
        if let Some(ending) = self.batch.tasks[position].state.ending() {
            let message = format!("task {task} is over: {}", ending.outcome());
            let answer = refused("task_over", &message);
            return self.outbox.push(Effect::Answer(reply, answer));
        }
        self.decide(Message::CancelTask(task.clone()));
        self.answers.waiting.push((Awaited::TaskOver(task), reply));
    }

    /// Answers whoever waited for what is so by now.
    pub(super) fn answer_what_is_done(&mut self) {
        if self.answers.waiting.is_empty() {
            return;
        }
        for (awaited, reply) in std::mem::take(&mut self.answers.waiting) {
            let outcome = match &awaited {
                Awaited::BatchOver => {
                    let status = &self.batch.status;
                    status
                        .is_over()
                        .then(|| format!("the batch is {}", status.as_str()))
                }
                Awaited::TaskOver(task) => {
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
