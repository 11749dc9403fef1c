//! `kiln diagnose`: the causes behind other tools' logs and profiles.

use kiln_app::{
    DiagnoseRequest, Ending, Ends, Failure, KernelFile, PredictRequest, ProfileCompareRequest, ProfileDiagnoseRequest,
    Project, Selecting, Utf8Path, calibration, compare_profiles, diagnose, diagnose_of, diagnose_profile,
    diagnose_profile_of, lesson, predict_kernel, write_pictures,
};
use kiln_show::{
    CalibrationView, ComparedProfilesView, DiagnosedProfileView, DiagnosisView, PredictedView, ProfilePictures,
    with_lesson as shown,
};
use serde_json::json;

use crate::args::DiagnoseArgs;
use crate::output;

pub(crate) fn run(project: &Project, args: &DiagnoseArgs) -> Result<Ending, Failure> {
    if args.calibration {
        let found = calibration(project, args.path.as_deref())?;
        let view = CalibrationView { calibration: &found };
        output::data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
        return Ok(found.ending());
    }
    if args.predict {
        return predicted(project, args);
    }
    match (&args.ncu, &args.against) {
        (Some(page), Some(against)) => compared(args, page, against),
        (Some(page), None) => profiled(project, args, page),
        (None, _) => sanitized(project, args),
    }
}

/// What is expected of a kernel before it runs.
fn predicted(project: &Project, args: &DiagnoseArgs) -> Result<Ending, Failure> {
    let path = args.path.clone().unwrap_or_else(|| ".".into());
    let file = KernelFile::read(&path)?;
    let selecting = Selecting {
        path,
        target: Some("cuda".to_owned()).filter(|_| args.arch.is_some() || args.board.is_some()),
        arch: args.arch.clone(),
        workload: args.workload.clone(),
        variant: args.variant.clone(),
        implementation: None,
        device: None,
    };
    let request = PredictRequest { selecting, config: args.config.clone(), board: args.board.clone() };
    let predicted = predict_kernel(project, &file, &request)?;
    output::data(&match args.json {
        true => format!("{}\n", PredictedView { predicted: &predicted }.json()),
        false => PredictedView { predicted: &predicted }.to_string(),
    })?;
    Ok(predicted.ending())
}

/// What two profiles say side by side.
fn compared(args: &DiagnoseArgs, page: &Utf8Path, against: &Utf8Path) -> Result<Ending, Failure> {
    let request =
        ProfileCompareRequest { page: page.to_owned(), against: against.to_owned(), sources: args.source.clone() };
    let compared = compare_profiles(&request)?;
    let view = ComparedProfilesView { compared: &compared };
    output::data(&match args.json {
        true => format!("{}\n", view.json()),
        false => view.to_string(),
    })?;
    Ok(compared.ending())
}

/// What a profile says.
fn profiled(project: &Project, args: &DiagnoseArgs, page: &Utf8Path) -> Result<Ending, Failure> {
    let request = ProfileDiagnoseRequest {
        page: page.to_owned(),
        details: args.details.clone(),
        ptxas: args.ptxas.clone(),
        sources: args.source.clone(),
        source_page: args.source_page.clone(),
        why: args.why.clone(),
    };
    let profile = match &args.path {
        Some(kernel) => diagnose_profile_of(project, kernel, &request)?,
        None => diagnose_profile(project, &request)?,
    };
    if let Some(folder) = &args.svg {
        let files = ProfilePictures { diagnosis: &profile.diagnosis }.files();
        let written = write_pictures(folder, &files)?;
        written.iter().for_each(|file| output::note(&format!("wrote {file}")));
        if files.is_empty() {
            output::note("no picture: the page lacks the metrics; collect with --set full");
        }
    }
    let view = DiagnosedProfileView { profile: &profile, verbose: output::verbose() };
    let lesson = lesson(project, &profile, args.path.as_deref().map(Utf8Path::as_str));
    output::data(&shown(args.json, view.json(), view.to_string(), lesson.as_ref()))?;
    Ok(profile.ending())
}

/// What a sanitizer's log says.
fn sanitized(project: &Project, args: &DiagnoseArgs) -> Result<Ending, Failure> {
    let request = DiagnoseRequest { logs: args.sanitizer.clone(), sources: args.source.clone() };
    let diagnosis = match &args.path {
        Some(kernel) => diagnose_of(project, kernel, &request)?,
        None => diagnose(&request)?,
    };
    let lesson = lesson(project, &diagnosis, args.path.as_deref().map(Utf8Path::as_str));
    let text = DiagnosisView { diagnosis: &diagnosis }.to_string();
    output::data(&shown(args.json, json!(diagnosis), text, lesson.as_ref()))?;
    Ok(diagnosis.ending())
}
