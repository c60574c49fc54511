//! Query parameters, checked against the row of the route: what a handler sees is what the table promises.

use std::collections::HashMap;

use axum::{extract::Query as Pairs, http::Uri};
use uuid::Uuid;
use warren_domain::Timestamp;
use warren_wire::{QueryKind, Route};

use crate::failure::Failure;

/// The parameters of one request.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Query(HashMap<&'static str, Value>);

#[derive(Debug, PartialEq)]
enum Value {
    Text(String),
    Id(Uuid),
    Time(Timestamp),
    Number(u64),
}

impl Query {
    pub(crate) fn parse(route: &Route, uri: &Uri) -> Result<Self, Failure> {
        let Pairs(pairs) = Pairs::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| Failure::bad_request("the query is not `name=value&…` in UTF-8"))?;
        let mut found = HashMap::new();
        for (name, text) in pairs {
            let known = route.query.iter().find(|known| known.name == name);
            let known = known.ok_or_else(|| unknown(route, &name))?;
            if found.insert(known.name, value(known.name, known.kind, text)?).is_some() {
                return Err(Failure::bad_request(format!("the query names `{name}` twice")));
            }
        }
        Ok(Self(found))
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn id(&self, name: &str) -> Option<Uuid> {
        match self.0.get(name) {
            Some(Value::Id(id)) => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn time(&self, name: &str) -> Option<Timestamp> {
        match self.0.get(name) {
            Some(Value::Time(time)) => Some(*time),
            _ => None,
        }
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(Value::Number(number)) => Some(*number),
            _ => None,
        }
    }
}

fn value(name: &str, kind: QueryKind, text: String) -> Result<Value, Failure> {
    let wrong = |expected: String| {
        Failure::bad_request(format!("`{name}` is `{}`, which is not {expected}", text.escape_debug()))
    };
    match kind {
        QueryKind::Text if text.contains('\0') => Err(wrong("a text without NUL".to_owned())),
        QueryKind::Text => Ok(Value::Text(text)),
        QueryKind::Id => text.parse().map(Value::Id).map_err(|_| wrong("an id".to_owned())),
        QueryKind::Time => {
            Timestamp::parse(&text).map(Value::Time).ok_or_else(|| wrong("an RFC 3339 time".to_owned()))
        }
        QueryKind::Number(least, most) => match text.parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(Value::Number(number)),
            _ if most == u64::MAX => Err(wrong(format!("a whole number from {least}"))),
            _ => Err(wrong(format!("a whole number from {least} to {most}"))),
        },
        QueryKind::OneOf(words) if words.contains(&text.as_str()) => Ok(Value::Text(text)),
        QueryKind::OneOf(words) => Err(wrong(format!("one of `{}`", words.join("`, `")))),
    }
}

fn unknown(route: &Route, name: &str) -> Failure {
    let known: Vec<_> = route.query.iter().map(|query| query.name).collect();
    let failure = Failure::bad_request(format!("there is no parameter `{}`", name.escape_debug()));
    if known.is_empty() {
        return failure.hint("this route has no query parameters");
    }
    failure.hint(format!("use `{}`", known.join("`, `")))
}

#[cfg(test)]
mod tests {
    use super::Query;
    use axum::http::Uri;
    use warren_wire::{ROUTES, RouteName};

    fn parse(name: RouteName, query: &str) -> Result<Query, String> {
        let route = ROUTES.iter().find(|route| route.name == name).expect("a row");
        let uri: Uri = format!("/x?{query}").parse().expect("a URI");
        let told = crate::failure::Told { request_id: "", path: "" };
        Query::parse(route, &uri).map_err(|failure| failure.tell(&told).detail)
    }

    #[test]
    fn a_parameter_is_what_the_table_says() {
        let query = parse(RouteName::EventRead, "after=18446744073709551615&limit=0&wait=60").expect("fine");
        assert_eq!(query.number("after"), Some(u64::MAX));
        assert_eq!((query.number("limit"), query.number("wait")), (Some(0), Some(60)));
        let query = parse(RouteName::SessionList, "q=a%20b%26&state=running").expect("fine");
        assert_eq!((query.text("q"), query.text("state")), (Some("a b&"), Some("running")));
        assert_eq!(parse(RouteName::SessionList, ""), Ok(Query::default()));
    }

    #[test]
    fn every_other_one_is_refused_with_what_would_be_right() {
        for (name, query, expect) in [
            (RouteName::EventRead, "after=-1", "`after` is `-1`, which is not a whole number from 0"),
            (RouteName::EventRead, "after=1.5", "`after` is `1.5`, which is not a whole number from 0"),
            (
                RouteName::EventRead,
                "limit=5001",
                "`limit` is `5001`, which is not a whole number from 0 to 5000",
            ),
            (RouteName::SessionList, "limit=0", "`limit` is `0`, which is not a whole number from 1 to 500"),
            (RouteName::SessionList, "projectId=x", "`projectId` is `x`, which is not an id"),
            (
                RouteName::SessionList,
                "state=dead",
                "`state` is `dead`, which is not one of `running`, `loaded`, `sandboxed`",
            ),
            (RouteName::UsageGet, "from=yesterday", "`from` is `yesterday`, which is not an RFC 3339 time"),
            (RouteName::EventRead, "afer=1", "there is no parameter `afer`"),
            (RouteName::EventRead, "after=1&after=2", "the query names `after` twice"),
        ] {
            assert_eq!(parse(name, query), Err(expect.to_owned()));
        }
    }
}
