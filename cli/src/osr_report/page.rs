//! The report as a page for browsers: one file that asks for nothing else.
//!
//! Names and code reach the page as JSON in elements that are not run, and its script makes text of
//! them, never markup. Each function has an element of its own, which is read when it is shown.

use crate::names::readable;
use crate::osr_report::data::{Both, Function, Points, Reasons, Report, Versions};
use serde::Serialize;
use std::io::{self, Write};

const STYLE: &str = include_str!("page/page.css");
const BODY: &str = include_str!("page/body.html");
const SCRIPT: &str = concat!(
    include_str!("page/state.js"),
    include_str!("page/list.js"),
    include_str!("page/code.js"),
    include_str!("page/point.js"),
    include_str!("page/address.js"),
    include_str!("page/actions.js"),
    include_str!("page/start.js"),
);

/// What the page knows of all functions.
#[derive(Serialize)]
struct Index<'a> {
    source: String,
    pipeline: &'a str,
    functions: Vec<Entry<'a>>,
    refused_functions: &'a Reasons,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    readable: String,
    instructions: Versions,
    points: &'a Both<Points>,
    refused: &'a Both<Reasons>,
}

/// Writes the page. Functions without detail are listed only.
///
/// # Errors
/// Of the output.
pub fn write(out: &mut dyn Write, source: &str, report: &Report) -> io::Result<()> {
    let source = readable(source);
    let title = escaped(&source);
    writeln!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>OSR mappings of {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{BODY}"
    )?;
    let index = Index {
        source,
        pipeline: &report.pipeline,
        functions: report.functions.iter().map(entry).collect(),
        refused_functions: &report.refused_functions,
    };
    writeln!(out, "<script type=\"application/json\" id=\"index\">{}</script>", inert(&index)?)?;
    for (number, function) in report.functions.iter().enumerate() {
        if let Some(detail) = &function.detail {
            let json = inert(detail)?;
            writeln!(out, "<script type=\"application/json\" id=\"f{number}\">{json}</script>")?;
        }
    }
    writeln!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>")
}

fn entry(function: &Function) -> Entry<'_> {
    Entry {
        name: &function.name,
        readable: readable(&function.name),
        instructions: function.instructions,
        points: &function.points,
        refused: &function.refused,
    }
}

/// JSON that cannot end the element that it stands in, nor begin a comment.
fn inert(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)?.replace('<', "\\u003c"))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::{escaped, inert};

    #[test]
    fn no_text_can_leave_its_element() {
        let json = inert(&"</script><!--").unwrap();
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "</script><!--");
        assert_eq!(escaped("</title>&"), "&lt;/title&gt;&amp;");
    }
}
