//! What a command line asks clang to do, as far as the driver must know it.
//!
//! Clang decides by the whole of its option table. Here it is enough to know the inputs, so only
//! the options that take the next word with them are known. A word that is taken for an input by
//! mistake does no harm where there are others.

use crate::commands::cc::response::{self, Endless};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// What clang will do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Task {
    /// An input is source or IR, so the plugin has something to do.
    pub(crate) compiles: bool,
    /// An input can be linked, and the link, if there is one, makes a program or a library.
    pub(crate) links: bool,
    /// Clang writes a file that names the lines of functions, of which a plugin knows nothing.
    pub(crate) names_lines: bool,
    /// The format of remarks in a file, if it is given.
    pub(crate) remarks_format: Option<OsString>,
    /// True if clang adds libraries by itself.
    pub(crate) has_default_libraries: bool,
    /// True for a static program that is relocated when it starts (`-static-pie`).
    pub(crate) relocates_itself: bool,
    /// True if it links libFuzzer.
    pub(crate) has_fuzzer: bool,
    /// Where clang adds no libraries by itself, those that the user gives: `-l…`.
    pub(crate) own_libraries: Vec<OsString>,
}

/// Options whose value is the next word.
const WITH_VALUE: &str = "
    --config --include --language --output --param --serialize-diagnostics --sysroot --target
    --undefine-macro --define-macro --assemble-with -A -B -D -F -G -I -L -MF -MJ -MQ -MT -T
    -Tbss -Tdata -Ttext -U -Xanalyzer -Xarch_device -Xarch_host -Xassembler -Xclang
    -Xclang-linker -Xcuda-fatbinary -Xcuda-ptxas -Xlinker -Xoffload-linker -Xopenmp-target
    -Xpreprocessor -arch -b -cxx-isystem -dependency-dot -dependency-file -dsym-dir -dumpbase
    -dumpdir -e -fmodules-user-build-path -ftrapv-handler -framework -idirafter -iframework
    -iframeworkwithsysroot -imacros -imultilib -include -include-pch -iprefix -iquote -isysroot
    -isystem -isystem-after -iwithprefix -iwithprefixbefore -iwithsysroot -mllvm
    -module-dependency-dir -mthread-model -o -rpath -serialize-diagnostics -target -u
    -working-directory -wrapper -z
";

/// How an input is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// C, C++, IR, and all else that is compiled
    Source,
    /// Compiled to a header that is read faster, never linked
    Header,
    /// Not seen by the compiler: assembly, an object, an archive, a linker script
    Linked,
}

/// Finds out what a command line does. Response files are looked into.
pub(crate) fn task(arguments: &[OsString]) -> Result<Task, Endless> {
    let words = response::expanded(arguments)?;
    let mut task = Task::default();
    let mut relocatable = false;
    let mut no_default_libraries = false;
    // The language that -x has set for the inputs behind it.
    let mut language: Option<Kind> = None;
    let mut only_inputs = false;
    let mut words = words.iter().map(|word| word.as_bytes());
    while let Some(word) = words.next() {
        if only_inputs || !word.starts_with(b"-") || word == b"-" {
            task.input(language.unwrap_or_else(|| kind_of_file(word)));
            continue;
        }
        relocatable |= makes_relocatable(word);
        task.has_fuzzer = has_fuzzer(word).unwrap_or(task.has_fuzzer);
        if let Some(format) = word.strip_prefix(b"-fsave-optimization-record=") {
            task.remarks_format = Some(OsStr::from_bytes(format).into());
        }
        task.names_lines |= [&b"-fstack-usage"[..], b"-stack-usage-file"].contains(&word);
        match word {
            b"--" => only_inputs = true,
            b"-x" => language = words.next().and_then(kind_of_language),
            b"-Xlinker" => relocatable |= words.next().is_some_and(makes_relocatable),
            _ if word.starts_with(b"-x") => language = kind_of_language(&word[2..]),
            b"-static-pie" => task.relocates_itself = true,
            b"-nostdlib" | b"-nodefaultlibs" => no_default_libraries = true,
            _ if word.starts_with(b"-l") => {
                task.links = true;
                task.own_libraries.push(OsStr::from_bytes(word).into());
            }
            _ if WITH_VALUE.split_whitespace().any(|option| option.as_bytes() == word) => {
                words.next();
            }
            _ => {}
        }
    }
    task.links &= !relocatable;
    task.has_default_libraries = !no_default_libraries;
    if task.has_default_libraries {
        task.own_libraries.clear();
    }
    Ok(task)
}

impl Task {
    fn input(&mut self, kind: Kind) {
        match kind {
            Kind::Source => (self.compiles, self.links) = (true, true),
            Kind::Header => self.compiles = true,
            Kind::Linked => self.links = true,
        }
    }
}

/// A relocatable link is not the last one: that one gets the runtime.
fn makes_relocatable(word: &[u8]) -> bool {
    let parts = word.strip_prefix(b"-Wl,").unwrap_or(word);
    parts.split(|&b| b == b',').any(|part| [&b"-r"[..], b"--relocatable", b"-i"].contains(&part))
}

/// Whether libFuzzer is linked from this option on, if that is what it is about.
fn has_fuzzer(word: &[u8]) -> Option<bool> {
    let names = |list: &[u8], wanted: &[&[u8]]| {
        list.split(|&byte| byte == b',').any(|name| wanted.contains(&name))
    };
    if let Some(list) = word.strip_prefix(b"-fsanitize=") {
        return names(list, &[b"fuzzer"]).then_some(true);
    }
    let list = word.strip_prefix(b"-fno-sanitize=")?;
    names(list, &[b"fuzzer", b"all"]).then_some(false)
}

/// By its name, as clang does; what clang does not know goes to the linker.
fn kind_of_file(name: &[u8]) -> Kind {
    let file = name.rsplit(|&b| b == b'/').next().unwrap_or(name);
    let dot = file.iter().rposition(|&b| b == b'.');
    match dot.map(|dot| &file[dot + 1..]) {
        Some(b"h" | b"H" | b"hh" | b"hp" | b"hpp" | b"hxx" | b"h++" | b"tcc") => Kind::Header,
        Some(b"s" | b"S" | b"sx" | b"asm") => Kind::Linked,
        Some(b"o" | b"obj" | b"a" | b"so" | b"lo" | b"ld" | b"lds") => Kind::Linked,
        _ => Kind::Source,
    }
}

/// By the value of -x; `none` goes back to names.
fn kind_of_language(name: &[u8]) -> Option<Kind> {
    match name {
        b"none" => None,
        _ if name.ends_with(b"-header") => Some(Kind::Header),
        _ if name.starts_with(b"assembler") => Some(Kind::Linked),
        _ => Some(Kind::Source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Task {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        task(&words).unwrap()
    }

    #[test]
    fn without_inputs_nothing_is_done() {
        for line in
            ["", "-v", "--version", "-O2 -o x", "-print-prog-name=ld", "-I . -D x.c -MF d.d"]
        {
            let task = of(line);
            assert!(!task.compiles && !task.links && task.own_libraries.is_empty(), "{line}");
        }
    }

    #[test]
    fn sources_are_compiled_and_linked() {
        for line in ["x.c", "-O2 -o x x.cc", "-x c -", "-xc++ x.h", "x.bc", "-c -- x.c", "-- -x.c"]
        {
            let task = of(line);
            assert!(task.compiles && task.links, "{line}");
        }
    }

    #[test]
    fn headers_are_not_linked() {
        for line in ["x.h", "-x c-header x.c -o x.pch", "-xc++-header x", "-o y.gch dir.c/x.hpp"] {
            let task = of(line);
            assert!(task.compiles && !task.links, "{line}");
        }
        assert!(of("-x c-header x.h -x none y.c").links);
    }

    #[test]
    fn assembly_and_objects_are_only_linked() {
        for line in ["x.s", "-c x.S", "-x assembler-with-cpp x", "x.o y.a", "-lfoo"] {
            let task = of(line);
            assert!(!task.compiles && task.links, "{line}");
        }
    }

    #[test]
    fn relocatable_links_are_none() {
        for line in ["-r x.o", "x.c -Wl,-r", "-Wl,-x,--relocatable x.o", "-Xlinker -r x.o"] {
            assert!(!of(line).links, "{line}");
        }
    }

    #[test]
    fn a_fuzzer_is_linked_where_it_is_asked_for_last() {
        for line in ["-fsanitize=fuzzer x.c", "-fsanitize=address,fuzzer x.o"] {
            assert!(of(line).has_fuzzer, "{line}");
        }
        for line in [
            "x.c",
            "-fsanitize=fuzzer-no-link x.c",
            "-fsanitize=fuzzer -fno-sanitize=fuzzer x.c",
            "-fsanitize=fuzzer -fno-sanitize=all x.c",
        ] {
            assert!(!of(line).has_fuzzer, "{line}");
        }
    }

    #[test]
    fn libraries_are_known_where_they_are_all_that_there_is() {
        assert_eq!(of("-nostdlib x.o -lm -lc").own_libraries, ["-lm", "-lc"]);
        assert_eq!(of("x.o -lc -nodefaultlibs").own_libraries, ["-lc"]);
        assert!(of("x.o -lm").own_libraries.is_empty());
    }

    #[test]
    fn the_format_of_remarks_is_the_last_that_is_given() {
        let format = |line| of(line).remarks_format;
        assert_eq!(format("-fsave-optimization-record x.c"), None);
        let line = "-fsave-optimization-record=yaml -fsave-optimization-record=bitstream x.c";
        assert_eq!(format(line), Some("bitstream".into()));
    }
}
