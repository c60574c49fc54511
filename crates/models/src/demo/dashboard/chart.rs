//! Charts as SVG, drawn from figures.

use std::{f64::consts::TAU, fmt::Write as _};

use super::figures::{Figures, MONTHS, REGIONS, dollars};

/// How wide the charts of months are: over the whole page, and beside another chart.
const PAGE: f64 = 1040.0;
const COLUMN: f64 = 720.0;
/// The drawing area in them.
const HEIGHT: f64 = 260.0;
const RIGHT: f64 = 8.0;
const LEFT: f64 = 48.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 228.0;

/// Revenue over the year, as a line with the area under it.
pub(super) fn line(figures: &Figures) -> String {
    let revenue = figures.by_month();
    let frame = Frame::new(PAGE, revenue.iter().copied().max().unwrap_or_default());
    let points: Vec<(f64, f64)> =
        revenue.iter().enumerate().map(|(month, value)| (frame.x(month), frame.y(*value))).collect();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let path = path.join(" L");
    let mut svg = frame.open("Revenue by month");
    let (first, last) = (frame.x(0), frame.x(MONTHS.len() - 1));
    let _ = write!(svg, r#"<path class="area" d="M{first:.1},{BOTTOM} L{path} L{last:.1},{BOTTOM} Z"/>"#);
    let _ = write!(svg, r#"<path class="line" d="M{path}"/>"#);
    for ((x, y), (month, value)) in points.iter().zip(MONTHS.iter().zip(revenue)) {
        let title = format!("{month}: {}", dollars(value));
        let _ = write!(
            svg,
            r#"<circle class="dot" cx="{x:.1}" cy="{y:.1}" r="4"><title>{title}</title></circle>"#
        );
    }
    svg + "</svg>"
}

/// Revenue of each region on top of the others, month by month.
pub(super) fn bars(figures: &Figures) -> String {
    let frame = Frame::new(COLUMN, figures.by_month().into_iter().max().unwrap_or_default());
    let mut svg = frame.open("Revenue by month and region");
    for (month, name) in MONTHS.iter().enumerate() {
        let mut below = 0;
        for (region, cell) in figures.month(month).iter().enumerate() {
            let (top, bottom) = (frame.y(below + cell.revenue), frame.y(below));
            let (x, height) = (frame.x(month) - 17.0, bottom - top);
            let title = format!("{name}, {}: {}", REGIONS[region], dollars(cell.revenue));
            let _ = write!(
                svg,
                r#"<rect class="r{region}" x="{x:.1}" y="{top:.1}" width="34" height="{height:.1}"><title>{title}</title></rect>"#
            );
            below += cell.revenue;
        }
    }
    svg + "</svg>"
}

/// Each region's part of the whole, as a ring.
pub(super) fn ring(figures: &Figures) -> String {
    const RADIUS: f64 = 70.0;
    let total = figures.revenue();
    let around = TAU * RADIUS;
    let mut svg =
        r#"<svg class="ring" viewBox="0 0 200 200" role="img" aria-label="Share by region">"#.to_owned();
    let mut before = 0;
    for (region, name) in REGIONS.iter().enumerate() {
        let revenue = figures.of_region(region).revenue;
        let (part, offset) = (ratio(revenue, total) * around, ratio(before, total) * around);
        let rest = around - part;
        let title = format!("{name}: {}, {}", dollars(revenue), per_cent(revenue, total));
        let _ = write!(
            svg,
            r#"<circle class="s{region}" cx="100" cy="100" r="{RADIUS}" stroke-dasharray="{part:.2} {rest:.2}" stroke-dashoffset="-{offset:.2}" transform="rotate(-90 100 100)"><title>{title}</title></circle>"#
        );
        before += revenue;
    }
    let (name, revenue) = figures.best_region();
    let share = per_cent(revenue, total);
    let _ = write!(
        svg,
        r#"<text x="100" y="98" class="big">{share}</text><text x="100" y="118">{name}</text></svg>"#
    );
    svg
}

/// `34.5 %`.
pub(super) fn per_cent(part: u64, whole: u64) -> String {
    format!("{:.1} %", ratio(part, whole) * 100.0)
}

/// A chart of months: columns across, dollars up, with lines at round numbers.
struct Frame {
    width: f64,
    /// Between two lines, in dollars.
    step: u64,
    n_steps: u64,
}

impl Frame {
    fn new(width: f64, highest: u64) -> Self {
        let step = [10_000, 20_000, 25_000, 50_000, 100_000].into_iter().find(|step| highest <= step * 5);
        let step = step.unwrap_or(500_000);
        Self { width, step, n_steps: highest.div_ceil(step).max(1) }
    }

    /// The middle of a month's column.
    #[expect(clippy::cast_precision_loss, reason = "a month's number is small")]
    fn x(&self, month: usize) -> f64 {
        let column = (self.width - LEFT - RIGHT) / MONTHS.len() as f64;
        LEFT + column * (month as f64 + 0.5)
    }

    fn y(&self, value: u64) -> f64 {
        BOTTOM - ratio(value, self.step * self.n_steps) * (BOTTOM - TOP)
    }

    /// The empty chart: lines with their values in thousands, and the months' names.
    fn open(&self, label: &str) -> String {
        let width = self.width;
        let mut svg = format!(r#"<svg viewBox="0 0 {width} {HEIGHT}" role="img" aria-label="{label}">"#);
        for value in (0..=self.n_steps).map(|idx| idx * self.step) {
            let (y, right) = (self.y(value), width - RIGHT);
            let (text_x, text_y, thousands) = (LEFT - 8.0, y + 4.0, value / 1000);
            // Writing to a string cannot fail.
            let _ = write!(
                svg,
                r#"<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1}" y2="{y:.1}"/><text class="value" x="{text_x}" y="{text_y:.1}">{thousands}</text>"#
            );
        }
        for (month, name) in MONTHS.iter().enumerate() {
            let _ = write!(svg, r#"<text x="{:.1}" y="250">{name}</text>"#, self.x(month));
        }
        svg
    }
}

#[expect(clippy::cast_precision_loss, reason = "dollars here are far below 2^52")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}
