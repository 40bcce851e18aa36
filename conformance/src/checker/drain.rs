//! Whether a queue was drained exactly once: what went in and what was delivered, as multisets.

use std::collections::BTreeMap;
use std::fmt;

use leaseproof_engines::lease::EventId;

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
