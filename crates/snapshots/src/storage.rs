//! Where packs are kept, and how that is written.

use std::{fmt, path::PathBuf, sync::Arc};

use object_store::{ObjectStore, prefix::PrefixStore};

use crate::{OpenError, objects};

/// A place for packs.
#[derive(Debug, Clone)]
pub enum Storage {
    /// A directory of this machine.
    Directory(PathBuf),
    /// A bucket.
    S3(S3),
}

/// A bucket of an S3-compatible store.
#[derive(Clone)]
pub struct S3 {
    /// Its name.
    pub bucket: String,
    /// Put before every name; may be empty.
    pub prefix: String,
    /// Where the store is; Amazon's own if not given.
    pub endpoint: Option<String>,
    /// Its region.
    pub region: String,
    /// Who we are.
    pub access_key_id: String,
    /// The key to it.
    pub secret_access_key: String,
}

/// Who we are to a store, and the key to it.
#[derive(Clone)]
pub struct S3Keys {
    /// Who we are.
    pub access_key_id: String,
    /// The key.
    pub secret_access_key: String,
}

/// A URL that names no storage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StorageUrlError {
    /// It is of another form.
    #[error("a storage is `file:PATH` or `s3://BUCKET/PREFIX?region=REGION&endpoint=URL`")]
    Form,
    /// The bucket has a key, and it was not given.
    #[error("there are no access keys for the bucket `{bucket}`")]
    NoKeys {
        /// Which.
        bucket: String,
    },
}

impl Storage {
    /// Opens it for something else that is to be kept there, under a name of its own.
    pub fn beside(&self, name: &str) -> Result<Arc<dyn ObjectStore>, OpenError> {
        Ok(Arc::new(PrefixStore::new(objects::open(self)?, name)))
    }

    /// Reads `file:PATH`, or `s3://BUCKET/PREFIX?region=REGION&endpoint=URL` of which all but the bucket may be left out.
    pub fn from_url(url: &str, keys: Option<S3Keys>) -> Result<Self, StorageUrlError> {
        if let Some(path) = url.strip_prefix("file://").or(url.strip_prefix("file:")) {
            return if path.is_empty() {
                Err(StorageUrlError::Form)
            } else {
                Ok(Storage::Directory(path.into()))
            };
        }
        let rest = url.strip_prefix("s3://").ok_or(StorageUrlError::Form)?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if bucket.is_empty() || !bucket.chars().all(is_name) {
            return Err(StorageUrlError::Form);
        }
        let (mut region, mut endpoint) = ("us-east-1".to_owned(), None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("region", value)) => region = value.to_owned(),
                Some(("endpoint", value)) => endpoint = Some(value.to_owned()),
                _ => return Err(StorageUrlError::Form),
            }
        }
        let keys = keys.ok_or_else(|| StorageUrlError::NoKeys { bucket: bucket.to_owned() })?;
        Ok(Storage::S3(S3 {
            bucket: bucket.to_owned(),
            prefix: prefix.trim_matches('/').to_owned(),
            endpoint,
            region,
            access_key_id: keys.access_key_id,
            secret_access_key: keys.secret_access_key,
        }))
    }
}

/// The key is nobody's business.
impl fmt::Debug for S3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let S3 { bucket, prefix, endpoint, region, .. } = self;
        f.debug_struct("S3")
            .field("bucket", bucket)
            .field("prefix", prefix)
            .field("endpoint", endpoint)
            .field("region", region)
            .finish_non_exhaustive()
    }
}

/// Likewise.
impl fmt::Debug for S3Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("S3Keys").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{S3Keys, Storage, StorageUrlError};

    fn keys() -> Option<S3Keys> {
        Some(S3Keys { access_key_id: "me".to_owned(), secret_access_key: "hidden".to_owned() })
    }

    #[test]
    fn a_url_names_a_directory_or_a_bucket() {
        let shown = |url| format!("{:?}", Storage::from_url(url, keys()).expect("a storage"));
        assert_eq!(shown("file:/var/trees"), r#"Directory("/var/trees")"#);
        let bucket = shown("s3://b/some/where/?region=eu-1&endpoint=http://127.0.0.1:9000");
        let expect = r#"S3(S3 { bucket: "b", prefix: "some/where", endpoint: Some("http://127.0.0.1:9000"), region: "eu-1", .. })"#;
        assert_eq!(bucket, expect, "and no key");
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for url in
            ["", "file:", "s3://", "s3:///x", "s3://a b", "s3://b?colour=red", "http://b", "/var/trees"]
        {
            assert_eq!(Storage::from_url(url, keys()).err(), Some(StorageUrlError::Form), "{url}");
        }
        let missing = Storage::from_url("s3://b", None).err();
        assert_eq!(missing, Some(StorageUrlError::NoKeys { bucket: "b".to_owned() }));
    }
}
