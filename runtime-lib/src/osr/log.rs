//! The log: one line of JSON for each type of event, with its counts.

use crate::file::destination;
use crate::file::output;
use crate::file::pattern;
use crate::file::place::{Missing, Place, Publish};
use crate::file::scratch::{SCRATCH, Scratch};
use crate::file::{Buffered, Failure};
use crate::message::{self, Decimal};
use crate::osr::choice;
use crate::osr::fire::Fire;
use crate::osr::image;
use crate::osr::list;
use crate::osr::open;
use crate::osr::record::Site;
use crate::osr::settings::{FIRE_VARIABLE, LOG_VARIABLE};
use crate::osr::state::{STATE, State};
use crate::osr::toggle;
use crate::process::signal::Blocked;
use crate::sys;
use core::sync::atomic::Ordering;
use midflight_abi::osr::OSR_CONDITIONS;
use midflight_profile::format::Sink;
use midflight_profile::is_visible;

/// Writes what happened when the image that has the state ends.
pub fn write_at_exit() {
    // Not under the lock, since it takes another.
    let signature = output::signature();
    let signals = Blocked::new();
    let Some(mut state) = STATE.lock() else { return };
    if state.process != sys::process_id() {
        return;
    }
    let state = &mut *state;
    state.written = Some(image::total(state));
    tell_if_nothing_was_meant(state);
    write_and_report(state, signature, &signals);
    if state.is_in_library
        && let Some((signal, before)) = &state.handled
    {
        toggle::remove(*signal, before);
    }
}

/// Writes it again when a shared library ends after the program: its destructors may have had
/// transitions since.
pub fn write_after_exit() {
    let signature = output::signature();
    let signals = Blocked::new();
    let Some(mut state) = STATE.lock() else { return };
    let Some(written) = state.written else { return };
    let now = image::total(&state);
    // A table on standard error is not printed again.
    if now != written && state.settings.log().is_some() && state.process == sys::process_id() {
        state.written = Some(now);
        write_and_report(&mut state, signature, &signals);
    }
}

/// Where the environment asks for points that there are none of, that is reported; only when the
/// program ends, since libraries may be loaded late.
fn tell_if_nothing_was_meant(state: &State) {
    let fire = state.settings.fire();
    let sites = || image::all(state).flat_map(image::Image::sites);
    if state.is_child || fire == Fire::Never {
        return;
    }
    if let Fire::Arm(names) = fire {
        let is_missing = |name: &&[u8]| !sites().any(|site| Fire::Arm(name).concerns(site));
        choice::names_of(names).filter(is_missing).for_each(tell_missing_point);
        return;
    }
    if sites().any(|site| fire.concerns(site)) {
        return;
    }
    let problem: &[u8] = match fire {
        Fire::At { .. } => b"' has fired nothing: there is no fuzzed point of that name; MIDFLIGHT_OSR_FIRE=list prints all names",
        Fire::Every(_) | Fire::Random { .. } => b"' has fired nothing: there are no fuzzed points; compile the program for osr-fuzz",
        _ => b"' has fired nothing: there are no fuzzed, flag or patch points; compile the program with some",
    };
    let variable = FIRE_VARIABLE.to_bytes();
    message::print(&[variable, b"='", state.settings.fire_text(), problem]);
}

fn tell_missing_point(name: &[u8]) {
    message::print(&[
        FIRE_VARIABLE.to_bytes(),
        b"=arm has not armed '",
        name,
        b"': there is no flag or patch point of that name; MIDFLIGHT_OSR_FIRE=list prints all names",
    ]);
}

fn write_and_report(state: &mut State, signature: Option<u64>, signals: &Blocked) {
    let Some(mut scratch) = SCRATCH.lock() else { return };
    let scratch = &mut *scratch;
    if state.settings.log().is_some() {
        match write(state, signature, scratch) {
            Ok(true) => message::tell_new_root(b"log", scratch.name.bytes()),
            Ok(false) => {}
            Err(failure) => {
                signals.discard_write_signal(failure.number());
                message::tell_failure(b"log", scratch.name.bytes(), failure, LOG_VARIABLE);
            }
        }
    } else if state.settings.fire() == Fire::List
        && let Err(failure) = list::print(state, &mut scratch.buffer)
    {
        // There is nobody to tell.
        signals.discard_write_signal(failure.number());
    }
}

/// Writes the log; `false` if none is wanted.
fn write(
    state: &mut State,
    signature: Option<u64>,
    scratch: &mut Scratch,
) -> Result<bool, Failure> {
    let Some(pattern) = state.settings.log() else { return Ok(false) };
    // A child would replace its parent's.
    let has_process = pattern::has_process(pattern);
    if state.is_child && !has_process {
        return Ok(false);
    }
    let signature = signature.unwrap_or_else(|| image::program_signature(state));
    let directory = state.settings.directory.bytes();
    scratch.expand(directory, pattern, state.process, signature)?;
    if has_process {
        destination::make_unique(&mut scratch.name, state.is_in_library, &mut state.serial)?;
    }
    let Some(place) = Place::find(&mut scratch.name, Missing::Made)? else { return Ok(false) };
    place.write_whole(Publish::InPlace, |file| {
        let mut sink = Buffered::new(file, &mut scratch.buffer, 0);
        put_events(state, &mut sink)?;
        sink.flush()
    })?;
    Ok(true)
}

/// Writes a line for each type of event.
fn put_events<S: Sink>(state: &State, to: &mut S) -> Result<(), S::Error> {
    let all_points = state.settings.fire() == Fire::List;
    for function in image::all(state).flat_map(image::Image::functions) {
        for point in function.points() {
            let hits = point.hits().load(Ordering::Relaxed);
            if all_points || (hits != 0 && choice::is_fuzzed(point)) {
                put_point(point, hits, to)?;
            }
        }
        for site in function.sites() {
            let transitions = site.transitions().load(Ordering::Relaxed);
            if transitions != 0 {
                put_transition(site, transitions, to)?;
            }
        }
    }
    open::put_versions(to)
}

fn put_point<S: Sink>(point: Site, hits: u64, to: &mut S) -> Result<(), S::Error> {
    to.put(b"{\"event\":\"point\"")?;
    put_text(b"point", point.name(), to)?;
    put_text(b"file", point.function().file(), to)?;
    put_text(b"function", point.function().name(), to)?;
    put_number(b"line", point.info().line.into(), to)?;
    put_text(b"condition", condition(point), to)?;
    put_number(b"hits", hits, to)?;
    to.put(b"}\n")
}

fn put_transition<S: Sink>(site: Site, transitions: u64, to: &mut S) -> Result<(), S::Error> {
    to.put(b"{\"event\":\"transition\"")?;
    put_text(b"point", site.name(), to)?;
    put_text(b"file", site.function().file(), to)?;
    put_text(b"from", site.from(), to)?;
    put_text(b"to", site.to(), to)?;
    put_number(b"transitions", transitions, to)?;
    to.put(b"}\n")
}

pub fn condition(site: Site) -> &'static [u8] {
    let name = usize::try_from(site.info().condition).ok().and_then(|n| OSR_CONDITIONS.get(n));
    name.map_or(b"unknown", |name| name.as_bytes())
}

fn put_key<S: Sink>(key: &[u8], to: &mut S) -> Result<(), S::Error> {
    to.put(b",\"")?;
    to.put(key)?;
    to.put(b"\":")
}

pub fn put_number<S: Sink>(key: &[u8], value: u64, to: &mut S) -> Result<(), S::Error> {
    put_key(key, to)?;
    to.put(Decimal::new(value).bytes())
}

pub fn put_text<S: Sink>(key: &[u8], value: &[u8], to: &mut S) -> Result<(), S::Error> {
    put_key(key, to)?;
    to.put(b"\"")?;
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => to.put(&[b'\\', c as u8])?,
                c if is_visible(c) => to.put(c.encode_utf8(&mut [0; 4]).as_bytes())?,
                c => {
                    let mut units = [0; 2];
                    c.encode_utf16(&mut units)
                        .iter()
                        .try_for_each(|&unit| to.put(&escape(unit)))?;
                }
            }
        }
        if !chunk.invalid().is_empty() {
            to.put("\u{fffd}".as_bytes())?;
        }
    }
    to.put(b"\"")
}

/// What would disturb who reads the log on a terminal, as JSON.
fn escape(unit: u16) -> [u8; 6] {
    let digit = |shift: u32| {
        let nibble = (unit >> shift) as u8 & 15;
        if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
    };
    [b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bytes(Vec<u8>);

    impl Sink for Bytes {
        type Error = core::convert::Infallible;
        fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
            self.0.extend_from_slice(bytes);
            Ok(())
        }
    }

    #[test]
    fn texts_are_escaped() {
        for (text, expected) in [
            (b"f#1".as_slice(), r#","k":"f#1""#),
            (b"a\"b\\c", r#","k":"a\"b\\c""#),
            (b"\t\n\x1f\x7f", r#","k":"\u0009\u000a\u001f\u007f""#),
            ("\u{9b}\u{202e}\u{e0001}".as_bytes(), r#","k":"\u009b\u202e\udb40\udc01""#),
            ("größe".as_bytes(), ",\"k\":\"größe\""),
            (b"a\xff\xfeb\xc3", ",\"k\":\"a\u{fffd}\u{fffd}b\u{fffd}\""),
        ] {
            let mut to = Bytes(Vec::new());
            put_text(b"k", text, &mut to).unwrap();
            assert_eq!(String::from_utf8(to.0).unwrap(), expected);
        }
    }
}
