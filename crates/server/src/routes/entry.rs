//! How a browser gets in: a link that works once, exchanged for a pass.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{ErrorBody, Refusal};
use crate::app::App;
use crate::connections::LocalAddress;
use crate::door::opener;
use crate::door::proof::is_nonce;
use crate::input::{Body, QueryParams};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(enter))
        .routes(routes!(link))
        .routes(routes!(prove))
}

/// The code of a link.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Entering {
    /// The value of `#enter=` in the link.
    code: String,
}

/// A pass that signs a browser in.
#[derive(Debug, Serialize, ToSchema)]
struct Pass {
    /// Sent as `Authorization: Bearer` by the page that requested it; valid until the server stops, for at most 30
    /// days.
    pass: String,
}

/// A link that signs one browser in.
#[derive(Debug, Serialize, ToSchema)]
struct Link {
    /// The path to append to the server's address.
    #[schema(example = "/#enter=6f1c")]
    path: String,
}

/// Exchanges the code of a link for a pass
///
/// The page at `/` does this. It works once, and only from that page.
#[utoipa::path(post, path = "/api/enter", operation_id = "enter", tag = "server", security(()), request_body = Entering,
    responses(
        (status = 200, body = Pass),
        (status = 401, description = "the link was already used or has expired", body = ErrorBody),
    ))]
async fn enter(
    State(app): State<App>,
    Body(entering): Body<Entering>,
) -> Result<Json<Pass>, Refusal> {
    let exchanged = app.door.exchange(&entering.code);
    let pass = exchanged.ok_or_else(|| {
        Refusal::new(
            StatusCode::UNAUTHORIZED,
            "bad_link",
            "this link was already used or has expired",
            "`pleach serve` prints a new one",
        )
    })?;
    opener::remove(app.state.path(), &entering.code);
    Ok(Json(Pass { pass }))
}

/// Creates a link that signs one browser in
#[utoipa::path(post, path = "/api/links", operation_id = "makeLink", tag = "server",
    responses((status = 201, body = Link)))]
async fn link(State(app): State<App>) -> (StatusCode, Json<Link>) {
    let path = format!("/#enter={}", app.door.links.issue());
    (StatusCode::CREATED, Json(Link { path }))
}

/// A word to prove the token with.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Question {
    /// 1 to 128 random letters and digits; use new ones for each request.
    #[param(min_length = 1, max_length = 128, pattern = "^[0-9A-Za-z]+$")]
    nonce: String,
}

/// A proof that the server knows the token.
#[derive(Debug, Serialize, ToSchema)]
struct Proof {
    /// HMAC-SHA-256 with the token as its key, in hexadecimal digits, over `proof of a server at ADDRESS NONCE`.
    proof: String,
}

/// Proves that the server knows the token; needs no token
///
/// A program can check this before it sends the token. ADDRESS is the server's end of the connection, such as
/// `127.0.0.1:3001`.
#[utoipa::path(get, path = "/api/proof", operation_id = "prove", tag = "server", security(()), params(Question),
    responses((status = 200, body = Proof)))]
async fn prove(
    State(app): State<App>,
    Extension(LocalAddress(address)): Extension<LocalAddress>,
    QueryParams(question): QueryParams<Question>,
) -> Result<Json<Proof>, Refusal> {
    if !is_nonce(&question.nonce) {
        return Err(Refusal::field(
            StatusCode::BAD_REQUEST,
            "nonce",
            "must be 1 to 128 letters and digits",
            "use a new random value for each request",
        ));
    }
    let proof = app.door.prove(&question.nonce, address);
    Ok(Json(Proof { proof }))
}
