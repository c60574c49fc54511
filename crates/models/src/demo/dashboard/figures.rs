//! Made-up sales, the same every time.

use std::fmt::Write as _;

pub(super) const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
pub(super) const REGIONS: [&str; 4] = ["North", "South", "East", "West"];

/// The course of a year, in per cent: a dip in summer, a peak before the holidays.
const SEASON: [u64; 12] = [82, 86, 95, 98, 104, 101, 90, 88, 106, 113, 131, 142];
/// Orders in an average month, by region.
const ORDERS: [u64; 4] = [420, 310, 265, 505];
/// Dollars of an average order, by region.
const VALUE: [u64; 4] = [96, 118, 87, 109];

/// Orders and revenue by month and region.
pub(super) struct Figures {
    cells: [[Cell; 4]; 12],
}

#[derive(Clone, Copy, Default)]
pub(super) struct Cell {
    pub(super) orders: u64,
    /// In whole dollars.
    pub(super) revenue: u64,
}

impl Figures {
    pub(super) fn of_2025() -> Self {
        let cell = |month: usize, region: usize| {
            let wobble = ((month * 37 + region * 53) % 17) as u64;
            // The west grows over the year, so that the regions do not all look alike.
            let growth = if region == 3 { month as u64 * 6 } else { 0 };
            let orders = ORDERS[region] * SEASON[month] / 100 + wobble + growth;
            Cell { orders, revenue: orders * VALUE[region] + wobble * 11 }
        };
        Self { cells: std::array::from_fn(|month| std::array::from_fn(|region| cell(month, region))) }
    }

    pub(super) fn csv(&self) -> String {
        let mut csv = "month,region,orders,revenue_usd\n".to_owned();
        for (month, cells) in self.cells.iter().enumerate() {
            for (region, cell) in REGIONS.iter().zip(cells) {
                // Writing to a string cannot fail.
                let _ = writeln!(csv, "2025-{:02},{region},{},{}", month + 1, cell.orders, cell.revenue);
            }
        }
        csv
    }

    pub(super) fn month(&self, month: usize) -> &[Cell; 4] {
        &self.cells[month]
    }

    pub(super) fn by_month(&self) -> [u64; 12] {
        self.cells.map(|cells| cells.iter().map(|cell| cell.revenue).sum())
    }

    pub(super) fn of_region(&self, region: usize) -> Cell {
        self.cells.iter().fold(Cell::default(), |sum, cells| Cell {
            orders: sum.orders + cells[region].orders,
            revenue: sum.revenue + cells[region].revenue,
        })
    }

    pub(super) fn revenue(&self) -> u64 {
        self.by_month().iter().sum()
    }

    pub(super) fn orders(&self) -> u64 {
        (0..REGIONS.len()).map(|region| self.of_region(region).orders).sum()
    }

    pub(super) fn best_month(&self) -> (&'static str, u64) {
        best(&MONTHS, &self.by_month())
    }

    pub(super) fn best_region(&self) -> (&'static str, u64) {
        best(&REGIONS, &std::array::from_fn::<_, 4, _>(|region| self.of_region(region).revenue))
    }
}

/// `1,234,567`.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let separated = digits.char_indices().flat_map(|(at, digit)| {
        let comma = at > 0 && (digits.len() - at).is_multiple_of(3);
        comma.then_some(',').into_iter().chain([digit])
    });
    separated.collect()
}

/// `$1,234,567`.
pub(super) fn dollars(n: u64) -> String {
    format!("${}", grouped(n))
}

fn best(names: &[&'static str], values: &[u64]) -> (&'static str, u64) {
    let pairs = names.iter().copied().zip(values.iter().copied());
    pairs.max_by_key(|(_, value)| *value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(grouped), ["0", "12", "999", "1,000", "1,234,567"]);
    }
}
