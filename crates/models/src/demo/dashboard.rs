//! The showpiece: a dashboard of sales, with everything an agent does on the way.

mod chart;
mod figures;
mod page;

use super::{
    conversation::Conversation,
    scenarios::{mentions, subagents::REVIEW_TASK},
    toolbox::{Progress, Toolbox},
    turn::{Call, Turn},
};
use figures::Figures;

/// Where the page goes.
pub(super) const PAGE: &str = "outputs/dashboard/index.html";
const DATA: &str = "outputs/data/sales.csv";

/// What the reviewer finds, every time.
pub(super) const REVIEW: &str = "One finding:\n\n\
    - The heading “Revenue by month” does not say its unit. Add it: thousands of US dollars.\n\n\
    The other headings are fine.";

/// What the reviewer asks for: whole lines, since some agents edit by patches of lines.
const HEADING: (&str, &str) = (
    r#"<section class="wide"><h2>Revenue by month</h2>"#,
    r#"<section class="wide"><h2>Revenue by month, in thousands of US dollars</h2>"#,
);

const STEPS: [&str; 4] =
    ["Collect the sales data", "Build the dashboard", "Check the totals", "Get a review"];

pub(super) fn is_asked(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["dashboard", "sales", "chart", "charts"])
}

pub(super) fn turns(conversation: &Conversation) -> Vec<Turn> {
    let toolbox = &conversation.toolbox;
    let figures = Figures::of_2025();
    vec![
        Turn::new()
            .think(
                "A dashboard needs data first. I'll keep the data separate from the page, compute every number from \
                 it, and ask for a review before I finish.",
            )
            .say("I'll build a sales dashboard. Here's the plan:")
            .call(plan(toolbox, 0)),
        Turn::new()
            .say("First, sample sales data by month and region:")
            .call(toolbox.write(DATA, &figures.csv())),
        Turn::new()
            .think(
                "Twelve months, four regions: a line chart for the year, a ring chart for the regions' shares, and \
                 stacked bars for both. I'll use inline SVG, so that the page opens anywhere.",
            )
            .say("Now the page, with charts of that data:")
            .call(toolbox.write(PAGE, &page::html(&figures))),
        Turn::new().call(plan(toolbox, 2)).call(toolbox.bash(&check(&figures), "Compare the page with the data")),
        Turn::new()
            .say("The totals match. Next, I'll ask a reviewer to look at it.")
            .call(plan(toolbox, 3))
            .call(toolbox.task("reviewer", "Review the dashboard", &review_task())),
        Turn::new()
            .say("Good catch: the unit is missing. I'll add it.")
            .call(toolbox.edit(PAGE, HEADING.0, HEADING.1)),
        Turn::new().call(plan(toolbox, STEPS.len())),
        Turn::new().say(summary(&figures)),
    ]
}

/// The list of things to do, with the first `n_done` of them done.
fn plan(toolbox: &Toolbox, n_done: usize) -> Option<Call> {
    let items = STEPS.iter().enumerate().map(|(idx, step)| {
        let progress = match idx.cmp(&n_done) {
            std::cmp::Ordering::Less => Progress::Done,
            std::cmp::Ordering::Equal => Progress::Doing,
            std::cmp::Ordering::Greater => Progress::Waiting,
        };
        (*step, progress)
    });
    toolbox.todo(&items.collect::<Vec<_>>())
}

/// Adds the data up again, with other means than those that drew the page.
fn check(figures: &Figures) -> String {
    let total = figures::dollars(figures.revenue());
    format!(
        "awk -F, 'NR > 1 {{ orders += $3; revenue += $4 }} END {{ print NR - 1 \" rows, \" orders \" orders, $\" revenue }}' {DATA} \
         && grep -c '<svg' {PAGE} && grep -qF '{total}' {PAGE} && echo 'the page shows {total}'"
    )
}

fn review_task() -> String {
    format!(
        "{REVIEW_TASK}check the headings of {PAGE}: does every chart say its unit? Answer in a few lines."
    )
}

fn summary(figures: &Figures) -> String {
    let (best, best_revenue) = figures.best_month();
    let (region, region_revenue) = figures.best_region();
    format!(
        "The dashboard is ready: `{PAGE}`, built from `{DATA}`.\n\n\
         | metric | value |\n|---|---|\n| revenue 2025 | {} |\n| orders | {} |\n| best month | {best} ({}) |\n\
         | strongest region | {region} ({}) |\n\n\
         It is a single file with inline charts. It follows light and dark mode and loads nothing from the network. \
         I fixed the one problem that the reviewer found. The demo model made up the data.",
        figures::dollars(figures.revenue()),
        figures::grouped(figures.orders()),
        figures::dollars(best_revenue),
        figures::dollars(region_revenue),
    )
}

#[cfg(test)]
mod tests {
    use super::{Figures, HEADING, REVIEW, figures, page};

    #[test]
    fn the_page_holds_what_check_and_review_look_for() {
        let figures = Figures::of_2025();
        let html = page::html(&figures);
        assert!(html.contains(&figures::dollars(figures.revenue())));
        assert_eq!(html.matches(HEADING.0).count(), 1, "the edit must fit exactly one place");
        assert!(REVIEW.contains("Revenue by month"));
        assert!(!html.contains("{{"), "every placeholder is filled");
        assert!(!html.contains("http://") && !html.contains("https://"), "nothing is loaded from elsewhere");
    }

    #[test]
    fn the_data_adds_up_to_the_figures() {
        let figures = Figures::of_2025();
        let csv = figures.csv();
        let column = |idx: usize| -> u64 {
            csv.lines()
                .skip(1)
                .map(|line| line.split(',').nth(idx).expect("four columns").parse::<u64>().expect("a number"))
                .sum()
        };
        assert_eq!((column(2), column(3)), (figures.orders(), figures.revenue()));
        assert_eq!(csv.lines().count(), 1 + 12 * 4);
    }
}
