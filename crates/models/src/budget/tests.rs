use super::{Budget, BudgetLimits, Charge, Quote, Settlement, Unaffordable};

fn charge(cost_usd: f64, tokens: u64) -> Charge {
    Charge { cost_usd, tokens }
}

/// A call that reads for 1 and may write for 9, in both measures.
fn quote() -> Quote {
    Quote { model: "m".to_owned(), input: charge(1.0, 1), most: charge(10.0, 10), priced: true }
}

fn dollars(limit: f64) -> Budget {
    Budget::new(BudgetLimits { cost_usd: Some(limit), tokens: None }, Charge::default())
}

fn tokens(limit: u64) -> Budget {
    Budget::new(BudgetLimits { cost_usd: None, tokens: Some(limit) }, Charge::default())
}

fn settled(budget: &mut Budget, reserved: Charge, used: Charge) {
    budget.settle(&Settlement { reserved, used });
}

#[test]
fn parallel_calls_set_aside_no_more_than_there_is() {
    for mut budget in [dollars(25.0), tokens(25)] {
        let first = budget.reserve(&quote()).expect("fits");
        let second = budget.reserve(&quote()).expect("fits");
        assert_eq!((first, second), (quote().most, quote().most));
        assert_eq!(budget.reserve(&quote()), Err(Unaffordable::Held));
        settled(&mut budget, first, charge(2.0, 2));
        assert_eq!(budget.reserve(&quote()), Ok(quote().most), "what was not used is there again");
        assert_eq!((budget.spent(), budget.reserved()), (charge(2.0, 2), charge(20.0, 20)));
    }
}

#[test]
fn the_last_call_gets_what_is_left_and_is_alone() {
    for mut budget in [dollars(4.0), tokens(4)] {
        let last = budget.reserve(&quote()).expect("its input fits");
        assert!(last == charge(4.0, 10) || last == charge(10.0, 4), "{last:?}");
        assert_eq!(budget.reserve(&quote()), Err(Unaffordable::Held));
        settled(&mut budget, last, charge(10.0, 10));
        assert!(matches!(budget.reserve(&quote()), Err(Unaffordable::Spent(_))));
        assert_eq!(budget.reserved(), Charge::default());
    }
}

#[test]
fn a_call_whose_input_alone_is_too_much_is_refused_whatever_is_in_flight() {
    let mut budget = Budget::new(BudgetLimits { cost_usd: Some(3.0), tokens: None }, charge(2.5, 0));
    let error = budget.reserve(&quote()).expect_err("refused").to_string();
    assert_eq!(
        error,
        "the budget for model calls is spent: 2.5000 of 3.0000 dollars are used and this call needs about 1.0000\n\
         hint: raise the budget or start a new session"
    );
}

#[test]
fn both_limits_hold_at_once() {
    let limits = BudgetLimits { cost_usd: Some(1000.0), tokens: Some(12) };
    let mut budget = Budget::new(limits, Charge::default());
    let first = budget.reserve(&quote()).expect("fits");
    assert_eq!(budget.reserve(&quote()), Err(Unaffordable::Held));
    settled(&mut budget, first, charge(0.1, 12));
    let error = budget.reserve(&quote()).expect_err("refused").to_string();
    assert!(error.contains("0.1000 of 1000.0000 dollars are used"), "{error}");
    assert!(error.contains("12 of 12 tokens are used and this call needs about 1"), "{error}");
}

#[test]
fn a_model_without_a_price_is_refused_only_where_dollars_count() {
    let quote = Quote { priced: false, ..quote() };
    assert_eq!(dollars(100.0).reserve(&quote), Err(Unaffordable::NoPrice { model: "m".to_owned() }));
    assert_eq!(tokens(100).reserve(&quote), Ok(quote.most));
}

#[test]
fn without_limits_everything_fits_and_what_costs_nothing_fits_into_nothing() {
    let mut unlimited = Budget::new(BudgetLimits::default(), charge(1e9, u64::MAX));
    assert_eq!(unlimited.reserve(&quote()), Ok(quote().most));
    let free = Quote { input: charge(0.0, 5), most: charge(0.0, 50), ..quote() };
    let mut spent = Budget::new(BudgetLimits { cost_usd: Some(1.0), tokens: None }, charge(2.0, 0));
    assert_eq!(spent.reserve(&free), Ok(free.most));
}
