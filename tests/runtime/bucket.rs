//! Buckets: every store answers as a plain map does, and what is not known is not said.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use surehold::compaction::object::{BlockId, Body, GroupId, Key, PlanId, PlanKey, Prefix};
use surehold::compaction::{Effect, Outcome};
use surehold::runtime::bucket::{Bucket, key_at, path_of};
use surehold::runtime::conformance::{Plain, operations};

const SECOND: Duration = Duration::from_secs(1);

/// What a bucket answers, one operation after the other.
async fn answers(bucket: &Bucket, operations: &[Effect]) -> Vec<Outcome> {
    let mut answers = Vec::with_capacity(operations.len());
    for effect in operations {
        let answer = match effect {
            Effect::Put(key, Body::Data) => bucket.put_data(*key, "data".into()).await,
            effect => bucket.carry_out(effect).await.unwrap(),
        };
        answers.push(answer);
    }
    answers
}

#[tokio::test]
async fn every_store_answers_as_a_plain_map() {
    for seed in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let memory = Bucket::new(Arc::new(InMemory::new()), SECOND);
        let local = Bucket::local(folder.path(), 10 * SECOND).unwrap();
        let operations = operations(seed, 400);
        let mut plain = Plain::default();
        let expected: Vec<_> = operations.iter().map(|effect| plain.answer(effect)).collect();
        for (name, found) in [
            ("memory", answers(&memory, &operations).await),
            ("local", answers(&local, &operations).await),
        ] {
            for ((effect, expected), found) in operations.iter().zip(&expected).zip(&found) {
                assert_eq!(found, expected, "seed {seed}, {name}: {effect:?}");
            }
        }
    }
}

#[test]
fn a_path_is_of_one_key_and_other_paths_of_none() {
    let plan = PlanKey { group: GroupId(5), plan: Some(PlanId(6)) };
    let keys = [Key::Plan(plan), Key::Marker(plan, 3), Key::Meta(BlockId(7)), Key::CleanerMarker];
    let paths = keys.map(|key| path_of(key).to_string());
    assert_eq!(
        paths,
        [
            "partitioned-groups/0000000005-00000000000000000000000006.json",
            "partitioned-groups/visit-marks/0000000005-00000000000000000000000006/partition-3-visit-mark.json",
            "00000000000000000000000007/meta.json",
            "markers/cleaner-visit-marker.json",
        ]
    );
    assert_eq!(paths.map(|path| key_at(&Path::from(path))), keys.map(Some));
    for other in [
        "meta.json",
        "7/meta.json",
        "00000000000000000000000007/meta.json/x",
        "0000000000000000000000000i/meta.json",
        "00000000000000000000000007/chunks/000001",
        "partitioned-groups/5.json",
        "partitioned-groups/visit-marks/0000000005/partition-03-visit-mark.json",
        "markers/00000000000000000000000007-other.json",
    ] {
        assert_eq!(key_at(&Path::from(other)), None, "{other}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_not_absent() {
    let store = Arc::new(InMemory::new());
    let bucket = Bucket::new(Arc::clone(&store) as Arc<dyn ObjectStore>, SECOND);
    let (key, other) = (Key::Meta(BlockId(1)), Key::GlobalNoCompactMark(BlockId(1)));
    let get = Effect::Get(key);
    assert_eq!(bucket.carry_out(&get).await, Some(Outcome::Absent));
    let mark = Effect::Put(other, Body::NoCompactMark);
    assert_eq!(bucket.carry_out(&mark).await, Some(Outcome::Applied));
    let of_another_kind = store.get(&path_of(other)).await.unwrap().bytes().await.unwrap();
    let version = br#"{"format":2,"body":"NoCompactMark"}"#;
    for bytes in [&b""[..], b"{", b"{\"format\":1}", &of_another_kind, version] {
        store.put(&path_of(key), PutPayload::from(bytes.to_vec())).await.unwrap();
        assert_eq!(bucket.carry_out(&get).await, Some(Outcome::Failed), "{bytes:?}");
    }
}

/// A store whose operations end like this, or do not end.
#[derive(Debug)]
struct Faulty(fn() -> Option<Error>);

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

impl Faulty {
    async fn ends<T>(&self) -> Result<T, Error> {
        match (self.0)() {
            Some(error) => Err(error),
            None => std::future::pending().await,
        }
    }
}

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(
        &self,
        _path: &Path,
        _payload: PutPayload,
        _options: PutOptions,
    ) -> Result<PutResult, Error> {
        self.ends().await
    }

    async fn put_multipart_opts(
        &self,
        _path: &Path,
        _options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>, Error> {
        self.ends().await
    }

    async fn get_opts(&self, _path: &Path, _options: GetOptions) -> Result<GetResult, Error> {
        self.ends().await
    }

    fn delete_stream(
        &self,
        _paths: BoxStream<'static, Result<Path, Error>>,
    ) -> BoxStream<'static, Result<Path, Error>> {
        let ends = Self(self.0);
        stream::once(async move { ends.ends().await }).boxed()
    }

    fn list(&self, _folder: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta, Error>> {
        let ends = Self(self.0);
        stream::once(async move { ends.ends().await }).boxed()
    }

    async fn list_with_delimiter(&self, _folder: Option<&Path>) -> Result<ListResult, Error> {
        self.ends().await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<(), Error> {
        self.ends().await
    }
}

/// How operations end, and what then comes of a write, of a deletion, and of a read, a look and a listing.
type Case = (fn() -> Option<Error>, Outcome, Outcome, [Outcome; 3]);

#[tokio::test]
async fn an_error_of_a_write_is_unknown_unless_it_was_turned_down() {
    let generic = || Some(Error::Generic { store: "faulty", source: "the reply is lost".into() });
    let refused = || Some(Error::PermissionDenied { path: "x".into(), source: "read only".into() });
    let missing = || Some(Error::NotFound { path: "x".into(), source: "no such object".into() });
    let never = || None;
    let key = Key::GlobalNoCompactMark(BlockId(1));
    let put = Effect::Put(key, Body::NoCompactMark);
    let reads = [Effect::Get(key), Effect::Exists(key), Effect::List(Prefix::Marks)];
    let cases: [Case; 4] = [
        (
            generic,
            Outcome::Unknown,
            Outcome::Unknown,
            [Outcome::Failed, Outcome::Failed, Outcome::Failed],
        ),
        (
            never,
            Outcome::Unknown,
            Outcome::Unknown,
            [Outcome::Failed, Outcome::Failed, Outcome::Failed],
        ),
        (
            refused,
            Outcome::Failed,
            Outcome::Failed,
            [Outcome::Failed, Outcome::Failed, Outcome::Failed],
        ),
        (
            missing,
            Outcome::Unknown,
            Outcome::Applied,
            [Outcome::Absent, Outcome::Absent, Outcome::Failed],
        ),
    ];
    for (ends, written, deleted, read) in cases {
        let bucket = Bucket::new(Arc::new(Faulty(ends)), Duration::from_millis(20));
        assert_eq!(bucket.carry_out(&put).await, Some(written));
        assert_eq!(
            bucket.put_data(Key::Chunks(BlockId(1)), "data".into()).await,
            bucket.carry_out(&put).await.unwrap()
        );
        assert_eq!(bucket.carry_out(&Effect::Delete(key)).await, Some(deleted));
        for (effect, read) in reads.iter().zip(read) {
            assert_eq!(bucket.carry_out(effect).await, Some(read), "{effect:?}");
        }
    }
}
