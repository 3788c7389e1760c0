//! Refuses to push to where a project never has, until a request confirms the address.

use axum::http::StatusCode;
use pleach_engine::run::Prepared;
use serde_json::json;

use crate::answer::Refusal;

/// What a request says of a push.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Push {
    /// It confirms the address.
    Confirmed,
    /// It says nothing.
    Unsaid,
}

impl Push {
    /// What the field of a request says.
    pub(super) fn of(is_confirmed: bool) -> Self {
        if is_confirmed {
            Self::Confirmed
        } else {
            Self::Unsaid
        }
    }

    /// Whether a batch may push to where it would; that a request confirms it is remembered.
    pub(super) fn check(self, prepared: &mut Prepared) -> Result<(), Refusal> {
        if self == Self::Confirmed {
            prepared.confirm_push()?;
        }
        let Some(address) = prepared.unconfirmed_push()? else {
            return Ok(());
        };
        let refusal = Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "push_unconfirmed",
            format!(
                "this project has never pushed to {address}; the first push needs confirmation"
            ),
            "show `details.address` to a person, and send `confirmPush: true` if they agree; to push nothing, set \
             `land` to `none` or `local`",
        );
        Err(refusal.details(json!({ "address": address })))
    }
}
