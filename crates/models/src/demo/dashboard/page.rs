//! The page around the charts.

use std::fmt::Write as _;

use super::{
    chart,
    figures::{Figures, REGIONS, dollars, grouped},
};

const TEMPLATE: &str = include_str!("page.html");

/// The whole page, in one file that loads nothing.
pub(super) fn html(figures: &Figures) -> String {
    let (month, best) = figures.best_month();
    let by_month = figures.by_month();
    let (first, second): (u64, u64) = (by_month[..6].iter().sum(), by_month[6..].iter().sum());
    let growth = chart::per_cent(second - first.min(second), first);
    let fill = [
        ("revenue", dollars(figures.revenue())),
        ("orders", grouped(figures.orders())),
        ("order_value", dollars(figures.revenue() / figures.orders().max(1))),
        ("best_month", month.to_owned()),
        ("best_revenue", dollars(best)),
        ("growth", format!("+{growth}")),
        ("line", chart::line(figures)),
        ("bars", chart::bars(figures)),
        ("ring", chart::ring(figures)),
        ("legend", legend()),
        ("rows", rows(figures)),
    ];
    fill.iter()
        .fold(TEMPLATE.to_owned(), |page, (name, value)| page.replace(&format!("{{{{{name}}}}}"), value))
}

fn legend() -> String {
    let entry = |(idx, name): (usize, &&str)| format!(r#"<li><i class="k{idx}"></i>{name}</li>"#);
    REGIONS.iter().enumerate().map(entry).collect()
}

fn rows(figures: &Figures) -> String {
    let total = figures.revenue();
    let mut rows = String::new();
    for (idx, name) in REGIONS.iter().enumerate() {
        let cell = figures.of_region(idx);
        let share = chart::per_cent(cell.revenue, total);
        let width = share.trim_end_matches(" %");
        // Writing to a string cannot fail.
        let _ = writeln!(
            rows,
            "<tr><td><i class=\"k{idx}\"></i>{name}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td><span class=\"share\"><b class=\"k{idx}\" style=\"width:{width}%\"></b></span>{share}</td></tr>",
            grouped(cell.orders),
            dollars(cell.revenue),
            dollars(cell.revenue / cell.orders.max(1)),
        );
    }
    rows
}
