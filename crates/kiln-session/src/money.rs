//! What a stretch of work cost. In: hours and prices. Out: amounts, in the money that prices were given in.

use serde::{Deserialize, Serialize};

use crate::Prices;

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// The GPU, which costs while it waits too.
    pub gpu: Option<f64>,
    /// The engineer.
    pub engineer: Option<f64>,
    /// The assistant.
    pub assistant: Option<f64>,
    /// All together; none where no price is known.
    pub total: Option<f64>,
}

/// What so many seconds cost. An assistant's bill, where it is known, takes the place of its price.
pub fn cost(prices: &Prices, seconds: f64, assistant_bill: Option<f64>) -> Cost {
    let hours = seconds / 3600.0;
    let of = |price: Option<f64>| price.map(|price| price * hours);
    let (gpu, engineer) = (of(prices.gpu), of(prices.engineer));
    let assistant = assistant_bill.or(of(prices.assistant));
    let known: Vec<f64> = [gpu, engineer, assistant].into_iter().flatten().collect();
    Cost { gpu, engineer, assistant, total: (!known.is_empty()).then(|| known.iter().sum()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_hours_times_prices_and_a_bill_counts_as_it_is() {
        let prices = Prices { gpu: Some(3.0), engineer: Some(60.0), assistant: Some(10.0) };
        let spent = cost(&prices, 1800.0, None);
        assert_eq!(
            (spent.gpu, spent.engineer, spent.assistant, spent.total),
            (Some(1.5), Some(30.0), Some(5.0), Some(36.5))
        );
        assert_eq!(cost(&prices, 1800.0, Some(1.0)).total, Some(32.5));
        assert_eq!(cost(&Prices::default(), 1800.0, None), Cost::default());
    }
}
