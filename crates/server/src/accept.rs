//! Which of a route's forms of answer the client wants.

use axum::http::{HeaderMap, header};
use warren_domain::ErrorCode;
use warren_wire::{Media, Route};

use crate::failure::Failure;

/// The form the client likes best; the first of the row if it likes several as much.
pub(crate) fn negotiate(route: &Route, headers: &HeaderMap) -> Result<Media, Failure> {
    let mut forms = route.answers.iter().map(|answer| answer.media);
    let default = route.answers.first().map_or(Media::Nothing, |answer| answer.media);
    let wishes = wishes(headers);
    // Whoever gets no body, or wishes for nothing in particular, is content.
    if wishes.is_empty()
        || forms.clone().any(|form| matches!(form, Media::Nothing | Media::File | Media::Archive))
    {
        return Ok(default);
    }
    let mut best: Option<(Liking, Media)> = None;
    for form in forms.by_ref() {
        let liking = form.essence().and_then(|essence| liking(&wishes, essence));
        if let Some(liking) = liking
            && best.is_none_or(|(most, _)| liking > most)
        {
            best = Some((liking, form));
        }
    }
    best.map(|(_, form)| form).ok_or_else(|| not_acceptable(route))
}

/// How much a form is liked, in thousandths, and how exactly the wish names it.
type Liking = (u16, u8);

struct Wish {
    range: String,
    quality: u16,
}

fn wishes(headers: &HeaderMap) -> Vec<Wish> {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).filter_map(wish).collect()
}

fn wish(text: &str) -> Option<Wish> {
    let mut parts = text.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?.to_ascii_lowercase();
    let quality = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
    Some(Wish { range, quality: quality.map_or(1000, thousandths) })
}

fn thousandths(text: &str) -> u16 {
    let quality = text.parse::<f32>().unwrap_or(0.0).clamp(0.0, 1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between 0 and 1000")]
    let thousandths = (quality * 1000.0) as u16;
    thousandths
}

/// The most exact wish about a form decides; `None` if it is not wanted at all.
fn liking(wishes: &[Wish], essence: &str) -> Option<Liking> {
    let family = essence.split('/').next().unwrap_or_default();
    let exactness = |range: &str| match range.split_once('/') {
        Some(("*", "*")) => Some(1),
        Some((one, "*")) if one == family => Some(2),
        _ if range == essence => Some(3),
        _ => None,
    };
    wishes
        .iter()
        .filter_map(|wish| Some((exactness(&wish.range)?, wish.quality)))
        .max()
        .filter(|(_, quality)| *quality > 0)
        .map(|(exactness, quality)| (quality, exactness))
}

fn not_acceptable(route: &Route) -> Failure {
    let forms: Vec<_> = route.answers.iter().filter_map(|answer| answer.media.essence()).collect();
    Failure::new(ErrorCode::NotAcceptable, "there is no answer in a form that `Accept` allows")
        .hint(format!("accept {}", forms.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::negotiate;
    use axum::http::{HeaderMap, HeaderValue, header};
    use warren_wire::{Media, ROUTES, RouteName};

    fn check(name: RouteName, accept: Option<&'static str>, expect: Option<Media>) {
        let route = ROUTES.iter().find(|route| route.name == name).expect("a row");
        let mut headers = HeaderMap::new();
        if let Some(accept) = accept {
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        }
        assert_eq!(negotiate(route, &headers).ok(), expect, "{name} {accept:?}");
    }

    #[test]
    fn a_reader_of_events_gets_json_unless_it_asks_for_a_stream() {
        let json = Some(Media::Json);
        let stream = Some(Media::EventStream);
        check(RouteName::EventRead, None, json);
        check(RouteName::EventRead, Some("*/*"), json);
        check(RouteName::EventRead, Some("application/json"), json);
        check(RouteName::EventRead, Some("text/event-stream"), stream);
        check(RouteName::EventRead, Some("TEXT/Event-Stream;q=0.9, application/json;q=0.1"), stream);
        check(RouteName::EventRead, Some("text/*"), stream);
        check(RouteName::EventRead, Some("*/*, text/event-stream"), stream);
        check(RouteName::EventRead, Some("text/event-stream;q=0.5, application/*"), json);
    }

    #[test]
    fn what_nobody_can_give_is_refused() {
        check(RouteName::EventRead, Some("text/html"), None);
        check(RouteName::EventRead, Some("application/json;q=0, text/html"), None);
        check(RouteName::SessionGet, Some("text/event-stream"), None);
        check(RouteName::SessionChanges, Some("application/json"), None);
    }

    #[test]
    fn an_answer_without_a_body_suits_everyone() {
        check(RouteName::SessionErase, Some("text/html"), Some(Media::Nothing));
    }
}
