//! Charts as inline SVG.
//!
//! Invariants: colours are the names by which the page's style sheet knows them, so that a chart
//! follows light, dark and print; every series has a marker of its own, so that colour only repeats
//! what a shape says; text is escaped by the backend.

use plotters::{
    coord::ranged1d::Ranged,
    element::{Circle, Cross, EmptyElement, PathElement, Polygon, Rectangle, TriangleMarker},
    prelude::{
        Cartesian2d, ChartBuilder, ChartContext, Color, IntoDrawingArea, IntoFont, LineSeries,
        RGBColor, SVGBackend, ShapeStyle,
    },
};

use super::scale::Scale;

/// The size of a chart, in the units of its text; the page scales it to its column.
const SIZE: (u32, u32) = (400, 240);
/// The size of the text; the backend divides it by 1.24, and the style sheet expects 12.
const FONT: f64 = 12.0 * 1.24;
/// How far labels are from their axis.
const TICK: i32 = 5;
/// How many series are in one chart; more are spread over several.
pub(super) const SERIES: usize = 6;
/// The markers of the series in words of one character, for legends.
pub(super) const MARKS: [&str; SERIES] = ["●", "▲", "✕", "○", "■", "□"];

/// The palette of Okabe and Ito, without the colours that are too light for lines.
const COLOURS: [RGBColor; SERIES] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x8C, 0x6D, 0x00),
    RGBColor(0x56, 0x56, 0x56),
];
const INK: RGBColor = RGBColor(0x3A, 0x3A, 0x3B);
const RULE: RGBColor = RGBColor(0xD8, 0xD8, 0xD9);

/// The points of one series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Series {
    /// Places along both axes.
    pub(super) points: Vec<(f64, f64)>,
    /// Place, lower and upper end of the interval around each point.
    pub(super) band: Vec<(f64, f64, f64)>,
}

/// How points are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// A line with a marker at each point.
    Marked,
    /// A marker at each point, and nothing between them.
    Marks,
    /// A line alone, for many points.
    Line,
    /// Points alone.
    Points,
}

type Context<'area, 'text> = ChartContext<'area, SVGBackend<'text>, Cartesian2d<Scale, Scale>>;

/// Draws `series` on the axes `x`, called `x_title`, and `y`.
pub(super) fn draw(x: &Scale, x_title: &str, y: &Scale, series: &[Series], style: Style) -> String {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin_top(10)
            .margin_right(16)
            .x_label_area_size(40)
            .y_label_area_size(58)
            .build_cartesian_2d(x.clone(), y.clone())
            .expect("the area is greater than its margins");
        let font = ("sans-serif", FONT).into_font();
        chart
            .configure_mesh()
            .disable_x_mesh()
            .set_all_tick_mark_size(TICK)
            .light_line_style(RGBColor(0xFF, 0xFF, 0xFF).mix(0.0))
            .bold_line_style(RULE)
            .axis_style(RULE)
            .x_desc(x_title)
            .label_style(font.clone().color(&INK))
            .axis_desc_style(font.color(&INK))
            .x_label_formatter(&|value| {
                plotters::coord::ranged1d::ValueFormatter::format_ext(x, value)
            })
            .y_label_formatter(&|value| {
                plotters::coord::ranged1d::ValueFormatter::format_ext(y, value)
            })
            .draw()
            .expect("memory takes it");
        for (place, series) in series.iter().enumerate() {
            draw_band(&mut chart, series, COLOURS[place % SERIES], style);
        }
        for (place, series) in series.iter().enumerate() {
            draw_series(&mut chart, series, place % SERIES, style);
        }
        area.present().expect("memory takes it");
    }
    lean(&text)
}

/// The chart without what the page's style sheet says for all charts, and without ticks: the labels
/// are enough.
fn lean(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len());
    let mut lines = svg.lines().peekable();
    while let Some(line) = lines.next() {
        if is_tick(line) {
            continue;
        }
        text.push_str(line);
        // A text is on three lines, of which the breaks would be seen.
        let is_opening = lines.peek().is_some_and(|next| !next.starts_with('<'));
        if !is_opening && line.starts_with('<') {
            text.push('\n');
        }
    }
    let fixed = [
        (" font-family=\"sans-serif\"", ""),
        (" font-size=\"12\"", ""),
        (" opacity=\"1\"", ""),
        (" stroke-width=\"1\"", ""),
        (" stroke=\"none\"", ""),
        (" xmlns=\"http://www.w3.org/2000/svg\"", ""),
        (" fill=\"#3A3A3B\"", ""),
        (" \"/>", "\"/>"),
    ];
    fixed.iter().fold(text, |text, (said, instead)| text.replace(said, instead))
}

/// Whether a line of the backend's output is a tick of an axis: two points that are close.
fn is_tick(line: &str) -> bool {
    let Some((head, points)) = line.split_once("points=\"") else {
        return false;
    };
    let places: Vec<i32> =
        points.split([' ', ',', '"']).map_while(|place| place.parse().ok()).collect();
    let [x1, y1, x2, y2] = places[..] else {
        return false;
    };
    head.contains("#D8D8D9") && (x1 - x2).abs() + (y1 - y2).abs() <= TICK
}

fn draw_band(chart: &mut Context<'_, '_>, series: &Series, colour: RGBColor, style: Style) {
    if style == Style::Marks {
        let whiskers = series.band.iter().map(|(place, low, high)| {
            PathElement::new([(*place, *low), (*place, *high)], colour.stroke_width(2))
        });
        chart.draw_series(whiskers).expect("memory takes it");
        return;
    }
    if series.band.len() < 2 {
        return;
    }
    let low = series.band.iter().map(|(place, low, _)| (*place, *low));
    let high = series.band.iter().rev().map(|(place, _, high)| (*place, *high));
    let outline: Vec<(f64, f64)> = low.chain(high).collect();
    let band = Polygon::new(outline, colour.mix(0.16));
    chart.draw_series([band]).expect("memory takes it");
}

fn draw_series(chart: &mut Context<'_, '_>, series: &Series, place: usize, style: Style) {
    let colour = COLOURS[place];
    if matches!(style, Style::Marked | Style::Line) {
        let line = LineSeries::new(series.points.iter().copied(), colour.stroke_width(2));
        chart.draw_series(line).expect("memory takes it");
    }
    if style == Style::Line {
        return;
    }
    let points = || series.points.iter().copied();
    let (filled, hollow) = (ShapeStyle::from(colour).filled(), colour.stroke_width(2));
    let size = if style == Style::Points { 3 } else { 4 };
    let squares = |style: ShapeStyle| {
        points()
            .map(move |point| EmptyElement::at(point) + Rectangle::new([(-3, -3), (3, 3)], style))
    };
    let drawn = match place {
        _ if style == Style::Points => chart
            .draw_series(points().map(|point| Circle::new(point, size, colour.mix(0.7).filled()))),
        0 => chart.draw_series(points().map(|point| Circle::new(point, size, filled))),
        1 => chart.draw_series(points().map(|point| TriangleMarker::new(point, size + 1, filled))),
        2 => chart.draw_series(points().map(|point| Cross::new(point, size, hollow))),
        3 => chart.draw_series(points().map(|point| Circle::new(point, size, hollow))),
        4 => chart.draw_series(squares(filled)),
        _ => chart.draw_series(squares(hollow)),
    };
    drawn.expect("memory takes it");
}

/// Points that would be drawn on top of each other, once.
pub(super) fn thinned(
    x: &Scale,
    y: &Scale,
    points: impl Iterator<Item = (f64, f64)>,
) -> Vec<(f64, f64)> {
    let limits = [SIZE.0, SIZE.1].map(|size| (0, i32::try_from(size).unwrap_or(i32::MAX) / 2));
    let mut seen = std::collections::BTreeSet::new();
    points
        .filter(|(along, up)| seen.insert((x.map(along, limits[0]), y.map(up, limits[1]))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_escaped_and_ticks_are_left_out() {
        let x = Scale::places(vec!["<b>&\"".to_owned(), "2".to_owned()]);
        let y = Scale::from_zero(10.0, |tick| tick.to_string());
        let points = vec![(0.0, 3.0), (1.0, 9.0)];
        let band = points.iter().map(|(place, mean)| (*place, mean - 1.0, mean + 1.0)).collect();
        let svg = draw(&x, "a < b", &y, &[Series { points, band }], Style::Marked);
        assert!(svg.contains("&lt;b&gt;&amp;") && svg.contains("a &lt; b"), "{svg}");
        assert!(svg.contains("<polygon") && svg.contains("<circle"), "{svg}");
        assert_eq!(svg.matches("<polyline").count(), 3, "two axes and a line: {svg}");
        assert!(!svg.contains("<b>") && svg.len() < 2_500, "{svg}");
    }
}
