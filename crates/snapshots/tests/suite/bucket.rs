//! A place in a real S3 server, for one test.

use std::{net::SocketAddr, sync::Arc};

use futures::TryStreamExt as _;
use object_store::ObjectStore;
use warren_env::Env;
use warren_snapshots::{S3, Storage};

/// Where the test keeps its objects below its own place. Short, as that is: the server keeps what it knows of an object in a
/// file that is named after the whole key, and names of files are at most 255 bytes long.
const PREFIX: &str = "a/b";

/// A prefix of its own in the bucket of the test run.
pub(crate) struct Bucket {
    /// For whoever is tested.
    pub(crate) s3: S3,
    objects: Arc<dyn ObjectStore>,
}

impl Bucket {
    /// `None`, said aloud, where `WARREN_TEST_S3_URL` names no bucket; under `WARREN_TEST_REQUIRE` that is a failure. The
    /// URL is `http://KEY:SECRET@HOST:PORT/BUCKET`.
    #[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "the test run says so by variables")]
    pub(crate) fn open() -> Option<Self> {
        // Whoever is first installs it; it is the same one.
        _ = rustls::crypto::ring::default_provider().install_default();
        let Ok(url) = std::env::var("WARREN_TEST_S3_URL") else {
            let required = std::env::var_os("WARREN_TEST_REQUIRE").is_some();
            assert!(!required, "WARREN_TEST_REQUIRE is set, but WARREN_TEST_S3_URL is not");
            println!("skipped: WARREN_TEST_S3_URL names no bucket");
            return None;
        };
        let random = Env::system().uuid().simple().to_string();
        let place = format!("t{}", &random[random.len() - 8..]);
        let whole = parse(&url, &place).expect("a URL as `http://KEY:SECRET@HOST:PORT/BUCKET`");
        let s3 = S3 { prefix: format!("{place}/{PREFIX}"), ..whole.clone() };
        let objects = Storage::S3(whole).beside("").expect("opens");
        Some(Self { s3, objects })
    }

    /// The names of all objects of this test, as they begin after its own place.
    pub(crate) async fn names(&self) -> Vec<String> {
        let listed: Vec<_> = self.objects.list(None).try_collect().await.expect("lists");
        listed.into_iter().map(|meta| meta.location.to_string()).collect()
    }

    /// The storage of whoever is tested, as a URL of the configuration. Its keys are in [`Bucket::s3`].
    #[allow(dead_code, reason = "not every suite that has a bucket configures a server")]
    pub(crate) fn url(&self) -> String {
        self.url_at(self.address())
    }

    /// [`Bucket::url`], reached at another address.
    #[allow(dead_code, reason = "not every suite that has a bucket configures a server")]
    pub(crate) fn url_at(&self, address: SocketAddr) -> String {
        let S3 { bucket, prefix, region, .. } = &self.s3;
        format!("s3://{bucket}/{prefix}?region={region}&endpoint=http://{address}")
    }

    /// The S3 server's own address.
    #[allow(dead_code, reason = "not every suite that has a bucket configures a server")]
    pub(crate) fn address(&self) -> SocketAddr {
        let endpoint = self.s3.endpoint.as_deref().and_then(|endpoint| endpoint.strip_prefix("http://"));
        endpoint.and_then(|address| address.parse().ok()).expect("an address")
    }
}

fn parse(url: &str, prefix: &str) -> Option<S3> {
    let (keys, place) = url.strip_prefix("http://")?.split_once('@')?;
    let (access_key_id, secret_access_key) = keys.split_once(':')?;
    let (address, bucket) = place.split_once('/')?;
    Some(S3 {
        bucket: bucket.to_owned(),
        prefix: prefix.to_owned(),
        endpoint: Some(format!("http://{address}")),
        region: "us-east-1".to_owned(),
        access_key_id: access_key_id.to_owned(),
        secret_access_key: secret_access_key.to_owned(),
    })
}
