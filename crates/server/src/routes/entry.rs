//! How a browser gets in: a link that works once, exchanged for a cookie.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::input::Body;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(enter))
        .routes(routes!(link))
}

/// The code of a link.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Entering {
    /// What stands behind `#enter=` in the link.
    code: String,
}

/// A link that lets one browser in.
#[derive(Debug, Serialize, ToSchema)]
struct Link {
    /// What to put behind the address of the server.
    #[schema(example = "/#enter=6f1c")]
    path: String,
}

/// Exchanges the code of a link for a cookie
///
/// The page at `/` does this; it works once, and only from that page.
#[utoipa::path(post, path = "/api/enter", operation_id = "enter", tag = "server", security(()), request_body = Entering,
    responses(
        (status = 204, description = "the answer sets the cookie"),
        (status = 401, description = "the link was used before, or is too old", body = ErrorBody),
    ))]
async fn enter(
    State(app): State<App>,
    Body(entering): Body<Entering>,
) -> Result<(StatusCode, [(HeaderName, HeaderValue); 1]), Refusal> {
    let cookie = app.door.exchange(&entering.code).ok_or_else(|| {
        Refusal::new(
            StatusCode::UNAUTHORIZED,
            "bad_link",
            "this link was used before, or is too old",
            "`pleach serve` prints a new one",
        )
    })?;
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]))
}

/// Makes a link that lets one browser in
#[utoipa::path(post, path = "/api/links", operation_id = "makeLink", tag = "server",
    responses((status = 201, body = Link)))]
async fn link(State(app): State<App>) -> (StatusCode, Json<Link>) {
    let path = format!("/#enter={}", app.door.links.issue());
    (StatusCode::CREATED, Json(Link { path }))
}
