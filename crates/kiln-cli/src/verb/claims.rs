//! `kiln claims`: what was claimed, held against what is measured.

use kiln_app::{ClaimsRequest, Ending, Ends, Failure, Measuring, Project, claims, lesson};
use kiln_show::{ClaimsView, with_lesson};

use crate::args::{ClaimsArgs, ClaimsFormat};
use crate::hearing::Hearing;

pub(crate) fn run(project: &Project, args: &ClaimsArgs) -> Result<Ending, Failure> {
    let json = args.json || args.format == ClaimsFormat::Json;
    let hearing = Hearing::progress(&args.hearing, json)?;
    let request = ClaimsRequest {
        file: args.file.clone(),
        measuring: Measuring {
            samples: args.samples,
            cold: false,
            warm: false,
            threads: 1,
            pin: true,
            seed: args.seed,
        },
        device: args.device.clone(),
        width: args.width,
        max_samples: args.max_samples,
    };
    let claimed = claims(project, &request, &|event: &_| hearing.hear(event))?;
    let view = ClaimsView { claimed: &claimed };
    let lesson = lesson(project, &claimed, None);
    hearing.data(&match if json { ClaimsFormat::Json } else { args.format } {
        ClaimsFormat::Markdown => view.markdown(),
        format => with_lesson(format == ClaimsFormat::Json, view.json(), view.to_string(), lesson.as_ref()),
    })?;
    Ok(claimed.ending())
}
