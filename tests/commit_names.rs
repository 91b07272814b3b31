//! Names of consumed segments and of temporary uploads, against upstream's own cases (`data/`, facts of Pinot's unit
//! tests) and against what they leave open.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use surehold::commit::name::{NameError, SegmentName};
use surehold::commit::temporary;

const MINUTE_MS: u64 = 60_000;
/// 9999-12-31T23:59Z.
const LAST_MINUTE_MS: u64 = 253_402_300_740_000;

fn cases() -> Vec<Value> {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/pinot-llc-segment-name.json");
    let text = std::fs::read_to_string(path).expect("the data is beside the tests");
    let data: Value = serde_json::from_str(&text).expect("the data is JSON");
    data["cases"].as_array().expect("there are cases").clone()
}

fn number(value: &Value) -> u32 {
    value.as_u64().and_then(|number| number.try_into().ok()).expect("a small number")
}

/// The name that a case's fields describe; of one time where the case names none.
fn built(fields: &Value) -> SegmentName {
    let table = fields["table"].as_str().expect("a table");
    let time_ms = fields["time_ms"].as_u64().unwrap_or(0);
    let name =
        SegmentName::new(table, number(&fields["partition"]), number(&fields["sequence"]), time_ms);
    name.expect("it is a name")
}

fn parsed(text: &Value) -> SegmentName {
    text.as_str().expect("a name").parse().expect("it is a name")
}

fn run(case: &Value) {
    let id = &case["id"];
    let text = |field: &str| case[field].as_str().expect("a text");
    match case["op"].as_str().expect("a case has an op") {
        "build" => {
            let name = built(case);
            assert_eq!(name.to_string(), text("expected_name"), "{id}");
            assert_eq!(parsed(&case["expected_name"]), name, "{id}");
            if let Some(is) = case["is_llc"].as_bool() {
                assert_eq!(SegmentName::looks_like_one(&name.to_string()), is, "{id}");
            }
            if let Some(creation) = case["expected_creation_text"].as_str() {
                assert_eq!(name.creation_text(), creation, "{id}");
                assert_eq!(Some(name.created_ms()), case["expected_creation_ms"].as_u64(), "{id}");
            }
        }
        "parse" => {
            let (name, expected) = (parsed(&case["name"]), &case["expected"]);
            assert_eq!(name.table(), expected["table"], "{id}");
            assert_eq!(name.partition(), number(&expected["partition"]), "{id}");
            assert_eq!(name.sequence(), number(&expected["sequence"]), "{id}");
            assert_eq!(name.creation_text(), expected["creation_text"], "{id}");
            assert_eq!(name.created_ms(), expected["creation_ms"].as_u64().expect("ms"), "{id}");
            assert_eq!(name.to_string(), text("name"), "{id}");
        }
        "equal" => {
            assert_eq!(built(&case["a"]) == parsed(&case["b_name"]), case["expected"], "{id}");
        }
        "is_llc" => {
            assert_eq!(SegmentName::looks_like_one(text("name")), case["expected"], "{id}");
        }
        "compare" => {
            let order = built(&case["a"]).compare(&built(&case["b"]));
            let expected = match case["expected_sign"].as_i64() {
                None => Err(NameError::OtherTable),
                Some(sign) => Ok(sign.cmp(&0)),
            };
            assert_eq!(order, expected, "{id}");
        }
        "sort" => {
            let of = |pair: &Value| SegmentName::new("t", number(&pair[0]), number(&pair[1]), 0);
            let all = |field: &str| -> Vec<_> {
                let pairs = case[field].as_array().expect("pairs");
                pairs.iter().map(|pair| of(pair).expect("it is a name")).collect()
            };
            let mut names = all("input");
            names.sort_by(|a, b| a.compare(b).expect("they are of one table"));
            assert_eq!(names, all("expected"), "{id}");
        }
        "tmp_prefix" => assert_eq!(temporary::prefix(text("segment")), text("expected"), "{id}"),
        "tmp_name_starts_with_prefix" => {
            let name = temporary::name(text("segment"), 7);
            let starts = name.starts_with(&temporary::prefix(text("segment")));
            assert_eq!(starts, case["expected"], "{id}");
            assert!(temporary::is_one(&name), "{id}");
        }
        "is_tmp_file" => assert_eq!(temporary::is_one(text("path")), case["expected"], "{id}"),
        other => panic!("nothing is known of {other}"),
    }
}

#[test]
fn names_are_as_upstream_has_them() {
    let cases = cases();
    let mut ops = BTreeMap::<_, usize>::new();
    for case in &cases {
        *ops.entry(case["op"].as_str().expect("a case has an op")).or_default() += 1;
        run(case);
    }
    let expected = BTreeMap::from([
        ("build", 2),
        ("parse", 1),
        ("equal", 1),
        ("is_llc", 1),
        ("compare", 5),
        ("sort", 1),
        ("tmp_prefix", 1),
        ("tmp_name_starts_with_prefix", 1),
        ("is_tmp_file", 4),
    ]);
    assert_eq!(ops, expected);
}

#[test]
fn what_is_no_name_is_said() {
    let refused = [
        ("", NameError::Parts(1)),
        ("t__4__27", NameError::Parts(3)),
        ("t__4__27__20160617T2150Z__x", NameError::Parts(5)),
        ("a__abc__1__3__4__54__g__gg___h", NameError::Parts(9)),
        ("__4__27__20160617T2150Z", NameError::Table),
        ("t___4__27__20160617T2150Z", NameError::Partition),
        ("t____27__20160617T2150Z", NameError::Partition),
        ("t__-4__27__20160617T2150Z", NameError::Partition),
        ("t__+4__27__20160617T2150Z", NameError::Partition),
        ("t__04__27__20160617T2150Z", NameError::Partition),
        ("t__4294967296__27__20160617T2150Z", NameError::Partition),
        ("t__\u{664}__27__20160617T2150Z", NameError::Partition),
        ("t__4__x__20160617T2150Z", NameError::Sequence),
        ("t__4__00__20160617T2150Z", NameError::Sequence),
        ("t__4__27__12345Z", NameError::Time),
        ("t__4__27__20160617T2150", NameError::Time),
        ("t__4__27__20160617 2150Z", NameError::Time),
        ("t__4__27__2016061T72150Z", NameError::Time),
        ("t__4__27__20161317T2150Z", NameError::Time),
        ("t__4__27__20160017T2150Z", NameError::Time),
        ("t__4__27__20160631T2150Z", NameError::Time),
        ("t__4__27__20160600T2150Z", NameError::Time),
        ("t__4__27__20150229T2150Z", NameError::Time),
        ("t__4__27__21000229T2150Z", NameError::Time),
        ("t__4__27__20160617T2460Z", NameError::Time),
        ("t__4__27__20160617T2260Z", NameError::Time),
        ("t__4__27__19691231T2359Z", NameError::Time),
        ("t__4__27__+0160617T2150Z", NameError::Time),
    ];
    for (text, error) in refused {
        assert_eq!(text.parse::<SegmentName>(), Err(error), "{text}");
    }
    for table in ["", "a__b", "a_", "_", "__"] {
        assert_eq!(SegmentName::new(table, 0, 0, 0), Err(NameError::Table), "{table}");
    }
    let after_all = SegmentName::new("t", 0, 0, LAST_MINUTE_MS + MINUTE_MS);
    assert_eq!(after_all, Err(NameError::Time));
    assert_eq!(SegmentName::new("t", 0, 0, u64::MAX), Err(NameError::Time));
}

/// Every day from 1970 to 9999 has a name of its own, which is read back as it was.
#[test]
fn every_day_is_named_and_read_back() {
    let mut before = String::new();
    let mut days = 0;
    for time_ms in (0..=LAST_MINUTE_MS).step_by(24 * 60 * 60_000) {
        let minute_ms = (days % (24 * 60)) * MINUTE_MS;
        let name = SegmentName::new("a_b", 4, 27, time_ms + minute_ms).expect("it is a name");
        let text = name.to_string();
        assert!(before < text, "{before} comes before {text}");
        assert_eq!(name.created_ms(), time_ms + minute_ms);
        assert_eq!(text.parse(), Ok(name));
        before = text;
        days += 1;
    }
    assert_eq!((days, before.as_str()), (2_932_897, "a_b__4__27__99991231T1736Z"));
    let leap = SegmentName::new("t", 0, 0, 951_782_400_000).expect("it is a name");
    assert_eq!(leap.creation_text(), "20000229T0000Z");
    let last = SegmentName::new("t", 0, 0, LAST_MINUTE_MS).expect("it is a name");
    assert_eq!(last.creation_text(), "99991231T2359Z");
}

/// C8: two names of one sequence are two segments, and neither comes first.
#[test]
fn names_of_different_minutes_differ_without_an_order() {
    let one = SegmentName::new("t", 4, 27, 0).expect("it is a name");
    let same_minute = SegmentName::new("t", 4, 27, MINUTE_MS - 1).expect("it is a name");
    let other = SegmentName::new("t", 4, 27, MINUTE_MS).expect("it is a name");
    assert_eq!(one, same_minute);
    assert_ne!(one, other);
    assert_eq!(one.compare(&other), Ok(Ordering::Equal));
}

#[test]
fn only_whole_uuids_make_a_temporary_name() {
    assert_eq!(temporary::name("s", 7), "s.tmp.00000000-0000-0000-0000-000000000007");
    assert_eq!(temporary::name("s", u128::MAX), "s.tmp.ffffffff-ffff-ffff-ffff-ffffffffffff");
    for (path, is) in [
        ("s.tmp.x.tmp.550e8400-e29b-41d4-a716-446655440000", true),
        ("s.tmp.550E8400-E29B-41D4-A716-446655440000", true),
        ("s.tmp.550e8400-e29b-41d4-a716-446655440000-", false),
        ("s.tmp.550e8400-e29b-41d4-a716-44665544000", false),
        ("s.tmp.550e8400-e29b-41d4-a716-44665544000g", false),
        ("s.tmp.550e8400e29b41d4a716446655440000", false),
        ("s550e8400-e29b-41d4-a716-446655440000", false),
        ("", false),
    ] {
        assert_eq!(temporary::is_one(path), is, "{path}");
    }
}
