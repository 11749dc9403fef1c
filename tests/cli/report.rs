//! `kiln report` and `kiln plot`: a study really run becomes a file that needs nothing else, whose figures are those that `kiln show`
//! prints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

use crate::history::{json, tiny, tune};
use crate::run::kiln_in;

/// Every figure of a document, as it was computed.
fn figures(html: &str) -> BTreeSet<u64> {
    let values = html.split("<data value=\"").skip(1).filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok());
    values.map(f64::to_bits).collect()
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Nothing in it asks for the network or runs: no address of another host, no script, nothing that names another file.
fn stands_alone(html: &str) {
    for reaching in ["http:", "https:", "src=", "<script", "<link", "@import", "url("] {
        assert!(!html.contains(reaching), "{reaching}");
    }
    assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
    // Every link leads to something in the file.
    for link in html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(html.contains(&format!("id=\"{link}\"")), "{link}");
    }
}

/// A folder with a study that tried every configuration, those that do not compile too.
fn whole() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = tiny("report");
        let source = folder.join("tiny/tiny.c");
        let text = std::fs::read_to_string(&source).unwrap();
        std::fs::write(&source, format!("#if LANES == 2 && KEEP\n#error two lanes\n#endif\n{text}")).unwrap();
        let words =
            ["tune", "tiny", "--trials", "40", "--samples", "25", "--no-ablation", "--no-stop", "--name", "mine"];
        let ran = kiln_in(&folder, &words);
        assert!([0, 4].contains(&ran.code), "{}", ran.err);
        folder
    })
}

#[test]
fn a_report_has_the_figures_that_show_prints_and_needs_nothing_else() {
    let folder = whole();
    let ran = kiln_in(folder, &["report", "last", "-o", "out/story.html"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "wrote out/story.html\n"), "{}", ran.err);
    let html = read(folder, "out/story.html");
    stands_alone(&html);
    for id in
        ["study", "phases", "result", "why", "against", "gates", "convergence", "distributions", "timeline", "trials"]
    {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    let shown = json(folder, &["show", "last", "--json"]);
    // It has every trial and refusal as it is.
    assert_eq!(json(folder, &["show", "last", "--json", "--trials"]), shown);
    assert_eq!(json(folder, &["show", "last", "--json", "--refusals"]), shown);
    let (found, summary) = (figures(&html), &shown["study"]["summary"]);
    let mut expected: Vec<f64> = vec![summary["speedup"].as_f64().unwrap(), shown["study"]["trials"].as_f64().unwrap()];
    for workload in summary["workloads"].as_array().unwrap() {
        expected
            .extend(["best_ms", "baseline_ms", "speedup", "cliffs_delta"].map(|key| workload[key].as_f64().unwrap()));
    }
    let trials = shown["trials"].as_array().unwrap();
    expected.extend(trials.iter().filter_map(|trial| trial["cost"].as_f64()));
    for value in expected {
        assert!(found.contains(&value.to_bits()), "{value} is not among the figures of the report");
    }
    // A trial, its refusal and the command that repeats it.
    let refused = trials.iter().find(|trial| trial["state"] == "refused").expect("two configurations do not build");
    let config = refused["config"].as_str().unwrap();
    assert!(html.contains("build_failed") && html.contains(&format!("--config {config}")), "{config}");

    let ran = kiln_in(folder, &["report", "mine", "-o", "story.md", "--json"]);
    let printed: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &printed["kind"]), (0, &Value::from("study")));
    let text = read(folder, "story.md");
    for link in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        assert!(read(folder, link).starts_with("<svg xmlns="), "{link}");
    }
    let speedup = summary["workloads"][0]["speedup"].as_f64().unwrap();
    assert!(text.contains(&format!("| {speedup:.2}x |")), "{text}");
    assert_eq!(printed["files"].as_array().unwrap().len(), 1 + text.matches("](story-figures/").count());
}

#[test]
fn a_kernel_and_a_session_have_their_story() {
    let folder = tiny("report_kernel");
    let started = kiln_in(&folder, &["session", "start", "--goal", "1.2x", "tiny"]);
    assert_eq!(started.code, 0, "{}", started.err);
    assert!([0, 4].contains(&tune(&folder, &[]).code));
    let kernel = json(&folder, &["report", "tiny", "-o", "kernel.html", "--json"]);
    assert_eq!(kernel["kind"], "kernel");
    let html = read(&folder, "kernel.html");
    stands_alone(&html);
    for id in ["kernel", "next", "checklist", "studies", "tuned", "tried", "study", "why"] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    assert!(html.contains("aria-current=\"step\""), "the current node of the tree is lit");
    let open = json(&folder, &["report", "session", "-o", "s.html", "--json"]);
    assert_eq!(open["kind"], "session");
    let id = open["of"].as_str().unwrap();
    assert_eq!(json(&folder, &["report", id, "-o", "open.html", "--json"])["of"], id);
    assert_eq!(kiln_in(&folder, &["session", "end"]).code, 0);
    let session = json(&folder, &["report", "session", "-o", "s.md", "--json"]);
    assert_eq!(session["kind"], "session");
    assert!(read(&folder, "s.md").contains("1.2x"), "{}", read(&folder, "s.md"));
}

#[test]
fn a_kernel_whose_files_cannot_be_read_keeps_its_records() {
    let folder = tiny("report_unreadable");
    assert!([0, 4].contains(&tune(&folder, &[]).code));
    let (file, best) = (folder.join("tiny/kernel.toml"), folder.join(".kiln/best/tiny/best.toml"));
    let sound = std::fs::read_to_string(&file).unwrap();
    let story = || {
        let ran = kiln_in(&folder, &["report", "tiny", "-o", "k.html"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
        let html = read(&folder, "k.html");
        assert!(html.contains("<section id=\"studies\"") && html.contains("<section id=\"tried\""), "{html}");
        html
    };
    std::fs::write(&file, sound.replacen("[kernel]", "[kernel", 1)).unwrap();
    let html = story();
    assert!(html.contains("cannot be said until the kernel can be read") && html.contains("kernel.toml:"), "{html}");
    std::fs::write(&file, sound.replacen("name = \"tiny\"", "name = \"tiny2\"", 1)).unwrap();
    story();
    std::fs::write(&file, &sound).unwrap();
    std::fs::write(&best, "[cpu").unwrap();
    let html = story();
    assert!(html.contains("The winners cannot be read") && html.contains("best.toml"), "{html}");
}

#[test]
fn every_kind_of_figure_is_drawn_or_says_why_not() {
    let folder = whole();
    for kind in ["convergence", "configurations", "slices", "gates", "distributions", "timeline", "contour"] {
        let ran = kiln_in(folder, &["plot", kind, "last"]);
        assert_eq!(ran.code, 0, "{kind}: {}", ran.err);
        let svg = read(folder, &format!("{kind}.svg"));
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{kind}: {svg}");
    }
    // A dozen times are too few to say what mattered.
    let few = kiln_in(folder, &["plot", "importance", "last"]);
    assert_eq!(few.code, 2);
    assert!(few.err.contains("has nothing to draw as importance"), "{}", few.err);
    let reason = few.err.lines().find(|line| line.contains("are needed to say what mattered"));
    assert!(reason.is_some_and(|line| line.contains(" with a time; 20 ")) && !few.err.contains("hint:"), "{}", few.err);
    let ran = kiln_in(folder, &["plot", "gates", "last", "-o", "gates.png", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let png = std::fs::read(folder.join("gates.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n") && png.len() > 2000);
    // What is refused is not among the two fastest.
    let marks = |words: &[&str]| {
        assert_eq!(kiln_in(folder, &[&["plot", "convergence", "last"], words].concat()).code, 0);
        read(folder, "convergence.svg").matches("data-trial=").count()
    };
    assert!(marks(&[]) > marks(&["--filter", "top=2"]));
    assert_eq!(marks(&["--filter", "top=2"]), 2);
    for (words, said) in [
        (&["plot", "nothing"][..], "convergence"),
        (&["plot", "gates", "-o", "x.pdf"], "expected .svg or .png"),
        (&["plot", "gates", "--filter", "stat=passed"], "did you mean `state`?"),
        (&["plot", "gates", "--filter", "t.LANE=8"], "did you mean `LANES`?"),
        (&["plot", "gates", "--filter", "phase=serch"], "did you mean `search`?"),
        (&["report", "last", "-o", "x.pdf"], "expected .html or .md"),
        (&["report", "nobody"], "looking for `nobody`: no study, session or kernel has that id or name"),
    ] {
        let ran = kiln_in(folder, words);
        assert!(ran.code == 2 || ran.code == 1, "{words:?}: {}", ran.code);
        assert!(ran.err.contains(said), "{words:?}: {}", ran.err);
    }
}

#[test]
fn numbered_figures_replace_figures_alone() {
    let folder = whole();
    assert_eq!(kiln_in(folder, &["report", "last", "-o", "CAPITALS.HTML"]).code, 0);
    for ending in ["svg", "png"] {
        let name = format!("many.{ending}");
        let words = ["plot", "distributions", "last", "-o", &name];
        assert_eq!(kiln_in(folder, &words).code, 0);
        assert_eq!(kiln_in(folder, &words).code, 0, "its own are replaced");
        let second = folder.join(format!("many-2.{ending}"));
        std::fs::write(&second, "mine").unwrap();
        let ran = kiln_in(folder, &words);
        assert!(ran.code == 2 && ran.err.contains("no figure that kiln drew"), "{}", ran.err);
        assert_eq!(std::fs::read_to_string(&second).unwrap(), "mine");
    }
}

/// Whatever somebody wrote: it is text.
#[test]
fn hostile_remarks_stay_text() {
    let folder = tiny("report_hostile");
    assert!([0, 4].contains(&tune(&folder, &[]).code));
    let remark = "version = 1\nreviewer = \"<script>alert(2)</script>\"\n[[remark]]\nabout = \"decision\"\nstudy = \"last\"\ntext = \"</pre><img src=x onerror=alert(1)><script>alert(3)</script>\"\n";
    let id = json(&folder, &["show", "last", "--json"])["study"]["id"].as_str().unwrap().to_string();
    std::fs::write(folder.join("r.toml"), remark.replace("\"last\"", &format!("\"{id}\""))).unwrap();
    let added = kiln_in(&folder, &["review", "add", "r.toml"]);
    assert_eq!(added.code, 0, "{}", added.err);
    // What nobody sees is escaped as JSON does it, and JSON stays what it is.
    let unseen = "from \u{1f469}\u{200d}\u{1f4bb} \u{202e}back\u{feff}";
    let again = remark.replace("\"last\"", &format!("\"{id}\"")).replace("</pre>", unseen);
    std::fs::write(folder.join("r.toml"), again).unwrap();
    assert_eq!(kiln_in(&folder, &["review", "add", "r.toml"]).code, 0);
    let ran = kiln_in(&folder, &["show", "last", "--json"]);
    assert!(!ran.out.contains('\u{202e}') && ran.out.contains("\\u202e"), "{}", ran.out);
    let shown = json(&folder, &["show", "last", "--json"]);
    assert!(shown["study"]["remarks"].to_string().contains(unseen), "{shown:#}");
    for of in ["last", "tiny"] {
        assert_eq!(kiln_in(&folder, &["report", of, "-o", "h.html"]).code, 0);
        let html = read(&folder, "h.html");
        assert!(!html.contains("<img") && !html.contains("<script"), "{of}");
        assert!(html.contains("&lt;script&gt;alert(3)"), "{of}");
        assert_eq!(kiln_in(&folder, &["report", of, "-o", "h.md"]).code, 0);
        let text = read(&folder, "h.md");
        let outside: String = text.split("```").step_by(2).collect();
        let cells = outside.replace("\\<", "").split('`').step_by(2).collect::<String>();
        assert!(!cells.contains("<script") && !cells.contains("<img"), "{of}: {cells}");
    }
}

/// Work is done so often; in the way that is the default, far more often.
const REPEATED: &str = "#include <stdint.h>\n#define TIMES (PASSES + (WAY == 1 ? 200 : 0))\n\
    void twice(const T *x, T *y, int64_t n) {\n\
    for (int pass = 0; pass < TIMES; ++pass) {\n\
    for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];\n__asm__ volatile(\"\" ::: \"memory\");\n}\n}\n";

#[test]
fn a_winner_that_only_the_ablation_found_is_marked_everywhere() {
    let folder = crate::twice::folder("report_ablation");
    let passes = (1..=64).map(|passes| passes.to_string()).collect::<Vec<_>>().join(", ");
    let tunables = format!("WAY = [1, 2]\nPASSES = [{passes}]\n[default]\nPASSES = 1\nWAY = 1");
    crate::twice::rewrite(&folder, "kernel.toml", "WAY = [1, 2]\n[default]\nWAY = 1", &tunables);
    crate::twice::rewrite(&folder, "kernel.toml", "65536", "4096");
    std::fs::write(folder.join("twice/twice.c"), REPEATED).unwrap();
    // What is tried depends on the seed alone: one pass in the quick way is not among it, and is what every choice set back leads to.
    let words =
        ["tune", "twice", "--trials", "5", "--strategy", "random", "--seed", "3", "--samples", "25", "--no-stop"];
    let ran = kiln_in(&folder, &words);
    assert!([0, 4].contains(&ran.code), "{}{}", ran.out, ran.err);
    let shown = json(&folder, &["show", "last", "--json"]);
    let (study, trials) = (&shown["study"], shown["trials"].as_array().unwrap());
    let of = |trial: &&Value| ["default", "seed", "search"].contains(&trial["phase"].as_str().unwrap());
    let searched: BTreeSet<&str> = trials.iter().filter(of).map(|trial| trial["config"].as_str().unwrap()).collect();
    assert!(!searched.contains("WAY=2,PASSES=1"), "{searched:?}");
    assert_eq!(study["summary"]["config"], serde_json::json!({"WAY": 2, "PASSES": 1}), "{}", ran.out);
    let ablated = study["ablated"].as_u64().unwrap();
    assert!(ablated > 0 && study["trials"].as_u64().unwrap() == searched.len() as u64 + ablated, "{study}");
    assert!(ran.out.contains(&format!("configurations tried ({ablated} in the ablation)")), "{}", ran.out);

    assert_eq!(kiln_in(&folder, &["report", "last", "-o", "story.html"]).code, 0);
    let html = read(&folder, "story.html");
    assert!(html.contains("The search had not tried it.") && html.contains("takes its place"), "{html}");
    // In the convergence, the parallel coordinates, the slices and the contour, and in what a reviewer is given.
    let mark = ">winner: found by the ablation, not tried here";
    assert_eq!(html.matches(mark).count(), 4, "{html}");
    assert_eq!(kiln_in(&folder, &["review", "export", "last", "-o", "review"]).code, 0);
    assert!(read(&folder, "review/figures/search.svg").contains(mark));
}
