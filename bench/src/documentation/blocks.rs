//! Commands in a page of Markdown.

/// A code block with commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Each command with the number of its first line; one that goes on in the next line has that
    /// too
    pub commands: Vec<(usize, String)>,
}

/// The code blocks of a page that have commands: of the kind `sh` all lines, of the kind `console`
/// those behind `$`.
pub fn blocks(page: &str) -> Vec<Block> {
    fenced(page)
        .filter_map(|(kind, lines)| match kind {
            "sh" => Some(joined(lines)),
            "console" => Some(joined(lines).into_iter().filter_map(behind_prompt).collect()),
            _ => None,
        })
        .map(|commands| Block { commands })
        .collect()
}

fn behind_prompt((line, text): (usize, String)) -> Option<(usize, String)> {
    Some((line, text.strip_prefix("$ ")?.to_string()))
}

/// Commands within the text that name a tool of this project, with their lines: what stands in
/// backquotes, begins with its name, and is written out.
pub fn inline_commands(page: &str) -> Vec<(usize, String)> {
    let mut commands = Vec::new();
    let mut is_code = false;
    for (number, line) in page.lines().enumerate() {
        is_code ^= line.starts_with("```");
        if is_code || line.starts_with("```") {
            continue;
        }
        for code in line.split('`').skip(1).step_by(2) {
            let is_own = ["midflight ", "midflight-bench ", "make "]
                .iter()
                .any(|tool| code.starts_with(tool));
            let is_of_others = code.starts_with("make -C ");
            if is_own && !is_of_others && !code.contains(['…', '|', '"', '\'', ':']) {
                commands.push((number + 1, code.to_string()));
            }
        }
    }
    commands
}

/// Code blocks with their kinds and numbered lines.
fn fenced(page: &str) -> impl Iterator<Item = (&str, Vec<(usize, &str)>)> {
    let mut lines = page.lines().enumerate();
    std::iter::from_fn(move || {
        let (_, open) = lines.by_ref().find(|(_, line)| line.starts_with("```"))?;
        let inside = lines.by_ref().take_while(|(_, line)| !line.starts_with("```"));
        Some((&open[3..], inside.map(|(number, line)| (number + 1, line)).collect()))
    })
}

/// Lines that end with a backslash go on in the next.
fn joined(lines: Vec<(usize, &str)>) -> Vec<(usize, String)> {
    let mut commands: Vec<(usize, String)> = Vec::new();
    for (number, line) in lines {
        match commands.last_mut().filter(|(_, command)| command.ends_with('\\')) {
            Some((_, command)) => *command += &format!("\n{line}"),
            None => commands.push((number, line.to_string())),
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "Say `make x` or `ls`.\n```sh\na \\\n  b # c\nd\n```\n```text\n$ no\n`make y`\n```\n\
                        ```console\n$ e \\\n f\nwhat it prints\n```\n";

    #[test]
    fn commands_of_shells_are_found_with_their_lines() {
        let commands: Vec<_> = blocks(PAGE).into_iter().flat_map(|block| block.commands).collect();
        let expected = [(3, "a \\\n  b # c"), (5, "d"), (12, "e \\\n f")];
        assert_eq!(commands, expected.map(|(line, text)| (line, text.to_string())));
    }

    #[test]
    fn commands_in_the_text_are_those_of_own_tools() {
        assert_eq!(inline_commands(PAGE), [(1, "make x".to_string())]);
    }
}
