//! Histories from elsewhere: one figure per run, oldest first. In: CSV with a title for each column, or JSON: a list of numbers, an
//! object of such lists, or a list of objects with `name` and `values`. Out: named series, with what each row is called
//! where a column holds no numbers. Refuses what is neither, and figures that are no positive numbers.

use kiln_core::Report;
use serde_json::Value;

/// One history.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSeries {
    /// What it is called.
    pub name: String,
    /// One figure per run, oldest first.
    pub values: Vec<f64>,
    /// What each run is called, such as its commit; empty where that is not said.
    pub labels: Vec<String>,
}

/// Reads either format.
pub fn read_series(name: &str, text: &str) -> Result<Vec<FileSeries>, Report> {
    let start = text.trim_start();
    let found = if start.starts_with(['[', '{']) { json(name, text)? } else { csv(name, text)? };
    if found.is_empty() {
        return Err(Report::error(format!("{name} holds no series")).label("expected columns of numbers with a title"));
    }
    for series in &found {
        let wrong = series.values.iter().position(|value| !(value.is_finite() && *value > 0.0));
        if let Some(row) = wrong {
            let what = format!("{name}: {} of {} is {}", row + 1, series.name, series.values[row]);
            return Err(Report::error(what).label("expected a number above 0"));
        }
        if series.values.is_empty() {
            return Err(Report::error(format!("{name}: {} has no figures", series.name)));
        }
    }
    Ok(found)
}

fn json(name: &str, text: &str) -> Result<Vec<FileSeries>, Report> {
    let value: Value = serde_json::from_str(text).map_err(|e| Report::error(format!("{name} is not JSON: {e}")))?;
    let other = || Report::error(format!("{name} holds no series")).label("expected lists of numbers");
    let numbers = |value: &Value| -> Option<Vec<f64>> { value.as_array()?.iter().map(Value::as_f64).collect() };
    let named = |name: &str, values: Vec<f64>| FileSeries { name: name.into(), values, labels: Vec::new() };
    if let Some(values) = numbers(&value) {
        return Ok(vec![named("series", values)]);
    }
    let found: Option<Vec<FileSeries>> = match &value {
        Value::Object(series) => series.iter().map(|(name, value)| Some(named(name, numbers(value)?))).collect(),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                let labels = item.get("labels").and_then(Value::as_array).map_or_else(Vec::new, |labels| {
                    labels.iter().map(|label| label.as_str().map_or_else(|| label.to_string(), String::from)).collect()
                });
                Some(FileSeries { labels, ..named(item.get("name")?.as_str()?, numbers(item.get("values")?)?) })
            })
            .collect(),
        _ => None,
    };
    let found = found.ok_or_else(other)?;
    match found.iter().find(|series| !series.labels.is_empty() && series.labels.len() != series.values.len()) {
        Some(uneven) => Err(Report::error(format!("{name}: {} has other numbers of labels and values", uneven.name))),
        None => Ok(found),
    }
}

fn csv(name: &str, text: &str) -> Result<Vec<FileSeries>, Report> {
    let mut rows = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.split(',').map(|cell| cell.trim().trim_matches('"').to_string()).collect::<Vec<String>>());
    let Some(titles) = rows.next() else { return Ok(Vec::new()) };
    let rows: Vec<Vec<String>> = rows.collect();
    if let Some(row) = rows.iter().position(|row| row.len() != titles.len()) {
        let what = format!("{name}: row {} has {} columns, the titles {}", row + 2, rows[row].len(), titles.len());
        return Err(Report::error(what));
    }
    let column = |place: usize| rows.iter().map(move |row| row[place].as_str());
    let is_number = |place: usize| column(place).all(|cell| cell.is_empty() || cell.parse::<f64>().is_ok());
    let has_some = |place: usize| column(place).any(|cell| !cell.is_empty());
    let label = (0..titles.len()).find(|place| !is_number(*place));
    let of = |place: usize| {
        // A run that did not measure this one is not in its history.
        let there = rows.iter().filter(|row| !row[place].is_empty());
        let values = there.clone().filter_map(|row| row[place].parse().ok()).collect();
        let labels = label.map_or_else(Vec::new, |label| there.map(|row| row[label].clone()).collect());
        FileSeries { name: titles[place].clone(), values, labels }
    };
    Ok((0..titles.len()).filter(|place| is_number(*place) && has_some(*place)).map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_series_and_the_first_of_words_names_their_rows() {
        let found = read_series("a.csv", "commit,small,large\nab12,1.5,20\ncd34,,21\n\n\"ef56\", 1.6 ,22\n").unwrap();
        let labels = |labels: &[&str]| labels.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            found,
            [
                FileSeries { name: "small".into(), values: vec![1.5, 1.6], labels: labels(&["ab12", "ef56"]) },
                FileSeries {
                    name: "large".into(),
                    values: vec![20.0, 21.0, 22.0],
                    labels: labels(&["ab12", "cd34", "ef56"])
                },
            ]
        );
    }

    #[test]
    fn json_is_a_list_an_object_or_named_ones() {
        let values = |text: &str| -> Vec<(String, Vec<f64>)> {
            read_series("a", text).unwrap().into_iter().map(|series| (series.name, series.values)).collect()
        };
        assert_eq!(values("[1, 2.5]"), [("series".into(), vec![1.0, 2.5])]);
        assert_eq!(values("{\"a\": [1], \"b\": [2]}"), [("a".into(), vec![1.0]), ("b".into(), vec![2.0])]);
        let named = read_series("a", "[{\"name\": \"x\", \"values\": [3, 4], \"labels\": [\"c1\", 2]}]").unwrap();
        assert_eq!(
            (named[0].values.as_slice(), named[0].labels.as_slice()),
            (&[3.0, 4.0][..], &["c1".to_string(), "2".into()][..])
        );
    }

    #[test]
    fn what_is_no_series_is_refused() {
        for text in [
            "",
            "a,b\n",
            "a\nx\n",
            "a,b\n1\n",
            "a\n0\n",
            "a\n-1\n",
            "[1, \"x\"]",
            "[1,",
            "{\"a\": 1}",
            "7",
            "[]",
            "{}",
            "[{\"name\": \"x\", \"values\": [1], \"labels\": [\"a\", \"b\"]}]",
            "a\nnan\n",
            "a\ninf\n",
        ] {
            assert!(read_series("f", text).is_err(), "{text:?}");
        }
    }
}
