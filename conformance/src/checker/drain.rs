//! Whether a queue was drained exactly once: what went in and what was delivered, as multisets.

use std::collections::BTreeMap;
use std::fmt;

use leaseproof_engines::lease::EventId;
use leaseproof_reports::history::{Answer, Call, Ending, Operation, Settled};

/// How what was delivered differs from what was enqueued; nothing in it means exactly once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Enqueued and not delivered.
    pub lost: Vec<EventId>,
    /// Delivered more often than enqueued.
    pub doubled: Vec<EventId>,
    /// Delivered and never enqueued.
    pub invented: Vec<EventId>,
}

impl Difference {
    /// Compares what was delivered, in any order, with what was enqueued.
    pub fn between<'event>(
        enqueued: impl IntoIterator<Item = &'event EventId>,
        delivered: impl IntoIterator<Item = &'event EventId>,
    ) -> Self {
        let mut counts: BTreeMap<&EventId, (usize, usize)> = BTreeMap::new();
        for event in enqueued {
            counts.entry(event).or_default().0 += 1;
        }
        for event in delivered {
            counts.entry(event).or_default().1 += 1;
        }
        let mut difference = Self::default();
        for (event, (enqueued, delivered)) in counts {
            let list = match (enqueued, delivered) {
                (0, _) => &mut difference.invented,
                _ if delivered < enqueued => &mut difference.lost,
                _ if delivered > enqueued => &mut difference.doubled,
                _ => continue,
            };
            list.push(event.clone());
        }
        difference
    }

    /// What a history shows: the events that an enqueue took, and those that an ack took.
    ///
    /// An operation whose effect is unknown counts for neither: who drains has to ask again until it knows.
    #[must_use]
    pub fn of_history(operations: &[Operation]) -> Self {
        let (mut enqueued, mut acked) = (Vec::new(), Vec::new());
        for operation in operations.iter().filter(|one| one.ending() == Ending::Ok) {
            match (operation.call(), operation.answer()) {
                (Call::Enqueue { events }, _) => enqueued.extend(events.iter().map(EventId::new)),
                (Call::Ack { event, .. }, Some(Answer::Settled { settled: Settled::Took })) => {
                    acked.push(EventId::new(event));
                }
                _ => {}
            }
        }
        Self::between(&enqueued, &acked)
    }

    /// Whether each event was delivered exactly as often as it was enqueued.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lost, doubled, invented } = self;
        let words = [
            ("never delivered", lost),
            ("delivered more than once", doubled),
            ("delivered but not enqueued", invented),
        ];
        let line = |(how, events): &(&str, &Vec<EventId>)| {
            let named: Vec<_> = events.iter().take(3).map(ToString::to_string).collect();
            let more = if events.len() > 3 { ", …" } else { "" };
            format!("{} {how} ({}{more})", events.len(), named.join(", "))
        };
        let lines = words.iter().filter(|(_, events)| !events.is_empty()).map(line);
        formatter.write_str(&lines.collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(ids: &[&str]) -> Vec<EventId> {
        ids.iter().map(|id| EventId::new(*id)).collect()
    }

    fn difference(enqueued: &[&str], delivered: &[&str]) -> Difference {
        Difference::between(&events(enqueued), &events(delivered))
    }

    /// Two events are enqueued; one is acked, the ack of the other got no answer, and a third is acked.
    const HISTORY: &str = r#"{"history":"1.0"}
{"operation":0,"at_us":1,"invoked":{"actor":"P","call":{"kind":"enqueue","events":["a","b"]}}}
{"operation":0,"at_us":2,"returned":{"ending":"ok","answer":{"kind":"count","count":2}}}
{"operation":1,"at_us":3,"invoked":{"actor":"A","call":{"kind":"ack","event":"a","token":"t","now":5}}}
{"operation":2,"at_us":4,"invoked":{"actor":"B","call":{"kind":"ack","event":"b","token":"u","now":5}}}
{"operation":1,"at_us":5,"returned":{"ending":"ok","answer":{"kind":"settled","settled":"took"}}}
{"operation":3,"at_us":6,"invoked":{"actor":"A","call":{"kind":"ack","event":"x","token":"t","now":5}}}
{"operation":3,"at_us":7,"returned":{"ending":"ok","answer":{"kind":"settled","settled":"took"}}}
{"operation":4,"at_us":8,"invoked":{"actor":"A","call":{"kind":"ack","event":"a","token":"t","now":5}}}
{"operation":4,"at_us":9,"returned":{"ending":"ok","answer":{"kind":"settled","settled":"already"}}}
"#;

    #[test]
    fn a_history_from_a_file_is_judged_by_what_took_effect() {
        let operations = leaseproof_reports::history::read(HISTORY.as_bytes()).expect("a history");
        let expected =
            Difference { lost: events(&["b"]), invented: events(&["x"]), ..Difference::default() };
        assert_eq!(Difference::of_history(&operations), expected);
        assert!(Difference::of_history(&[]).is_none());
    }

    #[test]
    fn the_order_of_delivery_does_not_matter() {
        assert!(difference(&["a", "b", "c"], &["c", "a", "b"]).is_none());
        assert!(difference(&[], &[]).is_none());
    }

    #[test]
    fn an_event_that_was_not_delivered_is_lost() {
        let difference = difference(&["a", "b", "c"], &["a", "c"]);
        assert_eq!(difference, Difference { lost: events(&["b"]), ..Difference::default() });
        assert_eq!(difference.to_string(), "1 never delivered (b)");
    }

    #[test]
    fn an_event_that_was_delivered_twice_is_doubled() {
        let difference = difference(&["a", "b"], &["b", "a", "b"]);
        assert_eq!(difference, Difference { doubled: events(&["b"]), ..Difference::default() });
    }

    #[test]
    fn an_event_that_nobody_enqueued_is_invented_however_often_it_came() {
        let difference = difference(&["a"], &["a", "x", "x"]);
        assert_eq!(difference, Difference { invented: events(&["x"]), ..Difference::default() });
    }

    #[test]
    fn one_doubled_event_does_not_make_up_for_a_lost_one() {
        let difference = difference(&["a", "b", "c", "d", "e"], &["a", "a", "x"]);
        assert_eq!(
            difference.to_string(),
            "4 never delivered (b, c, d, …); 1 delivered more than once (a); 1 delivered but not enqueued (x)"
        );
    }

    #[test]
    fn ids_are_compared_byte_for_byte() {
        let difference = difference(&["a"], &["A"]);
        assert_eq!(difference.lost, events(&["a"]));
        assert_eq!(difference.invented, events(&["A"]));
    }
}
