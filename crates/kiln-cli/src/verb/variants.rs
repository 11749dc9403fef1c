//! `kiln tune --all-variants`: a study for each variant, one after another, and a table last.

use kiln_app::{Ending, Ends, Failure, KernelFile, Project, variants};
use kiln_show::{VariantRow, VariantsView};

use super::tune::{request, study};
use crate::args::TuneArgs;
use crate::hearing::Hearing;
use crate::output;

pub(crate) fn run(project: &Project, args: &TuneArgs) -> Result<Ending, Failure> {
    let hearing = Hearing::progress(&args.hearing, args.json)?;
    let all = variants(&KernelFile::read(&args.selecting.path)?, &(&args.selecting).into())?;
    let mut rows: Vec<VariantRow> = Vec::new();
    for variant in all {
        let mut request = request(args);
        request.selecting.variant = Some(variant.clone());
        if !output::quiet() {
            output::complain(&format!("\nvariant {variant}"));
        }
        // What one variant fails by need not be the next one's trouble.
        let (ending, summary, reason) = match study(project, args, &hearing, &request) {
            Ok((ending, summary)) => (ending, summary, None),
            Err(failure) => {
                output::complain(&failure.to_string());
                (failure.ending(), None, failure.reason())
            }
        };
        rows.push(VariantRow { variant, ending, summary, reason });
        if project.is_stopped() {
            break;
        }
    }
    let view = VariantsView { rows: &rows };
    hearing.data(&if args.json { format!("{}\n", view.json()) } else { view.to_string() })?;
    let worst = rows.iter().map(|row| row.ending).max_by_key(|ending| ending.gravity());
    Ok(if project.is_stopped() { Ending::Interrupted } else { worst.unwrap_or(Ending::Done) })
}
