//! Stub.
#![allow(missing_docs, dead_code)]
use std::path::Path;
use pleach_domain::{event::Rollback, id::TaskId};
#[derive(Debug)] pub struct BatchLock(crate::state_folder::Locked);
#[derive(Debug, thiserror::Error)] #[error("x")] pub struct OwnershipError;
impl BatchLock { pub fn take(f: &Path) -> Result<Option<Self>, OwnershipError> { Ok(crate::state_folder::try_lock(&f.join("lock")).unwrap().map(Self)) } }
pub fn is_owned(f: &Path) -> Result<bool, OwnershipError> { Ok(crate::state_folder::try_lock(&f.join("lock")).unwrap().is_none()) }
#[derive(Debug)] pub enum Request { Approve, Cancel { task: Option<TaskId>, rollback: Rollback }, Retry { tasks: Vec<TaskId> } }
#[derive(Debug)] pub enum Answer { Done { message: String }, Refused { code: String, message: String, hint: Option<String> } }
#[derive(Debug)] pub struct Reply; impl Reply { pub fn send(self, _: Answer) {} }
#[derive(Debug)] pub struct Door; impl Door { pub fn open(_: &BatchLock, _: impl Fn(Request, Reply) + Send + Sync + 'static) -> Result<Self, OwnershipError> { Ok(Self) } }
