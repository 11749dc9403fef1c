use super::*;
use proptest::prelude::*;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ncu/h200/");

fn page(name: &str) -> Pages {
    Pages::read(io::BufReader::new(std::fs::File::open(format!("{FOLDER}{name}")).unwrap())).unwrap()
}

fn read(text: &str) -> Pages {
    Pages::read(text.as_bytes()).unwrap()
}

#[test]
fn a_raw_page_has_every_metric_of_its_launch() {
    let pages = page("p03_smallmat_planted.raw.csv");
    let kernel = pages.dominant().unwrap();
    assert_eq!(kernel.name, "recur32(const float *, float *)");
    assert_eq!((kernel.launches, kernel.total_ns), (1, 2_672_160.0));
    assert_eq!(kernel.longest.get("launch__grid_size"), Some(8448.0));
    assert_eq!(kernel.longest.get("derived_tempMetric4"), None, "nan is no value");
    assert_eq!(kernel.longest.get("launch__cluster_scheduling_policy"), None, "text is no value");
    assert_eq!(kernel.longest.get("no_such_metric"), None);
}

#[test]
fn pages_between_other_output_are_found() {
    for name in ["direct_raw_stdout.txt", "direct_logfile.csv"] {
        let pages = page(name);
        assert_eq!(pages.dominant().unwrap().name, "recur32(const float *, float *)", "{name}");
        assert!(pages.said.iter().any(|line| line.starts_with("==PROF== Connected")), "{name}");
    }
}

#[test]
fn many_launches_are_counted() {
    let pages = page("many_launches.txt");
    let kernel = pages.dominant().unwrap();
    assert_eq!((kernel.name.as_str(), kernel.launches), ("euler_step(float *, int, float)", 20));
    assert!(kernel.total_ns > 20.0 * 2000.0);
}

#[test]
fn a_details_page_fills_what_is_missing_and_has_rules() {
    let mut details = page("p10_ops8_planted.details.csv");
    assert_eq!(details.dominant().unwrap().longest.get("gpu__time_duration.sum"), Some(315_900.0));
    let divergence = details.rules.iter().find(|rule| rule.name == "ThreadDivergence").unwrap();
    assert!((divergence.speedup.unwrap() - 5.62).abs() < 0.01);
    let raw = page("p10_ops8_planted.raw.csv");
    let exact = raw.dominant().unwrap().longest.get("gpu__time_duration.sum");
    let mut both = raw;
    both.join(std::mem::take(&mut details));
    assert_eq!(both.kernels.len(), 1);
    assert_eq!(both.dominant().unwrap().longest.get("gpu__time_duration.sum"), exact, "the raw page is more precise");
    assert!(!both.rules.is_empty());
}

#[test]
fn what_kept_ncu_from_profiling() {
    let available = vec!["init_f32".to_owned(), "recur32".to_owned()];
    assert_eq!(page("no_match.txt").trouble(), Some(Trouble::NoKernel { available }));
    let failed = "The application returned an error code (1).";
    assert_eq!(page("app_error.txt").trouble(), Some(Trouble::ProgramFailed(failed.into())));
    let forbidden =
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters";
    assert_eq!(read(forbidden).trouble(), Some(Trouble::Permission));
    assert_eq!(read("").trouble(), Some(Trouble::NoPage));
    assert_eq!(read("==ERROR== Unknown option").trouble(), Some(Trouble::Ncu("Unknown option".into())));
    assert_eq!(page("p03_smallmat_planted.raw.csv").trouble(), None);
}

#[test]
fn short_rows_odd_units_and_a_missing_unit_row() {
    let text = "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"dram__bytes.sum\",\"new__metric.sum\"\n\
                \"\",\"\",\"us\",\"Mbyte\",\"widget\"\n\"0\",\"k\",\"12.5\",\"1,000.5\",\"7\"\n\"1\",\"k\",\"9\"\n";
    let pages = read(text);
    let kernel = pages.dominant().unwrap();
    assert_eq!((kernel.launches, kernel.total_ns), (2, 21_500.0));
    assert_eq!(kernel.longest.get("dram__bytes.sum"), Some(1_000_500_000.0));
    assert_eq!(kernel.longest.get("new__metric.sum"), Some(7.0));
    let bare = read("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"0\",\"k\",\"9\"\n");
    assert_eq!(bare.dominant().unwrap().total_ns, 9.0);
}

proptest! {
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Pages::read(bytes.as_slice()).unwrap().trouble();
    }

    #[test]
    fn a_damaged_page_is_read_as_far_as_it_goes(cut in 0usize..160_000, at in 0usize..160_000, byte: u8) {
        let mut text = std::fs::read(format!("{FOLDER}p17_axpy_planted.raw.csv")).unwrap();
        let end = text.len();
        text[at % end] = byte;
        text.truncate(cut % end);
        let pages = Pages::read(text.as_slice()).unwrap();
        prop_assert!(pages.kernels.len() <= 2);
    }
}

/// A page that has the same launch many times, without a copy of it in memory.
struct Long {
    head: io::Cursor<Vec<u8>>,
    row: io::Cursor<Vec<u8>>,
    left: u64,
}

impl io::Read for Long {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = io::Read::read(&mut self.head, buffer)?;
        if read > 0 {
            return Ok(read);
        }
        let read = io::Read::read(&mut self.row, buffer)?;
        if read == 0 && self.left > 0 {
            self.left -= 1;
            self.row.set_position(0);
            return io::Read::read(&mut self.row, buffer);
        }
        Ok(read)
    }
}

#[test]
fn a_long_page_is_read_a_launch_at_a_time() {
    let text = std::fs::read_to_string(format!("{FOLDER}p17_axpy_planted.raw.csv")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = io::Cursor::new(lines[..2].concat().into_bytes());
    let rows = 400;
    let row = io::Cursor::new(lines[2].as_bytes().to_vec());
    let pages = Pages::read(io::BufReader::new(Long { head, row, left: rows - 1 })).unwrap();
    let kernel = pages.dominant().unwrap();
    assert_eq!((pages.kernels.len(), kernel.launches), (1, rows));
}

fn timed(unit: &str, rows: &str) -> Pages {
    read(&format!("\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"{unit}\"\n{rows}"))
}

fn odd(pages: &Pages) -> Option<Odd> {
    match pages.trouble() {
        Some(Trouble::Odd(odd)) => Some(odd),
        _ => None,
    }
}

#[test]
fn a_time_that_cannot_be_is_refused() {
    for value in ["0", "-5", "1e30", "1e999", "1.394.528", "12,5"] {
        let found = odd(&timed("ns", &format!("\"0\",\"k\",\"{value}\"\n"))).unwrap();
        assert_eq!((found.metric.as_str(), found.value.as_str()), (DURATION, value));
        assert!(odd(&timed("ns", &format!("\"0\",\"k\",\"9\"\n\"1\",\"k\",\"{value}\"\n"))).is_some(), "{value}");
    }
    let found = odd(&timed("fortnight", "\"0\",\"k\",\"9\"\n")).unwrap();
    assert_eq!((found.value.as_str(), found.expected.as_str()), ("in fortnight", "ns, us, ms or s"));
    for unit in ["us", "\u{b5}s", "\u{3bc}s", "usecond"] {
        let pages = timed(unit, "\"0\",\"k\",\"1,250.5\"\n");
        assert_eq!((pages.trouble(), pages.dominant().unwrap().total_ns), (None, 1_250_500.0), "{unit}");
    }
    assert_eq!(timed("ns", "\"0\",\"k\",\"n/a\"\n").trouble(), None, "that is not collected");
}

#[test]
fn a_page_of_another_locale_is_refused() {
    for name in ["p01_scalebias_planted.raw.csv", "p10_ops8_planted.details.csv"] {
        let text = std::fs::read_to_string(format!("{FOLDER}{name}")).unwrap();
        // Points and commas change places within numbers.
        let swapped = |field: &str| match number(field.as_bytes()) {
            Some(_) => field
                .chars()
                .map(|own| {
                    if own == ',' {
                        '.'
                    } else if own == '.' {
                        ','
                    } else {
                        own
                    }
                })
                .collect(),
            None => field.to_owned(),
        };
        let text: Vec<String> = text.split('"').map(swapped).collect();
        let found = odd(&read(&text.join("\"")));
        assert!(found.is_some_and(|odd| odd.expected.contains("LC_ALL=C")), "{name}");
    }
}

#[test]
fn thousands_of_kernels_keep_their_names_and_totals() {
    let names = 5000;
    let mut rows = String::new();
    for round in 0..2 {
        for kernel in 0..names {
            let time = if kernel == 4321 { 50_000 } else { 10 + (kernel + round) % 7 };
            rows += &format!("\"0\",\"k{kernel}\",\"{time}\"\n");
        }
    }
    let pages = timed("ns", &rows);
    assert_eq!(pages.kernels.len(), names);
    let most = pages.dominant().unwrap();
    assert_eq!((most.name.as_str(), most.launches, most.total_ns), ("k4321", 2, 100_000.0));
    assert_eq!(most.longest.get(DURATION), Some(50_000.0));
    assert!(pages.kernels.iter().all(|kernel| kernel.launches == 2), "none is booked on another");
    assert_eq!((pages.kernels[600].name.as_str(), pages.kernels[600].total_ns), ("k600", 31.0));
    assert_eq!(pages.beyond, Beyond::default());
}

#[test]
fn names_beyond_those_that_are_told_apart_are_counted_and_noted() {
    let rows: String = (0..(1 << 16) + 3).map(|kernel| format!("\"0\",\"k{kernel}\",\"1000\"\n")).collect();
    let pages = timed("ns", &rows);
    assert_eq!((pages.beyond.launches, pages.beyond.total_ns), (3, 3000.0));
    assert_eq!(pages.notes(), ["more than 65536 kernels: 3 launches of others (3 us) are not told apart"]);
    assert_eq!(pages.kernels.iter().map(|kernel| kernel.launches).max(), Some(1));
}

#[test]
fn details_of_another_program_are_left_out() {
    let mut pages = page("p01_scalebias_planted.raw.csv");
    pages.join(page("p10_ops8_planted.details.csv"));
    assert_eq!(pages.kernels.len(), 1);
    assert!(pages.notes()[0].starts_with("the details page has another kernel, which is left out: apply_ops("));
}

#[test]
fn a_page_without_a_whole_launch_is_cut() {
    let text = std::fs::read_to_string(format!("{FOLDER}p17_axpy_planted.raw.csv")).unwrap();
    let rows: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    for end in [rows[0], rows[1], rows[1] + 30] {
        assert_eq!(read(&text[..end]).trouble(), Some(Trouble::Cut), "{end}");
    }
}

#[test]
fn a_page_that_ends_within_a_later_launch_says_so() {
    let (one, two) = ("p17_axpy_planted.raw.csv", "p01_scalebias_planted.raw.csv");
    let read_text = |name: &str| std::fs::read_to_string(format!("{FOLDER}{name}")).unwrap();
    let whole = read_text(one) + &read_text(two);
    assert_eq!((read(&whole).notes(), read(&whole).dominant().unwrap().name.starts_with("scale_bias")), (vec![], true));
    // In a field, between two fields, in the last one.
    for end in [whole.len() - 3000, whole[..whole.len() - 3000].rfind("\",\"").unwrap() + 1, whole.len() - 2] {
        let pages = read(&whole[..end]);
        assert_eq!((pages.kernels.len(), pages.trouble()), (1, None), "{end}");
        assert!(pages.notes()[0].starts_with("the page is cut: its last launch is left out"), "{:?}", pages.notes());
    }
    let last = whole.trim_end();
    assert_eq!(read(last).notes(), [""; 0], "an end without a line break is no cut");
}

#[test]
fn a_page_that_ends_within_its_header_is_cut() {
    let text = std::fs::read_to_string(format!("{FOLDER}p17_axpy_planted.raw.csv")).unwrap();
    let name = text.find("\"Kernel Name\"").unwrap();
    for end in [20, name - 1, name + 5, name + 200, name + 5000] {
        assert_eq!(read(&text[..end]).trouble(), Some(Trouble::Cut), "{end}");
    }
}

#[test]
fn a_details_page_is_known_as_one() {
    let (details, raw) = (page("p10_ops8_planted.details.csv"), page("p10_ops8_planted.raw.csv"));
    assert!(details.is_details() && !raw.is_details());
    assert!(details.notes()[0].contains("--page raw"), "{:?}", details.notes());
    let mut both = raw;
    both.join(details);
    assert_eq!((both.is_details(), both.notes().len()), (false, 0));
}

/// As a spreadsheet saves it: quotes around fields with commas only.
fn without_quotes(text: &str, order: impl Fn(Vec<String>) -> Vec<String>) -> String {
    let mut records = Records::new(text.as_bytes());
    let mut saved = String::new();
    while let Some(record) = records.next().unwrap() {
        let fields = order(record.texts());
        let field = |field: &String| if field.contains(',') { format!("\"{field}\"") } else { field.clone() };
        saved += &(fields.iter().map(field).collect::<Vec<_>>().join(",") + "\r\n");
    }
    saved
}

#[test]
fn a_page_that_was_saved_without_quotes_or_in_another_order_is_the_same() {
    let text = std::fs::read_to_string(format!("{FOLDER}p03_smallmat_planted.raw.csv")).unwrap();
    let own = read(&text);
    let own = own.dominant().unwrap();
    let moved = |mut fields: Vec<String>| {
        fields.rotate_left(3);
        fields
    };
    for saved in [without_quotes(&text, |fields| fields), without_quotes(&text, moved)] {
        let pages = read(&saved);
        assert_eq!(pages.trouble(), None);
        let found = pages.dominant().unwrap();
        assert_eq!((&found.name, found.launches, found.total_ns), (&own.name, own.launches, own.total_ns));
        for metric in ["launch__grid_size", "memory_l1_wavefronts_shared", "dram__bytes_read.sum"] {
            assert_eq!(found.longest.get(metric), own.longest.get(metric), "{metric}");
        }
    }
    let cut = without_quotes(&text, |fields| fields);
    assert_eq!(read(&cut[..cut.len() - 2000]).trouble(), Some(Trouble::Cut));
}

#[test]
fn pages_with_the_same_header_share_it() {
    let head = "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\"\n\"\",\"\",\"ns\"\n";
    let pages = read(&format!("{head}\"0\",\"a\",\"9\"\n{head}\"0\",\"b\",\"8\"\n"));
    let [one, other] = pages.kernels.as_slice() else { panic!("two kernels") };
    assert!(Arc::ptr_eq(&one.longest.names, &other.longest.names));
}

/// The details page rounds: its time may be longer than that of the raw page.
#[test]
fn a_raw_page_after_a_details_page_is_of_the_same_launch() {
    let details = "\"ID\",\"Kernel Name\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\
        \"0\",\"k\",\"GPU Speed Of Light Throughput\",\"Duration\",\"us\",\"1.40\"\n\
        \"0\",\"k\",\"Launch Statistics\",\"Block Size\",\"\",\"64\"\n";
    let raw = "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"launch__grid_size\"\n\"\",\"\",\"ns\",\"\"\n\"0\",\"k\",\"1395\",\"7\"\n";
    for text in [format!("{details}{raw}"), format!("{raw}{details}")] {
        let pages = read(&text);
        let own = pages.dominant().unwrap();
        assert_eq!((own.launches, own.total_ns), (1, 1395.0), "{text}");
        let all =
            ["gpu__time_duration.sum", "launch__grid_size", "launch__block_size"].map(|name| own.longest.get(name));
        assert_eq!(all, [Some(1395.0), Some(7.0), Some(64.0)], "{text}");
    }
    let alone = read(details);
    assert_eq!(alone.kernels.iter().map(|own| (own.launches, own.total_ns)).collect::<Vec<_>>(), [(1, 1400.0)]);
}
