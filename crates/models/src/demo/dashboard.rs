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
pub(super) const REVIEW: &str = "Two findings:\n\n\
    1. The figures agree with the data, and the page loads nothing from elsewhere.\n\
    2. The heading “Revenue by month” does not say its unit. Add it: thousands of US dollars.";

/// What the reviewer asks for: whole lines, since some agents edit by patches of lines.
const HEADING: (&str, &str) = (
    r#"<section class="wide"><h2>Revenue by month</h2>"#,
    r#"<section class="wide"><h2>Revenue by month, in thousands of US dollars</h2>"#,
);

const STEPS: [&str; 4] =
    ["Collect the sales data", "Draw the dashboard", "Check figures against the data", "Have it reviewed"];

pub(super) fn is_asked(conversation: &Conversation) -> bool {
    mentions(&conversation.prompt, &["dashboard", "sales", "chart", "charts"])
}

pub(super) fn turns(conversation: &Conversation) -> Vec<Turn> {
    let toolbox = &conversation.toolbox;
    let figures = Figures::of_2025();
    vec![
        Turn::new()
            .think(
                "A dashboard needs data first. I keep data and page apart, compute every figure from the data, and let \
                 somebody else look at the result before I call it done.",
            )
            .say("I make a sales dashboard. First the plan:")
            .call(plan(toolbox, 0)),
        Turn::new().say("The data, month by month and region by region:").call(toolbox.write(DATA, &figures.csv())),
        Turn::new()
            .think(
                "Twelve months, four regions. The course of the year wants a line, the share of the regions a ring, and \
                 both together stacked bars. All of it as SVG inside the page, so that it opens anywhere.",
            )
            .say("Now the page, with charts drawn from that data:")
            .call(toolbox.write(PAGE, &page::html(&figures))),
        Turn::new().call(plan(toolbox, 2)).call(toolbox.bash(&check(&figures), "Compare the page with the data")),
        Turn::new()
            .say("The figures agree. A reviewer looks at it now.")
            .call(plan(toolbox, 3))
            .call(toolbox.task("reviewer", "Review the dashboard", &review_task())),
        Turn::new()
            .say("The reviewer is right about the unit; I add it.")
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
        "{REVIEW_TASK}look at {PAGE} beside {DATA}: do the figures agree, and does every chart say its unit? At most three lines."
    )
}

fn summary(figures: &Figures) -> String {
    let (best, best_revenue) = figures.best_month();
    let (region, region_revenue) = figures.best_region();
    format!(
        "The dashboard is ready: `{PAGE}`, drawn from `{DATA}`.\n\n\
         | figure | value |\n|---|---|\n| revenue 2025 | {} |\n| orders | {} |\n| best month | {best} ({}) |\n\
         | strongest region | {region} ({}) |\n\n\
         It is one file with its charts inside, follows light and dark mode, and loads nothing from elsewhere. \
         A reviewer looked at it, and its one remark is worked in. The data is made up by the demo model.",
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
