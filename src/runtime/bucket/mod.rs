//! The bucket of compaction, in an object store: a local directory, memory, or whatever else `object_store` reaches.
//!
//! One effect is one operation. What its outcome says is what is known:
//!
//! - A read that fails, takes too long or finds what cannot be read is `Failed`; only the store's own word that there
//!   is no such object is `Absent`.
//! - A write is `Failed` only if the store turned it down before it began. Any other error, and a time-out, is
//!   `Unknown`: the request may have been carried out, or may yet be.

mod form;
mod path;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, PutPayload};
use tokio::time::timeout;

use crate::compaction::object::{Body, Key, Prefix};
use crate::compaction::{Effect, Outcome};

pub use form::{FORMAT, Unreadable};
pub use path::{folder_of, key_at, path_of};

/// A bucket.
#[derive(Clone, Debug)]
pub struct Bucket {
    store: Arc<dyn ObjectStore>,
    time_limit: Duration,
}

impl Bucket {
    /// A bucket in this store. An operation that takes longer than `time_limit` is given up; whether it is carried out
    /// after all is then not known.
    #[must_use]
    pub fn new(store: Arc<dyn ObjectStore>, time_limit: Duration) -> Self {
        Self { store, time_limit }
    }

    /// A bucket in a local directory, which has to be there. What is written is on the disk when it is confirmed.
    ///
    /// # Errors
    ///
    /// There is no such directory.
    pub fn local(folder: &std::path::Path, time_limit: Duration) -> Result<Self, Error> {
        let store = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
        Ok(Self::new(Arc::new(store), time_limit))
    }

    /// Carries out an operation on one object, or a listing; `None` for an effect that is not one. The data of a block
    /// are written with [`Bucket::put_data`].
    pub async fn carry_out(&self, effect: &Effect) -> Option<Outcome> {
        match effect {
            Effect::List(prefix) => Some(self.list(*prefix).await),
            Effect::Get(key) => Some(self.get(*key).await),
            Effect::Exists(key) => Some(self.exists(*key).await),
            Effect::Put(_, Body::Data) | Effect::Merge(_) | Effect::Wait(_) => None,
            Effect::Put(key, body) => Some(match form::write(body) {
                Ok(bytes) => self.put_data(*key, bytes).await,
                Err(_) => Outcome::Failed,
            }),
            Effect::Delete(key) => Some(self.delete(*key).await),
        }
    }

    /// Writes an object, whatever was there.
    pub async fn put_data(&self, key: Key, bytes: Bytes) -> Outcome {
        let path = path_of(key);
        let put = self.store.put(&path, PutPayload::from_bytes(bytes));
        written(timeout(self.time_limit, put).await.map(|done| done.map(|_| ())))
    }

    async fn delete(&self, key: Key) -> Outcome {
        let path = path_of(key);
        let done = timeout(self.time_limit, self.store.delete(&path)).await;
        match done {
            // That it does not exist is no error.
            Ok(Err(Error::NotFound { .. })) => Outcome::Applied,
            done => written(done),
        }
    }

    async fn get(&self, key: Key) -> Outcome {
        let path = path_of(key);
        let read = async {
            match key {
                // The protocol does not look inside.
                Key::Chunks(_) | Key::Index(_) => {
                    self.store.head(&path).await.map(|_| Bytes::new())
                }
                _ => self.store.get(&path).await?.bytes().await,
            }
        };
        match timeout(self.time_limit, read).await {
            Ok(Ok(bytes)) => match form::read(key, &bytes) {
                Ok(body) => Outcome::Found(body),
                Err(unreadable) => {
                    tracing::error!(%path, %unreadable, "an object cannot be read");
                    Outcome::Failed
                }
            },
            Ok(Err(Error::NotFound { .. })) => Outcome::Absent,
            Ok(Err(error)) => failed_read(&error),
            Err(_) => Outcome::Failed,
        }
    }

    async fn exists(&self, key: Key) -> Outcome {
        let path = path_of(key);
        match timeout(self.time_limit, self.store.head(&path)).await {
            Ok(Ok(_)) => Outcome::Exists,
            Ok(Err(Error::NotFound { .. })) => Outcome::Absent,
            Ok(Err(error)) => failed_read(&error),
            Err(_) => Outcome::Failed,
        }
    }

    /// Keys ascending. Objects that are none of the protocol's are passed over.
    async fn list(&self, prefix: Prefix) -> Outcome {
        let folder = folder_of(prefix);
        let listing = async {
            let objects = self.store.list(folder.as_ref()).map_ok(|object| object.location);
            objects.try_collect::<Vec<Path>>().await
        };
        match timeout(self.time_limit, listing).await {
            Ok(Ok(paths)) => {
                let mut keys: Vec<_> = paths.iter().filter_map(key_at).collect();
                keys.retain(|key| path::is_beneath(*key, prefix));
                keys.sort_unstable();
                Outcome::Listed(keys)
            }
            Ok(Err(error)) => failed_read(&error),
            Err(_) => Outcome::Failed,
        }
    }
}

fn failed_read(error: &Error) -> Outcome {
    tracing::warn!(%error, "a read failed");
    Outcome::Failed
}

type Timed = Result<Result<(), Error>, tokio::time::error::Elapsed>;

fn written(done: Timed) -> Outcome {
    match done {
        Ok(Ok(())) => Outcome::Applied,
        Ok(Err(error)) => {
            tracing::warn!(%error, "a write failed");
            if is_turned_down(&error) { Outcome::Failed } else { Outcome::Unknown }
        }
        Err(_) => Outcome::Unknown,
    }
}

/// Whether an error says that a write was turned down before it began.
fn is_turned_down(error: &Error) -> bool {
    matches!(
        error,
        Error::InvalidPath { .. }
            | Error::NotSupported { .. }
            | Error::NotImplemented { .. }
            | Error::PermissionDenied { .. }
            | Error::Unauthenticated { .. }
            | Error::UnknownConfigurationKey { .. }
    )
}
