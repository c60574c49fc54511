//! The one choke point: who is calling, may they, on what. What comes after it need not ask again.

mod call;
mod held;

use axum::{
    body::Body,
    extract::{FromRequestParts, RawPathParams, Request},
    http::{HeaderMap, Method, header, request::Parts},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures::future::BoxFuture;
use warren_domain::{ApprovalId, ErrorCode, ProjectId, SessionId};
use warren_env::TaskKind;
use warren_gateway::{Action, Denied, Secret, Target, Validity, authorize};
use warren_runtime::api::PreviewHost;
use warren_wire::{Access, BodyForm, CSRF_HEADER, Route, Subject};

pub(crate) use call::{Call, Caller, Credential};
pub(crate) use held::RequestId;

use self::{
    call::{Found, Parameters},
    held::Asked,
};
use crate::{
    accept, body, cookies,
    deps::App,
    failure::Failure,
    preview::{self, Visit},
    query::Query,
    respond::Answer,
};

/// Carries out one kind of request.
pub(crate) type Handler = fn(Call) -> BoxFuture<'static, Answer>;

/// Answers a request that the router has matched with its row.
pub(crate) async fn answer(app: App, route: &'static Route, handler: Handler, request: Request) -> Response {
    let mut response = enter(app, route, handler, request).await.into_response();
    response.extensions_mut().insert(route.name);
    response
}

async fn enter(app: App, route: &'static Route, handler: Handler, request: Request) -> Answer {
    let (parts, body) = request.into_parts();
    let Some(caller) = admit(&app, route, &parts).await? else {
        return carry_out(app, route, handler, parts, body, None).await;
    };
    let validity = caller.validity.clone();
    let request_id = parts.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default();
    let asked = Asked { request_id, path: parts.uri.path().to_owned() };
    let (is_safe, body) = (parts.method.is_safe(), held::request_body(body, &validity));
    let work = carry_out(app, route, handler, parts, body, Some(caller));
    held::answer(&validity, asked, is_safe, work).await
}

/// Does what was asked, for a caller that was let in.
async fn carry_out(
    app: App,
    route: &'static Route,
    handler: Handler,
    mut parts: Parts,
    body: Body,
    caller: Option<Caller>,
) -> Answer {
    let parameters = parameters(&mut parts).await?;
    let subject = match &caller {
        Some(caller) => find_subject(&app, route, caller, &parameters).await?,
        None => Found::default(),
    };
    let media = accept::negotiate(route, &parts.headers)?;
    let query = Query::parse(route, &parts.uri)?;
    let limit = route.body.and_then(|taken| taken.limit).unwrap_or(app.deps.options.body_limit);
    let (body, stream) = match route.body.map(|taken| taken.form) {
        Some(BodyForm::Json) => (body::read(&parts.headers, body, limit).await?, None),
        Some(BodyForm::Bytes | BodyForm::Multipart) => {
            (Bytes::new(), Some(body::stream(&parts.headers, body, limit)?))
        }
        None => (Bytes::new(), None),
    };
    let is_safe = parts.method.is_safe();
    let call = Call {
        app: app.clone(),
        caller,
        subject,
        parameters,
        query,
        media,
        method: parts.method,
        headers: parts.headers,
        body,
        stream: stream.into(),
    };
    if is_safe { handler(call).await } else { to_its_end(&app, handler(call)).await }
}

/// Answers a request for one of the hosts of previews. The same questions, by another door: who was let in, and may they
/// still read the session?
pub(crate) async fn answer_preview(app: App, host: PreviewHost, request: Request) -> Response {
    let options = &app.deps.options;
    let origin = options.previews.as_ref().map(|hosts| hosts.origin(host)).unwrap_or_default();
    let allowed = options.preview_origins.clone();
    let mut response = visit_preview(app, host, request).await;
    preview::keep_in(response.headers_mut(), &origin, &allowed);
    response
}

async fn visit_preview(app: App, host: PreviewHost, request: Request) -> Response {
    if request.uri().path() == preview::ENTER {
        return enter_preview(&app, host, &request).unwrap_or_else(|failure| preview::closed(&failure));
    }
    if request.uri().path() == preview::OPEN {
        // Its code alone: a body must not be held while the app starts.
        let code = code_of(&request, "link=").map(str::to_owned);
        return open_preview(&app, host, code).await.unwrap_or_else(|failure| preview::closed(&failure));
    }
    let headers = request.headers().clone();
    match admit_preview(&app, host, &headers).await {
        Ok((may_write, validity)) => {
            let request = request.map(|body| held::request_body(body, &validity));
            let (method, path) = (request.method().clone(), request.uri().path().to_owned());
            let query = request.uri().query().map(str::to_owned);
            let visit =
                Visit { app, host, may_write, validity: validity.clone(), headers, method, path, query };
            held::foreign_answer(&validity, preview::answer(visit, request), preview::closed).await
        }
        Err(failure) => preview::closed(&failure),
    }
}

/// A grant becomes a cookie of this host, and the browser goes where it was granted to go.
fn enter_preview(app: &App, host: PreviewHost, request: &Request) -> Answer {
    // Programs that only look whether a link works must not use it up.
    let code = code_of(request, "grant=")?;
    let redeemed = app.grants.redeem(&app.deps.env, app.now(), host, code)?;
    let (pass, path) = redeemed.ok_or_else(not_let_in)?;
    let is_trustworthy = app.deps.options.previews.as_ref().is_some_and(|hosts| hosts.is_trustworthy());
    preview::welcome(&pass, &path, is_trustworthy)
}

/// A link becomes a grant for the host of its artifact. What has to be started for it is started for who may write.
async fn open_preview(app: &App, host: PreviewHost, code: Result<String, Failure>) -> Answer {
    let code = code?;
    let expired = || {
        Failure::new(ErrorCode::Unauthorized, "this link has expired")
            .hint("read the artifact again: its `preview_url` is a link that works")
    };
    let link = app.grants.linked(app.now(), host.session, &code).ok_or_else(expired)?;
    let (may_write, _) = holder(app, host.session, &link.secret).await?;
    let opened = preview::open(app, host.session, link.artifact, may_write, link.secret).await?;
    preview::lead(&opened.url)
}

fn code_of<'a>(request: &'a Request, name: &str) -> Result<&'a str, Failure> {
    if request.method() != Method::GET {
        return Err(Failure::new(ErrorCode::MethodNotAllowed, "preview links accept GET only"));
    }
    let query = request.uri().query().unwrap_or_default();
    Ok(query.split('&').find_map(|pair| pair.strip_prefix(name)).unwrap_or_default())
}

/// Whether the holder of a grant may also write, and for how long.
async fn admit_preview(
    app: &App,
    host: PreviewHost,
    headers: &HeaderMap,
) -> Result<(bool, Validity), Failure> {
    let pass = preview::cookie_of(headers).ok_or_else(not_let_in)?;
    let secret = app.grants.admitted(app.now(), host, pass).ok_or_else(not_let_in)?;
    holder(app, host.session, &secret).await
}

/// Whether the holder of a token may change a session, if it may read it, and for how long.
async fn holder(app: &App, session: SessionId, secret: &Secret) -> Result<(bool, Validity), Failure> {
    let identity = app.gateway().authenticate(secret.expose()).await?;
    let record = app.runtime().sessions().session_get(session).await?.record;
    let target = Target::Project { partition: &record.partition, project: record.project_id };
    authorize(&identity, Action::Read, target).map_err(|_| not_let_in())?;
    Ok((authorize(&identity, Action::Write, target).is_ok(), app.gateway().validity(&identity)))
}

fn not_let_in() -> Failure {
    Failure::new(ErrorCode::Unauthorized, "this browser was not let in here")
        .hint("open the preview from its session")
}

/// The caller; `None` on public routes.
async fn admit(app: &App, route: &Route, parts: &Parts) -> Result<Option<Caller>, Failure> {
    let Some(action) = action(app, route.access) else { return Ok(None) };
    let caller = recognise(app, parts).await?;
    check_page(app, &caller, parts)?;
    match route.subject {
        Subject::Server => authorize(&caller.identity, action, Target::Server)?,
        Subject::Visible => authorize(&caller.identity, action, Target::Visible)?,
        // Decided as soon as the session or the project is known.
        Subject::Session | Subject::Approval | Subject::Project => {}
    }
    Ok(Some(caller))
}

/// The permission that the route requires, if any.
fn action(app: &App, access: Access) -> Option<Action> {
    match access {
        Access::Public => None,
        Access::AdminReadOrLocal if app.deps.options.is_loopback_only() => None,
        Access::AdminReadOrLocal | Access::AdminRead => Some(Action::AdminRead),
        Access::Read => Some(Action::Read),
        Access::Write => Some(Action::Write),
        Access::Admin => Some(Action::AdminWrite),
        Access::Operator => Some(Action::Operate),
    }
}

async fn recognise(app: &App, parts: &Parts) -> Result<Caller, Failure> {
    let (secret, credential) =
        match (parts.headers.get(header::AUTHORIZATION), cookies::secret(&parts.headers)) {
            (Some(value), _) => (bearer(value.to_str().unwrap_or_default())?, Credential::Token),
            (None, Some(secret)) => (secret, Credential::Cookie(secret.to_owned())),
            (None, None) => {
                return Err(Failure::new(ErrorCode::Unauthorized, "a token is needed").hint(
                    "send `Authorization: Bearer <token>`; the server printed one at its first start",
                ));
            }
        };
    let identity = app.gateway().authenticate(secret).await?;
    let secret =
        Secret::parse(secret).ok_or_else(|| Failure::new(ErrorCode::Unauthorized, "a token is needed"))?;
    let validity = app.gateway().validity(&identity);
    Ok(Caller { identity, credential, secret, validity })
}

pub(crate) fn bearer(value: &str) -> Result<&str, Failure> {
    let parts = value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    parts.map(|(_, secret)| secret.trim()).ok_or_else(|| {
        Failure::new(ErrorCode::Unauthorized, "the `Authorization` header is not `Bearer <token>`")
    })
}

/// A browser sends its cookie whoever makes it call; only a page of ours can also send the header.
fn check_page(app: &App, caller: &Caller, parts: &Parts) -> Result<(), Failure> {
    let Credential::Cookie(secret) = &caller.credential else { return Ok(()) };
    let shown = parts.headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if parts.method.is_safe() || app.gateway().csrf_matches(secret, shown) {
        return Ok(());
    }
    Err(Failure::new(ErrorCode::Forbidden, format!("`{CSRF_HEADER}` is missing or wrong"))
        .hint("copy the value of the cookie `warren_csrf` into it"))
}

async fn parameters(parts: &mut Parts) -> Result<Parameters, Failure> {
    let raw = RawPathParams::from_request_parts(parts, &()).await;
    let raw = raw.map_err(|_| Failure::bad_request("the path is not UTF-8"))?;
    // Nothing has such a name, and PostgreSQL cannot even be asked.
    if raw.iter().any(|(_, value)| value.contains('\0')) {
        return Err(Failure::bad_request("the path must not contain NUL"));
    }
    Ok(raw.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

/// What the path names, if it names something that belongs to a project.
async fn find_subject(
    app: &App,
    route: &Route,
    caller: &Caller,
    parameters: &Parameters,
) -> Result<Found, Failure> {
    match route.subject {
        Subject::Session => {
            let session = find_session(app, route, caller, parameters).await?;
            Ok(Found { session: Some(session), ..Found::default() })
        }
        Subject::Approval => {
            let approval = find_approval(app, route, caller, parameters).await?;
            Ok(Found { approval: Some(approval), ..Found::default() })
        }
        Subject::Project => {
            let project = find_project(app, route, caller, parameters).await?;
            Ok(Found { project: Some(project), ..Found::default() })
        }
        Subject::Server | Subject::Visible => Ok(Found::default()),
    }
}

/// The session the path names, if the caller may do this to it. One that is not the caller's and one that is not there
/// give the same answer.
async fn find_session(
    app: &App,
    route: &Route,
    caller: &Caller,
    parameters: &Parameters,
) -> Result<SessionId, Failure> {
    let text = parameters.get("id").map(String::as_str).unwrap_or_default();
    let session: SessionId = text.parse().map_err(|_| Failure::not_found("session", text))?;
    check_session(app, route, caller, session, || Failure::not_found("session", session)).await?;
    Ok(session)
}

/// The approval the path names, if the caller may do this to its session.
async fn find_approval(
    app: &App,
    route: &Route,
    caller: &Caller,
    parameters: &Parameters,
) -> Result<ApprovalId, Failure> {
    let text = parameters.get("approvalId").map(String::as_str).unwrap_or_default();
    let approval: ApprovalId = text.parse().map_err(|_| Failure::not_found("approval", text))?;
    let session = app.runtime().approvals().approval_get(approval).await?.session_id;
    check_session(app, route, caller, session, || Failure::not_found("approval", approval)).await?;
    Ok(approval)
}

/// The project the path names, if the caller may do this to it.
async fn find_project(
    app: &App,
    route: &Route,
    caller: &Caller,
    parameters: &Parameters,
) -> Result<ProjectId, Failure> {
    let text = parameters.get("projectId").map(String::as_str).unwrap_or_default();
    let asked = match text {
        // Where a session without a project would be made.
        "default" => None,
        id => Some(id.parse().map_err(|_| Failure::not_found("project", id))?),
    };
    let action = action(app, route.access).unwrap_or(Action::AdminWrite);
    Ok(app.gateway().project_find(&caller.identity, action, asked).await?.project_id)
}

async fn check_session(
    app: &App,
    route: &Route,
    caller: &Caller,
    session: SessionId,
    not_found: impl FnOnce() -> Failure,
) -> Result<(), Failure> {
    let record = app.runtime().sessions().session_get(session).await?.record;
    let target = Target::Project { partition: &record.partition, project: record.project_id };
    let action = action(app, route.access).unwrap_or(Action::AdminWrite);
    authorize(&caller.identity, action, target).map_err(|denied| match denied {
        Denied::NotFound => not_found(),
        Denied::ReadOnly
        | Denied::NotAdmin
        | Denied::WiderEgress
        | Denied::ProviderTools
        | Denied::NotOperator => Failure::from(denied),
    })
}

/// Writes run to completion, even if the client disconnects.
async fn to_its_end(app: &App, work: BoxFuture<'static, Answer>) -> Answer {
    match app.deps.tasks.spawn_to_end(TaskKind::Connection, work).await {
        Ok(answer) => answer,
        Err(error) => match error.try_into_panic() {
            // The edge turns it into an answer, as it does for a panic anywhere else.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => Err(Failure::internal(error)),
        },
    }
}
