//! Budgets: what calls may use together, and what is set aside for those in flight.
//!
//! Pure: no clock, no lock, no I/O. Whoever is asked by the gateway holds a [`Budget`] for as long as it lasts.

use std::fmt;

/// Tokens and their cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Charge {
    /// US dollars.
    pub cost_usd: f64,
    /// Tokens of every kind.
    pub tokens: u64,
}

/// What a call may use, told before it is made. An estimate on the safe side, since only the answer tells the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// The model it asks for.
    pub model: String,
    /// What reading the request will take, even if the model then says nothing.
    pub input: Charge,
    /// The same, and the longest answer that the request allows.
    pub most: Charge,
    /// Whether the price table knows the model. If not, the costs above are 0 and mean nothing.
    pub priced: bool,
}

/// What became of a reservation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settlement {
    /// What was set aside.
    pub reserved: Charge,
    /// What was used. Where the answer did not tell, because it broke off or because its provider never tells: an estimate
    /// from what was sent and seen, so that leaving early is no way around a budget.
    pub used: Charge,
}

/// How much may be used. What is `None` is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BudgetLimits {
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Tokens of every kind.
    pub tokens: Option<u64>,
}

/// A budget that calls draw on, also in parallel.
///
/// **The rule.** A call goes out if the most it can use fits into what is neither used nor set aside; that much is then
/// set aside until the call ends. If it does not fit, the last call is let through all the same, so that the rest of a
/// budget is not lost on agents that ask for the longest answer every time: a call that is alone (nothing is set aside
/// for others) and whose *input* fits into what is left sets all of that aside. So however many calls run in parallel, a
/// budget is exceeded by at most the answer of one call, and only if that answer is longer than what was left for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Budget {
    limits: BudgetLimits,
    spent: Charge,
    reserved: Charge,
    /// Reservations that were not settled yet.
    open: usize,
}

/// Why a call is not paid for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Unaffordable {
    /// The budget is spent.
    #[error("the budget for model calls is spent: {0}\nhint: raise the budget or start a new session")]
    Spent(Shortage),
    /// What is left is set aside for calls in flight.
    #[error(
        "the rest of the budget for model calls is reserved for calls in flight\nhint: try again when they have ended"
    )]
    Held,
    /// There is a budget in dollars, and the price table does not know the model.
    #[error(
        "the price of the model `{model}` is not known, and there is a budget in dollars\nhint: the operator can add the \
         model to `models.prices`; a budget in tokens needs no price"
    )]
    NoPrice {
        /// The model.
        model: String,
    },
    /// The run that the call belongs to is over, and its budget with it.
    #[error("the run that made this call has ended")]
    RunEnded,
}

/// What a budget had and what a call needed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shortage {
    /// The budget's limits.
    pub limits: BudgetLimits,
    /// What was used up.
    pub spent: Charge,
    /// What reading the request would have taken.
    pub needed: Charge,
}

impl Budget {
    /// A budget of which something may be used up already.
    #[must_use]
    pub fn new(limits: BudgetLimits, spent: Charge) -> Self {
        Self { limits, spent, reserved: Charge::default(), open: 0 }
    }

    /// Sets aside what a call may use, or says why not. By the rule above.
    ///
    /// # Errors
    /// When the call must not be made.
    pub fn reserve(&mut self, quote: &Quote) -> Result<Charge, Unaffordable> {
        if self.limits.cost_usd.is_some() && !quote.priced {
            return Err(Unaffordable::NoPrice { model: quote.model.clone() });
        }
        let left = self.limits.minus(self.spent);
        if left.minus(self.reserved).cover(quote.most) {
            return Ok(self.set_aside(quote.most));
        }
        if !left.cover(quote.input) {
            let shortage = Shortage { limits: self.limits, spent: self.spent, needed: quote.input };
            return Err(Unaffordable::Spent(shortage));
        }
        if self.open > 0 {
            return Err(Unaffordable::Held);
        }
        Ok(self.set_aside(left.at_most(quote.most)))
    }

    /// Gives back what was set aside for a call and counts what it used.
    pub fn settle(&mut self, settlement: &Settlement) {
        self.spent = self.spent.plus(settlement.used);
        self.open = self.open.saturating_sub(1);
        // Sums of fractions drift; with nothing open there is nothing set aside.
        self.reserved = match self.open {
            0 => Charge::default(),
            _ => self.reserved.minus(settlement.reserved),
        };
    }

    /// Counts what a call of another budget used, for which nothing was set aside here.
    pub fn charge(&mut self, used: Charge) {
        self.spent = self.spent.plus(used);
    }

    /// What was used so far.
    #[must_use]
    pub fn spent(&self) -> Charge {
        self.spent
    }

    /// What is set aside for calls in flight.
    #[must_use]
    pub fn reserved(&self) -> Charge {
        self.reserved
    }

    /// How much may be used in all.
    #[must_use]
    pub fn limits(&self) -> BudgetLimits {
        self.limits
    }

    fn set_aside(&mut self, charge: Charge) -> Charge {
        self.reserved = self.reserved.plus(charge);
        self.open += 1;
        charge
    }
}

impl Charge {
    pub(crate) fn plus(self, other: Charge) -> Charge {
        Charge { cost_usd: self.cost_usd + other.cost_usd, tokens: self.tokens.saturating_add(other.tokens) }
    }

    fn minus(self, other: Charge) -> Charge {
        Charge {
            cost_usd: (self.cost_usd - other.cost_usd).max(0.0),
            tokens: self.tokens.saturating_sub(other.tokens),
        }
    }
}

impl BudgetLimits {
    fn minus(self, charge: Charge) -> BudgetLimits {
        BudgetLimits {
            cost_usd: self.cost_usd.map(|dollars| (dollars - charge.cost_usd).max(0.0)),
            tokens: self.tokens.map(|tokens| tokens.saturating_sub(charge.tokens)),
        }
    }

    fn cover(self, charge: Charge) -> bool {
        self.cost_usd.is_none_or(|dollars| charge.cost_usd <= dollars)
            && self.tokens.is_none_or(|tokens| charge.tokens <= tokens)
    }

    fn at_most(self, charge: Charge) -> Charge {
        Charge {
            cost_usd: self.cost_usd.map_or(charge.cost_usd, |dollars| charge.cost_usd.min(dollars)),
            tokens: self.tokens.map_or(charge.tokens, |tokens| charge.tokens.min(tokens)),
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shortage { limits, spent, needed } = self;
        if let Some(dollars) = limits.cost_usd {
            write!(f, "{:.4} of {dollars:.4} dollars are used", spent.cost_usd)?;
            write!(f, " and this call needs about {:.4}", needed.cost_usd)?;
        }
        if limits.cost_usd.is_some() && limits.tokens.is_some() {
            f.write_str("; ")?;
        }
        if let Some(tokens) = limits.tokens {
            write!(f, "{} of {tokens} tokens are used", spent.tokens)?;
            write!(f, " and this call needs about {}", needed.tokens)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
