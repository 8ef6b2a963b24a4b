//! Arming and disarming flag and patch points.

use crate::message;
use crate::osr::barrier;
use crate::osr::choice;
use crate::osr::image::{self, Image};
use crate::osr::patch::{Place, Problem, Writer};
use crate::osr::record::Site;
use crate::osr::state::{STATE, State};
use crate::process::privilege;
use crate::process::signal::Blocked;
use core::ffi::c_int;
use core::sync::atomic::Ordering;
use midflight_abi::osr::{OSR_FLAG, OSR_PATCH};

/// Arms or disarms the points with a name. Returns the number of sites, or a negative error number
/// after one line on standard error.
pub fn by_name(point: &[u8], armed: bool) -> c_int {
    if privilege::is_raised() {
        return -libc::EPERM;
    }
    let _signals = Blocked::new();
    // The runtime was entered from a function that it has called itself.
    let Some(state) = STATE.lock() else { return -libc::EBUSY };
    match set(image::loaded(&state), armed, &|site| choice::means(point, site)) {
        Ok(count) => c_int::try_from(count).unwrap_or(c_int::MAX),
        Err(problem) => {
            tell(point, armed, problem);
            -problem.number()
        }
    }
}

/// The flag that a flag point with a name tests; null if there is none.
pub fn flag_of(point: &[u8]) -> *mut u32 {
    let _signals = Blocked::new();
    let Some(state) = STATE.lock() else { return core::ptr::null_mut() };
    let mut sites = image::loaded(&state).flat_map(Image::sites);
    let site = sites.find(|&s| s.info().condition == OSR_FLAG && choice::means(point, s));
    site.map_or(core::ptr::null_mut(), |site| site.armed().as_ptr())
}

/// Arms all points, or disarms them if this has armed them.
pub fn toggle_all() {
    let _signals = Blocked::new();
    let Some(mut state) = STATE.lock() else { return };
    state.all_armed = !state.all_armed;
    if let Err(problem) = set(image::loaded(&state), state.all_armed, &|_| true) {
        tell(b"*", state.all_armed, problem);
    }
}

/// Arms what the environment or the signal wants armed in a new image.
pub fn as_environment_says(state: &State, image: &Image) {
    let fire = state.settings.fire();
    for site in image.sites().filter(|&site| choice::is_fuzzed(site) && fire.arms(site)) {
        if let Some(base) = site.base() {
            base.armed().store(1, Ordering::Relaxed);
        }
    }
    let chosen = |site| state.all_armed || fire.arms(site);
    if let Err(problem) = set(core::iter::once(image), true, &chosen) {
        tell(state.settings.fire_text(), true, problem);
    }
}

/// Arms or disarms the chosen sites among the flag and patch points of loaded images, and counts
/// them. If arming fails they are disarmed.
fn set<'a>(
    images: impl Iterator<Item = &'a Image> + Clone,
    armed: bool,
    choose: &dyn Fn(Site) -> bool,
) -> Result<usize, Problem> {
    let choose = |site: Site| choice::can_be_armed(site) && choose(site);
    let mut result = images
        .clone()
        .try_for_each(|image| chosen_places(image, &choose).try_for_each(|place| place.check()));
    if result.is_ok() {
        result = write(images.clone(), armed, &choose);
        if result.is_err() && armed {
            _ = write(images.clone(), false, &choose);
        }
        barrier::all_processors();
    }
    result?;
    let mut count = 0;
    for image in images {
        for site in image.sites().filter(|&site| choose(site)) {
            site.armed().store(armed.into(), Ordering::Relaxed);
            // A patch point whose code was dropped cannot fire.
            if site.info().condition != OSR_PATCH || image.index.has_places(site) {
                count += 1;
            }
        }
    }
    Ok(count)
}

fn write<'a>(
    images: impl Iterator<Item = &'a Image>,
    armed: bool,
    choose: &dyn Fn(Site) -> bool,
) -> Result<(), Problem> {
    for image in images {
        let mut writer = Writer::new(image.is_code_writable);
        chosen_places(image, choose).try_for_each(|place| writer.write(place, armed))?;
    }
    Ok(())
}

/// The places of the chosen patch points.
fn chosen_places<'a>(
    image: &'a Image,
    choose: &'a dyn Fn(Site) -> bool,
) -> impl Iterator<Item = Place> + 'a {
    image.places.iter().map(Place::of).filter(move |place| {
        let site = image.index.find(place.id);
        site.is_some_and(|site| site.info().condition == OSR_PATCH && choose(site))
    })
}

fn tell(point: &[u8], armed: bool, problem: Problem) {
    let start: &[u8] =
        if armed { b"cannot arm the OSR point '" } else { b"cannot disarm the OSR point '" };
    let what: &[u8] = match problem {
        Problem::NotAsLinked => b"': the code at one of its places is not what was linked; see what else changes the program's code (debuggers, tracers, tools that edit executables)",
        Problem::NotWritable(libc::ENOMEM) => b"': there is no memory to make its code writable; raise the limits on memory",
        Problem::NotWritable(_) => b"': the system does not let the program change its own code (SELinux, seccomp, hardening); permit it, or compile the point as a flag point",
        Problem::Unsupported => b"': code is changed on x86-64 and AArch64 only; compile the point as a flag point",
    };
    message::print(&[start, point, what]);
}
