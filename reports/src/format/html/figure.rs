//! The figures of a scenario: each a chart, its legend, and what it shows in words.

use std::collections::BTreeSet;

use super::{
    super::number::{duration_us, short, tick},
    chart::{MARKS, SERIES, Series, Style, draw, thinned},
    measured::{Group, Measured},
    scale::{Scale, into_tail},
};
use crate::{
    bench::{Metric, Nature, Repeat, words},
    stats::Estimate,
};

/// The metric with the length of a wait that was made on purpose.
const HELD: &str = "held_ms";
/// How the metrics end that say what a source of waits saw of it.
const SOURCE: &str = "_wait_ms";

/// How many times as high as the greatest mean an axis is at most.
const WIDEST: f64 = 2.5;

/// A chart with everything that a reader needs beside it.
pub(super) struct Figure {
    pub(super) title: String,
    /// What the chart shows, for those who cannot see it.
    pub(super) alternative: String,
    pub(super) svg: String,
    /// The marker, the number of the colour and the name of each series.
    pub(super) legend: Vec<(&'static str, usize, String)>,
}

/// One line of a figure before it is drawn.
struct Line {
    label: String,
    series: Series,
    words: String,
}

/// Throughput, counted work and waits along the axis of the scenario.
pub(super) fn along_axis(group: &Group<'_>) -> Vec<Figure> {
    let Some(axis) = group.axis else {
        return Vec::new();
    };
    let mut figures = Vec::new();
    for metric in charted(group) {
        let lines: Vec<Line> = group
            .lines()
            .into_iter()
            .map(|(label, cells)| metric_line(group, &metric, label, &cells))
            .filter(|line| !line.series.points.is_empty())
            .collect();
        let means = lines.iter().flat_map(|line| line.series.points.iter());
        let greatest = means.map(|(_, value)| *value).fold(0.0, f64::max);
        let bands = lines.iter().flat_map(|line| line.series.band.iter());
        // A very wide interval is cut off, so that the means can still be told apart.
        let top = bands.map(|(_, _, high)| *high).fold(greatest, f64::max).min(greatest * WIDEST);
        let x = Scale::places(group.places.iter().map(|place| super::label(place)).collect());
        let y = Scale::from_zero(top, tick);
        let unit = Metric::of(&metric).unit;
        let title = format!("{}{}", capital(&words(&metric)), of_unit(unit));
        let style = if group.is_ordered { Style::Marked } else { Style::Marks };
        figures.extend(drawn(&title, &x, &super::label(axis), &y, lines, style));
    }
    figures
}

/// What each source says of waits whose length is known, beside that length.
pub(super) fn known_waits(group: &Group<'_>) -> Vec<Figure> {
    let is_shown = group.cells.iter().any(|measured| measured.metrics.contains_key(HELD));
    let Some(axis) = group.axis.filter(|_| is_shown) else {
        return Vec::new();
    };
    let of_cells = group.cells.iter().flat_map(|measured| measured.metrics.keys());
    let sources = of_cells.filter(|name| *name == HELD || name.ends_with(SOURCE));
    let sources: BTreeSet<&String> = sources.filter(|name| !name.starts_with("lock")).collect();
    let lines: Vec<Line> = sources
        .into_iter()
        .flat_map(|source| {
            group.lines().into_iter().map(move |(label, cells)| {
                let separator = if label.is_empty() { "" } else { ", " };
                let label = format!("{}{separator}{label}", super::label(&words(source)));
                metric_line(group, source, label, &cells)
            })
        })
        .filter(|line| !line.series.points.is_empty())
        .collect();
    let tops = lines.iter().flat_map(|line| line.series.points.iter().map(|(_, value)| *value));
    let x = Scale::places(group.places.iter().map(|place| super::label(place)).collect());
    let y = Scale::from_zero(tops.fold(0.0, f64::max), tick);
    if lines.is_empty() {
        return Vec::new();
    }
    let title = "Known waits, as each source tells them, ms";
    drawn(title, &x, &super::label(axis), &y, lines, Style::Marked)
}

/// The metrics that are drawn: throughput first, then what explains it.
fn charted(group: &Group<'_>) -> Vec<String> {
    let mut names: Vec<(u8, String)> = Vec::new();
    for name in group.cells.iter().flat_map(|measured| measured.metrics.keys()) {
        let rank = match Metric::of(name).nature {
            Nature::Throughput if name == "claims_per_s" => 0,
            Nature::Counter if name.starts_with("skip") => 2,
            Nature::Counter => 3,
            _ if name.contains("wait") && name.ends_with("_per_claim") => 1,
            _ => continue,
        };
        if !names.iter().any(|(_, other)| other == name) {
            names.push((rank, name.clone()));
        }
    }
    names.sort();
    names.into_iter().map(|(_, name)| name).collect()
}

fn metric_line(group: &Group<'_>, metric: &str, label: String, cells: &[&Measured<'_>]) -> Line {
    let mut series = Series::default();
    let mut said = Vec::new();
    for measured in cells {
        let estimate = measured.metric(metric).and_then(crate::bench::Observed::estimate);
        if let (Some(place), Some(estimate)) = (group.place(measured.cell), estimate) {
            let Estimate { mean, low, high, .. } = estimate;
            series.points.push((place as f64, mean));
            series.band.push((place as f64, low.unwrap_or(mean), high.unwrap_or(mean)));
            said.push(format!("{} at {}", short(mean), group.stop(measured.cell)));
        }
    }
    Line { label, series, words: said.join(", ") }
}

/// Latencies of the operations that are drawn, seconds and workers of the cells of one line.
pub(super) fn of_line(
    group: &Group<'_>,
    cells: &[&Measured<'_>],
    is_drawn: impl Fn(&str) -> bool,
) -> Vec<Figure> {
    let mut figures = Vec::new();
    let operations: BTreeSet<&str> =
        cells.iter().flat_map(|measured| measured.spectra.keys().copied()).collect();
    for operation in operations.into_iter().filter(|operation| is_drawn(operation)) {
        figures.extend(spectrum(group, cells, operation));
    }
    figures.extend(seconds(group, cells));
    figures.extend(strip(group, cells));
    figures
}

fn spectrum(group: &Group<'_>, cells: &[&Measured<'_>], operation: &str) -> Vec<Figure> {
    let of = |measured: &&Measured<'_>| {
        let spectrum = measured.spectra.get(operation)?;
        let points = spectrum.points.iter().filter(|(_, us)| *us > 0.0);
        let points = points.map(|(quantile, us)| (into_tail(*quantile), *us)).collect();
        let said = [(0.5, "median"), (0.99, "p99")].map(|(quantile, name)| {
            Some(format!("{name} {}", duration_us(spectrum.at(quantile)?)))
        });
        let words = said.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let series = Series { points, band: Vec::new() };
        Some(Line { label: group.stop(measured.cell), series, words })
    };
    let lines: Vec<Line> = cells.iter().filter_map(of).collect();
    let us = || lines.iter().flat_map(|line| line.series.points.iter().map(|(_, us)| *us));
    let greatest = cells.iter().filter_map(|measured| measured.spectra.get(operation));
    let greatest = greatest.filter_map(|spectrum| Some(spectrum.points.last()?.0));
    let x = Scale::tail(greatest.fold(0.9, f64::max));
    let (least, most) = (us().fold(f64::INFINITY, f64::min), us().fold(0.0, f64::max));
    if most <= 0.0 {
        return Vec::new();
    }
    let y = Scale::powers(least, most, power_of_us);
    let title = format!("Latency of {}", super::label(operation));
    drawn(&title, &x, "share of operations at most this slow", &y, lines, Style::Marked)
}

fn power_of_us(us: f64) -> String {
    match us {
        _ if us >= 1_000_000.0 => format!("{:.0} s", us / 1_000_000.0),
        _ if us >= 1_000.0 => format!("{:.0} ms", us / 1_000.0),
        _ => format!("{us} µs"),
    }
}

/// Operations per second in each second of a window. Of a last one that is not whole the rate counts, or
/// every chart would end in a fall; what is too short for a rate is left out.
fn rates(repeat: &Repeat) -> Vec<f64> {
    const SHORTEST: f64 = 0.25;
    let lengths = (0..).map(|second| (repeat.seconds - f64::from(second)).min(1.0));
    let lengths = lengths.take_while(|length| *length >= SHORTEST);
    repeat.series.iter().zip(lengths).map(|(count, length)| *count as f64 / length).collect()
}

fn seconds(group: &Group<'_>, cells: &[&Measured<'_>]) -> Vec<Figure> {
    let of = |measured: &&Measured<'_>| {
        let repeats = measured.cell.repeats.iter().filter(|_| measured.cell.is_result());
        let all: Vec<Vec<f64>> = repeats.map(rates).collect();
        let longest = all.iter().map(|series| series.len()).max().filter(|longest| *longest > 1)?;
        let mean = |second: usize| {
            let values: Vec<f64> =
                all.iter().filter_map(|rates| rates.get(second).copied()).collect();
            values.iter().sum::<f64>() / values.len().max(1) as f64
        };
        let points: Vec<(f64, f64)> =
            (0..longest).map(|second| (second as f64 + 1.0, mean(second))).collect();
        let values = || points.iter().map(|(_, value)| *value);
        let words = format!(
            "{} in the first second, {} in the last, between {} and {}",
            short(points[0].1),
            short(points[longest - 1].1),
            short(values().fold(f64::INFINITY, f64::min)),
            short(values().fold(0.0, f64::max)),
        );
        let series = Series { points, band: Vec::new() };
        Some(Line { label: group.stop(measured.cell), series, words })
    };
    let lines: Vec<Line> = cells.iter().filter_map(of).collect();
    let points = || lines.iter().flat_map(|line| line.series.points.iter());
    let x = Scale::whole(points().map(|(second, _)| *second).fold(0.0, f64::max));
    let y = Scale::from_zero(points().map(|(_, value)| *value).fold(0.0, f64::max), tick);
    drawn(
        "Operations per second",
        &x,
        "second of the window, mean of repeats",
        &y,
        lines,
        Style::Line,
    )
}

/// Each worker's share of what an even split would have given it, all repeats together.
fn strip(group: &Group<'_>, cells: &[&Measured<'_>]) -> Vec<Figure> {
    let mut points = Vec::new();
    let mut said = Vec::new();
    let mut labels = Vec::new();
    for measured in cells.iter().filter(|measured| measured.cell.is_result()) {
        let shares = shares(measured);
        if shares.len() < 2 {
            continue;
        }
        let place = labels.len() as f64;
        labels.push(super::label(
            measured
                .cell
                .parameters
                .get(group.axis.unwrap_or_default())
                .map_or("all", String::as_str),
        ));
        let middle = (shares.len() - 1) as f64 / 2.0;
        let spread = |number: usize| (number as f64 - middle) / middle.max(1.0) * 0.28;
        points.extend(
            shares.iter().enumerate().map(|(number, share)| (place + spread(number), *share)),
        );
        said.push(format!(
            "{}: from {} to {}",
            group.stop(measured.cell),
            short(shares.iter().copied().fold(f64::INFINITY, f64::min)),
            short(shares.iter().copied().fold(0.0, f64::max)),
        ));
    }
    if points.is_empty() {
        return Vec::new();
    }
    let x = Scale::places(labels);
    let y = Scale::from_zero(points.iter().map(|(_, share)| *share).fold(1.0, f64::max), |share| {
        format!("{}×", tick(share))
    });
    let points = thinned(&x, &y, points.into_iter());
    let series = Series { points, band: Vec::new() };
    let line = Line {
        label: "one worker, 1× is an even share".to_owned(),
        series,
        words: said.join("; "),
    };
    let axis = super::label(group.axis.unwrap_or("cell"));
    drawn("Work of each worker", &x, &axis, &y, vec![line], Style::Points)
}

fn shares(measured: &Measured<'_>) -> Vec<f64> {
    let mut sums: Vec<f64> = Vec::new();
    for repeat in &measured.cell.repeats {
        sums.resize(sums.len().max(repeat.workers.len()), 0.0);
        for (sum, done) in sums.iter_mut().zip(&repeat.workers) {
            *sum += *done as f64;
        }
    }
    let mean = sums.iter().sum::<f64>() / sums.len().max(1) as f64;
    if mean <= 0.0 {
        return Vec::new();
    }
    sums.iter().map(|sum| sum / mean).collect()
}

/// The lines in as many charts as they need, each with a few.
fn drawn(
    title: &str,
    x: &Scale,
    x_title: &str,
    y: &Scale,
    lines: Vec<Line>,
    style: Style,
) -> Vec<Figure> {
    let charts = lines.len().div_ceil(SERIES).max(1);
    let each = lines.len().div_ceil(charts).max(1);
    let figure = |lines: &[Line]| {
        let series: Vec<Series> = lines.iter().map(|line| line.series.clone()).collect();
        let said = lines.iter().map(|line| match line.label.as_str() {
            "" => line.words.clone(),
            label => format!("{label}: {}", line.words),
        });
        let mark = |place: usize| match style {
            Style::Marked | Style::Marks => MARKS[place],
            Style::Line => "━",
            Style::Points => MARKS[0],
        };
        let legend = lines.iter().enumerate().filter(|(_, line)| !line.label.is_empty());
        Figure {
            title: title.to_owned(),
            alternative: format!("{title}. {}.", said.collect::<Vec<_>>().join("; ")),
            svg: draw(x, x_title, y, &series, style),
            legend: legend.map(|(place, line)| (mark(place), place, line.label.clone())).collect(),
        }
    };
    lines.chunks(each).map(figure).collect()
}

fn of_unit(unit: &str) -> String {
    match unit {
        "" => String::new(),
        "/s" => " per second".to_owned(),
        "/claim" => " per claim".to_owned(),
        unit => format!(", {unit}"),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    super::label(&(first + chars.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_second_that_is_not_whole_is_no_fall() {
        let rates = |seconds, series: &[u64]| {
            rates(&Repeat { seconds, series: series.to_vec(), ..Repeat::default() })
        };
        assert_eq!(rates(1.5, &[100, 50]), [100.0, 100.0]);
        assert_eq!(rates(2.0, &[100, 100]), [100.0, 100.0]);
        assert_eq!(rates(1.125, &[100, 12]), [100.0]);
    }

    #[test]
    fn what_a_figure_shows_is_also_said() {
        let run = sample::bench();
        let cells = run.cells[..12].iter().enumerate();
        let group = Group::of(cells.map(|(place, cell)| Measured::of(cell, place)).collect());
        let figures = along_axis(&group);
        assert_eq!(figures[0].title, "Claims per second");
        assert_eq!(figures[0].legend.len(), 4);
        assert!(
            figures[0].alternative.contains("batch 1, skip-locked: "),
            "{}",
            figures[0].alternative
        );
        assert!(figures[0].alternative.contains(" at 16 workers"), "{}", figures[0].alternative);
        let titles: Vec<String> = of_line(&group, &group.lines()[0].1, |_| true)
            .into_iter()
            .map(|figure| figure.title)
            .collect();
        assert_eq!(
            titles,
            ["Latency of ack", "Latency of claim", "Operations per second", "Work of each worker"]
        );
    }
}
