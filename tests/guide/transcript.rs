//! A document as steps. In: Markdown. Out, in order: a file to write for every fenced block whose opening line names one
//! after the language (```` ```c row_sum/row_sum.c ````), and a command with the lines expected of it for every line of a
//! `console` block that begins with `$ `.

/// Something to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Write this text there.
    File { path: String, text: String },
    /// Run this line, found at that line of the document.
    Command { at: usize, line: String, expected: Vec<String> },
}

pub(crate) fn steps(markdown: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = markdown.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<(usize, &str)> = lines.by_ref().take_while(|(_, line)| *line != "```").collect();
        match info.split_once(' ') {
            Some((_, path)) => {
                let text = body.iter().map(|(_, line)| format!("{line}\n")).collect();
                steps.push(Step::File { path: path.into(), text });
            }
            None if info == "console" => steps.extend(commands(&body)),
            None => {}
        }
    }
    steps
}

fn commands(body: &[(usize, &str)]) -> Vec<Step> {
    let mut found: Vec<Step> = Vec::new();
    for (index, line) in body {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => {
                found.push(Step::Command { at: index + 1, line: command.into(), expected: Vec::new() });
            }
            (None, Some(Step::Command { expected, .. })) => expected.push((*line).into()),
            (None, _) => panic!("line {}: a console block begins with `$ `", index + 1),
        }
    }
    found
}

#[test]
fn files_and_commands_in_order() {
    let text = "words\n```c a/b.c\nint x;\n```\n```toml\nleft = \"out\"\n```\n```console\n$ one\n1\n\n$ two\n```\n";
    let command = |at, line: &str, expected: &[&str]| Step::Command {
        at,
        line: line.into(),
        expected: expected.iter().map(|s| s.to_string()).collect(),
    };
    let file = Step::File { path: "a/b.c".into(), text: "int x;\n".into() };
    assert_eq!(steps(text), [file, command(9, "one", &["1", ""]), command(12, "two", &[])]);
}
