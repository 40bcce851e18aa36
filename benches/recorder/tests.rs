//! What a recorder keeps and what it leaves out.

use super::*;
use leaseproof_engines::ErrorKind;

#[test]
fn what_ends_outside_the_window_is_only_in_the_totals() {
    let mut recorder = Recorder::new(1, 1, Duration::from_secs(2));
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    recorder.open(at(1000), at(3000));
    for end in [500, 1500, 2500, 3500] {
        recorder.ended_at(0, at(end - 100), at(end));
        recorder.tally(0, 10, at(end));
    }
    let record = Record::merge(vec![recorder]);
    assert_eq!(record.operations(0), Tally { window: 2, all: 4 });
    assert_eq!(record.tally(0), Tally { window: 20, all: 40 });
    assert_eq!(record.series[..2], [1, 1]);
    let latency = record.latency(0).unwrap();
    assert_eq!(latency.count, 2);
    assert!((latency.p50_us - 100_000.0).abs() < 100.0, "{latency:?}");
    assert_eq!(record.unfinished, Unfinished::default(), "it began after the window");
}

#[test]
fn what_the_end_of_the_window_cuts_off_is_not_forgotten() {
    let mut recorder = Recorder::new(2, 0, Duration::from_secs(1));
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    recorder.open(at(0), at(1000));
    recorder.ended_at(0, at(10), at(500));
    recorder.ended_at(0, at(900), at(9900));
    recorder.ended_at(1, at(900), at(9900));
    recorder.ended_at(0, at(990), at(1010));
    recorder.ended_at(0, at(1000), at(1010));
    let record = Record::merge(vec![recorder]);
    assert_eq!(record.latency(0).unwrap().count, 1);
    assert_eq!(record.unfinished, Unfinished { count: 2, longest: Duration::from_secs(9) });
}

#[test]
fn the_latencies_of_processes_are_one() {
    let of = |ms: &[u64]| {
        let mut recorder = Recorder::new(1, 0, Duration::from_secs(9));
        let start = Instant::now();
        recorder.open(start, start + Duration::from_secs(9));
        for ms in ms {
            recorder.ended_at(0, start, start + Duration::from_millis(*ms));
        }
        Record::merge(vec![recorder]).latency(0)
    };
    let all = merged([of(&[1, 2, 3]), of(&[]), of(&[400])].into_iter().flatten()).unwrap();
    assert_eq!(Some(&all), of(&[1, 2, 3, 400]).as_ref());
    assert_eq!(merged([]), None);
}

#[test]
fn errors_of_several_workers_are_counted_by_code() {
    let error = |code: &str| {
        let mut error = EngineError::new("engine", "claim", ErrorKind::Retryable, "no");
        error.code = Some(code.to_owned());
        error
    };
    let mut recorders = Vec::new();
    for codes in [["40001", "1213"], ["1213", "1213"]] {
        let mut recorder = Recorder::new(1, 0, Duration::from_secs(1));
        codes.iter().for_each(|code| recorder.failed(&error(code)));
        recorders.push(recorder);
    }
    let record = Record::merge(recorders);
    assert_eq!(record.all_errors(&["1213"]), 3);
    assert_eq!(record.all_errors(&["40001", "40P01"]), 1);
}
