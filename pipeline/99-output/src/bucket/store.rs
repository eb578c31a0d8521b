//! The bucket itself: asked what is below a prefix, and given files.

use super::Place;
use flowpin_disk::open_to_read;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::{
    BackoffConfig, ClientOptions, Error, MultipartUpload, ObjectStoreExt, RetryConfig,
};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// A bucket that answers, perhaps.
pub(super) struct Store {
    runtime: Runtime,
    s3: AmazonS3,
}

/// Why something was not done.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It will not be done however often it is asked: what the user has to mend.
    Refused(String),
    /// It may be done later.
    Away(String),
    /// The file that was to be put cannot be read.
    File(std::io::Error),
}

/// How long a part of an object is; at least 5 MiB, by S3's rule for all but the last.
const PART_BYTES: u64 = 8 << 20;
/// An object has 10,000 parts at most.
const PARTS_MAX: u64 = 9_000;
/// How long a connection may take to be made, and a request to be answered.
const CONNECT: Duration = Duration::from_secs(5);
const REQUEST: Duration = Duration::from_secs(60);

impl Store {
    /// A client for a bucket, with what the environment says of it: `AWS_REGION`,
    /// `AWS_ENDPOINT_URL`, credentials.
    ///
    /// # Errors
    /// What is wrong there.
    pub(super) fn open(bucket: &str) -> Result<Self, String> {
        Self::of(AmazonS3Builder::from_env(), is_plain(), bucket)
    }

    /// As [`open`](Self::open), of an environment.
    pub(super) fn of(
        environment: AmazonS3Builder,
        is_plain: bool,
        bucket: &str,
    ) -> Result<Self, String> {
        // Another part of the process may have chosen one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let options = ClientOptions::new()
            .with_connect_timeout(CONNECT)
            .with_timeout(REQUEST)
            // Nobody watches connections between two objects.
            .with_pool_idle_timeout(Duration::from_secs(5))
            .with_allow_http(is_plain);
        let retry = RetryConfig {
            backoff: BackoffConfig::default(),
            max_retries: 2,
            retry_timeout: Duration::from_secs(10),
        };
        let s3 = environment
            .with_client_options(options)
            .with_retry(retry)
            .with_bucket_name(bucket)
            .build()
            .map_err(|error| text(&innermost(&error)))?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Self { runtime, s3 })
    }

    /// Whether there is nothing below a prefix.
    pub(super) fn is_empty(&self, prefix: &str) -> Result<bool, Trouble> {
        let below = format!("{prefix}/");
        let below = (!prefix.is_empty()).then_some(below.as_str());
        let options = PaginatedListOptions {
            max_keys: Some(2),
            ..PaginatedListOptions::default()
        };
        let asked = self.s3.list_paginated(below, options);
        match self.runtime.block_on(asked) {
            // An empty object of the prefix's own name is how consoles show a folder.
            Ok(found) => {
                let mut objects = found.result.objects.iter();
                Ok(objects.all(|object| object.location.as_ref() == prefix))
            }
            Err(error) => Err(trouble(&error)),
        }
    }

    /// Puts a file: the object is there when it is whole, and not before. `moved` is told of each
    /// part.
    pub(super) fn put(
        &self,
        file: &Path,
        place: &Place,
        moved: &mut dyn FnMut(),
    ) -> Result<(), Trouble> {
        let mut open = open_to_read(file).map_err(Trouble::File)?;
        let len = open.metadata().map_err(Trouble::File)?.len();
        let key = place.key(file);
        self.runtime.block_on(async {
            if len <= PART_BYTES {
                let bytes = part(&mut open, len)?;
                let put = self.s3.put(&key, bytes.into()).await;
                return put.map(drop).map_err(|error| trouble(&error));
            }
            let upload = self.s3.put_multipart(&key).await;
            let mut upload = upload.map_err(|error| trouble(&error))?;
            let done = put_parts(upload.as_mut(), &mut open, len, moved).await;
            if done.is_err() {
                // What stays of it costs; a bucket's own rule removes what is never completed.
                let _ = upload.abort().await;
            }
            done
        })
    }
}

async fn put_parts(
    upload: &mut dyn MultipartUpload,
    file: &mut File,
    len: u64,
    moved: &mut dyn FnMut(),
) -> Result<(), Trouble> {
    let part_bytes = PART_BYTES.max(len.div_ceil(PARTS_MAX));
    let mut left = len;
    while left > 0 {
        let bytes = part(file, left.min(part_bytes))?;
        left -= bytes.len() as u64;
        let put = upload.put_part(bytes.into()).await;
        put.map_err(|error| trouble(&error))?;
        moved();
    }
    let complete = upload.complete().await;
    complete.map(drop).map_err(|error| trouble(&error))
}

/// So many bytes of a file.
fn part(file: &mut File, len: u64) -> Result<Vec<u8>, Trouble> {
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let mut bytes = vec![0; len];
    file.read_exact(&mut bytes).map_err(Trouble::File)?;
    Ok(bytes)
}

/// Whether the environment says who the user is. Otherwise a machine of Amazon's may know it.
pub(super) fn has_credentials() -> bool {
    let named = [
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_SKIP_SIGNATURE",
    ];
    named.iter().any(|name| std::env::var_os(name).is_some())
}

/// Whether the endpoint that the user names is without encryption: that is their choice then.
fn is_plain() -> bool {
    let named = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];
    let mut named = named.iter().filter_map(std::env::var_os);
    named.any(|url| url.to_string_lossy().starts_with("http://"))
}

fn trouble(error: &Error) -> Trouble {
    let inner = innermost(error);
    let (text, code) = (text(&inner), element(&inner, "Code").unwrap_or_default());
    match error {
        Error::NotFound { .. } => Trouble::Refused(NO_BUCKET.to_owned()),
        _ if code == "NoSuchBucket" => Trouble::Refused(NO_BUCKET.to_owned()),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => denied(&text),
        _ if DENIED.contains(&code) => denied(&text),
        _ => Trouble::Away(text),
    }
}

const NO_BUCKET: &str = "there is no such bucket";

/// What S3 calls it if a user may not do something, or is none.
const DENIED: [&str; 8] = [
    "AccessDenied",
    "AccountProblem",
    "AllAccessDisabled",
    "ExpiredToken",
    "InvalidAccessKeyId",
    "InvalidToken",
    "PermanentRedirect",
    "SignatureDoesNotMatch",
];

fn denied(text: &str) -> Trouble {
    Trouble::Refused(format!(
        "access is denied ({text}): check the credentials, AWS_REGION, and the rights \
         s3:ListBucket, s3:PutObject and s3:AbortMultipartUpload"
    ))
}

/// What an error says, in one line: answers of servers are documents.
fn text(inner: &str) -> String {
    let said = element(inner, "Message").or_else(|| element(inner, "Code"));
    let words: Vec<_> = said.unwrap_or(inner).split_whitespace().collect();
    words.join(" ").chars().take(TEXT_LEN_MAX).collect()
}

fn innermost(error: &Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

/// The text of an element of a document.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once('<').map(|(said, _)| said)
}

/// How much of a server's answer is repeated.
const TEXT_LEN_MAX: usize = 200;
