//! The router, made from the table.

use axum::{
    Router,
    extract::Request,
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use tower::util::option_layer;
use warren_domain::ErrorCode;
use warren_env::TaskKind;
use warren_wire::{Method, ROUTES};

use crate::{
    choke, compress, cors,
    deps::{App, Deps, Shared},
    edge,
    failure::Failure,
    page, registry, socket,
};

/// All routes of the table, behind the edge and the choke point.
pub fn router(deps: Deps) -> Router {
    let app = Shared::new(deps);
    let gateway = app.gateway().clone();
    // Streams that are open end with their tokens.
    app.deps.tasks.spawn(TaskKind::Housekeeping, async move { gateway.watch_tokens().await });
    let mut router = Router::new();
    let fallback = app.clone();
    for route in ROUTES {
        let handler = registry::handler(route.name);
        let app = app.clone();
        let answer = move |request: Request| {
            let is_compressed = compress::is_wanted(request.method(), request.headers());
            let answer = choke::answer(app.clone(), route, handler, request);
            async move {
                let response = answer.await;
                if is_compressed { compress::compressed(response).await } else { response }
            }
        };
        router = router.route(route.path, on(filter(route.method), answer));
    }
    router
        .fallback(move |request| no_such_route(fallback.clone(), request))
        .method_not_allowed_fallback(no_such_method)
        // A fallback whose state is given is made once; one that waits for it would be made anew, with a new and empty list
        // of sockets, for each request.
        .with_state(())
        // Inside of the edge, which checks `Host` and `Origin` and names requests.
        .layer(socket::layer(&app))
        // Outside of the sockets: pages of other origins may use them too.
        .layer(option_layer(cors::layer(app.hosts.origins())))
        .layer(middleware::from_fn_with_state(app, edge::pass))
}

fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}

/// A place of the page, if a browser looks for one; the page itself knows its places.
async fn no_such_route(app: App, request: Request) -> Response {
    let path = request.uri().path();
    if page::is_visit(&request) {
        return page::document(page::status_of(path), request.headers(), &app.deps.options.preview_frames);
    }
    Failure::new(ErrorCode::NotFound, format!("there is no route `{}`", request.uri().path()))
        .hint("see `/openapi.json`")
        .into_response()
}

async fn no_such_method(request: Request) -> Failure {
    let (method, path) = (request.method(), request.uri().path());
    Failure::new(ErrorCode::MethodNotAllowed, format!("`{path}` does not support {method}"))
        .hint("the `Allow` header lists the supported methods")
}
