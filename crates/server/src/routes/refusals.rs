//! What any call may be answered instead of what it asks for, said once for all of them.

use utoipa::openapi::path::Operation;
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, Response, ResponseBuilder};

/// Whoever comes by another name or from another place.
const FOREIGN: (&str, &str) = ("403", "a foreign host or origin");
const UNKNOWN: (&str, &str) = ("401", "the token is missing or wrong");
const UNFIT: (&str, &str) = (
    "503",
    "the server is stopping or overloaded, or the machine has a problem",
);
const MALFORMED: (&str, &str) = ("400", "the request is malformed");
/// What can be wrong with a body before anybody reads it.
const OF_BODIES: [(&str, &str); 3] = [
    ("408", "the body did not arrive in time"),
    ("413", "the body is too large"),
    ("415", "the body is not JSON"),
];

/// Adds them to every call that does not say something else of them.
pub(super) fn add(document: &mut OpenApi) {
    for path in document.paths.paths.values_mut() {
        let calls = [
            &mut path.get,
            &mut path.put,
            &mut path.post,
            &mut path.patch,
            &mut path.delete,
        ];
        for call in calls.into_iter().flatten() {
            add_to(call);
        }
    }
}

fn add_to(call: &mut Operation) {
    let mut refusals = vec![FOREIGN];
    // One that says anything about security says that it wants none.
    if call.security.is_none() {
        refusals.extend([UNKNOWN, UNFIT]);
    }
    let has_body = call.request_body.is_some();
    if has_body || call.parameters.as_ref().is_some_and(|all| !all.is_empty()) {
        refusals.push(MALFORMED);
    }
    if has_body {
        refusals.extend(OF_BODIES);
    }
    for (status, description) in refusals {
        let responses = &mut call.responses.responses;
        responses
            .entry(status.to_owned())
            .or_insert_with(|| refusal(description).into());
    }
}

fn refusal(description: &str) -> Response {
    let body = Ref::from_schema_name("ErrorBody");
    let content = ContentBuilder::new().schema(Some(body)).build();
    ResponseBuilder::new()
        .description(description)
        .content("application/json", content)
        .build()
}
