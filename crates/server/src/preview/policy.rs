//! What a page in a preview may reach: its own host, and what the operator allows. An agent wrote it, and it runs in the
//! browser of a person, who can reach what the sandbox cannot.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// Makes a page tell somebody else what happens on it.
const REPORTS: [HeaderName; 4] = [
    HeaderName::from_static("content-security-policy-report-only"),
    HeaderName::from_static("nel"),
    HeaderName::from_static("report-to"),
    HeaderName::from_static("reporting-endpoints"),
];

/// Adds the policy to an answer, beside what the app says itself: browsers keep to both.
pub(crate) fn keep_in(headers: &mut HeaderMap, origin: &str, allowed: &[String]) {
    REPORTS.iter().for_each(|name| drop(headers.remove(name)));
    let media = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let is_pdf = media.to_ascii_lowercase().starts_with(b"application/pdf");
    // The configuration has checked what is allowed; if it cannot be said all the same, nothing is.
    let policy = HeaderValue::from_str(&policy(origin, allowed, is_pdf));
    let policy = policy.unwrap_or(HeaderValue::from_static("default-src 'none'; sandbox"));
    headers.append(header::CONTENT_SECURITY_POLICY, policy);
    // Names that are looked up ahead can carry data out too.
    headers.insert(header::X_DNS_PREFETCH_CONTROL, HeaderValue::from_static("off"));
}

/// Everything of its own host, written however dev servers write it, and sockets there, by which they reload.
fn policy(origin: &str, allowed: &[String], is_pdf: bool) -> String {
    let socket = origin.replacen("http", "ws", 1);
    let others = allowed.iter().map(|other| format!(" {other}")).collect::<String>();
    // A new window may lead anywhere, and no policy follows it there.
    let windows = if allowed.is_empty() { "" } else { " allow-popups allow-popups-to-escape-sandbox" };
    // Browsers show no PDF in a sandbox; it has no scripts that could open anything.
    let sandbox = if is_pdf {
        String::new()
    } else {
        format!(
            "; sandbox allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-pointer-lock{windows}"
        )
    };
    format!(
        "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'{others}; \
         connect-src 'self' data: blob: {socket}{others}; frame-src 'self' data: blob:{others}; \
         form-action 'self'{others}; base-uri 'self'{sandbox}"
    )
}

#[cfg(test)]
mod tests {
    use super::keep_in;
    use axum::http::{HeaderMap, HeaderValue, header};

    const ORIGIN: &str = "https://3000-x.preview.example";

    fn kept(allowed: &[&str], said: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in said {
            headers.append(*name, HeaderValue::from_static(value));
        }
        let allowed: Vec<String> = allowed.iter().map(|one| (*one).to_owned()).collect();
        keep_in(&mut headers, ORIGIN, &allowed);
        headers
    }

    /// What each directive of our policy allows.
    fn directive(headers: &HeaderMap, name: &str) -> Vec<String> {
        let policy = headers.get_all(header::CONTENT_SECURITY_POLICY).iter().next_back().expect("a policy");
        let policy = policy.to_str().expect("text").to_owned();
        let mut directives = policy.split(';').map(str::split_ascii_whitespace);
        let found =
            directives.find_map(|mut words| (words.next() == Some(name)).then(|| words.map(str::to_owned)));
        found.unwrap_or_else(|| panic!("no {name} in {policy}")).collect()
    }

    #[test]
    fn a_page_reaches_its_own_host_and_no_other() {
        let headers = kept(&[], &[]);
        for name in ["default-src", "connect-src", "frame-src", "form-action", "base-uri"] {
            for source in directive(&headers, name) {
                let own = [
                    "'self'",
                    "data:",
                    "blob:",
                    "'unsafe-inline'",
                    "'unsafe-eval'",
                    "wss://3000-x.preview.example",
                ];
                assert!(own.contains(&source.as_str()), "{name} {source}");
            }
        }
        assert!(
            directive(&headers, "connect-src").contains(&"wss://3000-x.preview.example".to_owned()),
            "hot reload"
        );
        assert!(
            !directive(&headers, "sandbox")
                .iter()
                .any(|word| word.contains("popups") || word.contains("top"))
        );
        assert_eq!(headers["x-dns-prefetch-control"], "off");
    }

    #[test]
    fn a_pdf_is_shown_and_reaches_no_other_host_either() {
        let headers = kept(&[], &[("content-type", "application/pdf")]);
        let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert!(policy.starts_with("default-src 'self'") && !policy.contains("sandbox"), "{policy}");
    }

    #[test]
    fn what_an_operator_allows_is_reached_too() {
        let headers = kept(&["https://api.example"], &[]);
        for name in ["default-src", "connect-src", "frame-src", "form-action"] {
            assert!(directive(&headers, name).contains(&"https://api.example".to_owned()), "{name}");
        }
        assert!(directive(&headers, "sandbox").contains(&"allow-popups".to_owned()));
    }

    #[test]
    fn an_apps_own_policy_stays_and_its_reports_do_not() {
        let headers = kept(
            &[],
            &[
                ("content-security-policy", "img-src 'none'"),
                (
                    "content-security-policy-report-only",
                    "default-src 'none'; report-uri https://evil.example",
                ),
                ("reporting-endpoints", "default=\"https://evil.example\""),
                ("report-to", "{}"),
                ("nel", "{}"),
            ],
        );
        let policies: Vec<_> = headers.get_all(header::CONTENT_SECURITY_POLICY).iter().collect();
        assert_eq!((policies.len(), policies[0]), (2, &HeaderValue::from_static("img-src 'none'")));
        for name in ["content-security-policy-report-only", "reporting-endpoints", "report-to", "nel"] {
            assert_eq!(headers.get(name), None, "{name}");
        }
    }
}
