//! `kiln report`: the story of a study, a session or a kernel as a file. `kiln plot`: one of its figures.

use kiln_app::{
    Ending, Failure, LookDepth, Project, Report, ReportFormat, Reported, TrialFilter, Utf8Path, Utf8PathBuf,
    figures_folder, look, reported, write_picture, write_report,
};
use kiln_show::html::{Plot, View, article, document, is_figure, lacking, plots, png, report_sections};
use serde_json::json;

use crate::args::{PlotArgs, StoryArgs};
use crate::output;
use crate::place;

pub(crate) fn run(project: &Project, args: &StoryArgs) -> Result<Ending, Failure> {
    let format = ReportFormat::of(&args.output)?;
    let found = reported(project, &args.of)?;
    let (title, sections) = report_sections(&found, &View::file(&place::kiln(project)));
    let written = match format {
        ReportFormat::Html => write_report(&args.output, &document(&title, &sections), &[])?,
        ReportFormat::Markdown => {
            let article = article(&title, &sections, &figures_folder(&args.output));
            write_report(&args.output, &article.text, &article.figures)?
        }
    };
    let (kind, of) = match &found {
        Reported::Study(look) => ("study", look.story.now.study.id.as_str()),
        Reported::Session(report) => ("session", report.session.id.as_str()),
        Reported::Kernel(look, _) => ("kernel", look.kernel.as_str()),
    };
    let ids: Vec<&str> = sections.iter().map(|section| section.id).collect();
    let object = json!({ "kind": kind, "of": of, "title": title, "sections": ids, "files": names(&written) });
    let figures = match written.len().saturating_sub(1) {
        0 => String::new(),
        1 => " and 1 figure beside it".into(),
        several => format!(" and {several} figures beside it"),
    };
    told(args.json, &object, &format!("wrote {}{figures}\n", args.output))
}

pub(crate) fn plot(project: &Project, args: &PlotArgs) -> Result<Ending, Failure> {
    let pair = |words: &String| {
        let split = words.split_once('=').map(|(key, value)| (key.trim().to_string(), value.to_string()));
        split.ok_or_else(|| Report::error(format!("--filter {words}")).label("expected KEY=VALUE, such as top=50"))
    };
    let pairs: Vec<(String, String)> = args.filter.iter().map(pair).collect::<Result<_, _>>()?;
    let filter = TrialFilter::parse(pairs)?;
    let output = args.output.clone().unwrap_or_else(|| format!("{}.svg", args.kind).into());
    let as_png = match output.extension().map(str::to_ascii_lowercase).as_deref() {
        Some("svg") => false,
        Some("png") => true,
        _ => {
            let report = Report::error(format!("{output} has no ending that a figure is written in"));
            return Err(report.label("expected .svg or .png").into());
        }
    };
    let found = look(project, &args.study, LookDepth::Whole)?;
    filter.fits(&found.story.now.study, &found.story.now.trials)?;
    let plot = Plot::named(&args.kind);
    let canvases = plot.map(|plot| plots(plot, &found, &filter)).unwrap_or_default();
    if canvases.is_empty() {
        let id = found.story.now.study.short_id();
        let report = Report::error(format!("study {id} has nothing to draw as {}", args.kind));
        let filtered = !filter.is_open() && plot.is_some_and(Plot::is_filtered);
        return Err(match plot {
            Some(plot) if !filtered => report.label(lacking(plot, &found)).into(),
            _ => report.hint("the filter may keep too little").into(),
        });
    }
    // Names that were made up are given to nothing of somebody else.
    let files: Vec<Utf8PathBuf> = (0..canvases.len()).map(|at| numbered(&output, at)).collect();
    let foreign = |file: &&Utf8PathBuf| std::fs::read(file).is_ok_and(|content| !is_figure(&content));
    if let Some(file) = files.iter().skip(1).find(foreign) {
        let report = Report::error(format!("{file} is there already, and no figure that kiln drew"));
        let hint = format!("there are {} figures: choose another name for them with --output", files.len());
        return Err(report.hint(hint).into());
    }
    let mut written = Vec::with_capacity(canvases.len());
    for (file, canvas) in files.iter().zip(&canvases) {
        let svg = canvas.standalone();
        let content = if as_png { png(&svg)? } else { svg.into_bytes() };
        written.push(write_picture(file, &content)?);
    }
    let object = json!({ "kind": args.kind, "study": found.story.now.study.id, "files": names(&written) });
    told(args.json, &object, &format!("wrote {}\n", names(&written).join(", ")))
}

/// `x.svg`, then `x-2.svg`.
fn numbered(file: &Utf8Path, at: usize) -> Utf8PathBuf {
    match (at, file.file_stem(), file.extension()) {
        (1.., Some(stem), Some(ending)) => file.with_file_name(format!("{stem}-{}.{ending}", at + 1)),
        _ => file.to_owned(),
    }
}

fn names(files: &[Utf8PathBuf]) -> Vec<&str> {
    files.iter().map(|file| file.as_str()).collect()
}

fn told(json: bool, object: &serde_json::Value, text: &str) -> Result<Ending, Failure> {
    output::data(&if json { format!("{object}\n") } else { text.to_string() })?;
    Ok(Ending::Done)
}
