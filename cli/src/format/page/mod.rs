//! Pages for browsers: one file that asks the network for nothing.
//!
//! What a page shows reaches it as JSON in elements that are not run, and its script makes text of
//! it, never markup.

use crate::format::json;
use midflight_profile::visible;
use serde::Serialize;
use std::io::{self, Write};

/// What the scripts of all pages use.
pub const COMMON: &str = include_str!("common.js");

/// A page without what it shows.
pub struct Page<'a> {
    pub title: &'a str,
    pub style: &'a str,
    pub body: &'a str,
    /// Its script, which runs behind [`COMMON`]
    pub script: &'a str,
}

impl Page<'_> {
    /// Writes the page; `data` writes the elements that hold what it shows, with [`element`].
    pub fn write(
        &self,
        out: &mut dyn Write,
        data: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let Page { style, body, script, .. } = self;
        let title = escaped(self.title);
        writeln!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <link rel=\"icon\" href=\"data:,\">\n\
             <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}"
        )?;
        data(out)?;
        writeln!(out, "<script>\n{COMMON}{script}</script>\n</body>\n</html>")
    }
}

/// Writes an element that holds JSON.
pub fn element(out: &mut dyn Write, id: &str, value: &impl Serialize) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" id=\"{id}\">")?;
    json::write_in_markup(out, value)?;
    writeln!(out, "</script>")
}

/// Text of markup, [`visible`].
pub fn escaped(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_title_is_no_markup() {
        assert_eq!(escaped("</title>&"), "&lt;/title&gt;&amp;");
    }
}
