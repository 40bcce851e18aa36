//! A history is written as it happens and read back as operations.

use leaseproof_reports::history::{
    Answer, Call, Ending, Entry, ErrorClass, HistoryError, Invocation, Moment, Operation, Return,
    Settled, read, words, write_header, write_line,
};

fn invoked(operation: u64, at_us: u64, actor: &str, call: Call) -> Entry {
    let invocation = Invocation { actor: actor.to_owned(), session: Some(7), process: None, call };
    Entry { operation, at_us, moment: Moment::Invoked(invocation) }
}

fn returned(operation: u64, at_us: u64, ending: Ending, answer: Answer) -> Entry {
    Entry { operation, at_us, moment: Moment::Returned(Return { ending, answer }) }
}

fn claim(event: &str) -> Call {
    Call::Claim { event: event.into(), token: "t".into(), now: 6_000_000_000, until: 9_000_000_000 }
}

fn lines(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_header(&mut bytes).unwrap();
    for entry in entries {
        write_line(&mut bytes, entry).unwrap();
    }
    bytes
}

const TOOK: Answer = Answer::Settled { settled: Settled::Took };

fn two_claims() -> Vec<Entry> {
    vec![
        invoked(0, 10, "A", claim("e")),
        invoked(1, 11, "B", claim("e")),
        returned(0, 20, Ending::Ok, TOOK),
        returned(
            1,
            30,
            Ending::Unknown,
            Answer::Error { class: ErrorClass::Unavailable, code: None, message: "gone".into() },
        ),
    ]
}

#[test]
fn operations_are_put_together_from_their_two_lines() {
    let operations = read(lines(&two_claims()).as_slice()).unwrap();
    let [a, b] = &operations[..] else { panic!("{operations:?}") };
    assert_eq!((a.actor(), a.invoked_us, a.ending()), ("A", 10, Ending::Ok));
    assert_eq!(a.answer(), Some(&TOOK));
    assert_eq!((b.actor(), b.ending()), ("B", Ending::Unknown));
    assert!(a.overlaps(b) && b.overlaps(a));
}

#[test]
fn what_was_cut_short_still_shows_that_it_began() {
    let mut bytes = lines(&[invoked(0, 10, "A", claim("e"))]);
    bytes.extend(br#"{"operation":0,"at_us":2"#);
    let operations = read(bytes.as_slice()).unwrap();
    assert_eq!(operations.len(), 1);
    assert_eq!(operations[0].ending(), Ending::Unknown);
    assert_eq!(operations[0].answer(), None);
}

#[test]
fn a_damaged_history_says_in_which_line() {
    let twice = lines(&[
        invoked(0, 10, "A", claim("e")),
        returned(0, 20, Ending::Ok, TOOK),
        returned(0, 21, Ending::Ok, TOOK),
    ]);
    let error = read(twice.as_slice()).unwrap_err();
    assert!(matches!(error, HistoryError::NotInvoked { line: 4, operation: 0 }), "{error}");
    let mut garbled = lines(&[]);
    garbled.extend(b"{}\n{}\n");
    assert!(matches!(read(garbled.as_slice()), Err(HistoryError::Line { line: 2, .. })));
    let newer = br#"{"history":"2.0"}"#;
    assert!(matches!(read(newer.as_slice()), Err(HistoryError::Version(_))));
}

/// Words are made from the data: another wording leaves what was done as it was.
#[test]
fn words_are_made_in_one_place() {
    let operations = read(lines(&two_claims()).as_slice()).unwrap();
    let shown: Vec<_> = operations.iter().map(words::line).collect();
    assert_eq!(
        shown,
        [
            "10–20 µs A: claim e with t at 100min until 150min → took effect",
            "11–30 µs B: claim e with t at 100min until 150min → unavailable error: gone",
        ]
    );
}

#[test]
fn every_line_is_what_the_published_schema_says() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../schema/history-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let bytes = lines(&two_claims());
    for line in String::from_utf8(bytes).unwrap().lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(validator.is_valid(&line), "{line}: {:?}", validator.validate(&line).err());
    }
    assert!(!validator.is_valid(&serde_json::json!({ "operation": "first" })));
    // An operation is data for whoever reads it.
    let operation: fn(&Operation) -> &Call = Operation::call;
    assert_eq!(operation(&read(lines(&two_claims()).as_slice()).unwrap()[0]), &claim("e"));
}
