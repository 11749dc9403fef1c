//! Flags of `kiln next`.

use clap::Args;
use kiln_app::Utf8PathBuf;

#[derive(Debug, Args)]
#[command(
    after_help = "kiln walks a decision tree over what is recorded of the kernel (environment, refusals, speedup, profile, search, commits) and prints the one thing to do now, the command for it, the reason with its numbers, and the questions that led there. Nothing is run. What is not recorded is reported as not known.\n\nThe thresholds (profile below 0.5x, go on with a warning below 1.0x, look for the next bottleneck from 2.0x on, ...) are set under [thresholds] in .kiln/config.toml.\n\nExamples:\n  kiln next\n  kiln next kernels/softmax\n  kiln next kernels/softmax --tree\n  kiln next kernels/softmax --checklist\n  kiln next kernels/softmax --json"
)]
pub(crate) struct NextArgs {
    /// A kernel's folder, its kernel.toml or its name [default: the kernel in this folder, else the one worked on last]
    pub(crate) kernel: Option<Utf8PathBuf>,
    /// Draw the whole tree with the way through it marked
    #[arg(long, conflicts_with = "checklist")]
    pub(crate) tree: bool,
    /// Fill in the checklists instead: pre-flight, during, closing
    #[arg(long)]
    pub(crate) checklist: bool,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use kiln_app::decision_tree;

    use crate::args::Cli;

    /// Every `[...]` of a template in or out, every name a word.
    fn forms(template: &str) -> Vec<Vec<String>> {
        let bare = |text: &str| {
            let mut words = String::new();
            let mut rest = text;
            while let Some((before, after)) = rest.split_once('{') {
                let Some((name, behind)) = after.split_once('}') else { break };
                words.push_str(before);
                words.push_str(match name {
                    "at" => "k --target cpu --variant T=f32",
                    "chosen" | "back_to" | "guard" => "--config A=1",
                    "refusal_stage" => "build",
                    "validated_runs" => "100",
                    "message" => "'k: 1.50x of naive'",
                    "fault_command" => "check",
                    "failing_case" => "'S=65; inputs=spike; seed=3'",
                    _ => "word",
                });
                rest = behind;
            }
            format!("{words}{rest}")
        };
        let full = template.replace(['[', ']'], "");
        let mut short = template.to_string();
        while let (Some(open), Some(close)) = (short.find('['), short.find(']')) {
            short.replace_range(open..=close, "");
        }
        [full, short].iter().map(|text| split(&bare(text))).collect()
    }

    /// Words as a shell splits them.
    fn split(line: &str) -> Vec<String> {
        let (mut words, mut quoted) = (vec![String::new()], false);
        for letter in line.chars() {
            match letter {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                other => words.iter_mut().last().unwrap().push(other),
            }
        }
        words
    }

    #[test]
    fn every_command_of_the_tree_can_be_typed() {
        let tree = decision_tree().unwrap();
        let leaves = tree.advice.iter().flat_map(|leaf| [Some(&leaf.command), leaf.then.as_ref()]);
        let items = tree.item.iter().map(|item| item.command.as_ref());
        let mut tried = 0;
        for template in leaves.chain(items).flatten() {
            // The exact revert is put together where the evidence is gathered, and typed in a test there.
            if template == "{revert}" {
                continue;
            }
            for words in forms(template) {
                let line = words.join(" ");
                if words[0] == "git" {
                    assert!(
                        words[1] == "-C" && ["add", "diff", "push", "status"].contains(&words[3].as_str()),
                        "{line}"
                    );
                    continue;
                }
                let parsed = Cli::try_parse_from(&words);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
                tried += 1;
            }
        }
        assert!(tried > 80, "{tried}");
    }
}
